"""First contact of two moving meshes: of the triangles themselves, not of bounds around them.

The motion is sampled as rarely as possible. Between two samples every vertex is taken to move linearly, and
for that motion the first contact is found for certain, however thin and fast the meshes are. The change of
the vertices' velocities from sample to sample bounds their deviation from linear motion. Where that could
change whether the meshes touch, or when, one more sample is taken near the time in question.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..distance.mesh_mesh import posed_overlap, posed_separation, posed_within
from ..errors import InvalidShapeError
from ..interval.linearity import max_deviation
from ..mesh.mesh_bvh import MeshBvh, PosedMesh
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import as_length, as_number, require_type
from ..numeric.arrays import Floats, as_array, as_floats, length, transform_vectors
from ..sweep.mesh_mesh import MovingMesh, first_impact_mesh_mesh

MeshPose: TypeAlias = Callable[[float], tuple[ArrayLike, ArrayLike]]
"""Poses of two meshes at a time: of each a matrix (4, 4), or the corners (t, 3, 3) of its triangles."""

_TOLERANCE = 2e-4
"""Default uncertainty of a contact above which another sample is taken."""
_GRAZE = 1e-4
"""Part of the smaller mesh below which a deviation does not decide between a graze and a near miss."""
_SLACK = 0.05
"""Part of a deviation, which is a generous estimate, that may be added to find the time in fewer steps."""
_ROUNDING = 64 * np.finfo(np.float64).eps
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
    what that leaves. Motion that goes out and back between two samples is not noticed: use a smaller step. A
    propeller sampled once a turn seems to be at rest. Containment counts at the start, see `meshes_overlap`;
    later no surface gets inside without touching.

    Parameters
    ----------
    pose : function
        Called with times in any order; returns for each mesh an affine matrix (4, 4), or the corners (t, 3,
        3) of its triangles in world space, in the order of the mesh; of one kind at all times.
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
    samples = _MeshSamples(pose, meshes)
    a, b = samples.at(start)
    yield start
    if posed_within(a, b, clearance) or posed_overlap(a, b):
        witness = posed_separation(a, b).witness
        return MeshContact(start, 0.0, witness.middle, witness.normal)
    if start == end:
        return _NEVER
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


def _require_poses_and_meshes(pose: object, meshes: object) -> None:
    if not callable(pose):
        raise InvalidShapeError(f"pose: a function is needed, not {type(pose).__name__}")
    if not isinstance(meshes, tuple | list) or len(meshes) != 2:
        raise InvalidShapeError("meshes: two meshes are needed")
    for mesh in meshes:
        require_type(mesh, TriangleMesh, "meshes")


def _first_contact_over(
    samples: _MeshSamples, times: list[float], clearance: float, tolerance: float
) -> Generator[float, None, MeshContact]:
    """First contact over successive steps, each sampled with the one after it."""
    for k in range(len(times) - 1):
        for time in times[k + 1 : k + 3]:
            if time not in samples.poses:
                samples.at(time)
                yield times[k]
        samples.forget(times[k])
        contact = yield from _first_contact_between(samples, times[k], times[k + 1], clearance, tolerance)
        if contact is not None:
            return contact
    return _NEVER


_NEVER = MeshContact(math.nan, math.nan, np.full(3, np.nan), np.full(3, np.nan))


def _first_contact_between(
    samples: _MeshSamples, begin: float, end: float, clearance: float, tolerance: float
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
        a, b = samples.moving(first, last)
        earliest = first_impact_mesh_mesh(a, b, clearance + deviation, slack=_SLACK * deviation)
        if math.isnan(earliest.time):
            continue
        impact = earliest
        if deviation != 0:
            impact = first_impact_mesh_mesh(a, b, clearance, earliest.time)
        uncertainty = (impact.time - earliest.time) * step
        is_miss = math.isnan(uncertainty) and deviation <= _GRAZE * samples.size
        is_last = count >= _MOST_SAMPLES or step <= _SHORTEST * (end - begin)
        if uncertainty <= tolerance or is_miss or is_last:
            if math.isnan(impact.time):
                continue
            point, normal = impact.point_and_normal(a, b)
            time = first + impact.time * step if impact.time < 1 else last
            return MeshContact(time, uncertainty, point, normal)
        middle = first + step * _split(impact.time, uncertainty / step)
        samples.at(middle)
        count += 1
        yield first
        parts += [(middle, last), (first, middle)]
    return None


def _split(time: float, uncertainty: float) -> float:
    """Position in [0, 1] to sample next: near the contact, so that it soon lies between two close samples."""
    for split in (time - 1.5 * uncertainty, time + 1.5 * uncertainty):
        if 0.1 < split < 0.9 and uncertainty < 0.2:
            return split
    return 0.5


class _MeshSamples:
    """Samples of two meshes so far, by time."""

    def __init__(self, pose: MeshPose, meshes: tuple[TriangleMesh, TriangleMesh]) -> None:
        _require_poses_and_meshes(pose, meshes)
        self._pose = pose
        self._bodies = tuple(
            _Body(mesh, which) for mesh, which in zip(meshes, ("first", "second"), strict=True)
        )
        self._times: list[float] = []
        self._given: dict[float, list[Floats]] = {}
        self.poses: dict[float, tuple[PosedMesh, PosedMesh]] = {}
        self.size = 0.0
        """Size of the smaller mesh at the first sample."""
        self._largest = 0.0
        """Largest coordinate so far."""

    def at(self, time: float) -> tuple[PosedMesh, PosedMesh]:
        """Sample both meshes."""
        given = self._pose(time)
        if not isinstance(given, Sequence | np.ndarray) or getattr(given, "ndim", 1) == 0:
            raise InvalidShapeError(f"pose: two poses are needed, not {type(given).__name__}")
        if len(given) != 2:
            raise InvalidShapeError(f"pose: two are needed, not {len(given)}")
        arrays = [body.checked(array) for body, array in zip(self._bodies, given, strict=True)]
        insort(self._times, time)
        self._given[time] = arrays
        a, b = (body.posed(array) for body, array in zip(self._bodies, arrays, strict=True))
        self.poses[time] = a, b
        around = [mesh.spheres(np.zeros(1, dtype=np.int64)) for mesh in (a, b)]
        self.size = self.size or min(float(sphere.radius[0]) for sphere in around)
        self._largest = max(self._largest, *(float(np.abs(s.center).max() + s.radius[0]) for s in around))
        return a, b

    def forget(self, time: float) -> None:
        """Drop all samples before the last one before `time`."""
        for old in self._times[: max(bisect(self._times, time) - 2, 0)]:
            del self._given[old], self.poses[old]
        self._times = sorted(self.poses)

    def moving(self, first: float, last: float) -> tuple[MovingMesh, MovingMesh]:
        """Linear motion of both meshes from one sample to another."""
        start, end = self.poses[first], self.poses[last]
        return MovingMesh(start[0], end[0]), MovingMesh(start[1], end[1])

    def is_still(self, first: float, last: float) -> bool:
        """Return whether both meshes are the same at two samples."""
        pairs = zip(self._given[first], self._given[last], strict=True)
        return all(np.array_equal(before, after) for before, after in pairs)

    def deviation(self, first: float, last: float) -> float:
        """Deviation of both meshes' vertices together from linear motion between neighboring samples."""
        index = bisect(self._times, first) - 1
        known = [0.0]
        for k in (index - 1, index):
            if k < 0 or k + 2 >= len(self._times):
                continue
            times = self._times[k : k + 3]
            change = 0.0
            for which, body in enumerate(self._bodies):
                poses = [self._given[time][which] for time in times]
                after = (poses[2] - poses[1]) / (times[2] - times[1])
                change += body.velocity_change(after, (poses[1] - poses[0]) / (times[1] - times[0]))
            known.append(float(max_deviation(np.array(change), last - first, times[2] - times[0])))
        # The rounding error of linear motion is no reason for another sample.
        return max(known) if max(known) > _ROUNDING * self._largest else 0.0


