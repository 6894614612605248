"""The scene's animation as a motion for `core`: shapes of all subjects at a time.

Modules in reading order:

- `obstacles`: subjects that are tested as triangle meshes.
- `known_shapes`: shapes of subjects that follow curves, and bounds of where they are in between.
- `skips`: subjects that are skipped, and instances that appear later, with the reasons.
- `scene_motion`: evaluates the scene, reads poses and computes shapes from those of one frame or of several
  together; the motion that a contact scan samples.
- `scan_shares`: shares of the frames of one scan, for several processes.
- `unkeyed_values`: values that have no key, which playing would reset.
- `bone_sweeps`: points around the vertices of bones at all frames.
- `bounds_over_time`: boxes and spheres over time, for envelopes and tracks.

May import `core`, `formats`, and the rooms `blender`, `subjects`, `fitting` and `poses` of `scene`.

A subject that does not deform is fitted once. In a frame only its matrix is read, one call for all.
Poses are read frame by frame, but shapes are computed for several frames together, because each array call
costs as much for one frame as for many. They are computed before the next fit, when the scan needs them, and
at some thousand shapes; one by one if a subject is skipped in any of them.

Instances that appear after the first frame become subjects of a second scan, because arrays of shapes and of
pairs have one size during a scan.

Subjects that may deform are determined from their modifiers, shape keys and animated data; their vertices are
compared in each frame. Simulated subjects, and subjects that depend on them, are not evaluated between
frames, because a cache has nothing there. While a simulation is not baked, no subject is, and frames are
played in order, because going back and forth would corrupt its cache.

Data goes down as poses; skipped subjects come back as values, and only `scene_motion` logs them, so that
their order is that of the frames.
"""
