"""Operators: one class per button or menu entry. Their docstrings are their tooltips.

| file | operators |
|---|---|
| `bounds.py` | Compute Bounds, Compute Swept Bounds, Clear Results |
| `contacts/` | Find Contacts, Go to Contact, Ignore This Pair, Contact Markers, Load Report |
| `object.py` | Copy Settings to Selected, Measure Fit |
| `custom_shapes.py` | Custom Shape from Fit, Custom Shape from Selection, Add and Remove Custom Shape |
| `colliders.py` | Create, Remove and Check Colliders, Colliders from Selection and from Vertex Group |
| `export.py` | one operator per file format |

Helpers:

- `command.py`: what a button needs before it can be clicked, and how a command refuses.
- `modal_job.py`: runs a job in slices, handles Esc, and shows progress in the status bar.
- `scene_options.py`: passes options between an operator and its scene.
- `messages.py`: texts of reports.

May import `ui/properties`, `ui/overlay`, and the files of `ui` that belong to no room.

Decisions:

- Jobs run in slices of up to 40 ms. A longer step is a slice by itself.
  Closing the job cancels it.
- Without a selection, a button works on all visible objects. A script that passes the scope gets an error.
- Find Contacts and Compute Swept Bounds offer no options in F9: a changed option would run the whole job
  again in one piece, and block the window.
"""
