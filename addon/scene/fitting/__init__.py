"""Shapes around the vertices of subjects.

In reading order:

- `growth`: growing shapes by balls around their points, and by the padding.
- `shape_choice`: which shapes are fitted, and which subjects are fitted together.
- `fit`: many subjects at once, in world space, in their own frames, and around their origins.
- `inflation`: points whose hull has a volume and holds the padding.
- `rigid_motion`: linear maps that nearly are rotations with a uniform scale.
- `shape_arrays`, `vertex_stacks`: the numbers of many shapes, and the vertices of many subjects, as arrays.
- `fit_cache`: fits that are moved by matrices instead of made again.
- `tree_parts`: the vertices of the parts of a sphere tree.
- `quality`: volumes of fitted shapes, and how many vertices touch them.

The room may import `core`, `formats`, `scene.blender` and the settings and errors of `scene`.

Decisions:

- A shape that follows a rotation is moved, not fitted again, because reading and fitting vertices takes most
  of the time of a frame. What single precision makes of a rotation is not quite one; the fit grows by the
  difference, so all vertices stay inside.
- Subjects are fitted in batches. If a batch fails, its subjects are fitted one by one, so that only
  those that cannot be fitted are skipped.
- The kinds of shapes are listed once, in `scene.settings.SHAPE_KINDS`. An unknown kind raises ValueError.
"""
