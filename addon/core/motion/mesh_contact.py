"""First contact of two moving meshes: of the triangles themselves, not of bounds around them.

Between two samples every vertex is taken to move linearly, and for that motion the first contact is found for
certain, however thin and fast the meshes are. The deviation from linear motion is bounded where the motion of
a mesh is known, and estimated from the change of the vertices' velocities from sample to sample elsewhere.
Where that could change whether the meshes touch, or when, one more sample is taken near the time in question.
A contact lasts from the time at which it is possible first to a sample at which the meshes do touch.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from ..distance.mesh_mesh import posed_overlap, posed_separation, posed_within
from ..errors import InvalidShapeError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import LARGEST_LENGTH, as_number
from ..numeric.arrays import Floats, as_array
from ..sweep.mesh_mesh import MeshMeshImpact, MovingMesh, first_impact_mesh_mesh
from .mesh_samples import KnownMeshes, MeshPose, MeshSamples
from .samples import FIRST_TOLERANCE, GRAZE, KNOWN_SHORTEST, MOST_UNTIL_CONTACT, SHORTEST

_KNOWN_GRAZE = 1e-6
"""Part of the smaller mesh: as `GRAZE`, for a bound of the deviation."""
_SLIGHTEST = 1e-9
"""Part of the smaller mesh below which a deviation is not reduced further for the time of a slow contact."""
_SLACK = 0.05
"""Part of a deviation, which is a generous estimate, that may be added to find the time in fewer steps."""
_MAX_STEPS = 1_000_000
"""Parts of the span to begin with, so that their times fit the memory."""
_MOST_SAMPLES = 200
"""Samples within one step; `MOST_UNTIL_CONTACT` where both meshes are known.

