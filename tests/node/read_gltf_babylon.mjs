// Reads a .gltf with Babylon.js. The output has its colliders with their world matrices, in the form of read_gltf.mjs.
import { readFileSync } from "node:fs";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { Logger } from "@babylonjs/core/Misc/logger.js";
import { LoadAssetContainerAsync } from "@babylonjs/core/Loading/sceneLoader.js";
import { Scene } from "@babylonjs/core/scene.js";
import "@babylonjs/loaders/glTF/2.0/index.js";

Logger.LogLevels = Logger.ErrorLogLevel;
const json = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const scene = new Scene(new NullEngine());
const loaded = await LoadAssetContainerAsync(`data:${JSON.stringify(json)}`, scene, { pluginExtension: ".gltf" });
const nodes = new Map();
for (const node of [...loaded.transformNodes, ...loaded.meshes]) {
  node.computeWorldMatrix(true);
  // The loader stores on each node its JSON pointer in the file.
  for (const pointer of node._internalMetadata?.gltf?.pointers ?? []) nodes.set(pointer, node);
}
const colliders = [];
for (const [index, entry] of json.nodes.entries()) {
  for (const [body, list] of [
    ["OMI_physics_body", "OMI_physics_shape"],
    ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
  ]) {
    const collider = entry.extensions?.[body]?.collider;
    if (collider === undefined) continue;
    const node = nodes.get(`/nodes/${index}`);
    const shape = json.extensions[list].shapes[collider.shape ?? collider.geometry.shape];
    colliders.push({ body, name: node.name, parent: node.parent.name, shape, matrix: [...node.getWorldMatrix().m] });
  }
}
process.stdout.write(JSON.stringify({ colliders }));
process.exit(0);
