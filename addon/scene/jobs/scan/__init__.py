"""Parts of a scan: its preparation, instances that come during it, and the test on meshes after it.

- `preparation`: bounds, pairs and motion at the first frame.
- `late_instances`: instances that come after the first frame, which a second scan tests.
- `late_meshes`: meshes without vertices at the first frame that have some later, which are not tested.
- `scanned_shapes`: the shapes that were tested, for documents.
- `mesh_confirmation`: contacts of bounds tested again on the meshes.
"""
