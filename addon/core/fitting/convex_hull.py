"""Convex hulls for storage: float32 or rounded vertices, optionally few of them, and no point outside.

The hull is found by Quickhull, among points scaled to equal extent along their principal axes. Then its
vertices are moved outward and rounded, and the hull is built again from the rounded vertices, because
rounding bends flat faces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CollisionBoundsError, InvalidShapeError
from ..numeric.arguments import as_number, as_whole_number
from ..numeric.arrays import UNIT_BOX_CORNERS, Floats, Ints, as_points, dot, length
from ..numeric.floating_point import nearest_float32
from ..numeric.tolerances import CHAIN_ROUNDING, EPS
from .enclosing import spheres_from_groups
from .quickhull import COPLANAR_TOLERANCE, face_planes, max_height_above, quickhulls

_NEGLIGIBLE = 1e-6
"""Points this little above a face make no vertex, in units of the extent along each axis."""
_COARSER = (1, 2, 4, 8, 16, 64, 256)
"""Factors of that, tried in turn until the hull is a closed surface; then `_FLAT`, `_FEWER`, and a box."""
_FLAT = 1e-9
"""Points thinner than this, in units of the largest extent, are in one plane."""
_FEWER = (128, 64, 32, 16)
"""Limits of the vertices, tried in turn where faces fold at every tolerance, each with `_TOLERANCES`."""
_TOLERANCES = (_FLAT, _NEGLIGIBLE, 1e-4)
_DEEP = 1e-3
"""Points this far below all faces, in units of the least extent, are not tested after growth."""
_MAX_GROWTHS = 40
_MAX_VOLUME_RATIO = 1.5
"""A hull limited in vertices is accepted at once if at most this many times as large as that inside."""
_MAX_LIMITED_HULLS = 3
"""Hulls limited in vertices are tried at most this many times; the smallest is used."""
_FOLDED = 16
"""A hull not limited in vertices has no point farther outside than this many tolerances."""
_LARGEST, _SMALLEST = 1e30, 1e-30
"""Largest coordinates between these have float32 numbers, and their products too."""

_Result = TypeVar("_Result")

_MAX_DECIMALS = 300
"""Powers of ten beyond this are not normal float64 numbers."""


class ConvexHull(NamedTuple):
    """A closed convex surface.

    Attributes
    ----------
    vertices : (v, 3) float64
    faces : (f, 3) int64
        Indices of triangles, counter-clockwise from outside.
    """

    vertices: Floats
    faces: Ints


class HullRequest(NamedTuple):
    """Points (n, 3) of about unit extent whose hull a step needs; see `quickhull`."""

    points: Floats
    tolerance: float
    max_vertices: int | None = None


HullSteps: TypeAlias = Generator[HullRequest, "Ints | None", ConvexHull]
"""Steps to a hull: yields requests, is sent the faces (f, 3) or None for each, and returns the hull."""


def hull_from_points(
    points: ArrayLike, max_vertices: int = 255, decimals: int | None = None, margin: float = 0.0
) -> ConvexHull:
    """Fit a convex hull of limited size to points.

    Conservative: no point is above the plane of any face, computed from the returned vertices, nor less
    than `margin` below it. To that end vertices are moved outward: by about a millionth of the extent or a
    few roundings of the largest coordinate; where `max_vertices` removes vertices, by the distance that
    these are outside. Points outside by less than a millionth of the extent make no vertex of their own.

    Parameters
    ----------
    points : (n, 3) array_like
        In the caller's unit.
    max_vertices : int, >= 4
        Limit of the number of vertices.
    decimals : int, optional
        Round vertices to this many decimals, instead of to float32.
    margin : float
        Least distance of points below all faces.

    Returns
    -------
    hull : ConvexHull

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError
    InvalidShapeError
        Also for points in one plane, and for those whose thickness is lost by rounding vertices.
    """
    return run_hull_steps(hull_steps(points, max_vertices, decimals, margin))


def hull_steps(
    points: ArrayLike, max_vertices: int = 255, decimals: int | None = None, margin: float = 0.0
) -> HullSteps:
    """Fit a convex hull as `hull_from_points` does, in steps between which hulls of points are needed.

    So the hulls of many point sets can be built at the same time. The errors of `hull_from_points` are raised
    at the first step or a later one.
    """
    max_vertices = as_whole_number(max_vertices, "max_vertices", 0)
    margin = as_number(margin, "margin", 0.0, most=_LARGEST)
    if decimals is not None:
        decimals = as_whole_number(decimals, "decimals", 0, _MAX_DECIMALS)
    p = as_points(points)
    target = _Target(p, decimals, margin, max_vertices)
    if target.is_flat:
        raise InvalidShapeError("points: they lie in one plane, and have no hull with a volume")
    best = yield from _smallest_candidate(p, target)
    # The farthest points become vertices first. Faces fold at the last ones, which are as close to faces as
    # to other points, so a hull without these is little larger.
    fewer = [limit for limit in _FEWER if limit <= max_vertices]
    for limit, tolerance in product(fewer, _TOLERANCES):
        if best is not None:
            break
        inner = yield HullRequest(target.scaled(p), tolerance, limit)
        if inner is not None:
            best = yield from _grown(p, inner, target)
    # A thin hull can have grown beyond the box around it.
    corners = target.corners()
    if max_vertices >= len(corners) and (best is None or _volume(*best) > 8 * target.extents.prod()):
        inner = yield HullRequest(target.scaled(corners), COPLANAR_TOLERANCE)
        if inner is not None:
            box = yield from _grown(np.concatenate([corners, p]), inner, target)
            best = _smaller(best, box)
    if best is None:
        raise InvalidShapeError(f"points: {target.numbers} have no hull around them")
    return best


def rounded_hull_steps(
    hull: ConvexHull, decimals: int
) -> Generator[HullRequest, Ints | None, ConvexHull | None]:
    """Move the vertices of a hull outward and round them, until they enclose the given ones.

    Conservative as `hull_from_points`, which is twice as slow, because it has to find the hull first. Steps
    are as those of `hull_steps`. Returns None for a hull that is too thin or too rough for these decimals:
    `hull_from_points` may find one with fewer vertices.
    """
    vertices = as_points(hull.vertices)
    target = _Target(vertices, decimals, 0.0, len(vertices))
    return None if target.is_flat else (yield from _grown(vertices, hull.faces, target))


def run_hull_steps(steps: Generator[HullRequest, Ints | None, _Result]) -> _Result:
    """Run steps such as `hull_steps` to their end, and return their result; raises the error of one."""
    result = run_together([steps])[0]
    if isinstance(result, CollisionBoundsError):
        raise result
    return result


def run_together(
    jobs: Sequence[Generator[HullRequest, Ints | None, _Result]],
) -> list[_Result | CollisionBoundsError]:
    """Run several jobs such as `hull_steps`, and build the hulls that they need at the same time.

    jobs : Each yields requests, and is sent the faces of the hull, or None if there is none.
    Returns results : list. In place of a result, the error that a job raised, because one does not stop the
        others.
    """
    results: dict[int, _Result | CollisionBoundsError] = {}
    faces: dict[int, Ints | None] = dict.fromkeys(range(len(jobs)))
    while faces:
        requests: dict[tuple[float, int | None], dict[int, HullRequest]] = defaultdict(dict)
        for number, found in faces.items():
            try:
                request = jobs[number].send(found)
                requests[request.tolerance, request.max_vertices][number] = request
            except StopIteration as end:
                results[number] = end.value
            except CollisionBoundsError as error:
                results[number] = error
        faces = {}
        for (tolerance, max_vertices), group in requests.items():
            hulls = quickhulls([request.points for request in group.values()], tolerance, max_vertices)
            faces |= dict(zip(group, hulls, strict=True))
    return [results[number] for number in range(len(jobs))]


class _Target:
    """Requirements on a hull of points (n, 3), and the principal axes along which these are scaled.

    extents : (3,) float64. Half the size of the points along each axis.
    step : Distance of neighboring numbers near the largest coordinate.
    numbers : Numbers that vertices are rounded to, for error messages.
    """

    def __init__(self, points: Floats, decimals: int | None, margin: float, max_vertices: int) -> None:
        if max_vertices < 4:
            raise InvalidShapeError(f"max_vertices: a hull has at least 4 vertices, not {max_vertices}")
        largest = float(np.abs(points).max())
        if largest > _LARGEST or (0 < largest < _SMALLEST):
            raise InvalidShapeError(f"points: {largest:g} is out of the range of single precision")
        self.margin, self.max_vertices, self.decimals = margin, max_vertices, decimals
        if decimals is None:
            self.step, self.numbers = float(np.spacing(np.float32(largest))), "single precision numbers"
        else:
            self.step = max(4 * float(np.spacing(largest)), 10.0**-decimals)
            self.numbers = f"{decimals} decimals"
        # Take the mean, not the middle of the box, because the mean of points in a plane is in the plane.
        self._middle: Floats = points.mean(axis=0)
        offset = points - self._middle
        offset /= max(float(np.abs(offset).max()), 1e-300)
        self._axes: Floats = np.linalg.eigh(np.einsum("ni,nj->ij", offset, offset))[1]
        along = self._along(points)
        self.extents: Floats = np.ptp(along, axis=0) / 2
        self._center: Floats = along.min(axis=0) + self.extents
        self.is_flat = bool(self.extents.min() <= max(_FLAT * self.extents.max(), 4 * self.step))

    def _along(self, points: Floats) -> Floats:
        along: Floats = np.einsum("ni,ij->nj", points - self._middle, self._axes)
        return along

    def corners(self) -> Floats:
        """Return the corners (8, 3) of the box along the axes."""
        local = self._center + UNIT_BOX_CORNERS * self.extents
        corners: Floats = self._middle + np.einsum("ni,ji->nj", local, self._axes)
        return corners

    def scaled(self, points: Floats) -> Floats:
        """Scale points (n, 3) to between -1 and 1 along each axis; convex hulls stay convex."""
        scaled: Floats = (self._along(points) - self._center) / self.extents
        return scaled

    def rounded(self, vertices: Floats) -> Floats:
        """Round vertices to the nearest numbers."""
        return nearest_float32(vertices) if self.decimals is None else np.around(vertices, self.decimals)


_Steps: TypeAlias = Generator[HullRequest, "Ints | None", "ConvexHull | None"]
"""As `HullSteps`; returns None where there is no hull."""


def _smallest_candidate(points: Floats, target: _Target) -> _Steps:
    """Return the smallest of the hulls of points (n, 3) for rising tolerances; None where there is none.

    The first hull counts, unless it may be too large because its vertices are limited.
    """
    step, max_vertices, extents = target.step, target.max_vertices, target.extents
    scaled = target.scaled(points)
    # With few decimals, the tolerance grows to their step, because vertices closer than that make faces fold.
    negligible = _NEGLIGIBLE
    if target.decimals is None:
        negligible = max(_NEGLIGIBLE, 2 * step / float(extents.min()))
    best: ConvexHull | None = None
    limited = 0
    for tolerance in (*(coarser * negligible for coarser in _COARSER), _FLAT):
        inner = yield HullRequest(scaled, tolerance, max_vertices)
        if inner is None:
            continue
        # Where points are as rough as the tolerance, faces may have folded, and whole corners are outside.
        # Where the number of vertices is limited, points are outside for that reason too: then compare
        # volumes.
        is_limited = len(points) > max_vertices <= len(np.unique(inner))
        max_outside = np.inf if is_limited else _FOLDED * tolerance * float(extents.max()) + 4 * step
        hull = yield from _grown(points, inner, target, max_outside)
        if hull is None or len(hull.vertices) > max_vertices:
            continue
        best = _smaller(best, hull)
        limited += is_limited
        if (
            not is_limited
            or limited == _MAX_LIMITED_HULLS
            or _volume(*hull) <= _MAX_VOLUME_RATIO * _volume(points, inner)
        ):
            break
    return best


def _volume(vertices: Floats, faces: Ints) -> float:
    """Return the volume inside faces (f, 3)."""
    a, b, c = vertices[faces.T] - vertices[faces[0, 0]]
    return abs(float(dot(a, np.cross(b, c)).sum())) / 6


def _smaller(one: ConvexHull | None, other: ConvexHull | None) -> ConvexHull | None:
    """Return the hull of smaller volume, or the only one."""
    if one is None or other is None:
        return one or other
    return one if _volume(*one) <= _volume(*other) else other


def _grown(points: Floats, inner: Ints, target: _Target, max_outside: float = np.inf) -> _Steps:
    """Move the vertices of faces `inner` (f, 3) outward until all points (n, 3) are `margin` below all faces,
    and round them.

    None where there is no such hull, and where a point is above `inner` by more than `max_outside`.
    """
    margin = target.margin
    vertices, faces = _surface(points, inner)
    normals, offsets = face_planes(vertices, faces)
    above = max_height_above(points, normals, offsets)
    if above.max() > max_outside:
        return None
    # Points deep inside need no further test.
    near = points[above > -_DEEP * float(target.extents.min()) - margin]
    outward = _vertex_offsets(normals, faces)
    if outward is None:
        return None
    growth = max(float(above.max()), 0.0) + margin + 2 * target.step
    for _ in range(_MAX_GROWTHS):
        rounded = target.rounded(vertices + growth * outward)
        if not np.isfinite(rounded).all():  # float32 has no larger numbers
            return None
        # Build the faces again, because rounding may have bent flat ones.
        # Where vertices are as rough as the tolerance, faces fold: then with a larger one.
        scaled = target.scaled(rounded)
        outer = yield HullRequest(scaled, CHAIN_ROUNDING)
        if outer is None:
            outer = yield HullRequest(scaled, 1e-10)
        if outer is not None:
            corners, sides = _surface(rounded, outer)
            if _is_enclosing(corners, sides, near, margin):
                return ConvexHull(corners, sides)
        growth *= 2
    return None


def _surface(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Return the points that faces (f, 3) use, and the faces as indices of these, turned outward.

    The axes by which points were scaled may mirror.
    """
    used, numbers = np.unique(faces, return_inverse=True)
    vertices, faces = points[used], numbers.reshape(-1, 3).astype(np.int64)
    a, b, c = ((vertices[column] - vertices[0]) for column in faces.T)
    is_outward = float(dot(a, np.cross(b, c)).sum()) > 0
    return vertices, faces if is_outward else faces[:, ::-1]


