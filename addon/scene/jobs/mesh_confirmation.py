"""Confirm contacts of bounds on the meshes themselves (narrow phase): whether they touch, and when first."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import (
    CollisionBoundsError,
    Contact,
    DeformedMesh,
    Progress,
    Triangle,
    TriangleMesh,
    first_mesh_contact,
)
from ...core.numeric.arrays import Bools, Floats, transform_points
from ...core.scan.scan import never
from ...formats import Confirmation
from ..blender.frames import go_to, scene_by_uid
from ..blender.instances import InstanceKey, VisibleInstance, visible_instances
from ..blender.mesh_data import triangle_indices, vertex_positions
from ..blender.object_settings import object_fit_settings
from ..blender.simulation import may_deform
from ..errors import SceneError
from ..progress import with_progress
from ..settings import ContactSettings, FitSettings, Modifiers
from ..subjects.subject import Subject


def confirm_contacts(
    scene_uid: int,
    subjects: Sequence[Subject],
    contacts: Sequence[Contact],
    settings: ContactSettings,
    refinable: Bools,
    stops: Callable[[], bool] = never,
) -> Generator[Progress, None, tuple[Confirmation | None, ...]]:
    """Test the meshes of each contact within its intervals.

    Parameters
    ----------
    scene_uid : int
        The scene's session_uid.
    subjects, contacts : sequence
        Contacts refer to subjects by index.
    settings : ContactSettings
        Of the scan that found the contacts: its clearance and fit settings apply.
    refinable : (n,) bool
        Subjects that may be evaluated at any time.
    stops : callable
        Called before each contact. If it returns True, the remaining contacts are not tested.

    Yields
    ------
    progress : Progress
        After each evaluation of the scene.

    Returns
    -------
    confirmations : tuple
        One for each contact that was reached. None for a contact that cannot be tested: a subject is not
        refinable, has no faces at some time, changes its number of vertices during the contact, or is not one
        whole mesh (a loose part, merged objects, an override).
    """
    meshes = _MeshCache(scene_uid, settings.fit)
    is_whole = np.array(
        [subject.part is None and not subject.members and subject.override is None for subject in subjects],
        dtype=bool,
    )
    is_testable = refinable & is_whole
    confirmations: list[Confirmation | None] = []
    for number, contact in enumerate(contacts):
        if stops():
            break
        confirmation: Confirmation | None = None
        if is_testable[contact.a] and is_testable[contact.b]:
            keys = subjects[contact.a].key, subjects[contact.b].key
            count = number, len(contacts)
            with suppress(SceneError, CollisionBoundsError):
                confirmation = yield from _confirm(meshes, keys, contact, settings.clearance, count)
        confirmations.append(confirmation)
    return tuple(confirmations)


def _confirm(
    meshes: _MeshCache,
    keys: tuple[InstanceKey, InstanceKey],
    contact: Contact,
    clearance: float,
    count: tuple[int, int],
) -> Generator[Progress, None, Confirmation]:
    """Search the intervals of a contact for the first contact of the two meshes.

    count : number of this contact, and of all contacts, for the progress
    """
    for span in contact.intervals:
        both = meshes.pair(keys, span.start)
        search = first_mesh_contact(partial(meshes.pose, keys), both, (span.start, span.end), clearance)
        first = yield from with_progress(search, Progress(*count, span.start, "meshes"))
        if not math.isnan(first.time):
            return Confirmation(first)
    return Confirmation(None)


class _CachedMesh(NamedTuple):
    """A mesh in local space, and whether it may deform."""

    mesh: TriangleMesh
    may_deform: bool


class _MeshCache:
    """Meshes of subjects, each read once. Raises SceneError for a subject that is not present."""

    def __init__(self, scene_uid: int, fit: FitSettings) -> None:
        self._scene_uid = scene_uid
        self._fit = fit
        self._meshes: dict[InstanceKey, _CachedMesh] = {}

    def pair(self, keys: tuple[InstanceKey, InstanceKey], time: float) -> tuple[TriangleMesh, TriangleMesh]:
        """Both meshes in local space, read at `time` unless they are cached."""
        if not all(key in self._meshes for key in keys):
            for item in self._visible_pair(keys, time):
                if item.key in self._meshes:
                    continue
                modifiers = self._modifiers(item)
                points, triangles = _read(item, modifiers)
                mesh = TriangleMesh(Triangle(*points.astype(np.float64)[triangles].transpose(1, 0, 2)))
                deforms = may_deform(item.instance.object.original, modifiers)
                self._meshes[item.key] = _CachedMesh(mesh, deforms)
        return self._meshes[keys[0]].mesh, self._meshes[keys[1]].mesh

    def pose(
        self, keys: tuple[InstanceKey, InstanceKey], time: float
    ) -> tuple[Floats | DeformedMesh, Floats | DeformedMesh]:
        """World matrix (4, 4) of each mesh, or its vertices and triangles if it may deform.

        Triangles too, because Blender cuts a quad that bends along its other diagonal.
        """
        poses: dict[InstanceKey, Floats | DeformedMesh] = {}
        for item in self._visible_pair(keys, time):
            matrix = np.array(item.instance.matrix_world, dtype=np.float64)
            if self._meshes[item.key].may_deform:
                points, triangles = _read(item, self._modifiers(item))
                poses[item.key] = DeformedMesh(transform_points(matrix, points), triangles)
            else:
                poses[item.key] = matrix
        return poses[keys[0]], poses[keys[1]]

    def _modifiers(self, item: VisibleInstance) -> Modifiers:
        return object_fit_settings(item.instance.object.original, self._fit).modifiers

    def _visible_pair(self, keys: tuple[InstanceKey, InstanceKey], time: float) -> Iterator[VisibleInstance]:
        """Both subjects at `time`. Raises SceneError after them if one is not present."""
        go_to(scene_by_uid(self._scene_uid), time)
        missing = set(keys)
        for item in visible_instances(bpy.context.evaluated_depsgraph_get()):
            if item.key in missing:
                missing.remove(item.key)
                yield item
        if missing:
            raise SceneError("one of the two is not present")


def _read(item: VisibleInstance, modifiers: Modifiers) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vertices (n, 3) of an instance in object space, and its triangles (t, 3)."""
    shown = item.instance.object
    return vertex_positions(shown, modifiers), triangle_indices(shown, modifiers)
