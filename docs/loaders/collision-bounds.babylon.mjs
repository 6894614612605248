// Collision Bounds loader for Babylon.js: the shapes of a document as BoundingInfo and BoundingSphere.
//
//   import { readCollisionBounds } from "./collision-bounds.babylon.mjs";
//
//   const bounds = readCollisionBounds(await (await fetch("level.json")).json());
//   const [crate, floor] = ["Crate", "Floor"].map((id) => bounds.objects.get(id).world);
//   if (crate.obb.intersects(floor.obb, true)) …
//
// Export the document with `--preset unity`: meters, Y up, left-handed, the default of Babylon.js.
// `--shapes sphere,aabb,obb` selects the shapes in it.
//
// Tested with Babylon.js in Node, in the project's tests, on a scene made in Blender.
import { BoundingInfo } from "@babylonjs/core/Culling/boundingInfo.js";
import { BoundingSphere } from "@babylonjs/core/Culling/boundingSphere.js";
import { Matrix, Quaternion, Vector3 } from "@babylonjs/core/Maths/math.vector.js";

// Babylon.js stores matrices in single precision. This is the largest rounding error of an oriented box that is
// placed by a matrix, relative to its size plus its distance from the origin.
const SINGLE_PRECISION = 2 ** -21;

/**
 * Convert a parsed document.
 *
 * @param {object} document A document of version 1 in Babylon.js's space.
 * @returns {object} An object with these properties:
 *
 * objects: Map of id -> { id, name, type, parent, position, rotationQuaternion, world, local, envelope }.
 *   world, local and envelope have `box` and `obb`, each a BoundingInfo, and `sphere`, a BoundingSphere. A shape
 *   that is not in the document is undefined; envelope is null if there is none. The rotation of an `obb` is in
 *   its world matrix. Place local shapes by position and rotationQuaternion, without the scale of the object:
 *   local shapes include it.
 * tracks: Map of id -> { frames, boxes, spheres }, the world shapes of an object, one per frame.
 * time, contacts, clearances: as in the document. Frames are frame numbers of Blender; seconds count from frame 0.
 *
 * @throws {Error} For another format, version or space.
 */
export function readCollisionBounds(document) {
  if (document?.format !== "collision-bounds") {
    throw new Error('Not a Collision Bounds document: its "format" is not "collision-bounds".');
  }
  if (!/^1\./.test(document.version)) {
    throw new Error(`The document has version ${document.version}, but this loader reads version 1.`);
  }
  if (document.space.preset !== "unity") {
    throw new Error(`The document is in the space "${document.space.preset}": export it with --preset unity.`);
  }
  return {
    time: document.time,
    objects: new Map(document.objects.map((entry) => [entry.id, object(entry)])),
    tracks: new Map(document.tracks.map((entry) => [entry.object, track(entry)])),
    contacts: document.contacts,
    clearances: document.clearances,
  };
}

function object({ id, name, type, parent, transform, world, local, envelope }) {
  return {
    id,
    name,
    type,
    parent,
    position: vector(transform.translation),
    rotationQuaternion: unitQuaternion(transform.rotation),
    world: shapes(world),
    local: shapes(local),
    envelope: envelope ? shapes(envelope) : null,
  };
}

function shapes({ aabb, sphere, obb }) {
  return {
    box: aabb && box(aabb.min, aabb.max),
    sphere: sphere && boundingSphere(sphere.center, sphere.radius),
    obb: obb && orientedBox(obb),
  };
}

function track({ frames, aabb, sphere }) {
  return {
    frames,
    boxes: aabb && frames.map((_, i) => box(aabb.mins[i], aabb.maxs[i])),
    spheres: sphere && frames.map((_, i) => boundingSphere(sphere.centers[i], sphere.radii[i])),
  };
}

// Babylon.js tests the sphere through the corners first. Rounding can put a corner outside it, so it is enlarged.
function box(min, max) {
  const info = new BoundingInfo(vector(min), vector(max));
  info.boundingSphere.radius *= 1 + 2 ** -50;
  info.boundingSphere.radiusWorld = info.boundingSphere.radius;
  return info;
}

// The constructor computes the sphere from the ends of a diameter, which loses precision far from the origin. So
// the radius is set directly.
function boundingSphere(center, radius) {
  const sphere = new BoundingSphere(vector(center), vector(center));
  sphere.radius = sphere.radiusWorld = radius;
  return sphere;
}

function orientedBox({ center, halfExtents, rotation }) {
  const far = Math.max(...center.map(Math.abs)) + Math.max(...halfExtents);
  const half = vector(halfExtents.map((extent) => extent + SINGLE_PRECISION * far));
  const matrix = Matrix.Compose(Vector3.One(), unitQuaternion(rotation), vector(center));
  return new BoundingInfo(half.negate(), half, matrix);
}

function vector([x, y, z]) {
  return new Vector3(x, y, z);
}

// Rotations have nine decimals. They are normalized, because the rounding error matters for large boxes.
function unitQuaternion([x, y, z, w]) {
  return new Quaternion(x, y, z, w).normalize();
}
