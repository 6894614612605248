"""Parts of a mesh that get bounds or colliders of their own.

- `weights`: weights of vertex groups, of several original meshes at once and faster
- `vertex_subsets`: the selection in Edit Mode, and vertex groups
- `known_rows`: the vertices of bones, kept while weights do not change
- `mesh_parts`: the parts that an object is split into: connected parts, vertices of bones, or overrides; the
  bone of each vertex, and the places of bones
"""
