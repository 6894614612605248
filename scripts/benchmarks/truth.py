"""Contacts that a benchmark has timed, compared with distances at many times that are computed here.

Nothing of the scan is used: poses are read from Blender, and the distances are formulas of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Gaps = Callable[[float, Ints, Ints], Floats]
"""Function of a time and of pairs of bodies: their distances, negative where they overlap."""

TOLERANCE = 2e-3
"""Length within which a distance decides nothing: the bodies have sizes of about 1."""
SLACK = 5e-3
"""Frames within which the ends of intervals are not tested."""
_BODIES = 80
_STARTS = 60


def wrong_contacts(
    report: Any,
    count: int,
    gaps: Gaps,
    frames: Sequence[float],
    only_frames: bool = False,
    tolerance: float = TOLERANCE,
) -> str:
    """Describe the first contact that a report misses or invents; an empty text if there is none.

    Tested are the pairs of 80 bodies with all `count`, at the given frames, and unless `only_frames`
    just before and after the begin of sixty contacts of these.
    """
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(count, min(count, _BODIES), replace=False))
    is_chosen = np.isin(np.arange(count), chosen)
    a, b = np.nonzero(
        is_chosen[:, None] & (~is_chosen[None] | (np.arange(count)[:, None] < np.arange(count)))
    )
    rows = {pair: row for row, pair in enumerate(zip(a.tolist(), b.tolist(), strict=True))}
    intervals = []
    for contact in report.contacts:
        pair = contact.a, contact.b
        row = rows.get(pair, rows.get(pair[::-1], -1))
        if row >= 0:
            intervals += [(row, interval.start, interval.end) for interval in contact.intervals]
    listed = np.array(intervals, dtype=np.float64).reshape(-1, 3)
    times = np.unique(frames).tolist() if only_frames else _times(listed, frames, rng)
    for time in times:
        found = gaps(time, a, b)
        error = _first_error(time, found, listed, tolerance)
        if error:
            name, row = error
            return f"{name} of {a[row]} and {b[row]} at frame {time:g}, where they are {found[row]:.3g} apart"
    return ""


def _times(intervals: Floats, frames: Sequence[float], rng: np.random.Generator) -> list[float]:
    """All times to test, within the frames."""
    begins = rng.permutation(intervals[:, 1])[:_STARTS]
    times = np.concatenate([np.asarray(frames, dtype=np.float64), begins - 3 * SLACK, begins + 3 * SLACK])
    inside: list[float] = np.unique(times[(times >= min(frames)) & (times <= max(frames))]).tolist()
    return inside


def _first_error(time: float, gaps: Floats, intervals: Floats, tolerance: float) -> tuple[str, int] | None:
    """Return what is wrong at a time, and the row of the pair."""
    rows, begins, ends = intervals[:, 0].astype(np.int64), intervals[:, 1], intervals[:, 2]
    may, must = (np.zeros(len(gaps), dtype=bool) for _ in range(2))
    may[rows[(begins - SLACK <= time) & (time <= ends + SLACK)]] = True
    must[rows[(begins + SLACK <= time) & (time <= ends - SLACK)]] = True
    missed, invented = ~may & (gaps < -tolerance), must & (gaps > tolerance)
    for name, wrong in (("missed contact", missed), ("invented contact", invented)):
        if wrong.any():
            return name, int(np.flatnonzero(wrong)[0])
    return None


def sphere_gaps(centers: Callable[[float], Floats], radius: Floats) -> Gaps:
    """Return distances of spheres whose centers (n, 3) are a function of the time."""

    def gaps(time: float, a: Ints, b: Ints) -> Floats:
        now = centers(time)
        distances: Floats = np.sqrt(((now[a] - now[b]) ** 2).sum(axis=1)) - radius[a] - radius[b]
        return distances

    return gaps


def between_frames(at_frame: Callable[[int], Floats]) -> Callable[[float], Floats]:
    """Return a function of the time that is linear between whole frames."""
    known: dict[int, Floats] = {}

    def at(time: float) -> Floats:
        whole = int(np.floor(time))
        for frame in (whole, whole + 1):
            if frame not in known and (frame == whole or time > whole):
                known[frame] = at_frame(frame)
        if time == whole:
            return known[whole]
        part = time - whole
        mixed: Floats = (1 - part) * known[whole] + part * known[whole + 1]
        return mixed

    return at


def part_gaps(
    parts: Callable[[float], Any], owners: Ints, distance: Callable[[Any, Ints, Ints], Floats]
) -> Gaps:
    """Return distances of bodies of several parts: the least of those of their parts.

    parts : function of the time that returns the parts of all bodies
    owners : the body of each part, ascending
    distance : function of the parts and of pairs of their rows
    """
    starts = np.searchsorted(owners, np.arange(owners[-1] + 2))
    counts = np.diff(starts)

    def gaps(time: float, a: Ints, b: Ints) -> Floats:
        now = parts(time)
        pairs = np.repeat(np.arange(len(a)), counts[a] * counts[b])
        number = np.arange(len(pairs)) - np.searchsorted(pairs, pairs)
        first = starts[a[pairs]] + number // counts[b[pairs]]
        second = starts[b[pairs]] + number % counts[b[pairs]]
        least = np.full(len(a), np.inf)
        np.minimum.at(least, pairs, distance(now, first, second))
        return least

    return gaps


def box_distance(boxes: Floats, a: Ints, b: Ints) -> Floats:
    """Greatest gaps along the axes of boxes, by their mins and maxs (2, n, 3)."""
    low, high = boxes
    apart: Floats = np.maximum(low[a] - high[b], low[b] - high[a]).max(axis=1)
    return apart


def oriented_distance(boxes: tuple[Floats, Floats, Floats], a: Ints, b: Ints) -> Floats:
    """Greatest gaps along the fifteen axes of oriented boxes: centers, axes as columns, half sizes."""
    centers, axes, half = boxes
    reach = np.sqrt((half**2).sum(axis=1))
    offset = centers[b] - centers[a]
    apart: Floats = np.sqrt((offset**2).sum(axis=1)) - reach[a] - reach[b]
    near = np.flatnonzero(apart < 0)
    u, v = axes[a[near]].transpose(0, 2, 1), axes[b[near]].transpose(0, 2, 1)
    edges = np.cross(u[:, :, None], v[:, None]).reshape(-1, 9, 3)
    length = np.sqrt((edges**2).sum(axis=2, keepdims=True))
    edges = np.where(length > 1e-6, edges / np.maximum(length, 1e-6), u[:, :1])
    lines = np.concatenate([u, v, edges], axis=1)
    size = sum(
        (np.abs(np.einsum("nki,nji->nkj", lines, sides)) * half[rows[near]][:, None]).sum(axis=2)
        for sides, rows in ((u, a), (v, b))
    )
    apart[near] = (np.abs(np.einsum("nki,ni->nk", lines, offset[near])) - size).max(axis=1)
    return apart


def _distance_to_segment(point: Floats, origin: Floats, along: Floats) -> Floats:
    """Distances (n,) of points (n, 3) from segments, given by their origins and vectors (n, 3)."""
    part = ((point - origin) * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300)
    nearest = origin + np.clip(part, 0, 1)[:, None] * along
    return np.asarray(np.sqrt(((point - nearest) ** 2).sum(axis=1)))


def capsule_distance(capsules: tuple[Floats, Floats, Floats], a: Ints, b: Ints) -> Floats:
    """Distances of capsules: both ends (n, 3) of their axes, and radii (n,)."""
    start, end, radius = capsules
    p, q, u, v = start[a], start[b], end[a] - start[a], end[b] - start[b]
    between = p - q
    of_ends = ((p, q, v), (end[a], q, v), (q, p, u), (end[b], p, u))
    least = np.min([_distance_to_segment(*each) for each in of_ends], axis=0)
    uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
    up, vp, area = (u * between).sum(axis=1), (v * between).sum(axis=1), uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uv * vp - vv * up) / area, (uu * vp - uv * up) / area
        crosses = (area > 1e-12 * uu * vv) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
        inner = np.sqrt(((between + s[:, None] * u - t[:, None] * v) ** 2).sum(axis=1))
    return np.asarray(np.minimum(least, np.where(crosses, inner, np.inf)) - radius[a] - radius[b])


def sampled_frames(first: int, last: int, between: int, seed: int = 0) -> list[float]:
    """Return all whole frames and some times between them at random."""
    inner = np.random.default_rng(seed).uniform(first, last, between)
    return [*map(float, range(first, last + 1)), *inner.tolist()]


def names_of(result: Any) -> list[str]:
    """Return the names of the subjects of a result, which are those of their objects."""
    return [entry.name for entry in result.objects]


def matrices_at(scene: Any, names: Iterable[str]) -> Callable[[float], Floats]:
    """Return a function of the time: the matrices (n, 4, 4) of some objects, from Blender."""
    items = [scene.objects[name] for name in names]

    def at(time: float) -> Floats:
        whole = int(np.floor(time))
        scene.frame_set(whole, subframe=time - whole)
        return np.array([item.matrix_world for item in items], dtype=np.float64)

    return at
