"""One long animation: scanned by one worker, and in shares by several."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ..tables import Competitor, Row, Table, Target
from .evaluated_scans import Walk
from .many_files import batch
from .scans import Keyed

_FRAMES = 2000
_KEYS = (*range(1, _FRAMES, 80), _FRAMES)


class _Saved(NamedTuple):
    """The file of an animation, and the options of its scan."""

    file: Path
    options: tuple[str, ...]


def _saved(case: Walk | Keyed, options: tuple[str, ...]) -> _Saved:
    """Save a long animation in a new folder."""
    import bpy

    case.scene()
    path = Path(tempfile.mkdtemp(prefix="collision_bounds_")) / "long.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return _Saved(path, options)


def _dividing(jobs: int) -> Competitor:
    """Scan the animation with as many workers, which divide its frames."""
    return batch(jobs, lambda saved: (str(saved.file), "--split", str(jobs), *saved.options))


def _compared(_: _Saved, results: Mapping[str, Any]) -> str:
    return "the same bytes" if not _check(_, results) else ""


def _check(_: _Saved, results: Mapping[str, Any]) -> str:
    one, other = results.values()
    return "" if one == other else "different bytes"


def _row(label: str, case: Walk | Keyed, *options: str, has_target: bool = True) -> Row:
    targets = [Target(1.6, "batch.py, 1 job", faster=True)] if has_target else []
    # Options change the time, so it does not follow from that of the row before.
    size = 1 if options else _FRAMES
    return Row(f"{_FRAMES} frames of {label}", lambda: _saved(case, options), size, _FRAMES, targets)


SPLIT_ANIMATION = Table(
    "split-animation",
    "one file, start-up included",
    (_dividing(2), _dividing(1)),
    [
        # Of these 5 to 10 s, starting Blender and reading the file take 1.4 to 1.9 s in each share.
        _row("1000 keyed objects", Keyed(1000, "sphere", "adaptive", keys=_KEYS), has_target=False),
        _row("12 characters", Walk(12, 5000, _FRAMES), has_target=False),
        _row("4000 keyed objects", Keyed(4000, "sphere", "adaptive", keys=_KEYS)),
        _row("12 characters, sphere trees", Walk(12, 5000, _FRAMES), "--shape", "spheres"),
    ],
    compare=_compared,
    check=_check,
    clock=perf_counter,
    seconds_each=0.0,
)
