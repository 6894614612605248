"""Pairs on their way from one sample to the next: from when to when in contact, when closest, how close."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from .arrays import Floats, Ints
from .contact_report import Progress
from .encounters_boxes import bounds_of_boxes, encounters_of_boxes, least_of_boxes, may_touch
from .encounters_meshes import encounters_with_mesh, least_with_mesh
from .encounters_spheres import encounters_of_spheres
from .errors import InvalidShapeError
from .pair_motion import Encounters, PairMotion
from .separation import separation
from .shapes import Aabb, Obb, Sphere
from .sweep import closest_time, overlap_span
from .triangle_mesh import TriangleMesh

_AT_ONCE = 1 << 11
"""Pairs that a window may wait for, where each takes long, and four times that where none does."""


def encounters(
    pairs: PairMotion, clearance: float, doubt: Floats, progress: Progress
) -> Generator[Progress, None, Encounters]:
    """What pairs do on straight ways, oriented boxes turning at a constant rate.

    Exact for spheres and axis-aligned boxes, and for contacts of spheres with a mesh. Of oriented boxes, a
    contact is never late, and a clearance is kept to every face, which at corners is up to 0.73 of it more.
    Some pairs are looked at at a time, and the progress is yielded again between them.
    Raises InvalidShapeError for other shapes.

    doubt : (m,) pairs that stay farther apart than the clearance and this need no exact separation
    """
    if not isinstance(pairs.b_start, Obb):
        at_once = _AT_ONCE if isinstance(pairs.b_start, TriangleMesh) else 4 * _AT_ONCE
        return (
            yield from _in_parts(
                lambda some: _looked_at(pairs.picked(some), clearance, doubt[some]),
                len(doubt),
                at_once,
                progress,
            )
        )
    # Of most pairs what they do at the ends is enough.
    found = yield from _in_parts(
        lambda some: bounds_of_boxes(pairs.picked(some)), len(doubt), 4 * _AT_ONCE, progress
    )
    rows = np.flatnonzero(may_touch(pairs, found.low, clearance, doubt))

    def look(some: slice) -> Encounters:
        these = rows[some]
        return encounters_of_boxes(pairs.picked(these), clearance, doubt[these], found.picked(these))

    met = yield from _in_parts(look, len(rows), _AT_ONCE, progress)
    for values, of_rows in zip(found, met, strict=True):
        values[rows] = of_rows
    return found


def _in_parts(
    look: Callable[[slice], Encounters], count: int, at_once: int, progress: Progress
) -> Generator[Progress, None, Encounters]:
    if count <= at_once:
        return look(slice(None))
    parts = []
    for start in range(0, count, at_once):
        parts.append(look(slice(start, start + at_once)))
        yield progress
    return Encounters(*map(np.concatenate, zip(*parts, strict=True)))


def _looked_at(pairs: PairMotion, clearance: float, doubt: Floats) -> Encounters:
    a, b = pairs.a_start, pairs.b_start
    if isinstance(a, Sphere) and isinstance(b, TriangleMesh):
        return encounters_with_mesh(pairs, clearance, doubt)
    if isinstance(a, Sphere) and isinstance(b, Sphere):
        return encounters_of_spheres(pairs, clearance)
    if not (isinstance(a, Aabb) and isinstance(b, Aabb)):
        raise InvalidShapeError(
            f"a scan follows spheres and boxes, not {type(a).__name__} and {type(b).__name__}"
        )
    enter, leave = overlap_span(*pairs, clearance=clearance)
    time = closest_time(*pairs)
    least = pairs.separation_at(time)
    ends = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
    return Encounters(enter, leave, least, time, least, np.maximum(*ends))


def with_extremes(pairs: PairMotion, met: Encounters, rows: Ints, news: Floats, keys: Ints) -> Encounters:
    """The same with the least separations that pairs of `rows` have on the way, where below `news`.

    For oriented boxes, the least of some samples; for spheres and a mesh exact. It takes longer than anything
    else about them, and is not needed to tell when they touch. Rows with the same key are one pair in several
    intervals: only the least of them all is sure to be found.
    """
    if isinstance(pairs.b_start, (Sphere, Aabb)):
        return met
    rows = rows[met.low[rows] < news[rows]]
    # The most promising interval of each pair first: it rules out most of the others.
    rows = rows[np.lexsort((met.least[rows], keys[rows]))]
    begins = np.diff(keys[rows], prepend=-1) != 0
    of_pair = np.cumsum(begins) - 1
    best = rows[begins]
    met = _with_extremes(pairs, met, best, news[best])
    known = np.minimum(news[rows], met.least[best][of_pair])
    rest = ~begins & (met.low[rows] < known)
    return _with_extremes(pairs, met, rows[rest], known[rest])


def _with_extremes(pairs: PairMotion, met: Encounters, rows: Ints, news: Floats) -> Encounters:
    if not len(rows):
        return met
    some = pairs.picked(rows)
    if isinstance(pairs.b_start, TriangleMesh):
        found = least_with_mesh(some, np.minimum(news, met.least[rows]))
    else:
        found = least_of_boxes(some, met.enter[rows], met.leave[rows], news)
    least, least_time = met.least.copy(), met.least_time.copy()
    least[rows], least_time[rows] = found
    return met._replace(least=least, least_time=least_time)
