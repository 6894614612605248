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

// Its faces are used as they are: Rapier computes no hull again. It refuses flat ones, which are left out then.
// It finds points of polyhedra by iteration, so a point may be off by a ten-thousandth of the size.
function hull({ vertices, faces }) {
  const shape = new RAPIER.ConvexPolyhedron(Float32Array.from(vertices.flat()), Uint32Array.from(faces.flat()));
  if (!isAccepted(shape)) return undefined;
  const tolerance = 1e-4 * Math.max(...vertices.flat().map(Math.abs));
  return { shape, position: vector([0, 0, 0]), rotation: NO_ROTATION, tolerance };
}

function isAccepted(shape) {
  const raw = shape.intoRaw();
  raw?.free();
  return raw !== undefined;
}

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
          hull: more.hull && hull(more.hull),
          spheres: more.spheres?.map((node) => ({ sphere: ball(node), children: node.children })),
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

function contains({ shape, position, rotation, tolerance }, point) {
  if (tolerance === undefined) return shape.containsPoint(position, rotation, point);
  const { x, y, z } = shape.projectPoint(position, rotation, point, true).point;
  return Math.hypot(x - point.x, y - point.y, z - point.z) <= tolerance;
}

testEngine({
  read,
  point: vector,
  ownKinds: ["capsule", "cylinder", "hull"],
  contains,
  pairs,
});
