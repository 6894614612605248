// Attaches the entries of a document to the nodes of a glTF file in three.js. The argument is a file with
// { document, gltf }, or { document, glb } with the path of a binary file. The output has the entries by the original
// names of nodes, the parents of these nodes, the ids without a node and those of displaced nodes, the matrix and
// vertices of the node of each id, and for each joint the greatest distance of its skinned vertices outside of its
// local box.
import { readFileSync } from "node:fs";
import { Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { attachCollisionBounds, findDisplaced, readCollisionBounds } from "./collision-bounds.three.mjs";

// three.js expects these globals of browsers.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= Event;

const { document, gltf, glb } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const data = glb ? new Uint8Array(readFileSync(glb)).buffer : JSON.stringify(gltf);
const { scene } = await new GLTFLoader().parseAsync(data, "");
scene.updateMatrixWorld(true);
const bounds = readCollisionBounds(document);
const missing = attachCollisionBounds(bounds, scene);
const displaced = findDisplaced(bounds, scene);
const [attached, parents, placed, outside] = [{}, {}, {}, {}];
scene.traverse((node) => {
  if (node.isSkinnedMesh) measure(node);
  const entries = node.userData.collisionBounds;
  if (!entries) return;
  attached[node.userData.name ?? node.name] = entries.map(({ id, collision }) => ({ id, collision }));
  parents[node.userData.name ?? node.name] = node.parent.uuid;
  for (const { id } of entries) {
    placed[id] = { matrix: node.matrixWorld.elements, points: [...(node.geometry?.attributes.position.array ?? [])] };
  }
});
process.stdout.write(JSON.stringify({ attached, parents, missing, displaced, placed, outside }));

function measure(mesh) {
  const { skinIndex, skinWeight, position } = mesh.geometry.attributes;
  for (let i = 0; i < position.count; i += 1) {
    const weights = [0, 1, 2, 3].map((k) => skinWeight.getComponent(i, k));
    const joint = mesh.skeleton.bones[skinIndex.getComponent(i, weights.indexOf(Math.max(...weights)))];
    const { min, max } = joint.userData.collisionBounds[0].local.box;
    const point = joint.worldToLocal(mesh.localToWorld(mesh.getVertexPosition(i, new Vector3())));
    const distances = ["x", "y", "z"].flatMap((axis) => [min[axis] - point[axis], point[axis] - max[axis]]);
    const name = joint.userData.name;
    outside[name] = Math.max(outside[name] ?? -Infinity, ...distances);
  }
}
