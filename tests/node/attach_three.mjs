// Attaches the entries of a document to the nodes of a glTF file in three.js. The argument is a file with
// { document, gltf }. The output has the entries by the original names of nodes, the parents of these
// nodes, and the ids without a node.
import { readFileSync } from "node:fs";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { attachCollisionBounds, readCollisionBounds } from "./collision-bounds.three.mjs";

// three.js expects these globals of browsers.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= Event;

const { document, gltf } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const { scene } = await new GLTFLoader().parseAsync(JSON.stringify(gltf), "");
const missing = attachCollisionBounds(readCollisionBounds(document), scene);
const [attached, parents] = [{}, {}];
scene.traverse((node) => {
  const entries = node.userData.collisionBounds;
  if (!entries) return;
  attached[node.userData.name ?? node.name] = entries.map(({ id, collision }) => ({ id, collision }));
  parents[node.userData.name ?? node.name] = node.parent.uuid;
});
process.stdout.write(JSON.stringify({ attached, parents, missing }));
