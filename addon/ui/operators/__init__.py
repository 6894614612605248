"""Operators: one class per button or menu entry. Their docstrings are their tooltips.

| file | operators |
|---|---|
| `bounds.py` | Compute Bounds, Compute Swept Bounds, Clear Results |
| `find_contacts.py` | Find Contacts, Stop |
| `rows.py` | Go to Contact, Go to Interval, Sort, Frame Pair, Show Hidden Rows, Copy Contacts |
| `pairs.py` | Ignore This Pair, Restore Ignored Pairs, Accept Contacts, Revoke Acceptance, Move Apart |
| `markers.py` | Contact Markers |
| `reports.py` | Load Report, Load and Clear Baseline; saves contacts with the file, and restores them |
| `separation.py` | Compute, Export and Key Separation, clicks in the graph |
| `pointing.py` | clicks on bounds in the viewport and on bars in the timeline |
| `object.py` | Copy Settings to Selected, Measure Fit, custom shapes |
| `colliders.py` | Create, Remove and Check Colliders, Colliders from Selection and from Vertex Group |
| `export.py` | one operator per file format |

Helpers:

- `command.py`: what a button needs before it can be clicked, how a command refuses, and which options it
  shares with its scene.
- `modal_job.py`: runs a job in slices, handles Esc, and shows progress in the status bar.

May import `ui/properties`, `ui/overlay`, and the files of `ui` that belong to no room.

Decisions:

- Jobs run in slices of up to 40 ms. A longer step is a slice by itself.
  Closing the job cancels it.
- Without a selection, a button works on all visible objects. A script that passes the scope gets an error.
- Find Contacts and Compute Swept Bounds offer no options in F9: a changed option would run the whole job
  again in one piece, and block the window.
"""
