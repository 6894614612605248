"""When two moving meshes first touch: the meshes themselves, not the bounds around them.

The motion is looked at as seldom as possible. Between two looks every corner is taken to go straight, and for
that motion the first touch is found for certain, however thin and fast things are. How the speed of corners
changes from look to look tells how far they may be from straight; where that could make a difference, to
whether they touch or to when, one more look is taken, near the time in question.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Callable, Generator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, as_floats, length, transform_vectors
from .errors import InvalidShapeError
from .mesh_distance import posed_overlap, posed_separation, posed_within
from .mesh_nodes import MeshNodes, PosedMesh
from .straightness import stray
from .sweep_two_meshes import MovingMesh, first_meeting
from .triangle_mesh import TriangleMesh

MeshPose: TypeAlias = Callable[[float], tuple[ArrayLike, ArrayLike]]
"""Where two meshes are at a time: an affine matrix (4, 4) each, or the corners (t, 3, 3) of its triangles."""

_TOLERANCE = 2e-4
"""By so much a contact may be off before another look is taken, unless the caller says otherwise."""
_GRAZE = 1e-4
"""Part of the smaller mesh within which nothing that strays decides between a graze and a near miss."""
_LOOSE = 0.05
"""What may be added to a stray, which is generous anyway, to find the time in fewer steps."""
_ROUNDING = 64 * np.finfo(np.float64).eps
_SHORTEST = 2.0**-13
"""Part of the longest stretch between looks below which no more are taken."""
_MOST_LOOKS = 60
"""Looks in one such stretch; what is open after so many is told with its uncertainty."""


class MeshContact(NamedTuple):
    """The first time at which two meshes touch; NaN everywhere for never.

    time : in the unit of the span
    uncertainty : by how much it may be off, told by looks beside it; 0 at the start and for straight motion
    point, normal : (3,) where, and the unit vector from the first mesh to the second
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
    """The first time in a span at which two meshes are within `clearance`, touch or hold one another.

    A generator that yields after each look, until when there is no contact so far; it returns a MeshContact.

    Parameters
    ----------
    pose : function of a time, in any order, that gives for each mesh an affine matrix (4, 4), or the corners
        (t, 3, 3) of its triangles in the world, in the order of the mesh
    meshes : those that matrices move; of one that deforms only the parts that it is searched by
    span : first and last time, both included
    step : looks are at most so far apart to begin with, and at least three
    tolerance : more looks are taken until a contact is known by that

    Exact where all corners go straight between looks, and never late there, up to the time in which a gap of
    float64 rounding closes. Other motion is approximate: each corner is taken to stray from straight by up to
    four times what smooth motion with the same changes of speed does, and `uncertainty` is what that leaves.
    A motion that goes out and comes back between two looks is not noticed: a smaller step is the remedy. What
    moves in its own shadow, like a propeller at one turn a step, seems to stand still.

    Being inside counts at the start, see `meshes_overlap`: no surface comes to be inside without touching.
    Raises InvalidShapeError or NonFiniteGeometryError for a span that ends before it starts, a step or a
    tolerance that is not positive, and poses that are neither of the two, or not always the same.
    """
    start, end = (float(time) for time in span)
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        raise InvalidShapeError(f"span: from {start} to {end} is no span of time")
    if not (step > 0 and tolerance > 0 and clearance >= 0):
        raise InvalidShapeError("mesh contact: step and tolerance must be > 0, clearance >= 0")
    looks = _Looks(pose, meshes)
    a, b = looks.at(start)
    yield start
    if posed_within(a, b, clearance) or posed_overlap(a, b):
        witness = posed_separation(a, b).witness
        return MeshContact(start, 0.0, witness.middle, witness.normal)
    if start == end:
        return _NEVER
    times = np.linspace(start, end, max(2, math.ceil((end - start) / step)) + 1).tolist()
    for k in range(len(times) - 1):
        for time in times[k + 1 : k + 3]:
            if time not in looks.poses:
                looks.at(time)
                yield times[k]
        looks.forget(times[k])
        contact = yield from _between(looks, times[k], times[k + 1], clearance, tolerance)
        if contact is not None:
            return contact
    return _NEVER


_NEVER = MeshContact(math.nan, math.nan, np.full(3, np.nan), np.full(3, np.nan))


def _between(
    looks: _Looks, begin: float, end: float, clearance: float, tolerance: float
) -> Generator[float, None, MeshContact | None]:
    """The first contact between two looks, None for none; looks in between where that is in doubt."""
    parts = [(begin, end)]
    more = 0
    while parts:
        first, last = parts.pop()
        part = last - first
        strays = looks.stray(first, last)
        if strays == 0 and looks.is_still(first, last):
            continue  # apart before, and so apart after
        a, b = looks.moving(first, last)
        may = first_meeting(a, b, clearance + strays, slack=_LOOSE * strays)
        if math.isnan(may.time):
            continue
        does = may if strays == 0 else first_meeting(a, b, clearance, may.time)
        doubt = (does.time - may.time) * part
        decided = doubt <= tolerance or (math.isnan(doubt) and strays <= _GRAZE * looks.size)
        if decided or more >= _MOST_LOOKS or part <= _SHORTEST * (end - begin):
            if math.isnan(does.time):
                continue
            point, normal = does.point_and_normal(a, b)
            time = first + does.time * part if does.time < 1 else last
            return MeshContact(time, doubt, point, normal)
        middle = first + part * _split(does.time, doubt / part)
        looks.at(middle)
        more += 1
        yield first
        parts += [(middle, last), (first, middle)]
    return None


