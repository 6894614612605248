"""Drawings in 2D: bars of contacts in the timeline and the dope sheet, and the graph of a separation.

- `timeline.py`: intervals of contact as bars.
- `separation.py`: axes of the graph, and the large graph in the 3D viewport.
- `separation_image.py`: the small graph as an image, for panels.
"""
