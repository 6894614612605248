"""First contact of two moving meshes: of the triangles themselves, not of bounds around them.

The motion is sampled as rarely as possible. Between two samples every vertex is taken to move linearly, and
for that motion the first contact is found for certain, however thin and fast the meshes are. The change of
the vertices' velocities from sample to sample bounds their deviation from linear motion. Where that could
change whether the meshes touch, or when, one more sample is taken near the time in question.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from ..distance.mesh_mesh import posed_overlap, posed_separation, posed_within
from ..errors import InvalidShapeError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import as_length, as_number
from ..numeric.arrays import Floats, as_array
from ..sweep.mesh_mesh import MeshMeshImpact, MovingMesh, first_impact_mesh_mesh
from .mesh_samples import MeshPose, MeshSamples

_TOLERANCE = 2e-4
"""Default uncertainty of a contact above which another sample is taken."""
_GRAZE = 1e-4
"""Part of the smaller mesh below which a deviation does not decide between a graze and a near miss."""
_SLACK = 0.05
"""Part of a deviation, which is a generous estimate, that may be added to find the time in fewer steps."""
_SHORTEST = 2.0**-13
"""Part of a step below which an interval is not split further."""
_MAX_STEPS = 1_000_000
"""Parts of the span to begin with, so that their times fit the memory."""
_MOST_SAMPLES = 60
"""Samples within one step; a contact still open after them is returned with its uncertainty."""


class MeshContact(NamedTuple):
    """The first time at which two meshes touch; NaN everywhere for never.

    Attributes
    ----------
    time : float
        In the unit of the span.
    uncertainty : float
        Amount by which `time` may be off, from neighboring samples; 0 at the start and for linear motion.
    point, normal : (3,) float
        Contact point in world space, and the unit vector from the first mesh to the second.
    """

    time: float
    uncertainty: float
    point: Floats
    normal: Floats


def first_mesh_contact(
    pose: MeshPose,
    meshes: tuple[TriangleMesh, TriangleMesh],
    span: tuple[float, float],
    clearance: float = 0.0,
    step: float = 1.0,
    tolerance: float = _TOLERANCE,
) -> Generator[float, None, MeshContact]:
    """Find the first time in a span at which two meshes are within `clearance`, touch or contain one another.

    Exact where all vertices move linearly between samples, and never late there, up to the time in which a
    gap of float64 rounding closes. Other motion is approximate: each vertex is assumed to deviate from linear
    motion by up to four times what smooth motion with the same changes of velocity does, and `uncertainty` is
    what that leaves. If triangles change between two samples, those of both are swept; where any touch, the
    time of the change is found within the tolerance. What goes out and back between two samples is not
    noticed: use a smaller step. A propeller sampled once a turn seems to be at rest. Containment counts at
    the start, see `meshes_overlap`, and where triangles change; else no surface gets inside untouched.

    Parameters
    ----------
    pose : function
        Called with times in any order; returns for each mesh an affine matrix (4, 4), or a `DeformedMesh`
        or the corners (t, 3, 3) of its triangles in world space, in the order of the mesh; of one kind at all
        times.
    meshes : (TriangleMesh, TriangleMesh)
        Meshes that the matrices move; of a deforming mesh only the tree of its parts is used.
    span : (float, float)
        First and last time, both included.
    clearance : float
        Meshes closer than this are in contact.
    step : float
        Largest distance of the samples to begin with, of which there are at least three.
    tolerance : float
        More samples are taken until a contact is known within this.

    Yields
    ------
    time : float
        After each sample: the time until which there is no contact.

    Returns
    -------
    contact : MeshContact
        Return value of the generator.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For a span that ends before it starts, a step or tolerance that is not positive, and invalid poses.
    """
    start, end = _checked_span(span)
    clearance, step, tolerance = _checked_lengths(clearance, step, tolerance, end - start)
    samples = MeshSamples(pose, meshes)
    samples.take(start)
    yield start
    contact = _contact_at_sample(samples, start, clearance, 0.0)
    if contact is not None or start == end:
        return contact or _NEVER
    times = np.linspace(start, end, max(2, math.ceil((end - start) / step)) + 1).tolist()
    return (yield from _first_contact_over(samples, times, clearance, tolerance))


def _checked_span(span: tuple[float, float]) -> tuple[float, float]:
    """Validate first and last time."""
    times = as_array(span, "span")
    if times.shape != (2,):
        raise InvalidShapeError(f"span: two times are needed, not {times.shape}")
    start, end = (as_number(time, "span: no span of time, because an end") for time in times)
    if start > end:
        raise InvalidShapeError(f"span: from {start} to {end} is no span of time")
    return start, end


def _checked_lengths(
    clearance: float, step: float, tolerance: float, span: float
) -> tuple[float, float, float]:
    """Validate lengths and times; returns them as floats."""
    clearance = as_length(clearance, "clearance")
    step = as_number(step, "step", 0.0, is_open=True)
    tolerance = as_number(tolerance, "tolerance", 0.0, is_open=True)
    if span / _MAX_STEPS > step:
        raise InvalidShapeError(f"step: {step:g} divides the span into more than {_MAX_STEPS} parts")
    return clearance, step, tolerance


def _first_contact_over(
    samples: MeshSamples, times: list[float], clearance: float, tolerance: float
) -> Generator[float, None, MeshContact]:
    """First contact over successive steps, each sampled with the one after it."""
    for k in range(len(times) - 1):
        for time in times[k + 1 : k + 3]:
            if time not in samples:
                samples.take(time)
                yield times[k]
        samples.forget(times[k])
        contact = yield from _first_contact_between(samples, times[k], times[k + 1], clearance, tolerance)
        if contact is not None:
            return contact
    return _NEVER


_NEVER = MeshContact(math.nan, math.nan, np.full(3, np.nan), np.full(3, np.nan))


def _first_contact_between(
    samples: MeshSamples, begin: float, end: float, clearance: float, tolerance: float
) -> Generator[float, None, MeshContact | None]:
    """First contact between two samples, or None; samples more in between while that is in doubt."""
    parts = [(begin, end)]
    count = 0
    while parts:
        first, last = parts.pop()
        step = last - first
        deviation = samples.deviation(first, last)
        if deviation == 0 and samples.is_still(first, last):
            continue  # apart before, so apart after
        is_last = count >= _MOST_SAMPLES or step <= _SHORTEST * (end - begin)
        split = 0.5
        if not samples.changes_faces(first, last):
            (pair,) = samples.moving(first, last)
            earliest, impact = _first_impacts(pair, clearance, deviation)
            if math.isnan(earliest):
                continue
            uncertainty = (impact.time - earliest) * step
            is_miss = math.isnan(uncertainty) and deviation <= _GRAZE * samples.size
            if uncertainty <= tolerance or is_miss or is_last:
                if math.isnan(impact.time):
                    continue
                return _contact_of(pair, impact, first, last, uncertainty)
            split = _split(impact.time, uncertainty / step)
        elif not _may_touch_across_change(samples, first, last, clearance + deviation):
            continue
        elif step <= tolerance or is_last:
            contact = _contact_at_change(samples, first, last, clearance)
            if contact is None:
                continue
            return contact
        middle = first + step * split
        samples.take(middle)
        count += 1
        yield first
        parts += [(middle, last), (first, middle)]
    return None


def _first_impacts(
    pair: tuple[MovingMesh, MovingMesh], clearance: float, deviation: float
) -> tuple[float, MeshMeshImpact]:
    """Earliest time that the deviation allows, in [0, 1], and the first impact; NaN for never."""
    earliest = first_impact_mesh_mesh(*pair, clearance + deviation, slack=_SLACK * deviation)
    if deviation == 0 or math.isnan(earliest.time):
        return earliest.time, earliest
    return earliest.time, first_impact_mesh_mesh(*pair, clearance, earliest.time)


def _contact_of(
    pair: tuple[MovingMesh, MovingMesh], impact: MeshMeshImpact, first: float, last: float, uncertainty: float
) -> MeshContact:
    """Contact at the impact of a pair that moves between two samples."""
    point, normal = impact.point_and_normal(*pair)
    time = first + impact.time * (last - first) if impact.time < 1 else last
    return MeshContact(time, uncertainty, point, normal)


def _contact_at_sample(
    samples: MeshSamples, time: float, clearance: float, uncertainty: float
) -> MeshContact | None:
    """Contact at a sample, or None: surfaces within the clearance, or one mesh inside the other."""
    a, b = samples.at(time)
    if not (posed_within(a, b, clearance) or posed_overlap(a, b)):
        return None
    witness = posed_separation(a, b).witness
    return MeshContact(time, uncertainty, witness.middle, witness.normal)


def _may_touch_across_change(samples: MeshSamples, first: float, last: float, reach: float) -> bool:
    """Return whether triangles of one of two samples get within `reach` in between, or end inside."""
    impacts = (first_impact_mesh_mesh(a, b, reach) for a, b in samples.moving(first, last))
    return any(not math.isnan(impact.time) for impact in impacts) or posed_overlap(*samples.at(last))


def _contact_at_change(
    samples: MeshSamples, first: float, last: float, clearance: float
) -> MeshContact | None:
    """Contact of two meshes whose triangles change between two close samples, or None."""
    before = samples.moving(first, last)[0]
    impact = first_impact_mesh_mesh(*before, clearance)
    if not math.isnan(impact.time):
        return _contact_of(before, impact, first, last, last - first)
    return _contact_at_sample(samples, last, clearance, last - first)


def _split(time: float, uncertainty: float) -> float:
    """Position in [0, 1] to sample next: near the contact, so that it soon lies between two close samples."""
    for split in (time - 1.5 * uncertainty, time + 1.5 * uncertainty):
        if 0.1 < split < 0.9 and uncertainty < 0.2:
            return split
    return 0.5
