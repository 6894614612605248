"""Where all subjects are at a time: their matrices, and the vertices of those that deform.

Modules in reading order:

- `instance_reader`: all instances frame by frame; again only what may have changed.
- `frame_reader`: reads poses and vertices of subjects frame by frame, in scenes evaluated at their time.
- `private_poses`: reads subjects in a private scene, compared with the user's scene at a few times.
- `pose_sources`: the cheapest source of each subject that gives the same as the user's scene.

May import `core`, `formats`, and the rooms `blender`, `curves`, `subjects` and `fitting` of `scene`.

Evaluating the user's scene evaluates all of it, moves the playhead and calls handlers. So it is played only
where the other sources cannot give the same. Curves are computed without Blender, and bounded between
samples. A private scene evaluates objects with other constraints and drivers, armatures or modifiers, and
what these depend on; it gives Blender's own numbers. A simulation belongs to its scene. Instances belong to
the dependency graph of the scene that shows them.

The sources are compared at a few times: curves within single precision, the private scene to the bit. A
handler of somebody else that changes objects is noticed there, unless it does nothing at these times.
"""
