// Reads a .gltf with Babylon.js. The output has its colliders with their world matrices, in the form of read_gltf.mjs.
// Convex ones have the world-space vertices and the faces that Babylon.js reads from their meshes.
import { readFileSync } from "node:fs";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { Logger } from "@babylonjs/core/Misc/logger.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { LoadAssetContainerAsync } from "@babylonjs/core/Loading/sceneLoader.js";
import { Scene } from "@babylonjs/core/scene.js";
import "@babylonjs/loaders/glTF/2.0/index.js";

Logger.LogLevels = Logger.ErrorLogLevel;
const json = JSON.parse(readFileSync(process.argv[2], "utf-8"));
// The loader reads meshes of nodes alone, so the nodes of convex colliders get their meshes.
const convexMesh = ({ extensions }) =>
  extensions?.KHR_physics_rigid_bodies?.collider.geometry.mesh ??
  json.extensions?.OMI_physics_shape?.shapes[extensions?.OMI_physics_body?.collider.shape]?.convex?.mesh;
for (const node of json.nodes) node.mesh ??= convexMesh(node);
const scene = new Scene(new NullEngine());
const loaded = await LoadAssetContainerAsync(`data:${JSON.stringify(json)}`, scene, { pluginExtension: ".gltf" });
const nodes = new Map();
for (const node of [...loaded.transformNodes, ...loaded.meshes]) {
  node.computeWorldMatrix(true);
  // The loader stores on each node its JSON pointer in the file.
  for (const pointer of node._internalMetadata?.gltf?.pointers ?? []) nodes.set(pointer, node);
}
function readConvex(node) {
  const positions = node.getVerticesData("position");
  const vertices = [];
  for (let i = 0; i < positions.length; i += 3) {
    const vertex = Vector3.TransformCoordinates(Vector3.FromArray(positions, i), node.getWorldMatrix());
    vertices.push(vertex.asArray());
  }
  return { type: "convex", vertices, faces: [...node.getIndices()] };
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
    let shape = json.extensions[list]?.shapes[collider.shape ?? collider.geometry.shape];
    if (convexMesh(entry) !== undefined) shape = readConvex(node);
    colliders.push({ body, name: node.name, parent: node.parent.name, shape, matrix: [...node.getWorldMatrix().m] });
  }
}
process.stdout.write(JSON.stringify({ colliders }));
process.exit(0);
