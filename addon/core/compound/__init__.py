"""Meshes split into convex parts, so that the hulls of the parts together hold every triangle.

- `convex_parts`: the splits, one after another, of the part that gains most, by the best plane,
  and parts joined again
- `part_surface`: the surface of a part: cut by a plane, and sampled
- `hull_estimate`: volumes of convex hulls from extreme points in fixed directions

Decisions:

- Triangles are cut at the planes: each point of the mesh is in a part, and no triangle reaches across a
  notch.
- A split is found on samples, for thousands of planes, and the best few are tried on the whole surface. Hulls
  would take a hundred times longer than their estimates.
"""
