"""Drawings in 2D: bars of contacts in the timeline and the dope sheet, and the graph of a separation."""
