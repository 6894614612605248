"""Part of a scan after its frames.

- `mesh_confirmation`: contacts of bounds tested again on the meshes.
"""
