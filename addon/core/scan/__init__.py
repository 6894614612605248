"""Contact scan of an animation: frames go in, contacts and near misses of all pairs come out.

In reading order:

| file | content |
|---|---|
| `scan` | `scan_contacts` and `ScanSettings` |
| `motion` | protocols of motions, their samples, and the local space of obstacles |
| `pair_filter` | which pairs are tested: by settings, and where their boxes overlap |
| `pair_scanner` | collects frames into blocks, skips pairs that do not move, solves the others |
| `interval_block` | the shapes of a block of intervals, and timelines of intervals that are subdivided |
| `refinement` | assessment of linear motion, and subdivision where it is not good enough |
| `known_subdivision` | the same for pairs whose motion is known between frames |
| `records` | contacts and separations of pairs, as tables |
| `pair_cache` | what is known of each pair so far, and descriptions of contacts from solved pieces |
| `report` | contacts and near misses |
| `sections` | cuts long scans into sections for several processes, and joins their records |
| `switches` | adds samples where subjects appear or disappear |
| `mesh_samples` | samples of two moving meshes, whose vertices and triangles may change |
| `mesh_contact` | first contact of two moving meshes, for pairs whose bounds touch |

May import `interval` and the rooms before it.

- **Blocks of intervals are arrays.** One array operation for all pairs and intervals of a block replaces
  loops; a block is dropped when the next begins, so memory grows with pairs and contacts only.
- **Whole intervals and parts of them take one path.** Each round solves, assesses and records all open
  intervals in one batch; a whole interval is the first round of its own subdivision.
- **The scanner cuts work into chunks** of about 50 ms, and yields between them. `IntervalBlock.use_known` and
  `PairCache.record` take longer, so they yield too; everything else that it calls is a plain function.
- **Each obstacle has a scanner of its own** over the same samples, whose pairs all end in that mesh. So an
  obstacle must keep its shape and size, and two obstacles are no pair.
- **Sections of long scans are independent**: a scan of a motion that can be read at any time is cut every 250
  intervals, in one process too. So several processes give the same report as one.
- **A subject may have parts**: the leaves of a sphere tree are spheres of one subject
  (`ScanSettings.owners`), which cannot be in contact with each other.
"""
