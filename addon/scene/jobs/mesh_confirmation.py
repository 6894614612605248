"""Confirm contacts of bounds on the meshes themselves (narrow phase): whether they touch, and when first."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import (
    CollisionBoundsError,
    Contact,
    DeformedMesh,
    EmptyGeometryError,
    NonFiniteGeometryError,
    Progress,
    Triangle,
    TriangleMesh,
    first_mesh_contact,
)
from ...core.motion.mesh_contact import possibly_since
from ...core.numeric.arrays import Floats, transform_points
from ...core.progress import until_stopped, with_progress
from ...core.scan.report import ContactInterval
from ...formats import Confirmation, NotVerified
from ..blender.animated import may_deform, turning_times
from ..blender.frames import go_to, scene_by_uid
from ..blender.instances import visible_instances
from ..blender.mesh_data import triangle_indices, vertex_positions
from ..blender.private_scene import PrivateScene
from ..motion.known_motion import CurvePoses
from ..motion.scene_motion import SceneMotion
from ..settings import Modifiers
from ..subjects.subject import Subject


def confirm_contacts(
    scene_uid: int,
    subjects: Sequence[Subject],
    contacts: Sequence[Contact],
    motion: SceneMotion,
    clearance: float,
    stops: Callable[[], bool],
) -> Generator[Progress, None, tuple[Confirmation | NotVerified, ...]]:
    """Test the meshes of each contact within its intervals.

    subjects, contacts : Contacts refer to subjects by index.
    motion : Motion of the subjects.
    progress : After each evaluation of the scene. If `stops` returns True then, the remaining contacts are
        not tested.
    Returns confirmations : tuple. One for each contact that was reached: the result for its meshes, or the
        reason why there is none.
    """
    if not contacts:
        return ()
    spans = [(contact.intervals[0].start, contact.intervals[-1].end) for contact in contacts]
    span = min(start for start, _ in spans), max(end for _, end in spans)
    meshes = _MeshCache(scene_uid, subjects, motion, span)
    confirmations: list[Confirmation | NotVerified] = []
    for number, contact in enumerate(contacts):
        if stops():
            break
        try:
            _require_testable(subjects, contact, motion)
            search = _confirm(meshes, contact, clearance, (number, len(contacts)))
            confirmation = yield from until_stopped(search, stops)
            if confirmation is None:
                break
            confirmations.append(confirmation)
        except _UntestableError as error:
            confirmations.append(error.reason)
        except NonFiniteGeometryError:
            confirmations.append(NotVerified.NOT_FINITE)
        except EmptyGeometryError:
            confirmations.append(NotVerified.NO_FACES)
        except CollisionBoundsError:
            confirmations.append(NotVerified.UNSUPPORTED)
    return tuple(confirmations)


class _UntestableError(CollisionBoundsError):
    """The meshes of a contact cannot be tested."""

    def __init__(self, reason: NotVerified) -> None:
        """Take the reason."""
        super().__init__(reason.text)
        self.reason = reason


def _require_testable(subjects: Sequence[Subject], contact: Contact, motion: SceneMotion) -> None:
    """Require two whole meshes that can be evaluated at any time. Raises _UntestableError."""
    pair = [contact.a, contact.b]
    both = [subjects[index] for index in pair]
    for reason, holds in (
        (NotVerified.BONE, any(subject.bone is not None for subject in both)),
        (NotVerified.CUSTOM_SHAPE, any(subject.override is not None for subject in both)),
        (NotVerified.LOOSE_PART, any(subject.part is not None for subject in both)),
        (NotVerified.MERGED_COLLECTION, any(subject.members for subject in both)),
        (NotVerified.UNBAKED_SIMULATION, not motion.is_divisible),
        (NotVerified.SIMULATED, not motion.refinable[pair].all()),
    ):
        if holds:
            raise _UntestableError(reason)


def _confirm(
    meshes: _MeshCache,
    contact: Contact,
    clearance: float,
    count: tuple[int, int],
) -> Generator[Progress, None, Confirmation]:
    """Search the intervals of a contact for the first touch of the two meshes.

    With a clearance for the first time at which they are closer than it, too.

    count : number of this contact, and of all contacts, for the progress
    """
    closer = yield from _first_within(meshes, contact, clearance, count, -math.inf)
    if not clearance:
        return closer
    if closer.first is None:
        return replace(closer, closer=closer)
    touch = yield from _first_within(meshes, contact, 0.0, count, closer.first.time)
    is_proven = touch.is_proven and closer.is_proven
    first = None if touch.first is None else touch.first._replace(is_proven=is_proven)
    return Confirmation(first, is_proven, closer)


def _first_within(
    meshes: _MeshCache, contact: Contact, clearance: float, count: tuple[int, int], begin: float
) -> Generator[Progress, None, Confirmation]:
    """Search the intervals of a contact from `begin` on for the first time within a clearance."""
    pair = contact.a, contact.b
    # The intervals of bounds say where the meshes are apart.
    is_proven, doubt = contact.first.motion == "proven", math.nan
    for start, end in (part for span in contact.intervals for part in meshes.parts(pair, span, begin)):
        both = meshes.pair(pair, start)
        poses, known = partial(meshes.poses, pair), meshes.known(pair)
        search = first_mesh_contact(poses, both, (start, end), clearance, known=known)
        first = yield from with_progress(search, Progress(*count, start, "meshes"))
        is_proven, doubt = is_proven and first.is_proven, float(np.fmin(doubt, first.doubt))
        if not math.isnan(first.time):
            return Confirmation(possibly_since(first, doubt)._replace(is_proven=is_proven), is_proven)
    if not math.isnan(doubt):
        raise _UntestableError(NotVerified.UNDECIDED)
    return Confirmation(None, is_proven)


class _CachedMesh(NamedTuple):
    """A mesh in local space, the number of its vertices, and whether it may deform."""

    mesh: TriangleMesh
    vertex_count: int
    may_deform: bool


class _CurveMesh:
    """A mesh that curves move as a whole. Implements `core.motion.mesh_samples.KnownMesh`."""

    def __init__(self, curves: CurvePoses, subject: int, reach: float) -> None:
        """Take the curves of a known subject, and the distance of its farthest vertex from its origin."""
        self._curves, self._subject, self._reach = curves, np.array([subject]), reach

    def pose(self, time: float) -> Floats:
        """World matrix (4, 4) at a time, as Blender computes it; just before a jump that before the jump."""
        return np.asarray(self._curves.limits(np.array([time]), self._subject)[0])

    def next_jump(self, begin: float) -> float:
        """See `KnownMesh`."""
        return float(self._curves.next_jumps(self._subject, np.array([begin]))[0])

    def before(self, time: float) -> Floats:
        """See `KnownMesh`."""
        return np.asarray(self._curves.limits(np.array([time]), self._subject, is_before=True)[0])

    def deviation(self, begin: float, end: float) -> float:
        """See `KnownMesh`."""
        chords = self._curves.chords(self._subject, np.array([begin]), np.array([end]))
        return float(chords.offset[0] + chords.linear[0] * self._reach)


class _Evaluated(NamedTuple):
    """A subject that was evaluated: its evaluated object, and its world matrix (4, 4)."""

    subject: int
    object: bpy.types.Object
    matrix: Floats


class _MeshCache:
    """Meshes of subjects, each read once. Raises _UntestableError for those that cannot be tested."""

    def __init__(
        self, scene_uid: int, subjects: Sequence[Subject], motion: SceneMotion, span: tuple[float, float]
    ) -> None:
        self._scene_uid, self._subjects, self._span = scene_uid, subjects, span
        self._sources, self._modifiers, self._uids = (
            motion.sources,
            motion.reader.modifiers,
            motion.reader.uids,
        )
        # A scene of the subjects that are evaluated by themselves.
        self._alone: PrivateScene | None = None
        self._meshes: dict[int, _CachedMesh] = {}
        self._known: dict[int, _CurveMesh | None] = {}

    @cached_property
    def _turns(self) -> list[float]:
        """Times within frames at which keys turn."""
        return turning_times(bpy.context.evaluated_depsgraph_get(), self._span)

    def parts(
        self, pair: tuple[int, int], span: ContactInterval, begin: float
    ) -> Iterator[tuple[float, float]]:
        """Divide an interval from `begin` on at the times within frames at which keys turn.

        Not if both meshes are known.
        """
        start = max(span.start, begin)
        if start > span.end:
            return
        times = [start, span.end]
        self.pair(pair, start)
        if start < span.end and not all(self.known(pair)):
            times[1:1] = self._turns[bisect_right(self._turns, start) : bisect_left(self._turns, span.end)]
        yield from pairwise(times)

    def known(self, pair: tuple[int, int]) -> tuple[_CurveMesh | None, _CurveMesh | None]:
        """Motion of both meshes, which are cached; None where only samples are known."""
        curves = self._sources.curves
        for subject in pair:
            if subject in self._known:
                continue
            self._known[subject] = None
            # The matrix of a mesh that bones bend says nothing about its vertices.
            if curves is not None and curves.is_known[subject] and not curves.is_skinned[subject]:
                triangles = self._meshes[subject].mesh.triangles
                corners = np.stack([triangles.a, triangles.b, triangles.c])
                reach = float(np.sqrt((corners**2).sum(axis=-1)).max())
                self._known[subject] = _CurveMesh(curves, subject, reach)
        return self._known[pair[0]], self._known[pair[1]]

    def pair(self, pair: tuple[int, int], time: float) -> tuple[TriangleMesh, TriangleMesh]:
        """Both meshes in local space, read at `time` unless they are cached."""
        unknown = [subject for subject in pair if subject not in self._meshes]
        for shown in self._evaluated(unknown, time):
            modifiers = self._modifiers[shown.subject]
            points, triangles = _read(shown, modifiers)
            mesh = TriangleMesh(Triangle(*points.astype(np.float64)[triangles].transpose(1, 0, 2)))
            deforms = may_deform(shown.object.original, modifiers)
            self._meshes[shown.subject] = _CachedMesh(mesh, len(points), deforms)
        return self._meshes[pair[0]].mesh, self._meshes[pair[1]].mesh

    def poses(
        self, pair: tuple[int, int], time: float
    ) -> tuple[Floats | DeformedMesh, Floats | DeformedMesh]:
        """World matrix (4, 4) of each mesh, or its vertices and triangles if it may deform.

        Triangles too, because Blender cuts a quad that bends along its other diagonal.
        """
        known = dict(zip(pair, self.known(pair), strict=True))
        poses: dict[int, Floats | DeformedMesh] = {
            subject: each.pose(time) for subject, each in known.items() if each is not None
        }
        for shown in self._evaluated([subject for subject in pair if subject not in poses], time):
            cached = self._meshes[shown.subject]
            if cached.may_deform:
                points, triangles = _read(shown, self._modifiers[shown.subject])
                if len(points) != cached.vertex_count:
                    raise _UntestableError(NotVerified.VERTEX_COUNT)
                poses[shown.subject] = DeformedMesh(transform_points(shown.matrix, points), triangles)
            else:
                poses[shown.subject] = shown.matrix
        return poses[pair[0]], poses[pair[1]]

    def _evaluated(self, subjects: Sequence[int], time: float) -> Iterator[_Evaluated]:
        """Evaluate some subjects at `time`, alone if they are the same without the rest of their scene.

        Raises _UntestableError after them if one is not present.
        """
        missing = set(subjects)
        if not missing:
            return
        if self._sources.is_elsewhere[list(subjects)].all():
            uids = {int(self._uids[subject]): subject for subject in subjects}
            if self._alone is None:
                self._alone = PrivateScene(scene_by_uid(self._scene_uid), uids)
            self._alone.replace(uids)
            shown: Iterator[Any] = (
                (uids[item.original.session_uid], item, item) for item in self._alone.evaluate(time).objects
            )
        else:
            keys = {self._subjects[subject].key: subject for subject in subjects}
            go_to(scene_by_uid(self._scene_uid), time)
            visible = visible_instances(bpy.context.evaluated_depsgraph_get())
            shown = (
                (keys[item.key], item.instance.object, item.instance) for item in visible if item.key in keys
            )
        for subject, evaluated, source in shown:
            missing.discard(subject)
            yield _Evaluated(subject, evaluated, np.array(source.matrix_world, dtype=np.float64))
        if missing:
            raise _UntestableError(NotVerified.ABSENT)


def _read(shown: _Evaluated, modifiers: Modifiers) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vertices (n, 3) of a subject in object space, and its triangles (t, 3), at least one."""
    points, triangles = vertex_positions(shown.object, modifiers), triangle_indices(shown.object, modifiers)
    if not len(triangles):
        raise _UntestableError(NotVerified.NO_FACES)
    return points, triangles
