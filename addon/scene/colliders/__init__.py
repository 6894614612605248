"""Collider objects: meshes that game engines recognize by their names.

In reading order:

- `naming`: names by a pattern, unique and short enough for Blender.
- `meshes`: boxes, spheres, capsules and hulls around the vertices of a subject, in its object space.
- `objects`: creating, updating and removing collider objects.
- `make`: colliders for a selection, in place of those that exist.

The room may import `core`, `formats` and all of `scene` but `jobs`, `live` and `animation`.

Decisions:

- A collider is a child of its source, and is recognized by a custom property, not by its name.
- Names are never suffixed by Blender: if no name is free, the collider is skipped.
- Creating colliders again updates the existing objects, so that collections and children that users added
  survive.
"""
