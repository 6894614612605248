// SPDX-License-Identifier: MIT-0
// SPDX-FileCopyrightText: 2026 Collision Bounds developers
//
// Collision Bounds loader for three.js: the shapes of a document as Box3, Sphere and OBB.
//
//   import { readCollisionBounds } from "./collision-bounds.three.mjs";
//
//   const bounds = readCollisionBounds(await (await fetch("level.json")).json());
//   const crate = bounds.objects.get("Crate");
//   if (crate.world.sphere.containsPoint(point)) …
//
// Export the document with `--preset gltf`: meters, Y up, as in three.js and glTF. `--shapes` selects
// the shapes in it: sphere,aabb,obb,capsule,cylinder,hull,spheres,compound.
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
 * objects: Map of id -> { id, name, type, parent, bone, collision, position, quaternion, scale, world, local,
 *   envelope }.
 *   world, local and envelope have `box`, `sphere` and `obb`. A shape that is not in the document is undefined;
 *   envelope is null if there is none. Place local shapes by position and quaternion, without the scale of the
 *   object: local shapes include it.
 *   These groups can also have `capsule` and `cylinder`, { center, axis, halfLength, radius }, from
 *   center - halfLength axis to center + halfLength axis (a capsule is longer by its radius at each end); `hull`,
 *   { vertices, faces }, with triangles of indices of vertices; `spheres`, a tree as a list of { sphere, children },
 *   the root first, whose leaves (nodes without children) are the shape; `compound`, the convex parts as a list of such
 *   groups, each with a `hull`, `obb`, `sphere` or `capsule`, whose union is the shape.
 *   `envelope.local`, if it is in the document, has `box` and `sphere` around the object at all frames, in its axes.
 *   `collision` is { response, group, mask, material }: "solid", "trigger" or "none", a group from 1 to 16, the bits of
 *   the groups that it collides with (1 for group 1, 2 for group 2, 4 for group 3), and the name of a material or null.
 *   `bone` is the name of the bone of this part, or undefined: its local shapes are in the axes of that joint. It is
 *   empty for the vertices without a bone.
 * tracks: Map of id -> { frames, boxes, spheres }, the world shapes of an object, one per frame.
 * time, contacts, clearances: as in the document. Frames are frame numbers of Blender; seconds count from frame 0.
 *
 * @throws {Error} For another format, version or space, and for a broken document, with the path of the key.
 */
export function readCollisionBounds(document) {
  if (document?.format !== "collision-bounds") {
    throw new Error('Not a Collision Bounds document: its "format" is not "collision-bounds".');
  }
  if (!/^1\./.test(document.version)) {
    throw new Error(`The document has version ${document.version}, but this loader reads version 1.`);
  }
  const preset = text(table(document.space, "space").preset, "space.preset");
  if (preset !== "gltf") {
    throw new Error(`The document is in the space "${preset}": export it with --preset gltf.`);
  }
  const { time, contacts, clearances } = document;
  number(table(time, "time").fps, "time.fps");
  const objects = mapById(document.objects, "objects", "id", object);
  document.objects.forEach(({ parent }, i) => parent === null || idOf(parent, objects, `objects[${i}].parent`));
  const tracks = mapById(document.tracks, "tracks", "object", track);
  document.tracks.forEach((entry, i) => idOf(entry.object, objects, `tracks[${i}].object`));
  list(contacts, "contacts").forEach((entry, i) => checkContact(entry, objects, `contacts[${i}]`));
  list(clearances, "clearances").forEach((entry, i) => checkClearance(entry, objects, `clearances[${i}]`));
  return { time, objects, tracks, contacts, clearances };
}

// An object without the key "collision".
const SOLID = { response: "solid", group: 1, mask: 65535, material: null };

/**
 * Store the entries of a document in a scene: `userData.collisionBounds` of each object with a name of the document
 * becomes the list of its entries, several for loose parts or custom shapes. Entries of bones are stored in the joints
 * of their names, in the skeleton of the skinned mesh. A physics engine can create from them what `collision` says.
 *
 * @param {object} bounds Result of `readCollisionBounds`.
 * @param {Object3D} root Scene, or the `scene` of a loaded glTF file.
 * @returns {string[]} The ids of entries without an object or a joint in the scene. Instances of a collection are attached
 *   to the objects below that of their owner; instances of geometry nodes have none.
 */
export function attachCollisionBounds(bounds, root) {
  return attach(bounds, nodeFinder(root), jointOf, (node) => node.userData);
}

/**
 * Find the objects that are elsewhere in a scene than in the document: their `world` shapes are not around them. That
 * is so if the model was exported at another frame, or moved since. Nodes with bones are not compared.
 *
 * @param {object} bounds Result of `readCollisionBounds`.
 * @param {Object3D} root Scene, or the `scene` of a loaded glTF file. Poses are compared relative to it.
 * @returns {string[]} The ids of these entries.
 */
