// Reads documents with a loader of docs/loaders. The arguments are the loader, and a file with a list of JSON texts.
// The output has the message of the error of each document, or null.
import { readFileSync } from "node:fs";

const { readCollisionBounds } = await import(`./${process.argv[2]}`);

function message(text) {
  try {
    readCollisionBounds(JSON.parse(text));
    return null;
  } catch (error) {
    return error.constructor === Error ? error.message : String(error.stack);
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[3], "utf-8")).map(message)));
