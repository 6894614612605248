// Collision Bounds in three.js: a document's shapes as Box3, Sphere and OBB.
//
//   import { readCollisionBounds } from "./collision-bounds.three.mjs";
//
//   const bounds = readCollisionBounds(await (await fetch("level.json")).json());
//   const crate = bounds.objects.get("Crate");
//   if (crate.world.sphere.containsPoint(point)) …
//
// Write the document with `--preset gltf`: metres with Y up, as three.js and glTF have it. The shapes that are
// there are those that were asked for, `--shapes sphere,aabb,obb`.
//
// Checked by: three.js in Node, in the project's tests, on a scene made in Blender.
import { Box3, Matrix3, Matrix4, Quaternion, Sphere, Vector3 } from "three";
import { OBB } from "three/addons/math/OBB.js";

/**
 * What a parsed document holds, by id:
 *
 * objects: Map of id -> { id, name, type, parent, position, quaternion, world, local, envelope }
 *   world, local and envelope (null if there is none) have `box`, `sphere` and `obb`, each undefined if not
 *   asked for. Place local shapes by position and quaternion alone: their scale is in them already.
 * tracks: Map of id -> { frames, boxes, spheres }, world shapes of one object, one each frame
 * time, contacts, clearances: as they are in the document; frames are Blender's, seconds count from frame 0
 *
 * Throws an Error for anything that is not a document of version 1 in three.js's space.
 */
export function readCollisionBounds(document) {
  if (document?.format !== "collision-bounds") {
    throw new Error('This is no Collision Bounds document: its "format" is not "collision-bounds".');
  }
  if (!/^1\./.test(document.version)) {
    throw new Error(`This document is of version ${document.version}, and this loader reads version 1.`);
  }
  if (document.space.preset !== "gltf") {
    throw new Error(`This document is in the space "${document.space.preset}": export it with --preset gltf.`);
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
    quaternion: unit(transform.rotation),
    world: shapes(world),
    local: shapes(local),
    envelope: envelope ? shapes(envelope) : null,
  };
}

function shapes({ aabb, sphere, obb }) {
  return {
    box: aabb && new Box3(vector(aabb.min), vector(aabb.max)),
    sphere: sphere && new Sphere(vector(sphere.center), sphere.radius),
    obb: obb && new OBB(vector(obb.center), vector(obb.halfExtents), turn(obb.rotation)),
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

// Written with nine decimals, so not of length 1 to the last digit, which a large box would show.
function unit([x, y, z, w]) {
  return new Quaternion(x, y, z, w).normalize();
}

function turn(rotation) {
  return new Matrix3().setFromMatrix4(new Matrix4().makeRotationFromQuaternion(unit(rotation)));
}
