"""Broad phase: pairs of overlapping axis-aligned boxes.

Files, in reading order:

- `overlapping_pairs.py`: the public functions, and the search: sweep and prune within the columns of a grid.
- `grid.py`: the grid, the columns that a box reaches, and the entries of columns; the choice of the grid from
  a sample of the boxes.

Decisions:

- Results are exact, touching included, and equal to those of brute force. The tuning affects only the speed.
- Boxes of very different sizes are searched in several grids instead of one hierarchy of grids.
- Pairs are one integer each while they are collected, because one integer sorts much faster than two.
"""
