"""Bounding shapes fitted to points: spheres, boxes, capsules, cylinders, convex hulls.

- `enclosing`: spheres and axis-aligned boxes around point sets and groups of points; the methods of spheres
- `minimal_sphere`: the smallest enclosing sphere, of any number of points; its pivots are in plain Python
- `minimal_sphere_batch`: the smallest spheres of many groups of points at once
- `farthest_point`: farthest points and largest distances, in chunks
- `quickhull`: convex hulls as indices of points, of one point set or many at the same time; extreme points
- `oriented_box`: oriented boxes around the hull
- `convex_hull`: convex hulls for storage: rounded outward, limited in vertices, in steps that run together
- `hull_surface`: whether triangles are the surface of a convex hull, and hulls that are moved far away
- `axial`: capsules and cylinders along any axis or a given one, and the search for that axis
- `tessellation`: polygon meshes around boxes, balls and capsules

Decisions:

- The smallest sphere has three implementations of the same pivots, because the fastest for eight points is
  not the fastest for a million, nor for a thousand groups.
- Groups of points are fitted at once, by arrays of offsets, because a thousand small objects must not cost a
  thousand small fits.
- One hull serves two purposes: its vertices determine the smallest oriented box, and, limited, rounded and
  grown, it is a mesh. A rounded hull is computed again from its rounded vertices, because rounding bends
  faces.
"""
