"""Colliders in files that Blender's glTF exporter writes.

- `nodes`: collider nodes below the exported nodes, as boxes, spheres or hulls, around the vertices of the
  exporter's meshes, by loose and convex parts.

The room may import `core`, `formats` and all of `scene` but `jobs`, `live` and `motion`.

Decisions:

- Colliders are fitted to the exported vertices, so they always enclose the mesh in the file. The exporter
  decides about modifiers, hidden objects and instances, and its nodes have no shear.
- A hull is a mesh that no node refers to. The exporter writes meshes that it finds in extensions, too, and
  Draco compresses only meshes of nodes.
- A collider is a child node whose transform compensates the scale and shear of its parent, because engines
  require round spheres and right-angled boxes.
- The exporter is an add-on, so its modules are imported only inside functions.
"""