class _Body:
    """One of both meshes: validates and applies its poses."""

    def __init__(self, mesh: TriangleMesh, which: str) -> None:
        self._which = which
        self._posed = PosedMesh.of(mesh)
        self._tree = mesh.parts.tree
        self._shape: tuple[int, ...] | None = None
        box = mesh.aabb()
        self._corners = box.corners()

    def checked(self, given: ArrayLike) -> Floats:
        """Validate a matrix (4, 4) or corners (t, 3, 3), always the same of these."""
        array = as_floats(given, f"pose of the {self._which} mesh")
        whole = (len(self._posed.order), 3, 3)
        if array.shape not in ((4, 4), whole):
            raise InvalidShapeError(
                f"pose of the {self._which} mesh: {array.shape} is no matrix (4, 4) and no corners {whole}"
            )
        if self._shape not in (None, array.shape):
            raise InvalidShapeError(f"pose of the {self._which} mesh: matrices and corners are mixed")
        self._shape = array.shape
        return array

    def posed(self, given: Floats) -> PosedMesh:
        """Mesh in a pose."""
        if given.ndim == 2:
            return PosedMesh(self._posed.nodes, self._posed.order, given)
        return PosedMesh(MeshBvh.from_tree(self._tree, given), self._posed.order)

    def velocity_change(self, after: Floats, before: Floats) -> float:
        """Largest change of a vertex's velocity, given the change of the pose per time on both sides."""
        change = after - before
        if change.ndim == 2:
            # The change is linear in position, so it is largest at a corner of the box.
            change = transform_vectors(change[:3, :3], self._corners) + change[:3, 3]
        return float(length(change).max())
