"""Operators: one class per button or menu entry. Their docstrings are their tooltips.

| file | operators |
|---|---|
| `jobs.py` | Compute Bounds, Compute Swept Bounds, Find Contacts, Stop, Clear Results |
| `rows.py` | Go to Contact, Go to Interval, Sort, Frame Pair, Show Hidden Rows, Copy, Contact Markers |
| `ignored_pairs.py` | Ignore and restore pairs |
| `groups.py` | Add and Remove Collection of a group of pairs |
| `pairs.py` | Accept contacts, Move Apart; Compute, Export and Key Separation |
| `reports.py` | Load Report, Load and Clear Baseline; saves contacts with the file, and restores them |
| `pointing.py` | clicks on bounds and on the graph in the viewport, and on bars in the timeline |
| `object.py` | Copy Settings to Selected, Measure Fit, custom shapes |
| `colliders.py` | Create, Remove and Check Colliders, Colliders from Selection and from Vertex Group |
| `export.py` | one operator per file format |

`command.py` has their base classes: how a command reports and refuses, which options it draws and shares with
its scene, and jobs in slices, with Esc and progress in the status bar. `need.py` has what a button needs
before it can be clicked.

May import `ui/properties`, `ui/overlay`, and the files of `ui` that belong to no room.

Decisions:

- Jobs run one at a time, in slices of up to 40 ms, so that the window responds and Esc stops them. A longer
  step is a slice by itself. Closing the job cancels it.
- Without a selection, a button works on all visible objects. A script that passes the scope gets an error.
"""
