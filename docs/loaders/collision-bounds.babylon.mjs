// Collision Bounds in Babylon.js: a document's shapes as BoundingInfo and BoundingSphere.
//
//   import { readCollisionBounds } from "./collision-bounds.babylon.mjs";
//
//   const bounds = readCollisionBounds(await (await fetch("level.json")).json());
//   const [crate, floor] = ["Crate", "Floor"].map((id) => bounds.objects.get(id).world);
//   if (crate.obb.intersects(floor.obb, true)) …
//
// Write the document with `--preset unity`: metres with Y up, left-handed, as Babylon.js has it unless told
// otherwise. The shapes that are there are those that were asked for, `--shapes sphere,aabb,obb`.
//
// Checked by: Babylon.js in Node, in the project's tests, on a scene made in Blender.
import { BoundingInfo } from "@babylonjs/core/Culling/boundingInfo.js";
import { BoundingSphere } from "@babylonjs/core/Culling/boundingSphere.js";
import { Matrix, Quaternion, Vector3 } from "@babylonjs/core/Maths/math.vector.js";

// Babylon.js keeps matrices in single precision: what placing an oriented box by one may lose of it, as part
// of its size and its distance from the origin.
const SINGLE_PRECISION = 2 ** -21;

/**
 * What a parsed document holds, by id:
 *
 * objects: Map of id -> { id, name, type, parent, position, rotationQuaternion, world, local, envelope }
 *   world, local and envelope (null if there is none) have `box` and `obb`, each a BoundingInfo, and `sphere`, a
 *   BoundingSphere, each undefined if not asked for. An `obb` has its turn in its world matrix. Place local
 *   shapes by position and rotationQuaternion alone: their scale is in them already.
 * tracks: Map of id -> { frames, boxes, spheres }, world shapes of one object, one each frame
 * time, contacts, clearances: as they are in the document; frames are Blender's, seconds count from frame 0
 *
 * Throws an Error for anything that is not a document of version 1 in Babylon.js's space.
 */
export function readCollisionBounds(document) {
  if (document?.format !== "collision-bounds") {
    throw new Error('This is no Collision Bounds document: its "format" is not "collision-bounds".');
  }
  if (!/^1\./.test(document.version)) {
    throw new Error(`This document is of version ${document.version}, and this loader reads version 1.`);
  }
  if (document.space.preset !== "unity") {
    throw new Error(`This document is in the space "${document.space.preset}": export it with --preset unity.`);
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
    rotationQuaternion: unit(transform.rotation),
    world: shapes(world),
    local: shapes(local),
    envelope: envelope ? shapes(envelope) : null,
  };
}

function shapes({ aabb, sphere, obb }) {
  return {
    box: aabb && box(aabb.min, aabb.max),
    sphere: sphere && ball(sphere.center, sphere.radius),
    obb: obb && turned(obb),
  };
}

function track({ frames, aabb, sphere }) {
  return {
    frames,
    boxes: aabb && frames.map((_, i) => box(aabb.mins[i], aabb.maxs[i])),
    spheres: sphere && frames.map((_, i) => ball(sphere.centers[i], sphere.radii[i])),
  };
}

// Babylon.js goes by a sphere through the corners first, which may lose a corner by the last digit.
function box(min, max) {
  const info = new BoundingInfo(vector(min), vector(max));
  info.boundingSphere.radius *= 1 + 2 ** -50;
  info.boundingSphere.radiusWorld = info.boundingSphere.radius;
  return info;
}

// Made from the ends of a diameter, a sphere would lose digits far from the origin: so its numbers are put in.
function ball(center, radius) {
  const sphere = new BoundingSphere(vector(center), vector(center));
  sphere.radius = sphere.radiusWorld = radius;
  return sphere;
}

function turned({ center, halfExtents, rotation }) {
  const far = Math.max(...center.map(Math.abs)) + Math.max(...halfExtents);
  const half = vector(halfExtents.map((extent) => extent + SINGLE_PRECISION * far));
  const place = Matrix.Compose(Vector3.One(), unit(rotation), vector(center));
  return new BoundingInfo(half.negate(), half, place);
}

function vector([x, y, z]) {
  return new Vector3(x, y, z);
}

// Written with nine decimals, so not of length 1 to the last digit, which a large box would show.
function unit([x, y, z, w]) {
  return new Quaternion(x, y, z, w).normalize();
}
