"""Panels of the sidebar tab and of the Properties editor, menus, and presets.

- `sidebar.py`: the tab, and layout helpers.
- `bounds.py`, `object.py`, `contacts.py`, `touching.py`, `display.py`, `colliders.py`, `export.py`: the
  panels, in the order of the tab.
  `object.py` has settings, custom shape, response and sizes of the active object.
- `contact_list.py`, `contact_details.py`: parts of the Contacts panel.
- `menus.py`: entries of Blender's menus, which also add the operators to its menu search.
- `presets.py`: presets of settings.

May import every other part of `ui`, and the layers below it.
"""
