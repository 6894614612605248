"""Contacts of bounds asked again on the meshes themselves: do they touch there, and when first."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import CollisionBoundsError, Contact, MeshContact, Triangle, TriangleMesh, first_mesh_contact
from ..core.arrays import Bools, Floats, transform_points
from ..formats import Confirmation
from .changes import may_deform
from .errors import SceneError
from .extraction import Geometry, Modifiers, geometry_of, triangles_of
from .playback import go_to, scene_by_uid
from .subjects import Subject
from .walk import visible


def confirmed(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    contacts: Sequence[Contact],
    modifiers: Modifiers,
    clearance: float,
    askable: Bools,
) -> Generator[None, None, list[Confirmation | None]]:
    """Ask the meshes of each contact, in its intervals. Yields after each look at the scene.

    askable : (n,) which subjects may be evaluated at any time; None is the answer for contacts of others, of
        what has no faces, and of meshes that have other faces from one time to another
    """
    uid = scene.session_uid
    answers: list[Confirmation | None] = []
    for contact in contacts:
        both = subjects[contact.a], subjects[contact.b]
        answer: Confirmation | None = None
        if askable[contact.a] and askable[contact.b]:
            try:
                answer = yield from _asked(_Meshes(uid, both, modifiers), contact, clearance)
            except (SceneError, CollisionBoundsError):
                answer = None
        answers.append(answer)
    return answers


def _asked(meshes: _Meshes, contact: Contact, clearance: float) -> Generator[None, None, Confirmation]:
    for span in contact.intervals:
        search = first_mesh_contact(meshes.pose, meshes.taken(span.start), (span.start, span.end), clearance)
        while True:
            try:
                next(search)
            except StopIteration as stop:
                first: MeshContact = stop.value
                break
            yield
        if not math.isnan(first.time):
            return Confirmation(first)
    return Confirmation(None)


class _Meshes:
    """Two subjects as meshes, at any time. SceneError for one that has no faces, other ones, or is away."""

    def __init__(self, scene_uid: int, subjects: tuple[Subject, Subject], modifiers: Modifiers) -> None:
        self._scene_uid = scene_uid
        self._keys = [subject.key for subject in subjects]
        self._modifiers = modifiers
        self._points: list[Floats] = []
        self._triangles: list[NDArray[np.int32]] = []
        self._deforms: list[bool] = []

    def taken(self, time: float) -> tuple[TriangleMesh, TriangleMesh]:
        """Both in their own space, as they are at a time."""
        if not self._points:
            geometries = self._read(time, with_triangles=True)
            self._points = [geometry.points.astype(np.float64) for geometry in geometries]
        meshes = [
            TriangleMesh(Triangle(*points[triangles].transpose(1, 0, 2)))
            for points, triangles in zip(self._points, self._triangles, strict=True)
        ]
        return meshes[0], meshes[1]

    def pose(self, time: float) -> tuple[Floats, Floats]:
        """Of each its matrix, or the corners of its triangles, if its vertices may move."""
        poses = []
        for number, geometry in enumerate(self._read(time, with_triangles=False)):
            if not self._deforms[number]:
                poses.append(geometry.matrix)
                continue
            if geometry.points.shape != self._points[number].shape:
                raise SceneError("other vertices than before")
            world = transform_points(geometry.matrix, geometry.points)
            poses.append(world[self._triangles[number]])
        return poses[0], poses[1]

    def _read(self, time: float, with_triangles: bool) -> list[Geometry]:
        scene = scene_by_uid(self._scene_uid)
        go_to(scene, time)
        found: dict[int, Geometry] = {}
        triangles, deforms = {}, {}
        for item in visible(bpy.context.evaluated_depsgraph_get()):
            if item.key in self._keys:
                number = self._keys.index(item.key)
                found[number] = geometry_of(item, self._modifiers)
                if with_triangles:
                    triangles[number] = triangles_of(item.instance.object, self._modifiers)
                    deforms[number] = may_deform(item.instance.object.original, self._modifiers)
        if len(found) < 2:
            raise SceneError("one of the two is not there")
        if with_triangles:
            self._triangles = [triangles[0], triangles[1]]
            self._deforms = [deforms[0], deforms[1]]
        return [found[0], found[1]]
