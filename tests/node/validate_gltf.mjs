// Validates a glTF file with Khronos's validator. The output is its list of issues, as JSON.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { validateBytes } from "gltf-validator";

const path = process.argv[2];
const report = await validateBytes(new Uint8Array(readFileSync(path)), {
  uri: path,
  externalResourceFunction: async (uri) => new Uint8Array(readFileSync(join(dirname(path), decodeURIComponent(uri)))),
});
process.stdout.write(JSON.stringify(report.issues));
