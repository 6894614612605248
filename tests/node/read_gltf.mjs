// What three.js reads of one file: meshes with their vertices in the world, colliders with their matrices, and
// the volumes in the world of convex ones and of the hulls that three.js itself finds of meshes.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Triangle, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { ConvexHull } from "three/addons/math/ConvexHull.js";

// What three.js takes for granted in a browser.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};

const path = process.argv[2];
const bytes = readFileSync(path);
let data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
if (path.endsWith(".gltf")) {
  // Node's fetch takes no paths: what lies beside the file is put into it.
  const json = JSON.parse(bytes.toString("utf-8"));
  for (const buffer of json.buffers ?? []) {
    const beside = readFileSync(join(dirname(path), decodeURIComponent(buffer.uri)));
    buffer.uri = `data:application/octet-stream;base64,${beside.toString("base64")}`;
  }
  data = JSON.stringify(json);
}
const loaded = await new GLTFLoader().parseAsync(data, "");
loaded.scene.updateMatrixWorld(true);
const listed = loaded.parser.json.extensions ?? {};
const colliders = [];
const meshes = [];

// Of a closed surface, from triangles whose corners go counter-clockwise.
function volumeOf(triangles, middle) {
  const [u, v, w] = [new Vector3(), new Vector3(), new Vector3()];
  let sum = 0;
  for (const { a, b, c } of triangles) {
    sum += u.subVectors(a, middle).dot(v.subVectors(b, middle).cross(w.subVectors(c, middle))) / 6;
  }
  return sum;
}

function hullVolume(points) {
  const hull = new ConvexHull().setFromPoints(points);
  const triangles = hull.faces.map(({ edge }) =>
    new Triangle(edge.tail().point, edge.head().point, edge.next.head().point));
  return volumeOf(triangles, points[0]);
}

async function convexMesh(index, matrix) {
  const { geometry } = await loaded.parser.getDependency("mesh", index);
  const { position } = geometry.attributes;
  const corners = Array.from({ length: position.count }, (_, i) => new Vector3().fromBufferAttribute(position, i));
  for (const corner of corners) corner.applyMatrix4(matrix);
  const at = geometry.index.array;
  const triangles = [];
  for (let i = 0; i < at.length; i += 3) {
    triangles.push(new Triangle(corners[at[i]], corners[at[i + 1]], corners[at[i + 2]]));
  }
  const mirrored = matrix.determinant() < 0 ? -1 : 1;
  return { type: "convex", mesh: index, corners: corners.length, volume: mirrored * volumeOf(triangles, corners[0]) };
}

loaded.scene.traverse((node) => {
  const told = node.userData.gltfExtensions ?? {};
  for (const [body, list] of [
    ["OMI_physics_body", "OMI_physics_shape"],
    ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
  ]) {
    const collider = told[body]?.collider;
    if (collider === undefined) continue;
    let shape = listed[list]?.shapes[collider.shape ?? collider.geometry.shape];
    if (shape?.type === "convex") shape = convexMesh(shape.convex.mesh, node.matrixWorld);
    if (collider.geometry?.convexHull) shape = convexMesh(collider.geometry.mesh, node.matrixWorld);
    colliders.push({ body, name: node.name, parent: node.parent.name, shape, matrix: node.matrixWorld.elements });
  }
  if (node.isMesh) {
    const positions = node.geometry.attributes.position;
    const points = [];
    for (let i = 0; i < positions.count; i += 1) {
      // Bones and shape keys too, if there are any.
      points.push(node.getVertexPosition(i, new Vector3()).applyMatrix4(node.matrixWorld));
    }
    const vertices = points.map((point) => point.toArray());
    meshes.push({ name: node.name, parent: node.parent.name, vertices, volume: hullVolume(points) });
  }
});
for (const collider of colliders) collider.shape = await collider.shape;
process.stdout.write(JSON.stringify({ colliders, meshes }));
