"""Operators of contacts: finding, listing, marking, ignoring, loading and keeping them.

| file | operators |
|---|---|
| `find.py` | Find Contacts, Stop |
| `rows.py` | Go to Contact, Frame Pair, Show Hidden Rows, Copy Contacts |
| `ignored_pairs.py` | Ignore This Pair, Restore Ignored Pairs |
| `baseline.py` | Load Baseline, Clear Baseline, Accept Contacts, Revoke Acceptance |
| `markers.py` | Contact Markers |
| `load_report.py` | Load Report |
| `move_apart.py` | Move Apart |
| `touching.py` | Select Touching Pair |
| `separation.py` | Compute Separation, Export Separation, Key Separation, clicks in the graph |
| `pointing.py` | clicks on bounds in the viewport and on bars in the timeline |

Helpers:

- `pair_selection.py`: selects the pair of a row, and explains why it cannot be selected.
- `kept_results.py`: saves contacts with the file, and restores them.
"""
