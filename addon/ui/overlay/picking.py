"""The subject whose lines are under the mouse."""

from __future__ import annotations

import numpy as np

from ...core.numeric.arrays import Bools, Floats
from .draw_data import DrawData, Instances
from .unit_meshes import LINES

_CIRCLE = 32
"""Segments of a circle: the chord of a large sphere is within a few pixels of it."""
_NEAREST = 1e-6
"""Least depth, relative to the far end of a line, that a line behind the viewer is cut at."""


def subject_at(
    data: DrawData,
    is_included: Bools,
    matrix: Floats,
    viewport: tuple[int, int],
    mouse: tuple[float, float],
    reach: float,
) -> int | None:
    """Return the subject with the line that is nearest to the mouse; None without one within reach.

    Only subjects for which `is_included` (n,) holds are searched. `matrix` leads from the world to the view's
    clip space; the mouse is in pixels from the bottom left of the view, and the reach in pixels.
    """
    best, nearest = None, reach
    for mesh, instances in data.by_mesh.items():
        found = instances.take(is_included[instances.owners])
        if not len(found):
            continue
        points = LINES[mesh](_CIRCLE).segments.astype(np.float64)
        distances = _distances(found, points, matrix, viewport, np.array(mouse))
        index = int(np.argmin(distances))
        if distances[index] <= nearest:
            best, nearest = int(found.owners[index]), float(distances[index])
    return best


def _distances(
    instances: Instances, mesh: Floats, matrix: Floats, viewport: tuple[int, int], mouse: Floats
) -> Floats:
    """Return the distance in pixels from the mouse to the lines of each instance, (n,).

    mesh : (m, 3) end points of the lines in the frame of the instances
    """
    to_world = instances.rows[:, :3].astype(np.float64)
    world = mesh @ to_world[:, :, :3].transpose(0, 2, 1) + to_world[:, None, :, 3]
    clip = world @ matrix[:, :3].T + matrix[:, 3]
    start, end = clip[:, ::2], clip[:, 1::2]
    # A line that is partly behind the viewer is cut where it comes into sight.
    least = _NEAREST * np.maximum(np.abs(start[..., 3]), np.abs(end[..., 3]))
    start, end = _cut(start, end, least), _cut(end, start, least)
    size = np.array(viewport)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = ((points[..., :2] / points[..., 3:] + 1) / 2 * size - mouse for points in (start, end))
        along = b - a
        squared = (along**2).sum(axis=-1)
        part = np.clip(np.where(squared > 0, -(a * along).sum(axis=-1) / squared, 0.0), 0.0, 1.0)
        distances = np.linalg.norm(a + part[..., None] * along, axis=-1)
    is_seen = (start[..., 3] > 0) & (end[..., 3] > 0) & np.isfinite(distances)
    return np.asarray(np.where(is_seen, distances, np.inf).min(axis=1))


def _cut(points: Floats, ends: Floats, least: Floats) -> Floats:
    """Return the points, those with too small a depth moved along their line, up to the least depth."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (least - points[..., 3]) / (ends[..., 3] - points[..., 3])
        moved = points + part[..., None] * (ends - points)
    is_cut = (points[..., 3] < least) & (ends[..., 3] > least)
    return np.asarray(np.where(is_cut[..., None], moved, points))
