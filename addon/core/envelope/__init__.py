"""Swept bounds of an animation: one box and one sphere around each subject at all times.

| file | content |
|---|---|
| `halving` | `sweep_over`, the loop that samples and halves intervals |
| `envelopes` | `envelopes_over`, and the bounds so far |
| `swept_points` | `points_swept`, points around all that moving points sweep, for shapes of any kind |

- **An envelope is numbers that only grow.** Maxima of support distances along 168 directions need no samples
  to be kept, and each of them is bounded between samples like any other function of time.
- **Two spheres, the smaller is returned.** Merging spheres one by one is exact along a line; the sphere
  around the k-DOP is better for everything else.
- **Each interval is sampled once within, off its middle**, since motion that repeats in halves, thirds or
  quarters of an interval would otherwise look like rest.
"""
