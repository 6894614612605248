"""One pair over one interval between two samples: contact, least separation, deviation from linear motion.

| file | content |
|---|---|
| `pair_motion` | shapes of pairs at both ends, `IntervalContacts`, and deviation from linear motion |
| `dispatch` | both passes that solve pairs, boxes along the axes, and `with_minimum_separation` |
| `spheres` | spheres, exactly |
| `rotating` | boxes and capsules that rotate |
| `common_paths` | how far meshes may move relative to each other where both are |
| `meshes` | triangle meshes whose corners move in straight lines |

May import `sweep` and the rooms before it.

- **Contacts first, separations on demand.** For oriented boxes and meshes the least separation takes longer
  than the contact and cannot change it, so it is searched only where it can change the report.
- **Bounds before solutions.** `low` and `high` bound the separation over the whole interval: most pairs are
  decided by them, and an adaptive scan decides by them where linear motion is not good enough.
- **Plain functions.** Nothing here yields: a caller that must not block for long cuts its pairs into chunks.
"""
