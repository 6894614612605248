// Validates documents with ajv, a JSON Schema validator. The argument is a file with { schema, texts }. The output has,
// for each text, the paths that violate the schema, or null if the text is not JSON.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const { schema, texts } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
// In strict mode, errors in the schema itself throw, such as unknown keywords.
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);
const results = texts.map((text) => {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  return validate(document) ? [] : validate.errors.map((error) => error.instancePath);
});
process.stdout.write(JSON.stringify(results));
