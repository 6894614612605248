// Tests that are the same for every engine. The output is JSON.
//
// The argument is a file with { documents, vertices }; the vertices are by id. The output has, for each document, the
// number of vertices outside each volume, by id and kind of volume, and the overlapping pairs, by kind.
//
// An engine is { read, point, contains }, and `overlap` (a test of two volumes, by kind) or `pairs` (finds all pairs of
// a list of volumes). An engine with local volumes has `toLocal`, which converts a point to the space of an object.
import { readFileSync } from "node:fs";

const KINDS = ["box", "sphere", "obb"];

export function testEngine(engine) {
  const { documents, vertices } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
  const points = new Map(Object.entries(vertices).map(([id, list]) => [id, list.map(engine.point)]));
  const results = documents.map((document) => {
    const objects = engine.read(document);
    const outside = { world: {}, local: {} };
    const pairs = {};
    for (const [id, object] of objects) {
      const objectPoints = points.get(id) ?? [];
      outside.world[id] = countOutside(engine, object.world, objectPoints);
      if (engine.toLocal) {
        const local = objectPoints.map((point) => engine.toLocal(point, object));
        outside.local[id] = countOutside(engine, object.local, local);
      }
    }
    for (const kind of KINDS) {
      const volumes = [...objects].map(([id, object]) => [id, object.world[kind]]).filter(([, volume]) => volume);
      pairs[kind] = engine.pairs ? engine.pairs(volumes) : overlappingPairs(volumes, engine.overlap[kind]);
    }
    return { outside, pairs };
  });
  process.stdout.write(JSON.stringify(results));
}

function countOutside(engine, volumes, points) {
  const count = (volume) => points.filter((point) => !engine.contains(volume, point)).length;
  return Object.fromEntries(KINDS.filter((kind) => volumes[kind]).map((kind) => [kind, count(volumes[kind])]));
}

function overlappingPairs(volumes, overlap) {
  const found = [];
  for (const [i, [id, volume]] of volumes.entries()) {
    for (const [other, otherVolume] of volumes.slice(i + 1)) {
      if (overlap(volume, otherVolume)) found.push(id < other ? [id, other] : [other, id]);
    }
  }
  return found;
}
