"""Where all subjects are at a time: their matrices, and the vertices of those that deform.

Modules in reading order:

- `instance_matrices`, `instance_reader`: all instances frame by frame; again only what may have changed.
- `subject_index`: what to read of each subject in later frames, determined at the first frame.
- `transform_curves`: objects whose world matrices follow from F-curves alone, and those curves as arrays.
- `curve_poses`: world matrices of such subjects at any time, compared with the scene at a few times.

May import `core`, `formats`, and the rooms `blender`, `subjects` and `fitting` of `scene`.
"""
