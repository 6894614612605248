"""Triangle meshes: acceleration structures, connected components and containment.

Files, in reading order:

- `triangle_mesh.py`: `TriangleMesh`, a mesh as an obstacle, with the nodes of its tree.
- `normal_ranges.py`: what is behind all triangles of a node.
- `fitted_nodes.py`: spheres and boxes of the nodes of a tree, fitted to corners that move, and those around
  clusters of triangles.
- `mesh_bvh.py`: `MeshBvh`, the tree down to single triangles.
- `near_triangles.py`: the triangles of a mesh that may be the nearest ones to many points.
- `bent_bvh.py`: `BentBvh`, the same of a mesh that bones bend, whose vertices are computed when needed.
- `quad_cuts.py`: quads that may be cut into other triangles where a mesh bends.
- `node_pool.py`: the nodes of many meshes in one set of arrays, at one time and in motion.
- `meshes.py`: `Meshes`, a batch of posed meshes, and their motion from one time to another.
- `points_inside.py`: points and components of meshes that are inside other meshes.
- `vertex_paths.py`: how much the velocities of vertices change, of meshes that deform.
- `pair_search.py`: best-first search of pairs of triangles, for many pairs of meshes at once.
- `support_search.py`: before that, the heights of all triangles along one direction for each pair of meshes.
- `containment.py`: components of meshes, and whether they are closed and oriented; `ClosedSurface`, the
  points inside a mesh by winding numbers.

May import `numeric`, `skins`, `shapes`, `broad_phase`, `fitting` and `trees`. The distances and sweeps of
meshes are in `distance` and `sweep`, which import this room.

Decisions:

- A `TriangleMesh` rests in its own space and is sorted once. Whatever moves relative to it is transformed
  into that space, so its structures stay valid however the mesh moves later.
- A mesh that deforms keeps the nodes of its rest shape: only the spheres are fitted again.
- A mesh is a surface for `TriangleMesh` and a solid for `containment.py`. Only closed components are solid.
"""
