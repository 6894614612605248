"""Drawings in 2D, outside the viewport: bars of contacts in the timeline and the dope sheet."""
