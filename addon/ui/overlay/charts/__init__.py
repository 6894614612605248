"""Drawings in 2D: bars of contacts in the timeline and the dope sheet, and the graph of a separation.

- `timeline.py`: intervals of contact as bars.
- `axes.py`: range and ticks of the graph.
- `separation.py`: the large graph in the 3D viewport.
- `separation_image.py`: the small graph as an image, for panels.
"""
