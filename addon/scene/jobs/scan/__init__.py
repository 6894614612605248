"""Parts of a scan: its preparation, instances that come during it, and the test on meshes after it.

- `request`: its settings and frames, and when it ends early.
- `preparation`: bounds, pairs and motion at the first frame.
- `late_objects`: instances that come after the first frame, which a second scan tests; meshes that get
  vertices after it, which are not tested.
- `scanned_shapes`: the shapes that were tested, for documents.
- `mesh_confirmation`: contacts of bounds tested again on the meshes.
"""
