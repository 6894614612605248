"""Samples of two moving meshes, whose vertices and faces may change, for their first contact.

A hierarchy is built once for each mesh. While a mesh deforms, its spheres are fitted again. So they are if
triangles change in place, as the two of a quad that Blender cuts along its other diagonal; only for other
triangles a hierarchy is built again.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..interval.pair_motion import max_deviation
from ..mesh.mesh_bvh import MeshBvh, PosedMesh
from ..mesh.triangle_mesh import LEAF_TRIANGLES, TriangleMesh
from ..numeric.arguments import as_indices, require_type
from ..numeric.arrays import Floats, Ints, as_floats, length, transform_vectors
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..sweep.mesh_mesh import MovingMesh
from ..trees.builder import TrianglePartition, partition_triangles


class DeformedMesh(NamedTuple):
    """Pose of a mesh that deforms: the same vertices at all times, and triangles that may change.

    Attributes
    ----------
    vertices : (n, 3) float
        In world space.
    triangles : (t, 3) int, t >= 1
        Rows of the vertices.
    """

    vertices: ArrayLike
    triangles: ArrayLike


MeshPose: TypeAlias = Callable[[float], tuple[ArrayLike | DeformedMesh, ArrayLike | DeformedMesh]]
"""Poses of two meshes at a time: of each a matrix (4, 4), the corners (t, 3, 3) of its triangles, or both
its vertices and triangles."""


@runtime_checkable
class KnownMesh(Protocol):
    """Motion of a mesh that is known between samples: where it jumps, and where its vertices may be."""

    def next_jump(self, begin: float) -> float:
        """Return the first time after `begin` at which the mesh jumps to its pose there; inf for none."""
        ...

    def before(self, time: float) -> ArrayLike | DeformedMesh:
        """Return the limit of the pose from earlier times."""
        ...

    def deviation(self, begin: float, end: float) -> float:
        """Bound the deviation of vertices from linear motion from the pose at `begin` to the limit at `end`.

        For certain, if no jump is in between.
        """
        ...


KnownMeshes: TypeAlias = tuple[KnownMesh | None, KnownMesh | None]
"""Known motion of two meshes; None for a mesh of which only samples are known."""


class _Faces(NamedTuple):
    """Triangles (t, 3) as rows of the vertices, and a tree around them at some time."""

    triangles: Ints
    tree: TrianglePartition


class _State(NamedTuple):
    """One mesh at one sample: a matrix (4, 4), or vertices (n, 3) with faces."""

    numbers: Floats
    faces: _Faces | None
    posed: PosedMesh


class MeshSamples:
    """Samples of two meshes so far, by time.

    size : Size of the smaller mesh at the first sample.
    is_known : Whether the motion of both meshes is known between samples.
    """

    def __init__(
        self, pose: MeshPose, meshes: tuple[TriangleMesh, TriangleMesh], known: KnownMeshes = (None, None)
    ) -> None:
        """Start without samples. Raises InvalidShapeError for what is no function or no two meshes."""
        _require_pose_and_meshes(pose, meshes)
        if not isinstance(known, tuple | list) or len(known) != 2:
            raise InvalidShapeError("known: two are needed, None for a mesh that is not known")
        for each in known:
            if each is not None and not isinstance(each, KnownMesh):
                raise InvalidShapeError(f"known: a KnownMesh is needed, not {type(each).__name__}")
        self._pose, self._known = pose, known
        self.is_known = all(each is not None for each in known)
        self._bodies = tuple(
            _Body(mesh, which) for mesh, which in zip(meshes, ("first", "second"), strict=True)
        )
        self._times: list[float] = []
        self._states: dict[float, tuple[_State, ...]] = {}
        # Limits from earlier times, where a mesh jumps.
        self._limits: dict[float, tuple[_State, ...]] = {}
        self.size = 0.0
        self._largest = 0.0
        """Largest coordinate so far."""

    def __contains__(self, time: float) -> bool:
        """Return whether there is a sample at a time."""
        return time in self._states

    def limit_at(self, time: float) -> tuple[PosedMesh, PosedMesh]:
        """Return the limit of both meshes from times before a sample."""
        first, second = self._limits.get(time, self._states[time])
        return first.posed, second.posed

    def jumps(self, begin: float, end: float) -> list[float]:
        """Increasing times after `begin`, up to `end`, at which a mesh is known to jump."""
        found = set()
        for known in self._known:
            time = begin
            while known is not None and (time := known.next_jump(time)) <= end:
                found.add(time)
        return sorted(found)

    def take(self, time: float) -> tuple[PosedMesh, PosedMesh]:
        """Sample both meshes. Raises the errors of `first_mesh_contact` for an invalid pose."""
        given = self._pose(time)
        if not isinstance(given, Sequence | np.ndarray) or getattr(given, "ndim", 1) == 0:
            raise InvalidShapeError(f"pose: two poses are needed, not {type(given).__name__}")
        if len(given) != 2:
            raise InvalidShapeError(f"pose: two are needed, not {len(given)}")
        before = [self._states[known] for known in self._times]
        states = tuple(
            body.state(pose, [each[which].faces for each in before])
            for which, (body, pose) in enumerate(zip(self._bodies, given, strict=True))
        )
        insort(self._times, time)
        self._states[time] = states
        if self.jumps(np.nextafter(time, -np.inf), time):
            self._limits[time] = tuple(
                state if known is None else body.state(known.before(time), [state.faces])
                for body, state, known in zip(self._bodies, states, self._known, strict=True)
            )
        around = [state.posed.spheres(np.zeros(1, dtype=np.int64)) for state in states]
        self.size = self.size or min(float(sphere.radius[0]) for sphere in around)
        self._largest = max(self._largest, *(float(np.abs(s.center).max() + s.radius[0]) for s in around))
        return self.at(time)

    def at(self, time: float) -> tuple[PosedMesh, PosedMesh]:
        """Return both meshes at a sample."""
        first, second = self._states[time]
        return first.posed, second.posed

    def has_jump(self, time: float) -> bool:
        """Return whether a mesh jumps to its pose at a sample."""
        return time in self._limits

    def _between(self, first: float, last: float) -> list[tuple[_State, _State]]:
        """States of each mesh at one sample, and its limit at another."""
        return list(zip(self._states[first], self._limits.get(last, self._states[last]), strict=True))

    def forget(self, time: float) -> None:
        """Drop all samples before the last one before `time`."""
        for old in self._times[: max(bisect(self._times, time) - 2, 0)]:
            del self._states[old]
            self._limits.pop(old, None)
        self._times = sorted(self._states)

    def changes_faces(self, first: float, last: float) -> bool:
        """Return whether a mesh has other triangles at one sample than at another."""
        return any(before.faces is not after.faces for before, after in self._between(first, last))

    def moving(self, first: float, last: float) -> list[tuple[MovingMesh, MovingMesh]]:
        """Linear motion of both meshes from one sample to another.

        If triangles change in between, it is that of all combinations: those before the change come first.
        """
        first_mesh, second_mesh = (_motions(*states) for states in self._between(first, last))
        return list(product(first_mesh, second_mesh))

    def is_still(self, first: float, last: float) -> bool:
        """Return whether both meshes are the same at two samples."""
        return not self.changes_faces(first, last) and all(
            np.array_equal(before.numbers, after.numbers) for before, after in self._between(first, last)
        )

    def deviation(self, first: float, last: float) -> float:
        """Deviation of both meshes' vertices together from linear motion between neighboring samples.

        Bounded for meshes whose motion is known; estimated from the samples around for others.
        """
        bounded = sum(known.deviation(first, last) for known in self._known if known is not None)
        estimated = 0.0 if self.is_known else self._estimated_deviation(first, last)
        # The rounding error of linear motion is no reason for another sample.
        total = bounded + estimated
        return total if total > DISTANCE_ROUNDING * self._largest else 0.0

    def _estimated_deviation(self, first: float, last: float) -> float:
        """Estimate the deviation of the meshes that are not known."""
        index = bisect(self._times, first) - 1
        most = 0.0
        for k in (index - 1, index):
            if k < 0 or k + 2 >= len(self._times):
                continue
            times = self._times[k : k + 3]
            change = 0.0
            for which, body in enumerate(self._bodies):
                if self._known[which] is not None:
                    continue
                poses = [self._states[time][which].numbers for time in times]
                after = (poses[2] - poses[1]) / (times[2] - times[1])
                change += body.velocity_change(after, (poses[1] - poses[0]) / (times[1] - times[0]))
            most = max(most, float(max_deviation(np.array(change), last - first, times[2] - times[0])))
        return most


def _require_pose_and_meshes(pose: object, meshes: object) -> None:
    if not callable(pose):
        raise InvalidShapeError(f"pose: a function is needed, not {type(pose).__name__}")
    if not isinstance(meshes, tuple | list) or len(meshes) != 2:
        raise InvalidShapeError("meshes: two meshes are needed")
    for mesh in meshes:
        require_type(mesh, TriangleMesh, "meshes")


class _Body:
    """One of both meshes: validates and applies its poses."""

    def __init__(self, mesh: TriangleMesh, which: str) -> None:
        self._name = f"pose of the {which} mesh"
        self._mesh = mesh
        self._tree = mesh.partition
        self._shape: tuple[int, ...] | None = None
        self._corners = mesh.aabb().corners()

    @cached_property
    def _at_rest(self) -> PosedMesh:
        """The mesh in its own space, which matrices move. A mesh that deforms needs only its tree."""
        return PosedMesh.of(self._mesh.nodes)

    def state(self, given: ArrayLike | DeformedMesh, known: Sequence[_Faces | None]) -> _State:
        """Validate a pose, always of the same kind, and apply it.

        known : faces at the samples so far, of which equal ones are shared
        """
        if isinstance(given, DeformedMesh):
            vertices = as_floats(given.vertices, f"{self._name}, vertices")
            if vertices.ndim != 2 or vertices.shape[1] != 3:
                raise InvalidShapeError(f"{self._name}: vertices must be (n, 3), not {vertices.shape}")
            self._require_shape(vertices.shape)
            return self._deformed(vertices, self._checked_triangles(given.triangles, len(vertices)), known)
        array = as_floats(given, self._name)
        whole = (len(self._tree.order), 3, 3)
        if array.shape not in ((4, 4), whole):
            raise InvalidShapeError(f"{self._name}: {array.shape} is no matrix (4, 4) and no corners {whole}")
        self._require_shape(array.shape)
        if array.ndim == 2:
            return _State(array, None, PosedMesh(self._at_rest.nodes, self._at_rest.order, array))
        return self._deformed(array.reshape(-1, 3), np.arange(3 * len(array)).reshape(-1, 3), known)

    def _require_shape(self, shape: tuple[int, ...]) -> None:
        """Require poses of one kind, with the same number of vertices. Raises InvalidShapeError."""
        if self._shape not in (None, shape):
            raise InvalidShapeError(
                f"{self._name}: matrices, corners and vertices are mixed, or the number of vertices changes"
            )
        self._shape = shape

    def _checked_triangles(self, given: Any, count: int) -> Ints:
        """Validate triangles (t, 3) as rows of `count` vertices. Raises InvalidShapeError."""
        triangles = as_indices(given, f"{self._name}, triangles")
        if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
            raise InvalidShapeError(f"{self._name}: triangles must be (t, 3), not {triangles.shape}")
        if triangles.min() < 0 or triangles.max() >= count:
            raise InvalidShapeError(f"{self._name}: triangles must be rows of {count} vertices")
        return triangles

    def _deformed(self, vertices: Floats, triangles: Ints, known: Sequence[_Faces | None]) -> _State:
        faces = self._faces(vertices, triangles, [each for each in known if each is not None])
        return _State(vertices, faces, _posed(faces, vertices))

    def _faces(self, vertices: Floats, triangles: Ints, known: Sequence[_Faces]) -> _Faces:
        """Return known faces if they are equal, else new ones, on a known tree where that still fits."""
        # The latest are the likeliest. Those of most samples are one object.
        distinct = list({id(each): each for each in reversed(known)}.values())
        for each in distinct:
            if np.array_equal(each.triangles, triangles):
                return each
        for each in distinct:
            if each.triangles.shape == triangles.shape:
                is_same = (each.triangles == triangles).all(axis=1)
                if 2 * int(is_same.sum()) >= len(triangles):
                    return _Faces(triangles, each.tree)
        if not distinct and len(triangles) == len(self._tree.order):
            return _Faces(triangles, self._tree)
        return _Faces(triangles, partition_triangles(vertices[triangles], LEAF_TRIANGLES))

    def velocity_change(self, after: Floats, before: Floats) -> float:
        """Largest change of a vertex's velocity, given the change of the pose per time on both sides."""
        change = after - before
        if change.shape == (4, 4):
            # The change is linear in position, so it is largest at a corner of the box.
            change = transform_vectors(change[:3, :3], self._corners) + change[:3, 3]
        return float(length(change).max())


def _motions(before: _State, after: _State) -> list[MovingMesh]:
    """Linear motion of one mesh from one sample to another; with the faces of both if they differ."""
    if before.faces is after.faces or before.faces is None or after.faces is None:
        return [MovingMesh(before.posed, after.posed)]
    return [
        MovingMesh(before.posed, _posed(before.faces, after.numbers)),
        MovingMesh(_posed(after.faces, before.numbers), after.posed),
    ]


def _posed(faces: _Faces, vertices: Floats) -> PosedMesh:
    """Mesh with these faces around its vertices in world space."""
    return PosedMesh(MeshBvh.from_tree(faces.tree, vertices[faces.triangles]), faces.tree.order)
