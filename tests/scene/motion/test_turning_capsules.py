"""Capsules that turn far between two frames: the errors of adaptive and of linear motion."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings
from tests.finished import finished
from tests.scene.building import CUBE
from tests.scene.sampling import key

HALF, RADIUS, DISTANCE = 1.0, 0.1, 0.95


def least_separation(motion: str) -> float:
    """Least separation of the capsule of a bar and a ball that it sweeps over, by a scan."""
    settings = ContactSettings(shape="capsule", motion=motion)  # type: ignore[arg-type]
    report = finished(find_contacts(bpy.context.scene, settings)).report
    return -report.contacts[0].depth if report.contacts else report.clearances[0].gap


@pytest.mark.parametrize("degrees", [60, 100, 160])
def test_depth_of_a_capsule_that_turns_far_between_two_frames(add_mesh, degrees):
    # Corners of the bar are on the capsule, whose axis is Z: its segment ends below the last corners.
    bar = add_mesh("Bar", CUBE * [RADIUS / 2**0.5, RADIUS / 2**0.5, HALF])
    key(bar, "rotation_euler", [(1, (0, 0, 0)), (2, (np.radians(degrees), 0, 0))])
    ball = add_mesh("Ball", CUBE * 0.03)
    middle = np.radians(degrees / 2 + 7)
    ball.location = DISTANCE * np.array([0, -np.sin(middle), np.cos(middle)])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 2
    # When the bar points at the ball, its axis goes through the center of the ball, so the depth is about the
    # sum of both radii.
    expected = -(RADIUS + 0.03 * 3**0.5)
    assert least_separation("adaptive") == pytest.approx(expected, abs=0.03)
    assert abs(least_separation("linear") - least_separation("adaptive")) <= 0.05 * 2 * HALF
