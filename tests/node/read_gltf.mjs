// Reads a glTF file with three.js. The output has meshes with their world-space vertices, colliders with their world
// matrices, and world-space volumes: of convex colliders, and of the hulls that three.js computes for the meshes.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Triangle, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { ConvexHull } from "three/addons/math/ConvexHull.js";

// three.js expects these globals of browsers.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};

const path = process.argv[2];
const bytes = readFileSync(path);
let data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
if (path.endsWith(".gltf")) {
  // fetch of Node does not accept paths, so the buffers are embedded into the file.
  const json = JSON.parse(bytes.toString("utf-8"));
  for (const buffer of (json.buffers ?? []).filter(({ uri }) => !uri.startsWith("data:"))) {
    const content = readFileSync(join(dirname(path), decodeURIComponent(buffer.uri)));
    buffer.uri = `data:application/octet-stream;base64,${content.toString("base64")}`;
  }
  data = JSON.stringify(json);
}
const loaded = await new GLTFLoader().parseAsync(data, "");
loaded.scene.updateMatrixWorld(true);
const extensions = loaded.parser.json.extensions ?? {};
const colliders = [];
const meshes = [];

// Volume of a closed surface of triangles that are counter-clockwise from outside.
function volumeOf(triangles, origin) {
  const [u, v, w] = [new Vector3(), new Vector3(), new Vector3()];
  let sum = 0;
  for (const { a, b, c } of triangles) {
    sum += u.subVectors(a, origin).dot(v.subVectors(b, origin).cross(w.subVectors(c, origin))) / 6;
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
  const indices = geometry.index.array;
  const triangles = [];
  for (let i = 0; i < indices.length; i += 3) {
    triangles.push(new Triangle(corners[indices[i]], corners[indices[i + 1]], corners[indices[i + 2]]));
  }
  const mirrored = matrix.determinant() < 0 ? -1 : 1;
  return {
    type: "convex",
    mesh: index,
    corners: corners.length,
    vertices: corners.map((corner) => corner.toArray()),
    faces: [...indices],
    volume: mirrored * volumeOf(triangles, corners[0]),
  };
}

loaded.scene.traverse((node) => {
  const nodeExtensions = node.userData.gltfExtensions ?? {};
  for (const [body, list] of [
    ["OMI_physics_body", "OMI_physics_shape"],
    ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
  ]) {
    const collider = nodeExtensions[body]?.collider;
    if (collider === undefined) continue;
    let shape = extensions[list]?.shapes[collider.shape ?? collider.geometry.shape];
    if (shape?.type === "convex") shape = convexMesh(shape.convex.mesh, node.matrixWorld);
    if (collider.geometry?.convexHull) shape = convexMesh(collider.geometry.mesh, node.matrixWorld);
    colliders.push({ body, name: node.name, parent: node.parent.name, shape, matrix: node.matrixWorld.elements });
  }
  if (node.isMesh) {
    const positions = node.geometry.attributes.position;
    const points = [];
    for (let i = 0; i < positions.count; i += 1) {
      // Includes bones and shape keys.
      points.push(node.getVertexPosition(i, new Vector3()).applyMatrix4(node.matrixWorld));
    }
    const vertices = points.map((point) => point.toArray());
    meshes.push({ name: node.name, parent: node.parent.name, vertices, volume: hullVolume(points) });
  }
});
for (const collider of colliders) collider.shape = await collider.shape;
process.stdout.write(JSON.stringify({ colliders, meshes }));