def _split(time: float, doubt: float) -> float:
    """Where in [0, 1] to look next: beside the time in doubt, so that it is soon between two near looks."""
    for split in (time - 1.5 * doubt, time + 1.5 * doubt):
        if 0.1 < split < 0.9 and doubt < 0.2:
            return split
    return 0.5


class _Looks:
    """What has been seen of two meshes so far, by time."""

    def __init__(self, pose: MeshPose, meshes: tuple[TriangleMesh, TriangleMesh]) -> None:
        self._pose = pose
        self._bodies = tuple(
            _Body(mesh, which) for mesh, which in zip(meshes, ("first", "second"), strict=True)
        )
        self._times: list[float] = []
        self._given: dict[float, list[Floats]] = {}
        self.poses: dict[float, tuple[PosedMesh, PosedMesh]] = {}
        self.size = 0.0
        """Of the smaller mesh, when first seen."""
        self._far = 0.0
        """The largest coordinate seen."""

    def at(self, time: float) -> tuple[PosedMesh, PosedMesh]:
        """A new look."""
        given = list(self._pose(time))
        if len(given) != 2:
            raise InvalidShapeError(f"mesh poses: two are needed, not {len(given)}")
        arrays = [body.checked(array) for body, array in zip(self._bodies, given, strict=True)]
        insort(self._times, time)
        self._given[time] = arrays
        a, b = (body.posed(array) for body, array in zip(self._bodies, arrays, strict=True))
        self.poses[time] = a, b
        around = [mesh.spheres(np.zeros(1, dtype=np.int64)) for mesh in (a, b)]
        self.size = self.size or min(float(sphere.radius[0]) for sphere in around)
        self._far = max(self._far, *(float(np.abs(s.center).max() + s.radius[0]) for s in around))
        return a, b

    def forget(self, time: float) -> None:
        """All looks before the last one before `time`."""
        for old in self._times[: max(bisect(self._times, time) - 2, 0)]:
            del self._given[old], self.poses[old]
        self._times = sorted(self.poses)

    def moving(self, first: float, last: float) -> tuple[MovingMesh, MovingMesh]:
        """Both meshes, going straight from one look to another."""
        start, end = self.poses[first], self.poses[last]
        return MovingMesh(start[0], end[0]), MovingMesh(start[1], end[1])

    def is_still(self, first: float, last: float) -> bool:
        """Whether both meshes are the same at two looks."""
        pairs = zip(self._given[first], self._given[last], strict=True)
        return all(np.array_equal(before, after) for before, after in pairs)

    def stray(self, first: float, last: float) -> float:
        """How far corners of both meshes together may be from straight between two neighbouring looks."""
        place = bisect(self._times, first) - 1
        known = [0.0]
        for k in (place - 1, place):
            if k < 0 or k + 2 >= len(self._times):
                continue
            times = self._times[k : k + 3]
            bends = 0.0
            for which, body in enumerate(self._bodies):
                seen = [self._given[time][which] for time in times]
                bends += body.bend(
                    (seen[2] - seen[1]) / (times[2] - times[1]), (seen[1] - seen[0]) / (times[1] - times[0])
                )
            known.append(float(stray(np.array(bends), last - first, times[2] - times[0])))
        # What rounding makes of a straight way is no reason for another look.
        return max(known) if max(known) > _ROUNDING * self._far else 0.0


class _Body:
    """One mesh: what poses mean for it."""

    def __init__(self, mesh: TriangleMesh, which: str) -> None:
        self._which = which
        self._posed = PosedMesh.of(mesh)
        self._tree = mesh.parts.tree
        self._shape: tuple[int, ...] | None = None
        box = mesh.aabb()
        self._corners = box.corners()

    def checked(self, given: ArrayLike) -> Floats:
        """A matrix (4, 4) or corners (t, 3, 3), and always the same of these."""
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
        """The mesh as it is there."""
        if given.ndim == 2:
            return PosedMesh(self._posed.nodes, self._posed.order, given)
        return PosedMesh(MeshNodes.around(self._tree, given), self._posed.order)

    def bend(self, after: Floats, before: Floats) -> float:
        """The most that a corner's speed changes by, given how fast poses change after and before a look."""
        change = after - before
        if change.ndim == 2:
            # A linear function of the place: it is largest at a corner of the box.
            change = transform_vectors(change[:3, :3], self._corners) + change[:3, 3]
        return float(length(change).max())
