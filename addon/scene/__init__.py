"""Adapters from Blender's scene to arrays, and the jobs that the panel, the command line and scripts run.

Rooms, in reading order; each imports only from those above it:

- `blender`: data that Blender provides, as arrays and plain values.
- `subjects`: the objects, instances, loose parts and merged collections that get bounds.
- `fitting`: shapes around the vertices of subjects.
- `motion`: where all subjects are at a time, and their shapes: what a contact scan samples.
- `jobs`: bounds, swept bounds, contacts; and their results.
- `live`: shapes at the current frame for the overlay, and whether a result is still valid.
- `colliders`: collider objects.
- `gltf_export`: colliders in files of Blender's glTF exporter.

Files that belong to no room:

- `settings`: settings of every job, the options that set them, and kinds of shapes. It needs no `bpy`.
- `declarations`: kinds of options, rules between options, and settings with the values of options.
- `collider_names`: names of colliders as engines read them, and the mesh that each belongs to; names of
  levels of detail.
- `errors`: error of a job, and reasons in words for the user.
- `open_file`: opens a scene file of any format that Blender reads.
- `imported_scene`: time of imported scenes.

May import `core` and `formats`.
"""
