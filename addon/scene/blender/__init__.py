"""Data that Blender provides, as arrays and plain values.

In reading order:

- `instances`: all visible mesh-like objects and instances, from the dependency graph.
- `mesh_data`: vertices, edges and triangles of evaluated objects; decomposition of world matrices.
- `loose_parts`: connected parts of a mesh.
- `matrices`: matrices and visibility of all objects of a scene, each in one call.
- `object_settings`: settings of single objects and collections, and the mark of colliders.
- `object_properties`: the property groups that hold these settings.
- `overrides`: boxes and spheres that replace the vertices of an object.
- `simulation`: objects that are simulated or depend on a simulation, and objects that may deform.
- `timeline`: frames, and evaluating the scene at one.
- `depsgraph_updates`: edits that an update of the dependency graph reports.

The room may import `core`, `formats` and the settings and errors of `scene`.

Decisions:

- Arrays are copied out of Blender at once, because items of the dependency graph die with the step of their
  loop and meshes with the next evaluation.
- Objects are identified by full names or session_uids, never by bpy objects, because undo and deletion make
  those invalid.
- Simulations are determined conservatively: the set can contain objects that are not simulated, but misses
  none.
"""
