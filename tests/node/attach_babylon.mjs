// Attaches the entries of a document to the nodes of a glTF file in Babylon.js, in the form of attach_three.mjs.
import { readFileSync } from "node:fs";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { LoadAssetContainerAsync } from "@babylonjs/core/Loading/sceneLoader.js";
import { Logger } from "@babylonjs/core/Misc/logger.js";
import { Scene } from "@babylonjs/core/scene.js";
import "@babylonjs/loaders/glTF/2.0/index.js";
import { attachCollisionBounds, readCollisionBounds } from "./collision-bounds.babylon.mjs";

Logger.LogLevels = Logger.ErrorLogLevel;
const { document, gltf } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const scene = new Scene(new NullEngine());
const loaded = await LoadAssetContainerAsync(`data:${JSON.stringify(gltf)}`, scene, { pluginExtension: ".gltf" });
loaded.addAllToScene();
const missing = attachCollisionBounds(readCollisionBounds(document), scene.getNodes());
const [attached, parents] = [{}, {}];
for (const node of scene.getNodes()) {
  const entries = node.metadata?.collisionBounds;
  if (!entries) continue;
  attached[node.name] = entries.map(({ id, collision }) => ({ id, collision }));
  parents[node.name] = node.parent.uniqueId;
}
process.stdout.write(JSON.stringify({ attached, parents, missing }));
process.exit(0);
