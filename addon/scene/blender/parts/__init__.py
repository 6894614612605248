"""Parts of a mesh that get bounds or colliders of their own.

- `weights`: weights of vertex groups, of several original meshes at once and faster; the
  vertices of a group, and the selection in Edit Mode
- `known_rows`: the vertices of bones, kept while weights do not change
- `mesh_parts`: the parts that an object is split into: connected parts, vertices of bones, or overrides; the
  bone of each vertex, and the places of bones
"""
