"""Distances between two shapes at rest: separation, overlap, witness points and minimum translation.

Files, in reading order:

- `dispatch.py`: the public functions, and the table of methods by pair of shape types.
- `separating_axis.py`: `WitnessPoints`, the closest points of two shapes; boxes along axes.
- `obb.py`: two boxes, at least one of them oriented: by `separating_axis.py` while they overlap, and by
  closest features while they are apart. A capsule is a box without width and a radius around it.
- `sphere.py`: a sphere and each other shape, or the nearest leaf of a sphere tree.
- `sphere_mesh.py`: a sphere and a mesh, by a search that sweeps use too.
- `triangle_triangle.py`: two triangles.
- `mesh_mesh.py`: two triangle meshes.
- `crossings.py`: crossings of triangles that last while the corners move.
- `crossing_curves.py`: segments along which two meshes cross.
- `depth_cells.py`: bounds of the depths of points in large meshes, by grids of cells.
- `mesh_depth.py`: the deepest vertices of meshes that overlap.
- `meshes.py`: batches of meshes, with the sign of their separation, and their depth.
- `overlap_kinds.py`: whether meshes in contact cross, touch, or one is inside the other.

May import `numeric`, `shapes`, `broad_phase`, `fitting`, `trees` and `mesh`.

Decisions:

- Functions are named operation_shape_shape, and each pair has one method, in one order. The dispatch swaps
  the arguments and the result for the other order.
- Separation is signed: positive is the gap, negative the depth, and 0 counts as overlap.
- Where a direction is undefined, as between concentric spheres, a documented one is returned, never NaN.
- Boxes compute closest features only where the separating axes find a gap. A pair of edges is solved
  only if the gap along its cross product is the largest of all axes, because others cannot be closest.
"""
