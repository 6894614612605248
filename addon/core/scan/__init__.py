"""Contact scan of an animation: a motion goes in, contacts and near misses of all pairs come out.

In reading order:

| file | content |
|---|---|
| `scan` | `scan_contacts` and `ScanSettings`: reads samples, if any are needed, and goes block by block |
| `pair_scanner` | solves the near pairs of a block |
| `candidates` | pairs that are tested, and near ones: by boxes over long intervals, short ones, and spheres |
| `subdivision` | rounds of solving near pairs, split where linear motion does not decide |
| `rounds` | pairs of one round, what linear motion decides of them, least separations, spans of time |
| `slow_contacts` | contacts of meshes that begin so slowly that rounding shifts their times |
| `pair_cache` | what is known of each pair so far, and descriptions of contacts from solved pieces |
| `report` | contacts and near misses, and the report of a scan |
| `sections` | joins the records of the sections of a long scan, and makes them plain data |

May import `motion` and the rooms before it.

- **A motion is queried, whatever it is.** Keyed, bent and sampled subjects answer the same questions; what is
  certain is split pair by pair, and what is sampled at times that all open pairs share.
- **Blocks of intervals are arrays.** One array operation for all pairs and intervals of a block replaces
  loops; a block is dropped when the next begins, so memory grows with pairs and contacts only.
- **Whole intervals and parts of them take one path.** Each round solves, assesses and records all open
  intervals in one batch; a whole interval is the first round of its own subdivision.
- **The scanner cuts work into chunks** of about 50 ms, and yields between them. `NearSearch.find`,
  `Subdivision.split` and `PairCache.record` take longer, so they yield too; everything else that it calls is
  a plain function.
- **Obstacles are meshes** without an inside among balls, in one batch of `Meshes`. Labels of
  subjects keep two obstacles from being a pair.
- **Sections of long scans are independent**: a scan of a motion that can be read at any time is cut every 250
  intervals, in one process too. So several processes give the same report as one.
- **A subject may have parts**: the leaves of a sphere tree are spheres of one subject
  (`ScanSettings.owners`), which cannot be in contact with each other.
"""
