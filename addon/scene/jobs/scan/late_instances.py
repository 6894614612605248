"""Instances that come during a scan: read when they appear, so that another scan can test them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ....formats import ObjectBounds
from ...animation.late_subjects import LateNames, find_arrived
from ...animation.scene_motion import SceneMotion
from ...blender.frames import scene_by_uid
from ...poses.frame_reader import FrameReader
from ...settings import DEFAULT_SHAPES, ContactSettings
from ...subjects.subject import Subject
from ..bounds import bound_found


class LateInstances:
    """Subjects that appear during a scan.

    Attributes
    ----------
    subjects : list of Subject
        In the order in which they appear.
    objects : list of ObjectBounds
        Their bounds at the frame at which they appear.
    readers : list of FrameReader
        How they may change, and their geometry.
    """

    def __init__(self) -> None:
        """Start without instances."""
        self.subjects: list[Subject] = []
        self.objects: list[ObjectBounds] = []
        self.readers: list[FrameReader] = []
        self._names: LateNames | None = None

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
            self._names = LateNames(motion.reader.instance_counts, [subject.id for subject in subjects])
        found = find_arrived(scene_by_uid(scene_uid), settings.selection, arrived, self._names)
        if not len(found):
            return
        bounded = bound_found(found, DEFAULT_SHAPES, settings.fit, settings.shape)
        self.subjects += bounded.subjects
        self.objects += bounded.objects
        reader = FrameReader(bounded.subjects, settings.fit, range(len(bounded.subjects)))
        reader.read_first(bpy.context.evaluated_depsgraph_get())
        reader.forget_instances()
        self.readers.append(reader)
