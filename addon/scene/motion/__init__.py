"""The scene's motion: where all subjects are at a time, and what shape they have.

Modules in reading order:

- `channels`: channels of objects and bones, the curves and drivers that animate them, and keys as arrays.
- `transform_curves`: objects and bones whose world matrices follow from these alone.
- `bent_faces`: faces of meshes that such bones bend, which Blender may cut in another way at other times.
- `skin_poses`: these meshes and boxes around them, at any time, and bounds of what happens between two times.
- `skinned_meshes`: reads such meshes, as points that bones carry.
- `known_motion`: subjects that follow curves: their matrices and shapes at any time, and bounds of where they
  are in between.
- `instance_reader`: all instances frame by frame; again only what may have changed.
- `frame_reader`: reads poses and vertices of subjects frame by frame, in scenes evaluated at their time.
- `pose_sources`: reads subjects in a private scene, and the cheapest source of each subject that gives the
  same as the user's scene.
- `scene_motion`: evaluates the scene, and computes shapes; the motion that a contact scan samples.
- `over_time`: points around the vertices of bones at all frames, and boxes and spheres over time, for
  envelopes and tracks.

May import `core`, `formats`, and the rooms `blender`, `subjects` and `fitting` of `scene`.

Evaluating the user's scene evaluates all of it, moves the playhead and calls handlers. So it is played only
where the other sources cannot give the same. Curves are computed without Blender, and bounded between
samples. A private scene evaluates objects with other constraints and drivers, armatures or modifiers, and
what these depend on; it gives Blender's own numbers. A simulation belongs to its scene. Instances belong to
the dependency graph of the scene that shows them.

The sources are compared at a few times: curves within single precision, the private scene to the bit. A
handler of somebody else that changes objects is noticed there, unless it does nothing at these times.

A subject that does not deform is fitted once. In a frame only its matrix is read, one call for all.
Poses are read frame by frame, but shapes are computed for several frames together, because each array call
costs as much for one frame as for many: before the next fit, when the scan needs them, and at some thousand.

Instances that appear after the first frame become subjects of a second scan, because arrays of shapes and of
pairs have one size during a scan.

Subjects that may deform are determined from their modifiers, shape keys and animated data; their vertices are
compared in each frame. Simulated subjects, and subjects that depend on them, are not evaluated between
frames, because a cache has nothing there. While a simulation is not baked, no subject is, and frames are
played in order, because going back and forth would corrupt its cache.

Data goes down as poses; skipped subjects come back as values, and only `scene_motion` logs them, so that
their order is that of the frames.
"""
