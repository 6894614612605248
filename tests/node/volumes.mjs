// The questions that every engine is asked about documents, and its answers as JSON.
//
// The one argument is a file with { documents, vertices }, the vertices by id. For each document the answer
// has, by id and kind of volume, how many vertices are outside, and which pairs overlap, by kind.
//
// An engine is { read, point, holds }, with `overlap` by kind, or `pairs` of many at once; `seen` for one that
// has local volumes too.
import { readFileSync } from "node:fs";

const KINDS = ["box", "sphere", "obb"];

export function answer(engine) {
  const { documents, vertices } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
  const points = new Map(Object.entries(vertices).map(([id, list]) => [id, list.map(engine.point)]));
  const answers = documents.map((document) => {
    const objects = engine.read(document);
    const outside = { world: {}, local: {} };
    const pairs = {};
    for (const [id, object] of objects) {
      const own = points.get(id) ?? [];
      outside.world[id] = counted(engine, object.world, own);
      if (engine.seen) {
        outside.local[id] = counted(engine, object.local, own.map((point) => engine.seen(point, object)));
      }
    }
    for (const kind of KINDS) {
      const volumes = [...objects].map(([id, object]) => [id, object.world[kind]]).filter(([, volume]) => volume);
      pairs[kind] = engine.pairs ? engine.pairs(volumes) : everyPair(volumes, engine.overlap[kind]);
    }
    return { outside, pairs };
  });
  process.stdout.write(JSON.stringify(answers));
}

function counted(engine, volumes, points) {
  const count = (volume) => points.filter((point) => !engine.holds(volume, point)).length;
  return Object.fromEntries(KINDS.filter((kind) => volumes[kind]).map((kind) => [kind, count(volumes[kind])]));
}

function everyPair(volumes, overlap) {
  const found = [];
  for (const [i, [id, volume]] of volumes.entries()) {
    for (const [other, otherVolume] of volumes.slice(i + 1)) {
      if (overlap(volume, otherVolume)) found.push(id < other ? [id, other] : [other, id]);
    }
  }
  return found;
}
