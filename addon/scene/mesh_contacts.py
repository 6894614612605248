"""Contacts of bounds asked again on the meshes themselves: do they touch there, and when first."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import (
    CollisionBoundsError,
    Contact,
    Progress,
    Triangle,
    TriangleMesh,
    first_mesh_contact,
)
from ..core.arrays import Bools, Floats, transform_points
from ..core.contacts import never
from ..formats import Confirmation
from .changes import may_deform
from .errors import SceneError
from .extraction import Modifiers, points_of, triangles_of
from .fitting import FitSettings
from .own_settings import fit_of
from .pacing import paced
from .playhead import go_to, scene_by_uid
from .subjects import Subject
from .walk import Key, Visible, visible


def confirmed(
    scene_uid: int,
    subjects: Sequence[Subject],
    contacts: Sequence[Contact],
    fit: FitSettings,
    clearance: float,
    askable: Bools,
    stops: Callable[[], bool] = never,
) -> Generator[Progress, None, tuple[Confirmation | None, ...]]:
    """Ask the meshes of each contact, in its intervals. Yields progress after each look.

    stops : asked before each contact; if so, no more contacts are, and the answers are fewer than contacts
    askable : (n,) which subjects may be evaluated at any time; None is the answer for contacts of others, of
        what has no faces, of meshes that have other vertices from one time to another, and of what is not one
        whole mesh: loose parts, several taken as one, and shapes set by hand
    """
    meshes = _Meshes(scene_uid, fit)
    whole = np.array(
        [subject.part is None and not subject.members and subject.override is None for subject in subjects],
        dtype=bool,
    )
    askable = askable & whole
    answers: list[Confirmation | None] = []
    for number, contact in enumerate(contacts):
        if stops():
            break
        answer: Confirmation | None = None
        if askable[contact.a] and askable[contact.b]:
            both = subjects[contact.a].key, subjects[contact.b].key
            with suppress(SceneError, CollisionBoundsError):
                answer = yield from _asked(meshes, both, contact, clearance, (number, len(contacts)))
        answers.append(answer)
    return tuple(answers)


def _asked(
    meshes: _Meshes, keys: tuple[Key, Key], contact: Contact, clearance: float, done: tuple[int, int]
) -> Generator[Progress, None, Confirmation]:
    for span in contact.intervals:
        both = meshes.taken(keys, span.start)
        search = first_mesh_contact(partial(meshes.pose, keys), both, (span.start, span.end), clearance)
        first = yield from paced(search, Progress(*done, span.start, "meshes"))
        if not math.isnan(first.time):
            return Confirmation(first)
    return Confirmation(None)


class _Taken(NamedTuple):
    """A mesh in its own space, its vertices (n, 3), triangles (t, 3) of them, and whether they may move."""

    mesh: TriangleMesh
    points: Floats
    triangles: NDArray[np.int32]
    deforms: bool


class _Meshes:
    """Subjects as meshes, each taken once. SceneError for one that has other vertices later, or is away."""

    def __init__(self, scene_uid: int, fit: FitSettings) -> None:
        self._scene_uid = scene_uid
        self._fit = fit
        self._taken: dict[Key, _Taken] = {}

    def taken(self, keys: tuple[Key, Key], time: float) -> tuple[TriangleMesh, TriangleMesh]:
        """Both in their own space, as they are at a time, or were when they were taken."""
        if not all(key in self._taken for key in keys):
            for item in self._shown(keys, time):
                modifiers = self._modifiers(item)
                points = points_of(item.instance.object, modifiers).astype(np.float64)
                triangles = triangles_of(item.instance.object, modifiers)
                mesh = TriangleMesh(Triangle(*points[triangles].transpose(1, 0, 2)))
                deforms = may_deform(item.instance.object.original, modifiers)
                self._taken[item.key] = _Taken(mesh, points, triangles, deforms)
        return self._taken[keys[0]].mesh, self._taken[keys[1]].mesh

    def pose(self, keys: tuple[Key, Key], time: float) -> tuple[Floats, Floats]:
        """Of each its matrix, or the corners of its triangles, if its vertices may move."""
        poses: dict[Key, Floats] = {}
        for item in self._shown(keys, time):
            taken = self._taken[item.key]
            poses[item.key] = np.array(item.instance.matrix_world, dtype=np.float64)
            if taken.deforms:
                points = points_of(item.instance.object, self._modifiers(item))
                if points.shape != taken.points.shape:
                    raise SceneError("other vertices than before")
                poses[item.key] = transform_points(poses[item.key], points)[taken.triangles]
        return poses[keys[0]], poses[keys[1]]

    def _modifiers(self, item: Visible) -> Modifiers:
        return fit_of(item.instance.object.original, self._fit).modifiers

    def _shown(self, keys: tuple[Key, Key], time: float) -> Iterator[Visible]:
        """The two at a time. Raises SceneError after them when one was not there."""
        go_to(scene_by_uid(self._scene_uid), time)
        missing = set(keys)
        for item in visible(bpy.context.evaluated_depsgraph_get()):
            if item.key in missing:
                missing.remove(item.key)
                yield item
        if missing:
            raise SceneError("one of the two is not there")
