"""Request of a scan: its settings and frames, and conditions to end early."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import bpy
import numpy as np

from ....core import Progress
from ....core.messages import message
from ....core.scan.scan import never
from ...blender.frames import sample_times
from ...errors import SceneError
from ...fitting.fit import ORIENTED_KINDS, resolve_scanned_shape
from ...settings import DEFAULT_SHAPES, OBSTACLE_SHAPES, BoundShape, ContactSettings, FitSettings
from ...subjects.subject import Subject
from ..bounds import require_active_scene


class ScanRequest(NamedTuple):
    """Scene, settings and frames of a scan, and conditions to end early.

    uid : The scene's session_uid.
    span : Start, end and step of its frames.
    times : Frames of the samples.
    stops, drops : See `find_contacts`.
    """

    uid: int
    settings: ContactSettings
    span: tuple[float, float, float]
    times: list[float]
    stops: Callable[[], bool]
    drops: Callable[[], bool]

    @property
    def begun(self) -> Progress:
        """Progress before the first sample."""
        return Progress(0, len(self.times), self.times[0])

    def shapes_of(self, subjects: Iterable[Subject]) -> tuple[tuple[BoundShape, ...], FitSettings]:
        """Return the shapes of the bounds of subjects: oriented boxes too, where the scan tests these.

        Returns settings of those that have none of their own, too, with the axes that the scan decides.
        """
        axes = {subject.axes for subject in subjects}
        kind, fit = resolve_scanned_shape(self.settings.shape, axes, self.settings.fit)
        return ((*DEFAULT_SHAPES, kind) if kind in ORIENTED_KINDS else DEFAULT_SHAPES), fit


def scan_request(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    stops: Callable[[], bool] = never,
    drops: Callable[[], bool] = never,
) -> ScanRequest:
    """Check the settings, and find the frames to scan. Raises SceneError."""
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(
            message("clearance {clearance:g}: must be a length of 0 or more", clearance=settings.clearance)
        )
    if settings.obstacles and settings.shape not in OBSTACLE_SHAPES:
        raise SceneError(
            message(
                "obstacles {obstacles!r}: need spheres or sphere trees as the shape",
                obstacles=", ".join(settings.obstacles),
            )
        )
    return ScanRequest(scene.session_uid, settings, span, times, stops, drops)
