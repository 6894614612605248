"""Validation of documents: the JSON Schema first, then consistency that a schema cannot express.

In reading order:

- `strict_json`: files and JSON that anyone can have written, and a validator for the part of JSON Schema that
  the schema uses
- `validate`: `load_document`, `parse_document` and `document_problems`, with the checks of spaces, objects
  and tracks
- `schema.json`: the schema, with its version
- `contacts`: contacts and near misses
- `shapes`: shapes of an object compared with each other, with its envelope and with its track

May import `core` and the modules of `formats` outside its packages.

Decisions:

- The schema validator is our own, because Blender ships none and the extension has no dependencies. It
  refuses keywords that it does not implement, and tests compare it with python-jsonschema.
- A document contains most facts twice: local and world shapes, boxes and spheres, tracks and envelopes,
  frames and seconds. They are compared, so a wrong unit, a lost sign or half a size is found.
- Boxes are compared along common axes, and with spheres along their own axes, never at corners. So the
  comparison holds for any padding, also a negative one, and a correct document is never refused.
"""
