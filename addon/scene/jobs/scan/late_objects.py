"""Objects that come during a scan.

Instances are read when they appear, so that another scan can test them. Meshes without vertices at the first
frame that have some later are not in the result; it has a warning about each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace

import bpy

from ....core import Progress
from ....core.messages import message
from ....core.scan.scan import never
from ....formats import InputWarning, ObjectBounds, Skipped
from ...blender.frames import scene_by_uid
from ...blender.instances import MESH_LIKE, InstanceKey
from ...blender.mesh_data import vertex_positions
from ...blender.names import name_of
from ...blender.object_settings import object_fit_settings
from ...blender.private_scene import PrivateScene
from ...blender.simulation import may_deform
from ...motion.frame_reader import FrameReader
from ...motion.scene_motion import SceneMotion
from ...progress import run_to_end
from ...settings import DEFAULT_SHAPES, ContactSettings, FitSettings, Modifiers, Selection
from ...subjects.find import find_in_parts
from ...subjects.selection import matches_names
from ...subjects.subject import Subject
from ...subjects.subject_list import SubjectList
from ..bounds import bound_found
from ..bounds_table import NO_VERTICES
from ..result import Result


class _LateNames:
    """Names and ids of instances that appear: their numbers follow those of the first frame."""

    def __init__(self, counts: Mapping[tuple[str, str], int], ids: Collection[str]) -> None:
        """Begin after the first frame.

        counts : Number of instances by the full names of owner and object, at the first frame.
        ids : Ids of all subjects.
        """
        self._counts, self._ids = dict(counts), set(ids)

    def name(self, subject: Subject) -> Subject:
        """Give the next number to an instance."""
        names = subject.key[:2]
        number = self._counts.get(names, 0)
        self._counts[names] = number + 1
        name = f"{subject.name.rpartition('.')[0]}.{number}"
        id, count = name, 2
        while id in self._ids:
            id, count = f"{name}#{count}", count + 1
        self._ids.add(id)
        parent = subject.parent if subject.parent in self._ids else None
        return subject._replace(name=name, id=id, parent=parent)


def _find_arrived(
    scene: bpy.types.Scene, selection: Selection, arrived: Iterable[InstanceKey], names: _LateNames
) -> SubjectList:
    """Find the subjects of instances that have just appeared, in the order of their keys.

    Members of merged collections and loose parts are not among them.
    """
    every = replace(selection, patterns=())
    found = run_to_end(find_in_parts(scene, bpy.context.evaluated_depsgraph_get(), every)).subjects
    row_of = found.rows_of(set(arrived))
    subjects = []
    for key in sorted(row_of):
        subject: Subject = found[row_of[key]]
        if subject.part is None and not subject.members:
            subject = names.name(subject)
            if matches_names(selection, subject.name, subject.key[0]):
                subjects.append(subject)
    return SubjectList.of(subjects)


class LateInstances:
    """Subjects that appear during a scan.

    subjects : In the order in which they appear.
    objects : Their bounds at the frame at which they appear.
    readers : How they may change, and their geometry.
    """

    def __init__(self) -> None:
        """Start without instances."""
        self.subjects: list[Subject] = []
        self.objects: list[ObjectBounds] = []
        self.readers: list[FrameReader] = []
        self._names: _LateNames | None = None

    def read(
        self,
        scene_uid: int,
        settings: ContactSettings,
        motion: SceneMotion,
        subjects: Sequence[Subject],
    ) -> None:
        """Read what has appeared in the last sample of a motion; the scene must be at its time.

        subjects : of the first frame
        """
        arrived = motion.take_arrived()
        if not arrived:
            return
        if self._names is None:
            self._names = _LateNames(motion.reader.instance_counts, [subject.id for subject in subjects])
        found = _find_arrived(scene_by_uid(scene_uid), settings.selection, arrived, self._names)
        if not len(found):
            return
        bounded = bound_found(found, DEFAULT_SHAPES, settings.fit, settings.shape)
        self.subjects += bounded.subjects
        self.objects += bounded.objects
        reader = FrameReader(bounded.subjects, settings.fit, range(len(bounded.subjects)))
        reader.read_first(bpy.context.evaluated_depsgraph_get())
        reader.forget_instances()
        self.readers.append(reader)


def with_late_meshes(
    scene_uid: int,
    result: Result,
    times: Sequence[float],
    fit: FitSettings,
    stops: Callable[[], bool] = never,
) -> Generator[Progress, None, Result]:
    """Give the objects that a result skips without vertices the frame at which they get some, and warnings.

    They are evaluated by themselves: that takes no time where they do not depend on the frame.

    scene_uid : The scene's session_uid.
    result : Of the first of `times`.
    times : Increasing frames of the job.
    fit : For objects without settings of their own.
    stops : Called after each evaluation. If it returns True, no later frame is evaluated.
    progress : After each evaluation.
    """
    empty = {entry.name for entry in result.skipped if entry.reason == NO_VERTICES}
    modifiers: dict[int, Modifiers] = {}
    names: dict[int, str] = {}
    for item in scene_by_uid(scene_uid).objects if empty else ():
        if item.type in MESH_LIKE and name_of(item) in empty:
            source = object_fit_settings(item, fit).modifiers
            if may_deform(item, source):
                names[item.session_uid], modifiers[item.session_uid] = name_of(item), source
    late: dict[str, float] = {}
    scene = PrivateScene(scene_by_uid(scene_uid), names)
    for number, time in enumerate(times[1:], 1):
        if len(late) == len(names) or stops():
            break
        for item in scene.evaluate(time).objects:
            uid = item.original.session_uid
            if uid in names and names[uid] not in late and len(vertex_positions(item, modifiers[uid])):
                late[names[uid]] = time
        yield Progress(number, len(times), time)
    if not late:
        return result
    skipped = tuple(
        Skipped(entry.name, _reason(late[entry.name])) if entry.name in late else entry
        for entry in result.skipped
    )
    warnings = (InputWarning("lateMesh", name, _warning(time)) for name, time in sorted(late.items()))
    return replace(result, skipped=skipped, warnings=(*result.warnings, *warnings))


def _reason(time: float) -> str:
    return message("no vertices at the first frame, some at frame {frame:g}: not included", frame=time)


def _warning(time: float) -> str:
    text = "has no vertices at the first frame, and some at frame {frame:g}: frames from there on include it"
    return message(text, frame=time)