Where they do not decide, a contact found later may begin there.
"""
_PROBE = 0.382
"""Place within a step of a sample that shows whether meshes rest in between: no simple fraction, because
motion that repeats has those as its periods."""
_NEAR_JUMP = 1e-6
"""Time within which no sample is taken before or after a jump, unless it is an end of the span."""
_MARGIN = 1.5
"""Uncertainties after a contact at which a sample is taken that shows it."""
_LAST_PLACE = 0.98
"""Place within an interval beyond which its end is that sample."""


class MeshContact(NamedTuple):
    """The first time at which two meshes touch; NaN everywhere for never.

    Attributes
    ----------
    time : float
        First time at which they may touch, in the unit of the span.
    uncertainty : float
        Amount by which `time` may be off; 0 at the start, at jumps and for linear motion.
    point, normal : (3,) float
        Contact point in world space, and the unit vector from the first mesh to the second.
    is_proven : bool
        Whether the motion of both meshes is known and bounded, and decides the result. False for an estimate
        from samples, also of a result that there is no contact.
    doubt : float
        Of a result that there is no contact: the first time at which there may be one, because the meshes are
        so close for so long that the samples do not decide. NaN if there is none for sure.
    """

    time: float
    uncertainty: float
    point: Floats
    normal: Floats
    is_proven: bool = False
    doubt: float = math.nan


def first_mesh_contact(
    pose: MeshPose,
    meshes: tuple[TriangleMesh, TriangleMesh],
    span: tuple[float, float],
    clearance: float = 0.0,
    step: float = 1.0,
    tolerance: float = FIRST_TOLERANCE,
    known: KnownMeshes = (None, None),
) -> Generator[float, None, MeshContact]:
    """Find the first time in a span at which two meshes are within `clearance`, touch or contain one another.

    Exact where all vertices move linearly between samples, up to the time in which a gap of float64 rounding
    closes. Never late, and proven, where both meshes are known. Other motion is approximate: each vertex is
    assumed to deviate from linear motion by up to four times what smooth motion with the same changes of
    velocity does. What goes out and back between two samples is not noticed there: use a smaller step. A mesh
    that jumps is not in contact in between. Containment counts at the start, see `meshes_overlap`, at jumps
    and where triangles change; else no surface gets inside untouched.

    Parameters
    ----------
    pose : function
        Called with times in any order; returns of each mesh a matrix (4, 4), a `DeformedMesh` or the corners
        (t, 3, 3) of its triangles in world space and the order of the mesh; of one kind at all times.
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
    known : (KnownMesh or None, KnownMesh or None)
        Motion of each mesh between samples.

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
        For invalid spans, steps, tolerances and poses.
    """
    start, end = _checked_span(span)
    clearance, step, tolerance = _checked_lengths(clearance, step, tolerance, end - start)
    samples = MeshSamples(pose, meshes, known)
    samples.take(start)
    search = _Search(samples, clearance, tolerance)
    yield start
    if (contact := search.contact_at(start)) or start == end:
        return contact or search.never()
    return (yield from search.over(_steps(samples, start, end, step)))


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
    clearance = as_number(clearance, "clearance", 0.0, most=LARGEST_LENGTH)
    step = as_number(step, "step", 0.0, is_open=True)
    tolerance = as_number(tolerance, "tolerance", 0.0, is_open=True)
    if span / _MAX_STEPS > step:
        raise InvalidShapeError(f"step: {step:g} divides the span into more than {_MAX_STEPS} parts")
    return clearance, step, tolerance


def _steps(samples: MeshSamples, start: float, end: float, step: float) -> list[float]:
    """Choose the times of the samples to begin with: those of jumps, and some within `step`."""
    jumps = np.array(samples.jumps(start, end))
    times = np.linspace(start, end, max(2, math.ceil((end - start) / step)) + 1)
    if len(jumps):
        is_near = (np.abs(times[1:-1, None] - jumps) < _NEAR_JUMP).any(axis=1)
        times = np.unique([start, *times[1:-1][~is_near], *jumps, end])
    result: list[float] = times.tolist()
    return result


class _Search:
    """Search for the first contact of two sampled meshes."""

    def __init__(self, samples: MeshSamples, clearance: float, tolerance: float) -> None:
        self._samples, self._clearance, self._tolerance = samples, clearance, tolerance
        known = samples.is_known
        self._graze = _KNOWN_GRAZE if known else GRAZE
        self._shortest = KNOWN_SHORTEST if known else SHORTEST
        self._most_samples = MOST_UNTIL_CONTACT if known else _MOST_SAMPLES
        self._is_proven = known
        # First time of an interval that was left without a decision.
        self._doubt = math.nan

    def never(self) -> MeshContact:
        """Return the result without a contact."""
        nothing = np.full(3, np.nan)
        is_proven = self._is_proven and math.isnan(self._doubt)
        return MeshContact(math.nan, math.nan, nothing, nothing, is_proven, self._doubt)

    def over(self, times: list[float]) -> Generator[float, None, MeshContact]:
        """Search successive steps, each sampled with the one after it if that says more."""
        ahead = 1 if self._samples.is_known else 2
        for k in range(len(times) - 1):
            for time in times[k + 1 : k + 1 + ahead]:
                if time not in self._samples:
                    self._samples.take(time)
                    yield self._clear_until(times[k])
            self._samples.forget(times[k])
            contact = yield from self._between(times[k], times[k + 1])
            if contact is None and self._samples.has_jump(times[k + 1]):
                contact = self.contact_at(times[k + 1])
            if contact is not None:
                return possibly_since(contact, self._doubt)
        return self.never()

    def _clear_until(self, time: float) -> float:
        """Return the time until which there is no contact, of a search that has come to `time`."""
        return float(np.fmin(time, self._doubt))

    def _between(self, begin: float, end: float) -> Generator[float, None, MeshContact | None]:
        """First contact between two samples, or None; samples more in between while that is in doubt."""
        samples, parts, count = self._samples, [(begin, end)], 0
        while parts:
            first, last = parts.pop()
            is_shortest = last - first <= self._shortest * (end - begin)
            is_last = is_shortest or count >= self._most_samples
            is_whole = (first, last) == (begin, end)
            if samples.changes_faces(first, last):
                found = self._assess_change(first, last, is_last)
            elif is_whole and not samples.is_known and samples.is_still(first, last):
                found = _PROBE
            else:
                found = self._assess(first, last, is_last)
            if isinstance(found, MeshContact):
                return found
            if found is None:
                continue
            if is_last:
                if not is_shortest:
                    self._doubt = float(np.fmin(self._doubt, first))
                elif not samples.is_known and (contact := self.contact_at(last, last - first)):
                    return contact
                continue
            middle = first + (last - first) * found
            if not first < middle < last:
                continue
            samples.take(middle)
            count += 1
            yield self._clear_until(first)
            parts += [(middle, last), (first, middle)]
        return None

    def _assess(self, first: float, last: float, is_last: bool) -> MeshContact | float | None:
        """Find the contact between two samples: None for apart, or the place in [0, 1] to sample next."""
        samples, clearance, step = self._samples, self._clearance, last - first
        deviation = samples.deviation(first, last)
        if deviation == 0 and samples.is_still(first, last):
            return None  # apart before, so apart after
        (pair,) = samples.moving(first, last)
        earliest = first_impact_mesh_mesh(*pair, clearance + deviation, slack=_SLACK * deviation)
        if math.isnan(earliest.time):
            return None
        is_graze = deviation <= self._graze * samples.size
        if earliest.time == 0 and deviation > samples.size and not is_last:
            return 0.5
        impact = earliest
        if deviation > 0:
            impact = first_impact_mesh_mesh(*pair, clearance, earliest.time)
        if deviation == 0 and impact.is_resolved:
            place = None if is_last else self._place_to_check(impact.time, first, last)
            time = first + impact.time * step if impact.time < 1 else last
            return self._contact_of(pair, impact, time, 0.0) if place is None else place
        begin = first + earliest.time * step
        if last - begin <= self._tolerance and posed_within(*samples.limit_at(last), clearance):
            return self._shown_contact(pair, impact, begin, last)
        if math.isnan(impact.time):
            self._is_proven = self._is_proven and not is_graze
            return None if is_graze else 0.5
        if not impact.is_resolved:
            return 0.5
        uncertainty = impact.time - earliest.time
        is_timed = (1 + _MARGIN) * uncertainty * step <= self._tolerance
        if not is_timed and not is_last and deviation > _SLIGHTEST * samples.size:
            return _split(impact.time, uncertainty)
        after = impact.time + _MARGIN * uncertainty
        if after < _LAST_PLACE and not is_last:
            return after
        return self._graze_contact(pair, impact, begin, (first, last)) if is_graze else 0.5

    def _place_to_check(self, time: float, first: float, last: float) -> float | None:
        """Place in [0, 1] to sample whether motion is linear around a contact; None if that is known.

        Steps at whole frames are linear motion at samples of whole frames.
        """
        step = last - first
        rest = (1 - time) * step
        if self._samples.is_known or step <= self._tolerance:
            return None
        if rest <= self._tolerance and posed_within(*self._samples.limit_at(last), self._clearance):
            return None
        margin = self._tolerance / 3 / step
        return next((place for place in (time + margin, time - margin) if 0 < place < 1), None)

    def _graze_contact(
        self,
        pair: tuple[MovingMesh, MovingMesh],
        impact: MeshMeshImpact,
        begin: float,
        ends: tuple[float, float],
    ) -> MeshContact:
        """Contact of linear motion within a deviation that does not decide, and which a sample may show."""
        first, last = ends
        if posed_within(*self._samples.limit_at(last), self._clearance):
            return self._shown_contact(pair, impact, begin, last)
        self._is_proven = False
        time = first + impact.time * (last - first)
        return self._contact_of(pair, impact, begin, 2 * (time - begin))

    def _shown_contact(
        self, pair: tuple[MovingMesh, MovingMesh], impact: MeshMeshImpact, begin: float, last: float
    ) -> MeshContact:
        """Contact that a sample shows, and that begins no earlier than `begin`."""
        if not math.isnan(impact.time) and impact.is_resolved:
            return self._contact_of(pair, impact, begin, last - begin)
        witness = posed_separation(*self._samples.limit_at(last)).witness
        return MeshContact(begin, last - begin, witness.middle, witness.normal, self._is_proven)

    def _contact_of(
        self, pair: tuple[MovingMesh, MovingMesh], impact: MeshMeshImpact, time: float, uncertainty: float
    ) -> MeshContact:
        """Contact at a time, with the point of the impact of a pair that moves between two samples."""
        return MeshContact(time, uncertainty, *impact.point_and_normal(*pair), self._is_proven)

    def contact_at(self, time: float, uncertainty: float = 0.0) -> MeshContact | None:
        """Contact at a sample, or None: surfaces within the clearance, or one mesh inside the other."""
        a, b = self._samples.at(time)
        if not (posed_within(a, b, self._clearance) or posed_overlap(a, b)):
            return None
        witness = posed_separation(a, b).witness
        return MeshContact(time, uncertainty, witness.middle, witness.normal, self._is_proven)

    def _assess_change(self, first: float, last: float, is_last: bool) -> MeshContact | float | None:
        """Find the contact between two samples whose triangles differ, as `_assess`."""
        samples, step = self._samples, last - first
        reach = self._clearance + samples.deviation(first, last)
        impacts = (first_impact_mesh_mesh(a, b, reach) for a, b in samples.moving(first, last))
        if not (any(not math.isnan(impact.time) for impact in impacts) or posed_overlap(*samples.at(last))):
            return None
        if step > self._tolerance and not is_last:
            return 0.5
        before = samples.moving(first, last)[0]
        impact = first_impact_mesh_mesh(*before, self._clearance)
        if not math.isnan(impact.time) and impact.is_resolved:
            return self._contact_of(before, impact, first, step)
        return self.contact_at(last, step)


def _split(time: float, uncertainty: float) -> float:
    """Position in [0, 1] to sample next: near the contact, so that it soon lies between two close samples."""
    for split in (time - _MARGIN * uncertainty, time + _MARGIN * uncertainty):
        if 0.1 < split < 0.9 and uncertainty < 0.2:
            return split
    return 0.5


def possibly_since(contact: MeshContact, doubt: float) -> MeshContact:
    """Return a contact that may have begun at an earlier time; NaN for none."""
    if math.isnan(doubt):
        return contact
    uncertainty = contact.time + contact.uncertainty - doubt
    return contact._replace(time=doubt, uncertainty=uncertainty, is_proven=False, doubt=math.nan)
