"""Shapes of a result's subjects at the current frame, for the overlay, and whether the result is still valid.

Files, in reading order:

- `contact_state.py`: readings and shapes of the subjects, and which are in contact at a frame.
- `touching.py`: the pairs that overlap now, of bounds or of meshes, and how to move them apart.
- `overlap.py`: how the meshes of one pair overlap at a frame, to be drawn.
- `live_parts.py`: convex parts that a job has fitted, moved with their subjects.
- `live_shapes.py`: `LiveSubjects`, which reads the scene and refits what has changed.
- `staleness.py`: `StalenessMachine`, whose states record whether a result describes the scene.

May import `blender`, `subjects`, `fitting`, `motion` and `jobs`, and the layers below `scene`. The user
interface imports it; jobs do not.

Decisions:

- Subjects are identified by session_uid, which renaming and undo keep. No bpy object outlives a call, because
  undo invalidates every one of them.
- Vertices are read and fitted again only when they have changed. All matrices are read in one call at each
  update, and fits are moved by them, so that playback costs no loop over objects.
- Undo can make a result fresh again, if it leads back to the state before the first edit. One frame does not
  show a whole animation, so a result stays stale after some edits: in doubt it is stale.
"""
