"""Parts of a mesh that get bounds of their own.

- `loose_parts`: connected parts
- `bones`: the bone of each vertex, and the places of bones
- `mesh_parts`: the parts, of either kind, that an object is split into
"""