export function findDisplaced(bounds, root) {
  const nodeFor = nodeFinder(root);
  const isDisplaced = (entry, node) => node && entry.bone === undefined && !skinOf(node) && !isAtPose(entry, node, root);
  return [...bounds.objects.values()].filter((entry) => isDisplaced(entry, nodeFor(entry))).map(({ id }) => id);
}

function skinOf(node) {
  return [node, ...node.children].find(({ isSkinnedMesh }) => isSkinnedMesh);
}

function jointOf(node, bone) {
  return skinOf(node)?.skeleton.bones.find((joint) => (joint.userData.name ?? joint.name) === bone);
}

function isAtPose({ position, quaternion, scale }, node, root) {
  const found = root.matrixWorld.clone().invert().multiply(node.matrixWorld);
  return areSamePose(found.elements, new Matrix4().compose(position, quaternion, scale).elements);
}

function nodeFinder(root) {
  root.updateWorldMatrix(true, true);
  const [stored, others, joints] = [new Map(), new Map(), new Map()];
  // GLTFLoader changes some names, and stores the original ones. Below an object with several materials, it creates
  // meshes without a stored name, which can have the name of an object. Joints can have it, too.
  root.traverse((node) => {
    const map = node.isBone ? joints : node.userData.name === undefined ? others : stored;
    const name = node.userData.name ?? node.name;
    map.set(name, [...(map.get(name) ?? []), node]);
  });
  const named = (name) => stored.get(name) ?? others.get(name) ?? joints.get(name) ?? [];
  const isBelow = ({ parent }, name) =>
    parent !== null && ((parent.userData.name ?? parent.name) === name || isBelow(parent, name));
  return (entry) => nodeOf(entry, named, isBelow, (node) => isAtPose(entry, node, root));
}

// The node of an entry, or undefined. `named` returns the nodes of a name, and `isBelow` whether a node is
// below one of a name. Of several nodes, that at the pose of the entry is taken.
function nodeOf(entry, named, isBelow, isAt) {
  // Parts are named after their object: "Crate/part.0", "Crate/shape.1", "Hero/bone.Hand".
  const whole = entry.name.replace(/\/(part\.\d+|shape\.\d+|bone\..*|no bone)$/s, "");
  // Instances are named after their owner and their object: "Gate/Post.0" is a node "Post" below a node "Gate".
  const [, owner, item] = /^(.*?)\/(.*)\.\d+$/s.exec(whole) ?? [];
  const candidates = [
    () => named(entry.name),
    () => named(whole),
    () => (owner === undefined ? [] : named(item).filter((node) => isBelow(node, owner))),
  ];
  for (const find of candidates) {
    const nodes = find();
    if (nodes.length) return nodes.find((node) => isAt(node)) ?? nodes[0];
  }
}

function attach(bounds, nodeFor, jointOf, dataOf) {
  const [attached, missing] = [new Map(), []];
  for (const entry of bounds.objects.values()) {
    let node = nodeFor(entry);
    if (node && entry.bone) node = jointOf(node, entry.bone);
    if (!node) {
      missing.push(entry.id);
      continue;
    }
    const data = dataOf(node);
    if (!attached.has(data)) attached.set(data, (data.collisionBounds = []));
    attached.get(data).push(entry);
  }
  return missing;
}

// Compares two matrices of 16 numbers, an axis of the node after the other. Shear is not part of a pose, so only the
// origin of a sheared node counts.
function areSamePose(found, expected) {
  const axes = [0, 4, 8].map((start) => found.slice(start, start + 3));
  const size = Math.max(...axes.map((axis) => Math.hypot(...axis)));
  const far = Math.max(...found.slice(12, 15).map(Math.abs));
  const isSheared = [[0, 1], [1, 2], [2, 0]].some(
    ([a, b]) =>
      Math.abs(axes[a].reduce((sum, each, k) => sum + each * axes[b][k], 0)) >
      1e-4 * Math.hypot(...axes[a]) * Math.hypot(...axes[b]),
  );
  const isNear = (k) => Math.abs(found[k] - expected[k]) <= 1e-3 * size + (k < 12 ? 0 : 1e-5 * far);
  return [12, 13, 14].every(isNear) && (isSheared || [0, 1, 2, 4, 5, 6, 8, 9, 10].every(isNear));
}

