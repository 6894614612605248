// Tests in Rapier, in single precision, the shapes of documents, see volumes.mjs.
import RAPIER from "@dimforge/rapier3d-compat";
import { testEngine } from "./volumes.mjs";

await RAPIER.init();
const NO_ROTATION = { x: 0, y: 0, z: 0, w: 1 };
const vector = ([x, y, z]) => ({ x, y, z });

function ball({ center, radius }) {
  return { shape: new RAPIER.Ball(radius), position: vector(center), rotation: NO_ROTATION };
}

function cuboid(center, half, [x, y, z, w]) {
  return { shape: new RAPIER.Cuboid(...half), position: vector(center), rotation: { x, y, z, w } };
}

function orientedBox({ center, halfExtents, rotation }) {
  return cuboid(center, halfExtents, rotation);
}

function axisAlignedBox({ min, max }) {
  const center = min.map((low, i) => (low + max[i]) / 2);
  return cuboid(center, center.map((middle, i) => max[i] - middle), [0, 0, 0, 1]);
}

// Capsules and cylinders of Rapier are along their Y axis.
function axial(shape, { center, axis: [x, y, z] }) {
  const sign = y < 0 ? -1 : 1; // a shape along the opposite direction is the same
  const quaternion = [sign * z, 0, -sign * x, 1 + sign * y];
  const [i, j, k, w] = quaternion.map((value) => value / Math.hypot(...quaternion));
  return { shape, position: vector(center), rotation: { x: i, y: j, z: k, w } };
}

const capsule = (each) => axial(new RAPIER.Capsule(each.halfLength, each.radius), each);
const cylinder = (each) => axial(new RAPIER.Cylinder(each.halfLength, each.radius), each);

function read(document) {
  return new Map(
    document.objects.map(({ id, world: { aabb, sphere, obb, compound, ...more } }) => [
      id,
      {
        world: {
          box: aabb && axisAlignedBox(aabb),
          sphere: sphere && ball(sphere),
          obb: obb && orientedBox(obb),
          capsule: more.capsule && capsule(more.capsule),
          cylinder: more.cylinder && cylinder(more.cylinder),
          compound: compound?.map((part) => ({ obb: part.obb && orientedBox(part.obb) })),
        },
      },
    ]),
  );
}

// Adds all volumes of one kind to a world as colliders, and finds the pairs with its queries.
function pairs(volumes) {
  const world = new RAPIER.World({ x: 0, y: 0, z: 0 });
  const ids = new Map();
  for (const [id, { shape, position, rotation }] of volumes) {
    const { x, y, z } = position;
    const description = new RAPIER.ColliderDesc(shape).setTranslation(x, y, z).setRotation(rotation);
    ids.set(world.createCollider(description).handle, id);
  }
  world.step();
  const found = [];
  for (const [id, { shape, position, rotation }] of volumes) {
    world.intersectionsWithShape(position, rotation, shape, (other) => {
      if (id < ids.get(other.handle)) found.push([id, ids.get(other.handle)]);
      return true;
    });
  }
  world.free();
  return found;
}

testEngine({
  read,
  point: vector,
  ownKinds: ["capsule", "cylinder"],
  contains: ({ shape, position, rotation }, point) => shape.containsPoint(position, rotation, point),
  pairs,
});
