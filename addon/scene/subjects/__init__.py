"""Subjects: the objects, instances, loose parts and merged collections that get bounds.

In reading order:

- `subject`: the record of a subject; its identity, by which it is found again after renaming; very many
  subjects in little memory; and the log of those that a scan skips, with the reasons.
- `selection`: filters by names, by collection, and by the selection in the viewport; objects below others;
  pairs that a contact scan tests, from patterns, collections and parents.
- `find`: the subjects of a selection, with their ids and parents, and the objects that are skipped; the
  nearest ancestors that are subjects, by the tree of objects and of bones.
- `reader`: vertices and matrices of subjects, which are found among all instances by arrays; the geometry of
  each mesh is read once.

The room may import `core`, `formats`, `scene.blender` and the settings and errors of `scene`.

Decisions:

- A subject holds names and no bpy object, so it stays valid over undo, frame changes and deletion.
- Ids are given to everything that is visible, not only to what is selected, so an id means the same subject
  in every export of a file.
- Collider objects are not subjects. `find` excludes them, by their custom property.
- A merged collection is a set of points in world space, because its objects have no matrix in common. The
  points are compared in each frame.
- Settings and overrides of objects are read again whenever geometry is read, because they may have changed
  since the subjects were found.
"""