function object({ id, name, type, parent, bone, collision, transform, world, local, envelope }, path) {
  const { translation, rotation, scale } = table(transform, `${path}.transform`);
  return {
    id,
    name: text(name, `${path}.name`),
    type: text(type, `${path}.type`),
    parent,
    bone: bone === undefined ? undefined : text(bone, `${path}.bone`),
    collision: collision === undefined ? { ...SOLID } : response(table(collision, `${path}.collision`), `${path}.collision`),
    position: vector(translation, `${path}.transform.translation`),
    quaternion: unitQuaternion(rotation, `${path}.transform.rotation`),
    scale: vector(scale, `${path}.transform.scale`),
    world: shapes(world, `${path}.world`),
    local: shapes(local, `${path}.local`),
    envelope: envelope === undefined ? null : swept(envelope, `${path}.envelope`),
  };
}

function swept(envelope, path) {
  const world = shapes(envelope, path);
  return envelope.local === undefined ? world : { ...world, local: shapes(envelope.local, `${path}.local`) };
}

function shapes(group, path) {
  const shape = (key, convert, check = table) =>
    table(group, path)[key] === undefined ? undefined : convert(check(group[key], `${path}.${key}`), `${path}.${key}`);
  return {
    box: shape("aabb", ({ min, max }, path) => box(min, max, `${path}.min`, `${path}.max`)),
    sphere: shape("sphere", ({ center, radius }, path) => ball(center, radius, `${path}.center`, `${path}.radius`)),
    obb: shape("obb", orientedBox),
    capsule: shape("capsule", segmentShape),
    cylinder: shape("cylinder", segmentShape),
    hull: shape("hull", hull),
    spheres: shape("spheres", sphereTree, list),
    compound: shape("compound", compound, list),
  };
}

function compound(parts, path) {
  return parts.map((part, i) => {
    const shape = shapes(part, `${path}[${i}]`);
    return shape.hull ?? shape.obb ?? shape.sphere ?? shape.capsule
      ? shape
      : fail(`${path}[${i}]`, "must have a hull, obb, sphere or capsule");
  });
}

function response({ response, group, mask, material }, path) {
  const isResponse = ["solid", "trigger", "none"].includes(response);
  return {
    response: isResponse ? response : fail(`${path}.response`, "must be solid, trigger or none"),
    group: whole(group, 1, 16, `${path}.group`),
    mask: whole(mask, 0, 65535, `${path}.mask`),
    material: material === null ? null : text(material, `${path}.material`),
  };
}

function track({ frames, aabb, sphere }, path) {
  list(frames, `${path}.frames`).forEach((frame, i) => number(frame, `${path}.frames[${i}]`));
  // Converts the pair of entries that two lists of a shape have for each frame.
  const eachFrame = (shape, path, first, second, convert) => {
    const [a, b] = [first, second].map((key) => perFrame(table(shape, path)[key], frames, `${path}.${key}`));
    return frames.map((_, i) => convert(a[i], b[i], `${path}.${first}[${i}]`, `${path}.${second}[${i}]`));
  };
  return {
    frames,
    boxes: aabb === undefined ? undefined : eachFrame(aabb, `${path}.aabb`, "mins", "maxs", box),
    spheres: sphere === undefined ? undefined : eachFrame(sphere, `${path}.sphere`, "centers", "radii", ball),
  };
}

function checkContact(contact, objects, path) {
  const { a, b, first, intervals } = table(contact, path);
  idOf(a, objects, `${path}.a`);
  idOf(b, objects, `${path}.b`);
  table(first, `${path}.first`);
  for (const key of ["frame", "seconds", "uncertainty"]) number(first[key], `${path}.first.${key}`);
  for (const key of ["point", "normal"]) numbers(first[key], 3, `${path}.first.${key}`);
  list(intervals, `${path}.intervals`).forEach((entry, i) => checkInterval(entry, `${path}.intervals[${i}]`));
}

function checkInterval(interval, path) {
  for (const key of ["start", "end"]) number(table(interval, path)[key], `${path}.${key}`);
  const { uncertainty, point, normal, velocity, closingSpeed, deepest } = interval;
  // Documents before version 1.2 have none of these.
  if ([uncertainty, point, normal, velocity, closingSpeed, deepest].every((each) => each === undefined)) return;
  size(uncertainty, `${path}.uncertainty`);
  numbers(point, 3, `${path}.point`);
  numbers(normal, 3, `${path}.normal`);
  if (velocity !== null && velocity !== undefined) numbers(velocity, 3, `${path}.velocity`);
  if (closingSpeed !== null && closingSpeed !== undefined) number(closingSpeed, `${path}.closingSpeed`);
  const { frame, depth, direction } = table(deepest, `${path}.deepest`);
  number(frame, `${path}.deepest.frame`);
  number(depth, `${path}.deepest.depth`);
  numbers(direction, 3, `${path}.deepest.direction`);
}

function checkClearance(clearance, objects, path) {
  const { a, b, frame, gap } = table(clearance, path);
  idOf(a, objects, `${path}.a`);
  idOf(b, objects, `${path}.b`);
  number(frame, `${path}.frame`);
  number(gap, `${path}.gap`);
}

