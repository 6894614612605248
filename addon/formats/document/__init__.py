"""The JSON document: contents, writer and reader.

In reading order:

- `model`: the contents as data classes, in Blender's space and units; extras
- `objects`: objects and tracks, rounded outward, many at once, converted on access
- `conversion`: `make_document`, and `read_document` and `read_file`, the inverse; contacts and near misses
- `json_writer`: text of a document, of many objects with the same members, and of arrays of numbers

May import `core`, the modules of `formats` outside its packages, and `formats.validation`.

Decisions:

- The text of numbers is computed on arrays, because Python's json takes five times as long and a document can
  have millions of numbers in tracks.
- Objects and tracks that are read keep the numbers of their document in addition to those in Blender's units,
  because a conversion there and back is not exact. So a document that is read and written in its own space,
  with the same decimals, is identical to the byte.
- Objects and tracks of a document are converted in blocks, on access, and its text is never in memory as a
  whole: it can have a million objects.
- The same input gives the same bytes: keys have one order, objects are sorted, there are no time stamps.
"""
