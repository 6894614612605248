"""Sphere trees: binary hierarchies of spheres around the triangles of a mesh.

Files, in reading order:

- `sphere_tree.py`: `SphereTree`, a batch of poses of one tree; a shape like the others.
- `builder.py`: `sphere_tree_from_triangles`, the top-down construction.
- `curve.py`: the nodes of a tree of very many triangles, from their order along a curve.

Distances and sweeps of trees are in `distance` and `sweep`.

Decisions:

- A tree is the union of its leaf spheres. Inner nodes are coarser bounds: each encloses its triangles.
- To a contact scan the leaves are spheres of one subject, so scans need no method of their own for trees.
"""
