"""Objects that come during a scan.

Instances are read when they appear, so that another scan can test them. Meshes without vertices at the first
frame that have some later are not in the result; it has a warning about each.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy

from ....core import Progress
from ....core.messages import message, template
from ....core.progress import run_to_end
from ....formats import InputWarning, ObjectBounds, Skipped
from ...blender.animated import may_deform
from ...blender.frames import scene_by_uid
from ...blender.instances import MESH_LIKE, name_of
from ...blender.mesh_data import vertex_positions
from ...blender.object_settings import object_fit_settings
from ...blender.private_scene import PrivateScene
from ...motion.frame_reader import FrameReader
from ...motion.scene_motion import SceneMotion
from ...settings import Modifiers
from ...subjects.find import find_in_parts
from ...subjects.reader import SubjectReader
from ...subjects.selection import matches_names
from ...subjects.subject import Subject, SubjectList
from ..bounds_table import NO_VERTICES, fit_bounds
from ..result import Result
from .request import ScanRequest

_REASON = template("no vertices at the first frame, some at frame {frame:g}: not included")
_WARNING = template(
    "has no vertices at the first frame, and some at frame {frame:g}: frames from there on include it"
)


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
        # Number of instances by the full names of owner and object, and ids of all subjects.
        self._counts: dict[tuple[str, str], int] = {}
        self._ids: set[str] = set()

    def read(self, request: ScanRequest, motion: SceneMotion, subjects: Sequence[Subject]) -> None:
        """Read what has appeared in the last sample of a motion; the scene must be at its time.

        Members of merged collections and loose parts are not read.

        subjects : of the first frame
        """
        arrived, motion.arrived = motion.arrived, set()
        if not arrived:
            return
        if not self._ids:
            self._counts, self._ids = dict(motion.reader.instance_counts), {each.id for each in subjects}
        depsgraph, selection = bpy.context.evaluated_depsgraph_get(), request.settings.selection
        finding = find_in_parts(scene_by_uid(request.uid), depsgraph, replace(selection, patterns=()))
        found = run_to_end(finding).subjects
        late = []
        for _, row in sorted(found.rows_of(arrived).items()):
            subject = found[row]
            if subject.part is not None or subject.members:
                continue
            # Its name and id have the number after those of the instances of its object so far.
            number = self._counts.get(subject.key[:2], 0)
            self._counts[subject.key[:2]] = number + 1
            name = f"{subject.name.rpartition('.')[0]}.{number}"
            id, count = name, 2
            while id in self._ids:
                id, count = f"{name}#{count}", count + 1
            self._ids.add(id)
            if matches_names(selection, name, subject.key[0]):
                parent = subject.parent if subject.parent in self._ids else None
                late.append(subject._replace(name=name, id=id, parent=parent))
        if not late:
            return
        found = SubjectList.of(late)
        shapes, fit = request.shapes_of(found)
        bounded = run_to_end(fit_bounds(SubjectReader(found, fit).geometries(depsgraph), found, shapes, []))
        self.subjects += bounded.subjects
        self.objects += bounded.objects
        reader = FrameReader(bounded.subjects, request.settings.fit, range(len(bounded.subjects)))
        reader.read_first(bpy.context.evaluated_depsgraph_get())
        reader.forget_instances()
        self.readers.append(reader)


def with_late_meshes(request: ScanRequest, result: Result) -> Generator[Progress, None, Result]:
    """Give the objects that a result skips without vertices the frame at which they get some, and warnings.

    They are evaluated by themselves: that takes no time where they do not depend on the frame.

    progress : After each evaluation.
    """
    empty = {entry.name for entry in result.skipped if entry.reason == NO_VERTICES}
    modifiers: dict[int, Modifiers] = {}
    names: dict[int, str] = {}
    for item in scene_by_uid(request.uid).objects if empty else ():
        if item.type in MESH_LIKE and name_of(item) in empty:
            source = object_fit_settings(item, request.settings.fit).modifiers
            if may_deform(item, source):
                names[item.session_uid], modifiers[item.session_uid] = name_of(item), source
    late: dict[str, float] = {}
    scene = PrivateScene(scene_by_uid(request.uid), names)
    for number, time in enumerate(request.times[1:], 1):
        if len(late) == len(names) or request.stops():
            break
        for item in scene.evaluate(time).objects:
            uid = item.original.session_uid
            if uid in names and names[uid] not in late and len(vertex_positions(item, modifiers[uid])):
                late[names[uid]] = time
        yield Progress(number, len(request.times), time)
    if not late:
        return result
    skipped = tuple(
        Skipped(entry.name, message(_REASON, frame=late[entry.name])) if entry.name in late else entry
        for entry in result.skipped
    )
    warnings = (
        InputWarning("lateMesh", name, message(_WARNING, frame=time)) for name, time in sorted(late.items())
    )
    return replace(result, skipped=skipped, warnings=(*result.warnings, *warnings))
