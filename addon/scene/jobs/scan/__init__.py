"""Parts of a scan: its preparation, instances that come during it, and the test on meshes after it.

- `preparation`: its settings and frames; bounds, pairs and motion at the first one; instances that come after
  it, which a second scan tests, and meshes that get vertices after it, which are not tested.
- `mesh_confirmation`: contacts of bounds tested again on the meshes.
"""
