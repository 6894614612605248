"""Overlay of the 3D viewport: bounds of a scene's result, blue where free and red where in contact.

Files, in reading order:

- `handlers.py`: Blender's callbacks: what each event changes in the overlay, how it reads a scene's
  subjects and makes their draw data, and what it draws into a view. Start here.
- `state.py`: cached draw data of each view layer, and identities of subjects. It passes edits and
  undo on to the state machine of `scene/live/staleness.py`.
- `draw_data.py`: instances of unit meshes as arrays, and their colors.
- `painter.py`: drawing, with `unit_meshes.py` and `shaders.py`.
- `flat.py`: rectangles, lines, texts and labels in pixels.
- `collider_surfaces.py`: translucent surfaces of collider objects.
- `over_time.py`: intervals of contact as bars in the timeline, and the graph of a separation.

May import `ui/properties`, the files of `ui` that belong to no room, and the layers below. Operators and
panels import it.

Decisions:

- Handlers make the draw data when a frame or a scene changes. Drawing a view only passes it to the graphics
  card, because Blender draws many times between two changes.
- A few unit meshes are drawn many times. Only one small texture changes from frame to frame.
  Lines are ribbons of triangles: Blender's own wide lines cannot be instanced, and cost more than twice as
  much without a graphics card.
- Draw data is NumPy alone, apart from the graphics card, so that tests compare arrays.
- Subjects are identified by session_uid, which does not change on renaming and undo. Documents identify them
  by names.
"""
