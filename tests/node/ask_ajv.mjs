// Which documents ajv, the schema validator of the Node world, takes: a file of { schema, texts } -> for each text
// the places where it breaks the schema, or null where the text is no JSON.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const { schema, texts } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
// Strict about the schema itself: unknown keywords and the like throw.
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);
const answers = texts.map((text) => {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  return validate(document) ? [] : validate.errors.map((error) => error.instancePath);
});
process.stdout.write(JSON.stringify(answers));
