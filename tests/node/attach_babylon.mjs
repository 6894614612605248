// Attaches the entries of a document to the nodes of a glTF file in Babylon.js, in the form of attach_three.mjs.
import { readFileSync } from "node:fs";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { LoadAssetContainerAsync } from "@babylonjs/core/Loading/sceneLoader.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { Logger } from "@babylonjs/core/Misc/logger.js";
import { Scene } from "@babylonjs/core/scene.js";
import "@babylonjs/loaders/glTF/2.0/index.js";
import { attachCollisionBounds, findDisplaced, readCollisionBounds } from "./collision-bounds.babylon.mjs";

Logger.LogLevels = Logger.ErrorLogLevel;
const { document, gltf, glb, rightHanded } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const scene = new Scene(new NullEngine());
scene.useRightHandedSystem = Boolean(rightHanded);
const url = glb ? `data:;base64,${readFileSync(glb).toString("base64")}` : `data:${JSON.stringify(gltf)}`;
const loaded = await LoadAssetContainerAsync(url, scene, { pluginExtension: glb ? ".glb" : ".gltf" });
loaded.addAllToScene();
const bounds = readCollisionBounds(document);
const missing = attachCollisionBounds(bounds, scene.getNodes());
const displaced = findDisplaced(bounds, scene.getNodes());
const [attached, parents, placed, outside] = [{}, {}, {}, {}];
for (const node of scene.getNodes()) {
  if (node.skeleton) measure(node);
  const entries = node.metadata?.collisionBounds;
  if (!entries) continue;
  attached[node.name] = entries.map(({ id, collision }) => ({ id, collision }));
  parents[node.name] = node.parent.uniqueId;
  const matrix = [...node.computeWorldMatrix(true).m];
  for (const { id } of entries) placed[id] = { matrix, points: [...(node.getVerticesData?.("position") ?? [])] };
}
process.stdout.write(JSON.stringify({ attached, parents, missing, displaced, placed, outside }));
process.exit(0);

function measure(mesh) {
  mesh.skeleton.prepare(true);
  const [positions, indices, weights] = [
    mesh.getPositionData(true), ...["matricesIndices", "matricesWeights"].map((kind) => mesh.getVerticesData(kind))];
  const world = mesh.computeWorldMatrix(true);
  for (let i = 0; i < positions.length / 3; i += 1) {
    const four = [...weights.slice(4 * i, 4 * i + 4)];
    const joint = mesh.skeleton.bones[indices[4 * i + four.indexOf(Math.max(...four))]].getTransformNode();
    const { minimum, maximum } = joint.metadata.collisionBounds[0].local.box;
    const inWorld = Vector3.TransformCoordinates(Vector3.FromArray(positions, 3 * i), world);
    const point = Vector3.TransformCoordinates(inWorld, joint.computeWorldMatrix(true).clone().invert());
    if (document.space.preset === "unity") point.x *= -1; // because joints keep the axes of the file
    const distances = ["x", "y", "z"].flatMap((axis) => [minimum[axis] - point[axis], point[axis] - maximum[axis]]);
    outside[joint.name] = Math.max(outside[joint.name] ?? -Infinity, ...distances);
  }
}
