"""Files that a document is converted to; `formats.file_formats` has the definition of each format.

In reading order:

- `csv_table`, `text_table`: tables for a spreadsheet and for a terminal
- `engine_bounds`: bounds of Unity and Unreal
- `tileset_3d`: 3D Tiles
- `gltf_collider_nodes`, `gltf`: colliders as glTF nodes, and a glTF file of them
- `robotics`: URDF, MJCF, USD Physics, and spheres for cuRobo

May import `core`, the modules of `formats` outside its packages, `formats.validation` and `formats.document`.

Decisions:

- Files are converted from documents, not from the scene. So the panel, the command line and a script that
  reads a document write the same file. Spheres for Unity and Unreal, which share the center of a box, could
  be smaller if they were fitted to vertices.
- Numbers that an engine reads in single precision are written as single-precision numbers, rounded outward,
  so that no reader rounds a shape inward.
- A collider's node compensates all scale and shear above it: with A = U S V^T the linear part above, a node
  with rotation V and scale 1/S has the world's linear part U, a rotation.
"""