function box(min, max, minPath, maxPath) {
  return new Box3(...corners(min, max, minPath, maxPath));
}

function ball(center, radius, centerPath, radiusPath) {
  return new Sphere(vector(center, centerPath), size(radius, radiusPath));
}

function orientedBox({ center, halfExtents, rotation }, path) {
  const matrix = new Matrix4().makeRotationFromQuaternion(unitQuaternion(rotation, `${path}.rotation`));
  const half = new Vector3(...halfSizes(halfExtents, `${path}.halfExtents`));
  return new OBB(vector(center, `${path}.center`), half, new Matrix3().setFromMatrix4(matrix));
}

function segmentShape({ center, axis, halfLength, radius }, path) {
  const isUnit = Math.abs(Math.hypot(...numbers(axis, 3, `${path}.axis`)) - 1) < 1e-3;
  return {
    center: vector(center, `${path}.center`),
    axis: isUnit ? vector(axis, `${path}.axis`).normalize() : fail(`${path}.axis`, "must have length 1"),
    halfLength: size(halfLength, `${path}.halfLength`),
    radius: size(radius, `${path}.radius`),
  };
}

function hull({ vertices, faces }, path) {
  const points = list(vertices, `${path}.vertices`).map((vertex, i) => vector(vertex, `${path}.vertices[${i}]`));
  const isIndex = (index) => Number.isInteger(index) && index >= 0 && index < points.length;
  list(faces, `${path}.faces`).forEach((face, i) => {
    const isTriangle = Array.isArray(face) && face.length === 3 && face.every(isIndex);
    if (!isTriangle) fail(`${path}.faces[${i}]`, "must be 3 indices of vertices");
  });
  return { vertices: points, faces };
}

function sphereTree(nodes, path) {
  return nodes.map((node, i) => {
    const { center, radius, children } = table(node, `${path}[${i}]`);
    const isLater = (child) => Number.isInteger(child) && child > i && child < nodes.length;
    const isValid = Array.isArray(children) && children.every(isLater);
    return {
      sphere: ball(center, radius, `${path}[${i}].center`, `${path}[${i}].radius`),
      children: isValid ? children : fail(`${path}[${i}].children`, "must be indices of later nodes"),
    };
  });
}

function corners(min, max, minPath, maxPath) {
  const [low, high] = [vector(min, minPath), vector(max, maxPath)];
  return min.every((value, k) => value <= max[k]) ? [low, high] : fail(minPath, "must not be above max");
}

function vector(value, path) {
  return new Vector3(...numbers(value, 3, path));
}

function halfSizes(value, path) {
  return numbers(value, 3, path).every((half) => half >= 0) ? value : fail(path, "must not be negative");
}

// Rotations have nine decimals. They are normalized, because the rounding error matters for large boxes.
function unitQuaternion(value, path) {
  const isUnit = Math.abs(Math.hypot(...numbers(value, 4, path)) - 1) < 1e-3;
  return isUnit ? new Quaternion(...value).normalize() : fail(path, "must have length 1");
}

// Each of these returns a value of the document, or throws an error with its path.

function number(value, path) {
  return Number.isFinite(value) ? value : fail(path, "must be a finite number");
}

function size(value, path) {
  return number(value, path) >= 0 ? value : fail(path, "must not be negative");
}

function whole(value, least, greatest, path) {
  const isValid = Number.isInteger(value) && value >= least && value <= greatest;
  return isValid ? value : fail(path, `must be a whole number, ${least} to ${greatest}`);
}

function numbers(value, count, path) {
  const isValid = Array.isArray(value) && value.length === count && value.every(Number.isFinite);
  return isValid ? value : fail(path, `must be ${count} finite numbers`);
}

function text(value, path) {
  return typeof value === "string" ? value : fail(path, "must be text");
}

function list(value, path) {
  return Array.isArray(value) ? value : fail(path, "must be a list");
}

function perFrame(value, frames, path) {
  return list(value, path).length === frames.length ? value : fail(path, "must have one item per frame");
}

function table(value, path) {
  const isValid = typeof value === "object" && value !== null && !Array.isArray(value);
  return isValid ? value : fail(path, "must be an object");
}

function idOf(value, objects, path) {
  return objects.has(text(value, path)) ? value : fail(path, "is not the id of an object");
}

// Converts each entry of a list. The result is a Map by one key of the entries, an id.
function mapById(entries, path, key, convert) {
  const map = new Map();
  for (const [i, entry] of list(entries, path).entries()) {
    const id = text(table(entry, `${path}[${i}]`)[key], `${path}[${i}].${key}`);
    if (map.has(id)) fail(`${path}[${i}].${key}`, "is used twice");
    map.set(id, convert(entry, `${path}[${i}]`));
  }
  return map;
}

function fail(path, problem) {
  throw new Error(`${path}: ${problem}`);
}
