"""Property groups and property definitions. Blender saves them in the file, and undo restores them.

- `scene.py`: settings of a scene: its jobs, the overlay, colliders, pickers of groups and obstacles; the
  settings of jobs made from them.
- `options.py`: options that a scene and operators (for F9) have as properties, and listeners to changes.
- `contact_list.py`: rows, sorting and filters of the contact list, and its timeline markers.
- `preferences.py`: preferences of the extension (colors, padding, name of the tab), and links to the manual.

Settings of objects and collections are in `scene/blender/object_properties.py`, because the command line
uses them where the extension is disabled.

May import `ui/properties/options.py`, and the layers below `ui`.
"""
