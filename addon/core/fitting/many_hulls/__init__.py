"""Convex hulls of many point sets, built at the same time.

In reading order:

- `quickhulls`: Quickhull of many point sets.
- `together`: jobs that need hulls, such as the colliders of all objects of a scene.
"""
