"""Sweep: continuous collision of two moving shapes, exact or conservative, by closed forms and advancement.

Files in reading order:

- `dispatch`: the public queries `time_of_impact`, `first_impact`, `overlap_span` and `closest_time`, and the
  tables that find the method for a pair of kinds.
- `interpolation`: shapes at any time between two samples, rotations along the shorter arc; results and
  `ImpactStatus`, the certainty of a time of impact.
- `closed_forms`: the quadratic of two spheres, which most other sweeps reduce to; slabs for axis-aligned
  boxes; piecewise quadratics for a sphere and a box.
- `one_sided`: times at which triangles come to the front of others.
- `sphere_triangle`: the convex separation of a sphere and a triangle, by tangents.
- `obb`, `gap_advancement`: conservative advancement of oriented boxes (Mirtich 1996), and of capsules, which
  are boxes with a radius around them.
- `triangle_triangle`: conservative advancement of triangles.
- `mesh_mesh`: two meshes, by a best-first search of their triangles.
- `sphere_mesh`: a sphere and a mesh at rest, by a best-first search of its triangles.

May import the rooms before it: numeric, shapes, broad_phase, fitting, trees, mesh and distance.

Decisions:

- A time of impact is never late. Motion without rotation has closed forms or convex gaps, which are exact up
  to float64 rounding. For motion with rotation there are none, so the time advances by steps that are proven
  safe, and `ImpactStatus` says how certain the result is.
- The discriminant of the sphere quadratic is evaluated in the rejection form with error-free transformations,
  because the textbook form cancels for fast spheres and would lose hits and grazes.
- The samples at both ends decide about contact at the ends. Rounding can neither lose nor invent it there,
  so spans of adjacent intervals join seamlessly.
"""
