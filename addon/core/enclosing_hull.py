"""Convex hulls to store: single-precision or rounded corners, few of them if wanted, no point outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, as_floats, dot, length
from .convex_hull import Hull, convex_hull, excess, planes
from .errors import EmptyGeometryError, InvalidShapeError
from .fitting import spheres_from_groups
from .single_precision import single

_NEGLIGIBLE = 1e-6
"""Of the extent along each axis: what is this little above a face makes no corner."""
_COARSER = (1, 2, 4, 8, 16, 64, 256)
"""Where such corners make no closed surface, more is negligible; then nothing; then it is a box."""
_FLAT = 1e-9
_DEEP = 1e-3
"""Points this far below all faces, in units of the extent, stay there when those are grown by a hair."""
_ROUNDS = 40
_SWOLLEN = 1.5
"""A hull with few corners may be this many times what is inside of them without a look at others."""
_LIMITED = 3
"""Hulls with all the corners they may have that are looked at, at most."""
_FOLDED = 16
"""A hull that is not limited lacks this many times what is negligible, at most."""


class ConvexHull(NamedTuple):
    """A closed convex surface.

    vertices : (v, 3)
    faces : (f, 3) indices of triangles, counter-clockwise from outside
    """

    vertices: Floats
    faces: Ints


def hull_from_points(
    points: ArrayLike, most: int = 255, decimals: int | None = None, margin: float = 0.0
) -> ConvexHull:
    """The convex hull of points (n, 3), in their unit, with at most `most` vertices, at least 4.

    Vertices are single-precision numbers, or with `decimals` numbers of so many.

    Conservative: no point is above the plane of any face, as those vertices have it, nor less than `margin`
    below it. To that end corners are moved outward: by a hair, about a millionth of the extent or a few
    roundings of the largest coordinate; where `most` leaves out corners, by what these stick out. What sticks
    out by less than a millionth of the extent makes no corner of its own.

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError, also for points in one plane, and
    for those that such numbers cannot tell from it.
    """
    p = as_floats(points, "points", (3,))
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    if not len(p):
        raise EmptyGeometryError("no points")
    if most < 4:
        raise InvalidShapeError(f"most: a hull has at least 4 vertices, not {most}")
    largest = float(np.abs(p).max())
    numbers = "single precision numbers" if decimals is None else f"{decimals} decimals"

    def rounding(values: Floats) -> Floats:
        return single(values) if decimals is None else np.around(values, decimals)

    if largest > _LARGEST or (0 < largest < _SMALLEST):
        raise InvalidShapeError(f"points: {largest:g} is out of single precision's reach")
    axes = _Axes(p)
    ulp = float(np.spacing(np.float32(largest) if decimals is None else largest))
    if decimals is not None:
        ulp = max(4 * ulp, 10.0**-decimals)
    if axes.extents.min() <= max(_FLAT * axes.extents.max(), 4 * ulp):
        raise InvalidShapeError("points: they lie in one plane, and have no hull with a volume")
    seen = axes.even(p)
    # Few decimals may be rougher than a hull can be that has no corner for what is as rough: it would fold.
    negligible = (
        _NEGLIGIBLE if decimals is not None else max(_NEGLIGIBLE, 2 * ulp / float(axes.extents.min()))
    )
    best: ConvexHull | None = None
    limited = 0
    for flat in (*(coarser * negligible for coarser in _COARSER), _FLAT):
        hull = convex_hull(seen, flat, most)
        if hull is None:
            continue
        # Of points as rough as what is negligible it may have folded on the way, and lack whole corners.
        # Where the limit may be why, only the size of others tells.
        is_limited = len(p) > most <= len(np.unique(hull.faces))
        lacking = np.inf if is_limited else _FOLDED * flat * float(axes.extents.max()) + 4 * ulp
        found = _grown(p, hull, axes, ulp, rounding, margin, lacking)
        if found is None or len(found.vertices) > most:
            continue
        best = _smaller(best, found)
        limited += is_limited
        if not is_limited or limited == _LIMITED or _volume(*found) <= _SWOLLEN * _volume(p, hull.faces):
            break
    # Nor may what is thin have grown larger than the box around it.
    corners = axes.corners()
    if most >= len(corners) and (best is None or _volume(*best) > 8 * axes.extents.prod()):
        hull = convex_hull(axes.even(corners))
        if hull is not None:
            best = _smaller(best, _grown(np.concatenate([corners, p]), hull, axes, ulp, rounding, margin))
    if best is None:
        raise InvalidShapeError(f"points: {numbers} have no hull around them")
    return best


_LARGEST, _SMALLEST = 1e30, 1e-30


def _volume(vertices: Floats, faces: Ints) -> float:
    a, b, c = vertices[faces.T] - vertices[faces[0, 0]]
    return abs(float(dot(a, np.cross(b, c)).sum())) / 6


def _smaller(one: ConvexHull | None, other: ConvexHull | None) -> ConvexHull | None:
    if one is None or other is None:
        return one or other
    return one if _volume(*one) <= _volume(*other) else other


class _Axes:
    """The axes along which points (n, 3) spread, and how far they reach along each."""

    def __init__(self, points: Floats) -> None:
        # The mean, and not the middle of the box: that of points in a plane is in the plane.
        self._middle: Floats = points.mean(axis=0)
        beside = points - self._middle
        beside /= max(float(np.abs(beside).max()), 1e-300)
        spread = np.einsum("ni,nj->ij", beside, beside)
        self._axes: Floats = np.linalg.eigh(spread)[1]
        along = self._along(points)
        self.extents: Floats = np.ptp(along, axis=0) / 2
        self._center: Floats = along.min(axis=0) + self.extents

    def _along(self, points: Floats) -> Floats:
        along: Floats = np.einsum("ni,ij->nj", points - self._middle, self._axes)
        return along

    def corners(self) -> Floats:
        """(8, 3) of the box along these axes."""
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        found: Floats = self._middle + np.einsum("ni,ji->nj", self._center + signs * self.extents, self._axes)
        return found

    def even(self, points: Floats) -> Floats:
        """The points between -1 and 1 along each axis. What is convex stays convex."""
        between: Floats = (self._along(points) - self._center) / self.extents
        return between


def _grown(
    points: Floats,
    inner: Hull,
    axes: _Axes,
    ulp: float,
    rounding: Callable[[Floats], Floats],
    margin: float,
    lacking: float = np.inf,
) -> ConvexHull | None:
    """A hull of about the same corners, moved outward until all points are below all of its faces.

    None where there is no such hull, and where a point is above `inner` by more than `lacking`.
    """
    vertices, faces = _compact(points, inner.faces)
    faces = _turned_outward(vertices, faces)
    normals, offsets = planes(vertices, faces)
    above = excess(points, normals, offsets)
    if above.max() > lacking:
        return None
    # Points deep inside need not be looked at again.
    near = points[above > -_DEEP * float(axes.extents.min()) - margin]
    outward = _outward(normals, faces)
    if outward is None:
        return None
    growth = max(float(above.max()), 0.0) + margin + 2 * ulp
    for _ in range(_ROUNDS):
        rounded = rounding(vertices + growth * outward)
        # Rounding may have bent faces that were flat: they are found anew.
        hull = convex_hull(axes.even(rounded), 1e-12)
        if hull is not None:
            corners, sides = _compact(rounded, hull.faces)
            sides = _turned_outward(corners, sides)
            if _holds(corners, sides, near, margin):
                return ConvexHull(corners, sides)
        growth *= 2
    return None


def _compact(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """The points that faces use, and the faces as indices of these."""
    used, numbers = np.unique(faces, return_inverse=True)
    return points[used], numbers.reshape(-1, 3).astype(np.int64)


def _turned_outward(vertices: Floats, faces: Ints) -> Ints:
    """The axes that a hull was seen along may be those of a mirror."""
    a, b, c = ((vertices[column] - vertices[0]) for column in faces.T)
    volume = float(dot(a, np.cross(b, c)).sum())
    return faces if volume > 0 else faces[:, ::-1]


def _outward(normals: Floats, faces: Ints) -> Floats | None:
    """(v, 3) by how much each vertex goes where all of its faces go outward by at least 1.

    Among all directions the one that is nearest to the farthest normal: no vertex goes farther than it must.
    A hull whose vertices go so by a length holds all that is within this length of it.
    """
    order = np.argsort(faces.reshape(-1), kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(faces.reshape(-1))))
    around = normals[order // 3]
    middle = spheres_from_groups(around, starts).center
    sizes = length(middle)
    if sizes.min() <= 1e-9:
        return None
    direction = middle / sizes[:, None]
    least = np.minimum.reduceat(dot(around, direction.repeat(np.diff(starts), axis=0)), starts[:-1])
    return None if least.min() <= 1e-9 else direction / least[:, None]


def _holds(vertices: Floats, faces: Ints, points: Floats, margin: float) -> bool:
    """Whether all points are below all faces by a margin, whatever the rounding of this very question."""
    a, b, c = (vertices[column] for column in faces.T)
    u, v = b - a, c - a
    normals = np.cross(u, v)
    reach = float(np.abs(points).max(initial=0) + np.abs(vertices).max())
    # Sums of products of three differences, each rounded: 16 roundings of the largest are more than enough.
    unsure = 16 * np.finfo(np.float64).eps * length(u) * length(v) * (reach + margin)
    unsure += margin * length(normals)
    return bool((excess(points, normals, dot(normals, a) - unsure) <= 0).all())
