"""One pair over one interval between two samples: contact, least separation, deviation from linear motion.

| file | content |
|---|---|
| `pair_motion` | `PairMotion`, the shapes of pairs at both ends, and `IntervalContacts`, the result |
| `dispatch` | both passes that solve pairs, and `with_minimum_separation` |
| `rotating`, `sphere_mesh` | for boxes and capsules that rotate; for spheres, also with a mesh |
| `linearity` | how far the real motion may deviate from the linear motion between samples |
| `box_kinks` | how far sides of boxes deviate where another point becomes the outermost |

May import `sweep` and the rooms before it.

- **Contacts first, separations on demand.** For oriented boxes and meshes the least separation takes longer
  than the contact and cannot change it, so it is searched only where it can change the report.
- **Bounds before solutions.** `low` and `high` bound the separation over the whole interval: most pairs are
  decided by them, and an adaptive scan decides by them where linear motion is not good enough.
- **Plain functions.** Nothing here yields: a caller that must not block for long cuts its pairs into chunks.
"""
