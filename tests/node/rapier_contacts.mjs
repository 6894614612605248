// Finds first contacts in Rapier. The argument is a file with a list of queries. The result of each is a number, or null
// if there is no contact:
//
//   { a, b, steps: true }  a and b are lists of shapes, one per time. Result: the first index at which they intersect.
//   { a, b }               a and b are shapes at the ends of intervals, with linear motion in between. Result: the time
//                          of the first contact; 1.25 is a quarter of the interval from the second to the third shape.
import { readFileSync } from "node:fs";
import RAPIER from "@dimforge/rapier3d-compat";

await RAPIER.init();
const vector = ([x, y, z]) => ({ x, y, z });
const quaternion = ([x, y, z, w]) => ({ x, y, z, w });
const toShape = ({ radius, halfExtents }) => (halfExtents ? new RAPIER.Cuboid(...halfExtents) : new RAPIER.Ball(radius));
const pose = ({ center, rotation }) => [vector(center), quaternion(rotation ?? [0, 0, 0, 1])];

function firstStep({ a, b }) {
  const index = a.findIndex((shape, i) =>
    toShape(shape).intersectsShape(...pose(shape), toShape(b[i]), ...pose(b[i])),
  );
  return index < 0 ? null : index;
}

function firstImpact({ a, b }) {
  for (let i = 0; i + 1 < a.length; i += 1) {
    const [offsetA, offsetB] = [a, b].map((list) => vector(list[i + 1].center.map((end, k) => end - list[i].center[k])));
    const [positionA, rotationA] = pose(a[i]);
    const hit = toShape(a[i]).castShape(positionA, rotationA, offsetA, toShape(b[i]), ...pose(b[i]), offsetB, 0, 1, true);
    if (hit !== null) return i + hit.time_of_impact;
  }
  return null;
}

const queries = JSON.parse(readFileSync(process.argv[2], "utf-8"));
process.stdout.write(JSON.stringify(queries.map((query) => (query.steps ? firstStep(query) : firstImpact(query)))));
