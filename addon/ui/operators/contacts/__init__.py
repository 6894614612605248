"""Operators of contacts: finding, listing, marking, ignoring, loading and keeping them.

| file | operators |
|---|---|
| `find.py` | Find Contacts, Stop |
| `rows.py` | Go to Contact, Frame Pair, Show Hidden Rows, Copy Contacts |
| `pairs.py` | Ignore This Pair, Restore Ignored Pairs, Accept Contacts, Revoke Acceptance, Move Apart |
| `baseline.py` | Load Baseline, Clear Baseline |
| `markers.py` | Contact Markers |
| `reports.py` | Load Report; saves contacts with the file, and restores them |
| `separation.py` | Compute Separation, Export Separation, Key Separation, clicks in the graph |
| `pointing.py` | clicks on bounds in the viewport and on bars in the timeline |

Helpers:

- `pair_selection.py`: selects the pair of a row, and explains why it cannot be selected.
"""
