"""Data that Blender provides, as arrays and plain values.

In reading order:

- `instances`: all visible mesh-like objects and instances of the dependency graph, as arrays; names of
  data-blocks, also those that are not UTF-8.
- `mesh_data`: vertices, edges, faces and triangles of evaluated objects; decomposition of world matrices.
- `animated`: what the animation of a data-block changes, and when it turns within frames; objects that may
  deform, show instances, are simulated, or depend on a simulation; edits that Blender reports.
- `parts`: loose parts of a mesh, and the parts that bones deform.
- `object_settings`: settings of single objects and collections, the mark of colliders, and overrides: boxes
  and spheres that replace the vertices of an object.
- `object_properties`: the property groups that hold these settings.
- `missing_inputs`: scripts, libraries and files that Blender did not read or run.
- `frames`: times to sample, evaluating the scene at one, and reading the matrices of all objects in one call.
- `private_scene`: some objects alone, in a scene that exists only while a job takes a step.

The room may import `core` and the settings and errors of `scene`.

Decisions:

- Arrays are copied out of Blender at once, because items of the dependency graph die with the step of their
  loop and meshes with the next evaluation.
- Objects are identified by full names or session_uids, never by bpy objects, because undo and deletion make
  those invalid.
- Instances are iterated over in `instances` alone, because there their pitfalls are handled, such as a curve
  that is followed by its own mesh.
- A loop over instances in Python reads three pointers of each, because Blender copies only numbers as arrays.
- Settings of an object are properties of the object, so they are copied, saved, undone and overridden like
  its other properties. Blender gives access to them only where they are registered: the command line
  registers these property groups alone where the extension is disabled. Without them the settings of the job
  apply.
- A sphere that overrides an object is one point with a radius; shapes are fitted to the point and then grow.
  In a merged collection, which is a set of points, it is 642 points, 0.5 % farther out.
- Simulations are determined conservatively, by references between data-blocks: the set can contain objects
  that are not simulated, but misses none.
"""
