"""User interface: settings, buttons, panels, and the overlay of the 3D viewport. It computes nothing itself.

Rooms, each of which imports only from those above it:

- `properties`: settings of scenes and their definitions, rows of the contact list, preferences.
- `overlay`: bounds drawn over the viewport.
- `operators`: the buttons. `operators/command.py` runs long jobs and handles Esc.
- `panels`: the sidebar tab, panels of the Properties editor, menus, presets.

Files that belong to no room:

- `job_state.py`: state of the running job: progress, time left, requests to stop.
- `row_order.py`: fills, sorts and filters the rows of the contact list.
- `row_groups.py`: groups of these rows, by collection, parent or object.
- `result_texts.py`: what a result lacks or assumes, as notes of a panel, and texts of reports.
- `kept_checks.py`: measurements behind the Measurements panel, and the last check of colliders.
- `gizmos.py`: handles of custom shapes.
- `texts.py`: translates texts that contain values: lengths, frames, and names shortened to a column.

May import `core`, `formats` and `scene`.

Decisions:

- An operator converts settings, calls one function of `scene`, stores its result in the session, and reports.
- Property groups import neither overlay nor panels: they announce changes, see `properties/options.py`.
- The layout of a panel is in `panels`, its buttons are in `operators`, and its settings in `properties`.
- Tooltips of operators are their docstrings. Like all tooltips they are imperative, without a full stop.
"""
