// What three.js reads of one file: meshes with their vertices in the world, colliders with their matrices.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

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
loaded.scene.traverse((node) => {
  const told = node.userData.gltfExtensions ?? {};
  for (const [body, list] of [
    ["OMI_physics_body", "OMI_physics_shape"],
    ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
  ]) {
    const collider = told[body]?.collider;
    if (collider === undefined) continue;
    const shape = listed[list].shapes[collider.shape ?? collider.geometry.shape];
    colliders.push({ body, name: node.name, parent: node.parent.name, shape, matrix: node.matrixWorld.elements });
  }
  if (node.isMesh) {
    const positions = node.geometry.attributes.position;
    const vertices = [];
    for (let i = 0; i < positions.count; i += 1) {
      // Bones and shape keys too, if there are any.
      vertices.push(node.getVertexPosition(i, new Vector3()).applyMatrix4(node.matrixWorld).toArray());
    }
    meshes.push({ name: node.name, parent: node.parent.name, vertices });
  }
});
process.stdout.write(JSON.stringify({ colliders, meshes }));
