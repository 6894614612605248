"""Points around the vertices of bones at all frames, in the spaces of the bones."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core import Progress
from ...core.envelope.swept_points import points_swept
from ...core.numeric.arrays import Floats, transform_points
from ..blender.frames import advance_to, preserve_frame, sample_times, scene_by_uid
from ..blender.instances import InstanceKey
from ..blender.mesh_data import Geometry
from ..blender.names import full_name_of
from ..blender.object_settings import object_fit_settings, weight_of_bones
from ..blender.simulation import Simulations
from ..settings import FitSettings, Selection
from .find import find_subjects
from .geometry import NO_TRIANGLES, SubjectGeometry, read_subjects
from .subject import Subject

BoneKey: TypeAlias = tuple[InstanceKey, str]
"""Key of the object or instance, and name of the bone."""


class BoneSweeps(NamedTuple):
    """Points around the vertices of bones at all frames.

    Attributes
    ----------
    points : mapping of BoneKey to (k, 3) float64
        In the space of the bone; of vertices without a bone, in that of their object.
    """

    points: Mapping[BoneKey, Floats]

    def holds(self, subject: Subject) -> bool:
        """Return whether there are points of a subject."""
        return subject.bone is not None and (subject.key, subject.bone) in self.points

    def swept(self, piece: SubjectGeometry, subject: Subject) -> SubjectGeometry:
        """Replace the vertices of a bone at one frame by the points around those at all frames."""
        if not self.holds(subject):
            return piece
        assert subject.bone is not None, "holds says so"
        points: Any = self.points[subject.key, subject.bone]
        matrix = piece.geometry.matrix if piece.frame is None else piece.frame
        return piece._replace(geometry=Geometry(points, matrix), triangles=NO_TRIANGLES)

    def sweep_all(
        self, pieces: Iterator[SubjectGeometry], subjects: Sequence[Subject]
    ) -> Iterator[SubjectGeometry]:
        """Replace the vertices of all bones that have points."""
        for piece in pieces:
            yield self.swept(piece, subjects[piece.subject])


NO_SWEEPS = BoneSweeps({})


def in_bone_space(piece: SubjectGeometry) -> SubjectGeometry:
    """Convert the vertices of a bone from the space of their object to that of the bone, its frame."""
    assert piece.frame is not None, "the piece is that of a bone"
    points, matrix, radius = piece.geometry
    to_bone = np.linalg.pinv(piece.frame) @ matrix
    local: Any = transform_points(to_bone, points.astype(np.float64))
    return piece._replace(geometry=Geometry(local, piece.frame, radius))


def sweep_bones(
    scene: bpy.types.Scene, selection: Selection, fit: FitSettings, span: tuple[float, float, float]
) -> Generator[Progress, None, BoneSweeps]:
    """Find the points around the vertices of bones at all frames, for the objects whose settings ask for it.

    The scene is played, once within each step too, and more often where vertices do not move linearly. It
    returns to its frame. Scenes with simulations that concern these objects are evaluated at the steps alone.
    Frames at which a bone is not visible, or has a scale of zero, are passed over.

    Parameters
    ----------
    scene : bpy.types.Scene
        The active scene.
    selection : Selection
        Filter of the visible objects.
    fit : FitSettings
        Settings of objects that have none of their own.
    span : (float, float, float)
        First frame, last frame and step.

    Yields
    ------
    progress : Progress
        After each step.

    Returns
    -------
    sweeps : BoneSweeps

    Raises
    ------
    SceneError
        For an invalid frame range, or a selection that names something that does not exist.
    """
    if not _may_sweep(fit):
        return NO_SWEEPS
    times = sample_times(*span)
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), selection)
    settings = {full_name_of(item): object_fit_settings(item, fit) for item in bpy.data.objects}
    swept = [
        subject
        for subject in subjects
        if subject.bone is not None and settings.get(subject.key[1], fit).bone_frames == "all"
    ]
    if not swept:
        return NO_SWEEPS
    uid, simulations = scene.session_uid, Simulations.of(scene)
    with preserve_frame(scene):
        motion = _BoneMotion(uid, swept, fit, simulations)
        points = yield from points_swept(motion.sample, times, len(swept), motion.is_refinable)
    found = zip(swept, points, strict=True)
    return BoneSweeps({(s.key, s.bone or ""): each for s, each in found if len(each)})


def _may_sweep(fit: FitSettings) -> bool:
    """Return whether there may be an object whose bones are to be swept."""
    return fit.bone_frames == "all" or any(
        weight_of_bones(item) is not None and object_fit_settings(item, fit).bone_frames == "all"
        for item in bpy.data.objects
    )


class _BoneMotion:
    """Vertices of bones over time, in the spaces of the bones.

    Attributes
    ----------
    is_refinable : bool
        Whether there is no simulation that the vertices depend on.
    """

    def __init__(
        self, uid: int, subjects: Sequence[Subject], fit: FitSettings, simulations: Simulations
    ) -> None:
        self._uid, self._subjects, self._fit, self._simulations = uid, subjects, fit, simulations
        names = {name for subject in subjects for name in subject.key[:2]}
        uids = {item.session_uid for item in bpy.data.objects if full_name_of(item) in names}
        self.is_refinable = simulations.first_frame is None and not uids & simulations.uids
        self._last: float | None = None

    def sample(self, time: float) -> dict[int, Floats]:
        """Vertices (n, 3) of the bones that are visible at a time."""
        advance_to(scene_by_uid(self._uid), time, self._simulations, self._last)
        self._last = time
        found: dict[int, Floats] = {}
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for piece in read_subjects(depsgraph, self._subjects, self._fit):
            if piece.frame is not None:
                if not abs(np.linalg.det(piece.frame[:3, :3])) > 0:
                    continue
                piece = in_bone_space(piece)
            points: Floats = piece.geometry.points.astype(np.float64)
            if len(points) and np.isfinite(points).all():
                found[piece.subject] = points
        return found
