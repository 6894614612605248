"""Overlay of the 3D viewport: bounds of a scene's result, blue where free and red where in contact.

Files, in reading order:

- `handlers.py`: Blender's callbacks. Start here: each says what an event does to the overlay.
- `update.py`: reads a scene's subjects and builds their draw data; `build.py`: the pure part of that.
- `state.py`: cached draw data of each view layer, and identities of subjects.
- `staleness.py`: passes edits and undo on to the state machine of `scene/live/staleness.py`.
- `draw_data.py`: instances of unit meshes as arrays; `colors.py`: where blue and red come from.
- `view_filter.py`: the part of the draw data that one 3D view draws.
- `painter.py`, `labels.py`: drawing, with `unit_meshes.py`, `screen_size.py` and `shaders.py`.

May import `ui/properties`, the files of `ui` that belong to no room, and the layers below. Operators and
panels import it.

Decisions:

- Handlers build the draw data when a frame or a scene changes. Drawing a view only hands it to the graphics
  card, because Blender draws many times between two changes.
- A few unit meshes are drawn many times. Only one small texture changes from frame to frame.
- Draw data is NumPy alone, apart from the graphics card, so that tests compare arrays.
- Subjects are known by session_uid, which renaming and undo keep.
"""
