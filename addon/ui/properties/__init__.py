"""Property groups and property definitions. Blender saves them in the file, and undo restores them.

- `scene.py`: settings of a scene, and their conversion to settings of jobs.
- `options.py`: options that a scene and operators (for F9) have as properties.
- `pickers.py`: pickers of the collection or object that a group or the obstacles consist of.
- `display.py`: settings of the overlay.
- `contact_list.py`: rows, sorting and filters of the contact list, and its timeline markers.
- `colliders.py`: settings of colliders: of objects, and in Blender's glTF export.
- `preferences.py`: preferences of the extension: colors, default padding, name of the tab.

Settings of objects and collections are in `scene/blender/object_properties.py`, because the command line
uses them where the extension is disabled.

May import `ui/property_events.py`, and the layers below `ui`.
"""
