// What Rapier, in single precision, says of shapes as they are in documents: see volumes.mjs.
import RAPIER from "@dimforge/rapier3d-compat";
import { answer } from "./volumes.mjs";

await RAPIER.init();
const AT_REST = { x: 0, y: 0, z: 0, w: 1 };
const vector = ([x, y, z]) => ({ x, y, z });

function ball({ center, radius }) {
  return { shape: new RAPIER.Ball(radius), place: vector(center), turn: AT_REST };
}

function cuboid(center, half, [x, y, z, w]) {
  return { shape: new RAPIER.Cuboid(...half), place: vector(center), turn: { x, y, z, w } };
}

function boxed({ min, max }) {
  const center = min.map((low, i) => (low + max[i]) / 2);
  return cuboid(center, center.map((middle, i) => max[i] - middle), [0, 0, 0, 1]);
}

function read(document) {
  return new Map(
    document.objects.map(({ id, world: { aabb, sphere, obb } }) => [
      id,
      {
        world: {
          box: aabb && boxed(aabb),
          sphere: sphere && ball(sphere),
          obb: obb && cuboid(obb.center, obb.halfExtents, obb.rotation),
        },
      },
    ]),
  );
}

// All of one kind as colliders of a world, whose own queries find the pairs.
function pairs(volumes) {
  const world = new RAPIER.World({ x: 0, y: 0, z: 0 });
  const ids = new Map();
  for (const [id, { shape, place, turn }] of volumes) {
    const told = new RAPIER.ColliderDesc(shape).setTranslation(place.x, place.y, place.z).setRotation(turn);
    ids.set(world.createCollider(told).handle, id);
  }
  world.step();
  const found = [];
  for (const [id, { shape, place, turn }] of volumes) {
    world.intersectionsWithShape(place, turn, shape, (other) => {
      if (id < ids.get(other.handle)) found.push([id, ids.get(other.handle)]);
      return true;
    });
  }
  world.free();
  return found;
}

answer({
  read,
  point: vector,
  holds: ({ shape, place, turn }, point) => shape.containsPoint(place, turn, point),
  pairs,
});