def _vertex_offsets(normals: Floats, faces: Ints) -> Floats | None:
    """Offsets (v, 3) of vertices that move all faces (f, 3) outward by at least 1.

    The direction of each is the center of the smallest sphere around the normals of its faces: no vertex
    moves farther than necessary. A hull with vertices moved by a multiple of these encloses all points
    within that distance. None where a vertex has no such direction.
    """
    order = np.argsort(faces.reshape(-1), kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(faces.reshape(-1))))
    vertex_normals = normals[order // 3]
    middle = spheres_from_groups(vertex_normals, starts).center
    sizes = length(middle)
    if sizes.min() <= 1e-9:
        return None
    direction = middle / sizes[:, None]
    least = np.minimum.reduceat(dot(vertex_normals, direction.repeat(np.diff(starts), axis=0)), starts[:-1])
    return None if least.min() <= 1e-9 else direction / least[:, None]


def _is_enclosing(vertices: Floats, faces: Ints, points: Floats, margin: float) -> bool:
    """Return whether points (n, 3) are surely below all faces by a margin, rounding of this test included."""
    a, b, c = (vertices[column] for column in faces.T)
    u, v = b - a, c - a
    normals = np.cross(u, v)
    reach = float(np.abs(points).max(initial=0) + np.abs(vertices).max())
    # These are sums of products of three rounded differences: 16 roundings of the largest cover them.
    uncertainty = 16 * EPS * length(u) * length(v) * (reach + margin)
    uncertainty += margin * length(normals)
    return bool((max_height_above(points, normals, dot(normals, a) - uncertainty) <= 0).all())
