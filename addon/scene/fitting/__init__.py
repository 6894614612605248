"""Shapes around the vertices of subjects.

In reading order:

- `searches`: axes of smallest boxes, lines of shapes with an axis, and results of all long searches, which
  the subjects and jobs of a session share.
- `fit`: the choice of shapes, and fits of several subjects, in world space and in their own frames; growth by
  the padding, also of flat hulls.
- `fit_cache`: one fit for each subject of a scan, moved to the matrices of a frame or into the frames of the
  subjects; and the boxes along the world's axes, which are fitted again.
- `fit_columns`: columns of numbers of shapes, which are moved in place, and the maps that move them; axes and
  lines that were found.
- `mesh_fits`: the meshes themselves as the shapes of subjects.
- `world_boxes`: sides of boxes along the world's axes, from stacked vertices.
- `parts`: the vertices of all parts of a subject: of the leaves of a sphere tree, or of convex parts; and
  shapes around each.
- `quality`: volumes of fitted shapes, and how many vertices touch them.

The room may import `core`, `formats`, `scene.blender`, `scene.subjects`, and settings and errors of `scene`.

Decisions:

- A shape that follows a rotation is moved, not fitted again, because reading and fitting vertices takes most
  of the time of a frame. What single precision makes of a rotation is not quite one; the fit grows by the
  difference, so all vertices stay inside.
- Subjects are fitted in batches. If a batch fails, its subjects are fitted one by one, so that only
  those that cannot be fitted are skipped.
- The kinds of shapes are listed once, in `scene.settings.SHAPE_KINDS`. An unknown kind raises ValueError.
"""
