"""Panels of the sidebar tab and of the Properties editor, menus, and presets.

- `sidebar.py`: the tab, and layout helpers.
- `bounds.py`, `object.py`, `contacts.py`, `display.py`, `export.py`: the panels, in the order of the tab.
  `object.py` has the panels of the active object: Object Settings, Custom Shape and Fit Statistics.
- `contact_list.py`: the list in the Contacts panel.
- `menus.py`: entries of Blender's menus, which also add the operators to its menu search.
- `presets.py`: presets of settings.

May import every other part of `ui`, and the layers below it.
"""
