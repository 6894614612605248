"""The shapes of a result's subjects as they are right now, for showing them."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ..core import Aabb, CollisionBoundsError, ContactReport, Sphere, overlapping_pairs, overlaps
from ..core.arrays import Bools
from .extraction import read_geometry
from .fitting import FitSettings, ShapeName, fitted_world
from .jobs import Result
from .playback import playhead

# Blender keeps sub-frames in single precision; a jump to a contact lands this close to it.
_FRAME_TOLERANCE = 1e-4
_SINGLE_PRECISION = 2e-7


class LiveShapes(NamedTuple):
    """World shapes of the subjects that are there now, (n,) each, and which of them are in contact."""

    spheres: Sphere
    boxes: Aabb
    in_contact: Bools


def live_shapes(
    depsgraph: bpy.types.Depsgraph,
    result: Result,
    fit: FitSettings,
    shape: ShapeName,
    report_counts: bool,
) -> LiveShapes:
    """Fit the subjects of `result` at the frame that `depsgraph` stands at.

    In contact is what the result's report says of this frame, if `report_counts` and there is one; else what
    overlaps now, by `shape`.
    """
    index = {subject.key: number for number, subject in enumerate(result.subjects)}
    found: list[tuple[int, Sphere, Aabb]] = []
    for key, geometry in read_geometry(depsgraph, fit.modifiers, index):
        try:
            sphere, box = fitted_world(geometry, ("sphere", "aabb"), fit)
        except CollisionBoundsError:
            continue  # no vertices at this frame: there is nothing to show
        assert isinstance(sphere, Sphere) and isinstance(box, Aabb)
        found.append((index[key], sphere, box))
    numbers = np.array([number for number, _, _ in found], dtype=np.int64)
    spheres = Sphere(
        np.array([sphere.center for _, sphere, _ in found]).reshape(-1, 3),
        np.array([sphere.radius for _, sphere, _ in found]).reshape(-1),
    )
    boxes = Aabb(
        np.array([box.min for _, _, box in found]).reshape(-1, 3),
        np.array([box.max for _, _, box in found]).reshape(-1, 3),
    )
    if report_counts and result.report is not None:
        touching = _touching_at(result.report, playhead(depsgraph.scene))
        in_contact = np.isin(numbers, sorted(touching))
    else:
        in_contact = _touching_now(spheres, boxes, shape)
    return LiveShapes(spheres, boxes, in_contact)


def _touching_at(report: ContactReport, frame: float) -> set[int]:
    tolerance = _FRAME_TOLERANCE + _SINGLE_PRECISION * abs(frame)
    return {
        side
        for contact in report.contacts
        if any(span.start - tolerance <= frame <= span.end + tolerance for span in contact.intervals)
        for side in (contact.a, contact.b)
    }


def _touching_now(spheres: Sphere, boxes: Aabb, shape: ShapeName) -> Bools:
    candidates = overlapping_pairs(spheres.aabb() if shape == "sphere" else boxes)
    i, j = candidates[:, 0], candidates[:, 1]
    shapes = spheres if shape == "sphere" else boxes
    touching = overlaps(shapes[i], shapes[j])
    in_contact = np.zeros(len(spheres.radius), dtype=bool)
    in_contact[i[touching]] = in_contact[j[touching]] = True
    return in_contact
