"""Parts of a mesh that get bounds or colliders of their own.

- `loose_parts`: connected parts
- `vertex_subsets`: the selection in Edit Mode, and vertex groups
- `weights`: weights of vertex groups
- `displaced_weights`: the same of original meshes, several at once and faster
- `known_rows`: the vertices of bones, kept while weights do not change
- `bones`: the bone of each vertex, and the places of bones
- `mesh_parts`: the parts, of either kind, that an object is split into
"""
