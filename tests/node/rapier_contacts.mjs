// When Rapier sees shapes meet. The argument is a file with a list of questions, each answered by a number or null:
//
//   { a, b, steps: true }  a and b are lists of shapes, one a time: the first index at which they intersect
//   { a, b }               shapes at the ends of intervals, between which they go straight: 1.25 is a quarter of
//                          the way from the second to the third
import { readFileSync } from "node:fs";
import RAPIER from "@dimforge/rapier3d-compat";

await RAPIER.init();
const vector = ([x, y, z]) => ({ x, y, z });
const turned = ([x, y, z, w]) => ({ x, y, z, w });
const shaped = ({ radius, halfExtents }) => (halfExtents ? new RAPIER.Cuboid(...halfExtents) : new RAPIER.Ball(radius));
const placed = ({ center, rotation }) => [vector(center), turned(rotation ?? [0, 0, 0, 1])];

function firstStep({ a, b }) {
  const index = a.findIndex((shape, i) =>
    shaped(shape).intersectsShape(...placed(shape), shaped(b[i]), ...placed(b[i])),
  );
  return index < 0 ? null : index;
}

function firstOnTheWay({ a, b }) {
  for (let i = 0; i + 1 < a.length; i += 1) {
    const [wayA, wayB] = [a, b].map((list) => vector(list[i + 1].center.map((end, k) => end - list[i].center[k])));
    const [placeA, turnA] = placed(a[i]);
    const hit = shaped(a[i]).castShape(placeA, turnA, wayA, shaped(b[i]), ...placed(b[i]), wayB, 0, 1, true);
    if (hit !== null) return i + hit.time_of_impact;
  }
  return null;
}

const asked = JSON.parse(readFileSync(process.argv[2], "utf-8"));
process.stdout.write(JSON.stringify(asked.map((each) => (each.steps ? firstStep(each) : firstOnTheWay(each)))));
