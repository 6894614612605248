// Tests that are the same for every engine. The output is JSON.
//
// The argument is a file with { documents, vertices }; the vertices are by id. The output has, for each document, the
// number of vertices outside each volume, by id and kind of volume, the overlapping pairs, by kind, and the bones.
//
// An engine is { read, point, contains }, and `overlap` (a test of two volumes, by kind) or `pairs` (finds all pairs of
// a list of volumes). An engine with local volumes has `toLocal`, which converts a point to the space of an object.
// An engine with hulls has `heightAbove`, the distance of a point from the plane of three points, outside positive.
// `ownKinds` lists the kinds beyond boxes and spheres that `contains` of the engine tests.
import { readFileSync } from "node:fs";

const KINDS = ["box", "sphere", "obb"];

// Tests of the kinds that engines have no class for, by the vectors, planes and spheres of the engine.
const COMPOSED = {
  capsule: (engine, { center, axis, halfLength, radius }, point) => {
    const [offset, along] = alongAxis(center, axis, point);
    const beyond = along - Math.min(Math.max(along, -halfLength), halfLength);
    return Math.hypot(acrossAxis(offset, axis, along), beyond) <= radius;
  },
  cylinder: (engine, { center, axis, halfLength, radius }, point) => {
    const [offset, along] = alongAxis(center, axis, point);
    return Math.abs(along) <= halfLength && acrossAxis(offset, axis, along) <= radius;
  },
  hull: (engine, { vertices, faces }, point) =>
    faces.every((face) => engine.heightAbove(...face.map((index) => vertices[index]), point) <= 0),
  spheres: (engine, nodes, point) =>
    nodes.some(({ sphere, children }) => children.length === 0 && engine.contains(sphere, point)),
  compound: (engine, parts, point) =>
    parts.some(({ hull, obb, sphere, capsule }) => {
      if (hull) return COMPOSED.hull(engine, hull, point);
      return capsule ? COMPOSED.capsule(engine, capsule, point) : engine.contains(obb ?? sphere, point);
    }),
};

export function testEngine(engine) {
  const { documents, vertices } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
  const points = new Map(Object.entries(vertices).map(([id, list]) => [id, list.map(engine.point)]));
  const results = documents.map((document) => {
    const objects = engine.read(document);
    const outside = { world: {}, local: {}, localEnvelope: {} };
    const pairs = {};
    const bones = {};
    for (const [id, object] of objects) {
      const objectPoints = points.get(id) ?? [];
      if (object.bone !== undefined) bones[id] = object.bone;
      outside.world[id] = countOutside(engine, object.world, objectPoints);
      if (engine.toLocal) {
        const local = objectPoints.map((point) => engine.toLocal(point, object));
        outside.local[id] = countOutside(engine, object.local, local);
        if (object.envelope?.local) outside.localEnvelope[id] = countOutside(engine, object.envelope.local, local);
      }
    }
    for (const kind of KINDS) {
      const volumes = [...objects].map(([id, object]) => [id, object.world[kind]]).filter(([, volume]) => volume);
      pairs[kind] = findPairs(engine, volumes, kind);
    }
    pairs.compound = findPairs(engine, partsOf(objects), "obb");
    if (engine.pairs || engine.overlap.capsule) {
      const capsules = [...objects].map(([id, { world }]) => [id, world.capsule]).filter(([, volume]) => volume);
      pairs.capsule = findPairs(engine, capsules, "capsule");
    }
    return { outside, pairs, bones };
  });
  process.stdout.write(JSON.stringify(results));
}

// The boxes of all convex parts, each with the id of its object.
function partsOf(objects) {
  const boxes = ([id, { world }]) => (world.compound ?? []).filter(({ obb }) => obb).map(({ obb }) => [id, obb]);
  return [...objects].flatMap(boxes);
}

function findPairs(engine, volumes, kind) {
  const found = engine.pairs ? engine.pairs(volumes) : overlappingPairs(volumes, engine.overlap[kind]);
  const distinct = new Map(found.filter(([id, other]) => id !== other).map((pair) => [JSON.stringify(pair), pair]));
  return [...distinct.values()];
}

function countOutside(engine, volumes, points) {
  const contains = (kind, point) =>
    COMPOSED[kind] && !engine.ownKinds?.includes(kind)
      ? COMPOSED[kind](engine, volumes[kind], point)
      : engine.contains(volumes[kind], point);
  const count = (kind) => points.filter((point) => !contains(kind, point)).length;
  const kinds = [...KINDS, ...Object.keys(COMPOSED)].filter((kind) => volumes[kind]);
  return Object.fromEntries(kinds.map((kind) => [kind, count(kind)]));
}

function alongAxis(center, axis, point) {
  const offset = ["x", "y", "z"].map((k) => point[k] - center[k]);
  return [offset, offset[0] * axis.x + offset[1] * axis.y + offset[2] * axis.z];
}

function acrossAxis(offset, axis, along) {
  return Math.hypot(...["x", "y", "z"].map((k, i) => offset[i] - along * axis[k]));
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
