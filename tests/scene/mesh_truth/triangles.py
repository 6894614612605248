"""Distance of two sets of triangles, and whether a point is inside of one: NumPy alone."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

LEAF = 12
"""Triangles of one group, whose box is tested before they are."""
_CHUNK = 512
_NEXT = np.array([1, 2, 0])


def order_of(corners: Array) -> Array:
    """Order of triangles (n, 3, 3) in which those next to each other are close: halved at medians."""
    centers = corners.mean(axis=1)
    done, parts = [], [np.arange(len(corners))]
    while parts:
        part = parts.pop()
        if len(part) <= LEAF:
            done.append(part)
            continue
        axis = int(np.ptp(centers[part], axis=0).argmax())
        ranked = part[np.argsort(centers[part, axis], kind="stable")]
        half = LEAF * max(1, round(len(ranked) / 2 / LEAF))
        parts += [ranked[half:], ranked[:half]]
    return np.concatenate(done)


def least_gap(a: Array, b: Array) -> float:
    """Least distance of boxes around groups of triangles, which is at most that of the triangles."""
    boxes_a, boxes_b = _group_boxes(a), _group_boxes(b)
    return float(_box_gaps(*(box[:, None] for box in boxes_a), *(box[None] for box in boxes_b)).min())


def gap(a: Array, b: Array) -> float:
    """Least distance of triangles (n, 3, 3) of two surfaces; 0 where they touch or cross.

    Fast if each are in the order that `order_of` returns. Containment is no touch here.
    """
    boxes_a, boxes_b = _group_boxes(a), _group_boxes(b)
    lower = _box_gaps(*(box[:, None] for box in boxes_a), *(box[None] for box in boxes_b))
    upper = float(np.sqrt(((a[::LEAF, None, 0] - b[None, ::LEAF, 0]) ** 2).sum(axis=-1).min()))
    rows, columns = _triangle_pairs(*np.nonzero(lower <= upper), len(a), len(b))
    low_a, high_a, low_b, high_b = a.min(axis=1), a.max(axis=1), b.min(axis=1), b.max(axis=1)
    lower = _box_gaps(low_a[rows], high_a[rows], low_b[columns], high_b[columns])
    order = np.flatnonzero(lower <= upper)
    order = order[np.argsort(lower[order], kind="stable")]
    for begin in range(0, len(order), _CHUNK):
        chunk = order[begin : begin + _CHUNK]
        if lower[chunk[0]] > upper or upper == 0:
            break
        upper = min(upper, float(pair_distances(a[rows[chunk]], b[columns[chunk]]).min()))
    return upper


def _group_boxes(corners: Array) -> tuple[Array, Array]:
    """Boxes around groups of triangles: mins and maxs (g, 3)."""
    starts = np.arange(0, len(corners), LEAF)
    return (
        np.minimum.reduceat(corners.min(axis=1), starts, axis=0),
        np.maximum.reduceat(corners.max(axis=1), starts, axis=0),
    )


def _box_gaps(low_a: Array, high_a: Array, low_b: Array, high_b: Array) -> Array:
    """Distances of boxes, 0 where they overlap."""
    apart = np.maximum(np.maximum(low_b - high_a, low_a - high_b), 0.0)
    return np.sqrt((apart**2).sum(axis=-1))


def _triangle_pairs(rows: Array, columns: Array, count_a: int, count_b: int) -> tuple[Array, Array]:
    """All pairs of triangles of pairs of groups."""
    inside = np.arange(LEAF)
    first = np.broadcast_to(rows[:, None, None] * LEAF + inside[:, None], (len(rows), LEAF, LEAF)).ravel()
    second = np.broadcast_to(columns[:, None, None] * LEAF + inside, (len(rows), LEAF, LEAF)).ravel()
    exists = (first < count_a) & (second < count_b)
    return first[exists], second[exists]


def pair_distances(a: Array, b: Array) -> Array:
    """Distances (k,) of pairs of triangles (k, 3, 3), 0 where they touch or cross."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.minimum(
            _edge_distances(a, b), np.minimum(_plane_distances(a, b), _plane_distances(b, a))
        )
        return np.where(_pierces(a, b) | _pierces(b, a), 0.0, distance)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def _length(a: Array) -> Array:
    return np.sqrt(_dot(a, a))


def _to_segment(point: Array, start: Array, along: Array) -> Array:
    """Distances of points from segments."""
    square = _dot(along, along)
    part = np.clip(np.where(square > 0, _dot(point - start, along) / square, 0.0), 0.0, 1.0)
    return _length(start + part[..., None] * along - point)


def _edge_distances(a: Array, b: Array) -> Array:
    """Least distances (k,) of edges of two triangles."""
    p, q = a[:, :, None], b[:, None]
    u, v = a[:, _NEXT, None] - p, b[:, None, _NEXT] - q
    ends = [_to_segment(p, q, v), _to_segment(q, p, u)]  # all corners of each, against all edges of the other
    uu, uv, vv, between = _dot(u, u), _dot(u, v), _dot(v, v), p - q
    up, vp = _dot(u, between), _dot(v, between)
    area = uu * vv - uv**2
    s, t = (uv * vp - vv * up) / area, (uu * vp - uv * up) / area
    crosses = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1) & (area > 1e-14 * uu * vv)
    middle = _length(between + s[..., None] * u - t[..., None] * v)
    ends.append(np.where(crosses, middle, np.inf))
    return np.min([each.reshape(len(a), -1).min(axis=1) for each in ends], axis=0)


def _is_inside(point: Array, triangle: Array) -> Array:
    """Return whether points (k, m, 3) project into triangles (k, 3, 3)."""
    normal = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
    inside = _length(normal)[:, None] > 0
    for corner, after in zip(range(3), _NEXT, strict=True):
        edge = triangle[:, after] - triangle[:, corner]
        side = np.cross(edge[:, None], point - triangle[:, None, corner])
        inside = inside & (_dot(side, normal[:, None]) >= 0)
    return inside


def _unit_normals(triangle: Array) -> Array:
    normal = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
    return normal / _length(normal)[:, None]


def _plane_distances(a: Array, b: Array) -> Array:
    """Least distances (k,) of corners of `a` that project into triangle `b`; infinite for none."""
    height = np.abs(_dot(a - b[:, None, 0], _unit_normals(b)[:, None]))
    return np.where(_is_inside(a, b), height, np.inf).min(axis=1)


def _pierces(a: Array, b: Array) -> Array:
    """Return whether an edge of `a` goes through triangle `b`."""
    height = _dot(a - b[:, None, 0], _unit_normals(b)[:, None])
    after = height[:, _NEXT]
    part = height / (height - after)
    crosses = (height * after <= 0) & (height != after)
    point = a + np.where(crosses, part, 0.0)[..., None] * (a[:, _NEXT] - a)
    return (crosses & _is_inside(point, b)).any(axis=1)


def winding_number(point: Array, corners: Array) -> float:
    """Return how often closed triangles (n, 3, 3) go around a point: their solid angles over 4 pi."""
    a, b, c = (corners - point).transpose(1, 0, 2)
    length_a, length_b, length_c = _length(a), _length(b), _length(c)
    volume = _dot(a, np.cross(b, c))
    around = length_a * length_b * length_c
    around = around + _dot(a, b) * length_c + _dot(b, c) * length_a + _dot(c, a) * length_b
    return float(np.arctan2(volume, around).sum() / (2 * np.pi))
