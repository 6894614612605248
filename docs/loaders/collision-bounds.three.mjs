// Collision Bounds loader for three.js: the shapes of a document as Box3, Sphere and OBB.
//
//   import { readCollisionBounds } from "./collision-bounds.three.mjs";
//
//   const bounds = readCollisionBounds(await (await fetch("level.json")).json());
//   const crate = bounds.objects.get("Crate");
//   if (crate.world.sphere.containsPoint(point)) …
//
// Export the document with `--preset gltf`: meters, Y up, as in three.js and glTF. `--shapes sphere,aabb,obb`
// selects the shapes in it.
//
// Tested with three.js in Node, in the project's tests, on a scene made in Blender.
import { Box3, Matrix3, Matrix4, Quaternion, Sphere, Vector3 } from "three";
import { OBB } from "three/addons/math/OBB.js";

/**
 * Convert a parsed document.
 *
 * @param {object} document A document of version 1 in three.js's space.
 * @returns {object} An object with these properties:
 *
 * objects: Map of id -> { id, name, type, parent, position, quaternion, world, local, envelope }.
 *   world, local and envelope have `box`, `sphere` and `obb`. A shape that is not in the document is undefined;
 *   envelope is null if there is none. Place local shapes by position and quaternion, without the scale of the
 *   object: local shapes include it.
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
  if (document.space.preset !== "gltf") {
    throw new Error(`The document is in the space "${document.space.preset}": export it with --preset gltf.`);
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
    quaternion: unitQuaternion(transform.rotation),
    world: shapes(world),
    local: shapes(local),
    envelope: envelope ? shapes(envelope) : null,
  };
}

function shapes({ aabb, sphere, obb }) {
  return {
    box: aabb && new Box3(vector(aabb.min), vector(aabb.max)),
    sphere: sphere && new Sphere(vector(sphere.center), sphere.radius),
    obb: obb && new OBB(vector(obb.center), vector(obb.halfExtents), rotationMatrix(obb.rotation)),
  };
}

function track({ frames, aabb, sphere }) {
  return {
    frames,
    boxes: aabb && frames.map((_, i) => new Box3(vector(aabb.mins[i]), vector(aabb.maxs[i]))),
    spheres: sphere && frames.map((_, i) => new Sphere(vector(sphere.centers[i]), sphere.radii[i])),
  };
}

function vector([x, y, z]) {
  return new Vector3(x, y, z);
}

// Rotations have nine decimals. They are normalized, because the rounding error matters for large boxes.
function unitQuaternion([x, y, z, w]) {
  return new Quaternion(x, y, z, w).normalize();
}

function rotationMatrix(rotation) {
  return new Matrix3().setFromMatrix4(new Matrix4().makeRotationFromQuaternion(unitQuaternion(rotation)));
}
