"""Jobs that the panel, the command line and scripts run. Settings in, a result without bpy objects out.

The same scene and settings give the same document, identical to the byte.

Modules in reading order:

- `result`: the result of a job, its conversion to a document, and a document from a file as a result.
- `bounds_table`: bounds of very many subjects, fitted in batches and kept in arrays.
- `bounds`: bounds at one frame, swept bounds and tracks over a frame range.
- `detailed_shapes`: convex hulls, sphere trees, capsules, cylinders and compounds for these bounds, and the
  shapes that a scan has tested, for its document.
- `scan_shares`: shares of the frames of one scan, for several processes.
- `contacts`: contacts over a frame range, or one share of its frames; objects that come after the first one.
- `pair_separation`: separation of one pair over the frames of a scan, also as keys of a custom property.
- `result_store`: results of this session, found by an id that undo restores.

May import `core`, `formats`, and the rooms `blender`, `subjects`, `fitting` and `motion` of `scene`.

Jobs that take long are generators that yield progress, so that a window can draw and a user can cancel
between parts. At a yield the user may delete objects or the whole scene. So a job reads all it needs of
the scene first, keeps session_uids instead of references, and finds the scene again after a yield.

Bounds at one frame are read and fitted in batches, and the batches are stored in arrays: a scene can have a
million instances, and Python objects for each would take 7 KB. Instances of one mesh with the same rotation
and scale are fitted once, and moved.

Jobs that change the frame restore it, also after an error.

Scans test boxes by default, because in a scene with a floor the floor's sphere would contain everything else.
"""
