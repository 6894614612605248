"""Collider objects: meshes that game engines recognize by their names.

In reading order:

- `records`: options and shape of a collider at its creation, stored on it; whether it was edited since.
- `objects`: boxes, spheres, capsules and hulls around the vertices of subjects, in their object space; names
  by a pattern, unique and short enough for Blender; creating, updating and removing collider objects.
- `make`: colliders for a selection, in place of those that exist.
- `chosen_vertices`: colliders around the selection in Edit Mode or a vertex group.
- `containment`: evaluated surfaces of colliders and their meshes, hidden ones too; volumes of colliders,
  vertices of a mesh that are outside of all, and holes that they fill.
- `openings`: sentences about what a collider fills, with volumes and the pieces of the mesh that it joins.
- `check_rules`: the problems of one collider: its name, and whether it is closed, convex, and of its kind.
- `check`: the check of all colliders of a scene, made by the extension or otherwise.
- `mend`: renaming colliders, and creating them again, where that mends a problem.

The room may import `core`, `formats` and all of `scene` but `jobs`, `live` and `motion`.

Decisions:

- A collider is a child of its source, and is recognized by a custom property of object and mesh, not by its
  name, which users change.
- Its vertices are in the space of its parent, and it has no transform of its own. So no transform is rounded,
  and importers that ignore transforms put both in the same position. Only where a non-uniform scale or shear
  would deform a ball or a right angle, it has the rotation and scale of a glTF collider node.
- Names are never suffixed by Blender: if no name is free, the collider is skipped.
- The check uses the rules of the importers of Unreal and Godot, as read from their sources. So a sphere or
  capsule is the one that Unreal creates, not the polygons around it.
- It computes distances in the object space of the collider, so that a mesh and its child are compared without
  the rounding of world matrices.
- A collider that a user has edited is kept by later runs, with the others of its object. It is recognized by
  a digest of its mesh, and by its transform below its parent.
- A collider around chosen vertices is kept by later runs, because nothing stores which vertices these were.
- Creating colliders again updates the existing objects, so that collections and children that users added
  survive. Also, the time that Blender takes to remove objects grows with the square of their number.
"""
