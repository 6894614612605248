"""Tracks of whole scenes into a file, beside merely playing the scene; numbers as text, beside json."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from addon.core.numeric.arrays import Floats
from addon.formats.document.json_numbers import lists_of_numbers

from .scans import FRAMES, Keyed, finished, played
from .tables import Call, Competitor, Row, Table, Target


def _written(case: Keyed) -> Call:
    scene = case.scene()
    from addon.formats import file_text, write_text
    from addon.scene.jobs.envelopes import play_bounds
    from addon.scene.settings import BoundsSettings

    for frame in (1, 2):
        scene.frame_set(frame)  # which takes Blender itself some memory, the first time

    def write() -> tuple[int, int]:
        before = _megabytes_at_most()
        result = finished(play_bounds(scene, BoundsSettings(tracks=True)))
        with TemporaryDirectory() as folder:
            path = Path(folder, "tracks.json")
            write_text(path, file_text(result.document("unreal"), "json"))
            return path.stat().st_size >> 20, _megabytes_at_most() - before

    return write


def _megabytes_at_most() -> int:
    """The most memory that this process ever held; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most >> (20 if sys.platform == "darwin" else 10)


def _told(case: Keyed, answers: Any) -> str:
    if "write" not in answers:
        return ""
    size, grown = answers["write"]
    return (
        f"{size} MB of text; memory grew by {grown} MB, {80 * case.count * FRAMES >> 20} of them the tracks"
    )


TRACKS = Table(
    "tracks",
    f"boxes and spheres at {FRAMES} frames",
    (Competitor("write", _written), Competitor("frame_set", played)),
    # The larger first: after the smaller it would be expected to take too long.
    [
        Row(
            f"{count} objects",
            partial(Keyed, count, "obb", "linear"),
            count * FRAMES,
            1,
            [Target(2, "frame_set")],
        )
        for count in (10_000, 1000)
    ],
    _told,
    clock=perf_counter,
    seconds_each=12.0,
)

NUMBERS = 300_000


def _coordinates(decimals: int) -> tuple[Floats, int]:
    rng = np.random.default_rng(0)
    return np.round(rng.uniform(-1000, 1000, (NUMBERS // 3, 3)), decimals), decimals


def _listed(case: tuple[Floats, int]) -> Call:
    return lambda: lists_of_numbers(*case, np.full(NUMBERS // 750, 250))


def _listed_by_json(case: tuple[Floats, int]) -> Call:
    values, _ = case
    return lambda: [json.dumps(own.tolist()) for own in np.split(values, NUMBERS // 750)]


def _compared(case: Any, answers: Any) -> str:
    return "" if answers["ours"] == answers["json"] else "**other text**"


NUMBER_TEXT = Table(
    "number-text",
    "rounded numbers as text, for one",
    (Competitor("ours", _listed), Competitor("json", _listed_by_json)),
    [
        Row(
            f"{decimals} decimals",
            partial(_coordinates, decimals),
            NUMBERS,
            NUMBERS,
            [Target(3, "json", faster=True)],
        )
        for decimals in (3, 6, 9)
    ],
    _compared,
)
