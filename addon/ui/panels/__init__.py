"""Panels of the sidebar tab and of the Properties editor, menus, and presets.

- `sidebar.py`: the tab, and layout helpers.
- `bounds.py`, `object.py`, `colliders.py`, `contacts.py`, `display.py` with Touching Now, `export.py`: the
  panels, in the order of the tab.
  `object.py` has settings, custom shape, response and sizes of the active object.
- `contact_list.py`: the list of the Contacts panel, and the details of its active row.
- `menus.py`: entries of Blender's menus, which also add the operators to its menu search, and presets.

May import every other part of `ui`, and the layers below it.
"""
