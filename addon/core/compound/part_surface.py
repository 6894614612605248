"""The surface of a part of a mesh: triangles that are cut by planes, sampled, and searched for notches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Table, cross, dot, length, normalized
from ..numeric.components import connected_components
from .hull_estimate import inner_products

_ON_PLANE = 1e-9
"""Distance from a plane up to which points count as on it, for a mesh of unit size."""
_SAMPLES, _NOTCH_SAMPLES = 600, 320
"""Points on the surface for the search of planes, and for the depth of notches."""
_STEPS = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)
"""Powers of the inverse of the real root of x^4 = x + 1 (Roberts 2018)."""
_SMALL_HOLES = 1.0
"""Length of all borders of a surface, as part of the root of its area, up to which it counts as closed.

A hemisphere has 2.5, an open box 1.8.
"""
_FLAT_EDGE = 1e-4
"""Sine of the angle below which an edge is not reflex."""


class ReflexEdges(Table):
    """Edges of a mesh at which its surface is concave.

    ends : (e, 2, 3) float64. Both ends of each.
    normals : (e, 2, 3) float64. Unit normals of both faces.
    weight : (e,) float64. Length times the sine of the angle of the notch.
    """

    ends: Floats
    normals: Floats
    weight: Floats


class PartSurface(NamedTuple):
    """Surface of a part of a mesh, whose size is 1.

    corners : (t, 3, 3) float64. Corners of its triangles.
    is_solid : (t,) bool. Whether a triangle belongs to a closed surface with outward normals.
    edges : Those of the mesh that are in the part.
    """

    corners: Floats
    is_solid: Bools
    edges: ReflexEdges

    @classmethod
    def of_mesh(cls, corners: Floats) -> PartSurface:
        """Surface of a whole mesh, from the corners (t, 3, 3) of its triangles, at least one."""
        points, index = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
        triangles = index.reshape(-1, 3)
        sides = _Sides.of(triangles, len(points))
        return cls(
            corners, _solid_triangles(points, triangles, sides), _reflex_edges(points, triangles, sides)
        )

    @property
    def points(self) -> Floats:
        """All corners (3 t, 3)."""
        return self.corners.reshape(-1, 3)

    def areas(self) -> Floats:
        """Areas (t,) of the triangles."""
        return length(_normals(self.corners)) / 2

    def cut(self, normal: Floats, offset: float) -> tuple[PartSurface, PartSurface]:
        """Cut the surface at the plane at `offset` along a unit normal (3,), and close sides that are solid.

        Corners on the plane belong to both sides. Approximate: new corners are within float64 rounding of the
        edges that they cut, and a section with holes is closed without them.
        """
        height = dot(self.corners, normal) - offset
        height[np.abs(height) <= _ON_PLANE] = 0.0
        sides = []
        middle = dot(self.edges.ends.mean(axis=1), normal) - offset
        for sign, is_in in ((-1.0, middle <= _ON_PLANE), (1.0, middle >= -_ON_PLANE)):
            corners, left_of, borders, border_of = _clipped(self.corners, sign * height)
            lid = _lid(borders[self.is_solid[border_of]], -sign * normal)
            is_solid = np.concatenate([self.is_solid[left_of], np.ones(len(lid), dtype=bool)])
            sides.append(PartSurface(np.concatenate([corners, lid]), is_solid, self.edges.take(is_in)))
        return sides[0], sides[1]

    def samples(self, count: int = _SAMPLES) -> tuple[Floats, Ints]:
        """Spread points (n, 3) over the surface, corners among them; also return their triangles (n,)."""
        areas = self.areas()
        total, corner_count = areas.sum(), 3 * len(self.corners)
        # Not in even steps, which regular meshes may repeat.
        corners = np.arange(corner_count)
        if corner_count > count:
            corners = np.unique((_additive_sequence(count, 0) * corner_count).astype(np.int64))
        if not total > 0:
            return self.points[corners], corners // 3
        at = _additive_sequence(count, 0) * total
        triangle = np.minimum(np.searchsorted(np.cumsum(areas), at), len(areas) - 1)
        u, v = np.sqrt(_additive_sequence(count, 1))[:, None], _additive_sequence(count, 2)[:, None]
        a, b, c = np.moveaxis(self.corners[triangle], 1, 0)
        spread = a * (1 - u) + b * (u * (1 - v)) + c * (u * v)
        return np.concatenate([self.points[corners], spread]), np.concatenate([corners // 3, triangle])

    def notches(self) -> Notches:
        """Sample the depths of notches."""
        points, triangle = self.samples(_NOTCH_SAMPLES)
        points, triangle = points[-_NOTCH_SAMPLES:], triangle[-_NOTCH_SAMPLES:]
        normal = normalized(_normals(self.corners[triangle]))
        area = float(self.areas().sum()) / max(1, len(points))
        return Notches(points, inner_products(points, normal), self.is_solid[triangle], area)


class Notches(NamedTuple):
    """Samples (n,) of a surface below whose convex hull they may be.

    points : (n, 3) float64
    heights : (n, n) float64. Coordinate of each point (rows) along the normal at each point (columns).
    is_solid : (n,) bool. Whether the point is on a closed surface.
    area : Area that each stands for.
    """

    points: Floats
    heights: Floats
    is_solid: Bools
    area: float

    def depths(self, rows: Bools | slice = slice(None)) -> Floats:
        """Depths (m,) of some of the points below the hull of these.

        The depth of a point on a closed surface is the height of the part above its tangent plane: 0 for a
        convex part. On other surfaces, the lower side counts.
        """
        heights, is_solid = self.heights[rows], self.is_solid[rows]
        if not len(is_solid):
            return np.zeros(0)
        at_points = np.diagonal(self.heights)[rows]
        depths = heights.max(axis=0)[rows] - at_points
        if not is_solid.all():
            below = at_points - heights.min(axis=0)[rows]
            depths = np.where(is_solid, depths, np.minimum(depths, below))
        return np.asarray(np.maximum(depths, 0.0))

    def volume(self, rows: Bools | slice = slice(None)) -> float:
        """Estimate the volume between some of the points and their hull, roughly and rather too large."""
        return float(self.depths(rows).sum()) * self.area

    def volume_of_sides(self, direction: Floats, offset: float) -> float:
        """Estimate the volume of the notches of both sides of a plane."""
        is_above = dot(self.points, direction) > offset
        return self.volume(is_above) + self.volume(~is_above)


def _additive_sequence(count: int, axis: int) -> Floats:
    """Numbers (count,) spread evenly in [0, 1), and together with those of other axes in a cube."""
    return np.asarray((np.arange(count) + 0.5) * _STEPS[axis] % 1.0)


def _normals(corners: Floats) -> Floats:
    """Compute normals (t, 3) of triangles (t, 3, 3), twice as long as their areas."""
    return cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _clipped(corners: Floats, height: Floats) -> tuple[Floats, Ints, Floats, Ints]:
    """Clip triangles (t, 3, 3) where their height (t, 3) is below 0.

    Returns the parts (u, 3, 3) that are left, and their triangles (u,); and the borders (b, 2, 3) at height
    0, and theirs (b,).
    """
    is_above, is_below = height > 0, height < 0
    count_above, count_below = is_above.sum(axis=1), is_below.sum(axis=1)
    whole = np.flatnonzero((count_below == 0) & ((count_above > 0) | (height == 0).all(axis=1)))
    left, left_of = [corners[whole]], [whole]
    # A side that lies in the plane.
    on_plane = np.flatnonzero((count_below == 0) & (count_above == 1) & ((height == 0).sum(axis=1) == 2))
    a, b, c, _ = _with_first(corners, height, on_plane, is_above[on_plane].argmax(axis=1))
    borders, border_of = [np.stack([b, c], axis=1)], [on_plane]
    # The corner that is alone on its side first: above in `one`, below in `two`.
    is_crossing = (count_above > 0) & (count_below > 0)
    one, two = np.flatnonzero(is_crossing & (count_above == 1)), np.flatnonzero(count_above == 2)
    two = two[count_below[two] == 1]
    for rows, is_alone in ((one, is_above), (two, is_below)):
        a, b, c, h = _with_first(corners, height, rows, is_alone[rows].argmax(axis=1))
        border = _crossing(a, b, h[:, 0], h[:, 1]), _crossing(a, c, h[:, 0], h[:, 2])
        new = [(a, *border)] if rows is one else [(border[0], b, c), (border[0], c, border[1])]
        left += [np.stack(each, axis=1) for each in new]
        left_of += [rows] * len(new)
        borders.append(np.stack(border, axis=1))
        border_of.append(rows)
    return (np.concatenate(left), np.concatenate(left_of), np.concatenate(borders), np.concatenate(border_of))


def _lid(borders: Floats, normal: Floats) -> Floats:
    """Triangles (m, 3, 3) that close the loops of borders (m, 2, 3), each from the middle of its loop."""
    if not len(borders):
        return np.zeros((0, 3, 3))
    points, index = np.unique(borders.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    ends = index.reshape(-1, 2)
    loop = connected_components(len(points), ends)
    count = np.bincount(loop).astype(np.float64)
    middle = np.stack([np.bincount(loop, points[:, axis]) for axis in range(3)], axis=1) / count[:, None]
    fan = np.concatenate([middle[loop[ends[:, 0]]][:, None], borders], axis=1)
    is_turned = dot(_normals(fan), normal) < 0
    return np.where(is_turned[:, None, None], fan[:, ::-1], fan)


def _with_first(
    corners: Floats, height: Floats, rows: Ints, first: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """Corners (m, 3) of triangles in turned order, and their heights (m, 3)."""
    order = (first[:, None] + np.arange(3)) % 3
    turned = np.take_along_axis(corners[rows], order[:, :, None], axis=1)
    return turned[:, 0], turned[:, 1], turned[:, 2], np.take_along_axis(height[rows], order, axis=1)


def _crossing(start: Floats, end: Floats, h0: Floats, h1: Floats) -> Floats:
    """Points (m, 3) at which edges from heights (m,) to others cross the plane; same points both ways."""
    swap = (h0 > h1)[:, None]
    low, high = np.where(swap, end, start), np.where(swap, start, end)
    l, h = np.minimum(h0, h1), np.maximum(h0, h1)  # noqa: E741
    part = (-l / (h - l))[:, None]
    # A corner on the plane is where the edge crosses it.
    return np.where(part >= 1, high, np.where(part <= 0, low, low + (high - low) * part))


class _Sides(NamedTuple):
    """Sides (3 t) of triangles, each from `start` to `end`, indices of points.

    partner : the side that runs the other way, another one where there is none
    has_partner : mask of those with one
    is_repeated : mask of those that another side repeats
    """

    start: Ints
    end: Ints
    partner: Ints
    has_partner: Bools
    is_repeated: Bools

    @classmethod
    def of(cls, triangles: Ints, count: int) -> _Sides:
        """Find the partners of the sides of triangles (t, 3) with `count` points."""
        start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        forward, backward = start * count + end, end * count + start
        order = np.argsort(forward, kind="stable")
        ordered = forward[order]
        at = np.minimum(np.searchsorted(ordered, backward), len(order) - 1)
        partner = order[at]
        same = np.concatenate([[False], ordered[1:] == ordered[:-1]])
        is_repeated = np.zeros(len(order), dtype=bool)
        is_repeated[order] = same | np.append(same[1:], False)
        return cls(start, end, partner, forward[partner] == backward, is_repeated)


def _solid_triangles(points: Floats, triangles: Ints, sides: _Sides) -> Bools:
    """Select triangles (t,) of surfaces that are closed, but for small holes, and not inside out."""
    component = connected_components(len(points), np.stack([sides.start, sides.end], axis=1))
    of_triangle = component[triangles[:, 0]]
    count = int(component.max()) + 1
    normals = _normals(points[triangles])
    volume = np.bincount(of_triangle, dot(points[triangles[:, 0]] - points[0], normals), count)
    area = np.bincount(of_triangle, length(normals) / 2, count)
    is_border = ~sides.has_partner & (sides.start != sides.end)
    side_lengths = length(points[sides.end] - points[sides.start])
    of_side = np.repeat(of_triangle, 3)
    border = np.bincount(of_side, np.where(is_border, side_lengths, 0.0), count)
    mixed = np.bincount(of_side, sides.is_repeated & (sides.start != sides.end), count)
    is_solid = (volume > 0) & (mixed == 0) & (border <= _SMALL_HOLES * np.sqrt(area))
    return np.asarray(is_solid[of_triangle])


def _reflex_edges(points: Floats, triangles: Ints, sides: _Sides) -> ReflexEdges:
    """Edges between two triangles (t, 3) of points (n, 3) where the surface is concave."""
    edge = np.flatnonzero(sides.has_partner & (sides.start < sides.end))
    first, second = edge // 3, sides.partner[edge] // 3
    normal = normalized(_normals(points[triangles]))
    ends = np.stack([points[sides.start[edge]], points[sides.end[edge]]], axis=1)
    along = ends[:, 1] - ends[:, 0]
    # Positive where the second face rises above the plane of the first.
    sine = dot(cross(normal[second], normal[first]), normalized(along))
    rows = np.flatnonzero(sine > _FLAT_EDGE)
    normals = np.stack([normal[first[rows]], normal[second[rows]]], axis=1)
    return ReflexEdges(ends[rows], normals, sine[rows] * length(along[rows]))
