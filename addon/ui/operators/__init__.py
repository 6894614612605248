"""Operators: one class per button or menu entry. Their docstrings are their tooltips.

| file | operators |
|---|---|
| `bounds.py` | Compute Bounds, Compute Swept Bounds, Clear Results |
| `contacts.py` | Find Contacts, Stop |
| `contact_list.py` | Go to Contact, Frame Pair, Show Hidden Rows, Copy Contacts |
| `markers.py` | Contact Markers |
| `load_report.py` | Load Report |
| `object.py` | Copy to Selected, Start from Fit, Measure Fit |
| `colliders.py` | Create Colliders, Remove Colliders |
| `export.py` | one operator per file format |

Helpers:

- `modal_job.py`: runs a job in slices, handles Esc, and shows progress in the status bar.
- `scene_options.py`: passes options between an operator and its scene.
- `pair_selection.py`: selects the pair of a row, and explains why it cannot be selected.
- `messages.py`: texts of reports.

May import `ui/properties`, `ui/overlay`, and the files of `ui` that belong to no room.

Decisions:

- Jobs run in slices of 40 ms, and of up to 150 ms where drawing takes long. Closing the job cancels it.
- Panels disable a button while no object is selected; the poll of its operator does not, because a script can
  pass another scope.
- Find Contacts and Compute Swept Bounds offer no options in F9: a changed option would run the whole job
  again in one piece, and block the window.
"""
