"""Uncertainty of first contacts of motion that is not linear."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Sphere,
)
from tests.core.scan.scans import ball_meets_wall, run


def test_linear_motion_with_neighbors_has_no_uncertainty():
    (contact,) = run(ball_meets_wall(lambda t: 9.3 - t), range(0, 11)).contacts
    assert contact.first.frame == pytest.approx(7.3, abs=1e-12)
    assert 0 <= contact.first.uncertainty < 1e-12


def test_single_interval_has_uncertainty_of_whole_interval():
    (contact,) = run(ball_meets_wall(lambda t: 6 - t), [0, 8]).contacts
    assert contact.first.uncertainty == 8


@pytest.mark.parametrize("acceleration", [0.4, -0.1])
@pytest.mark.parametrize("phase", np.linspace(0, 1, 9))
def test_uncertainty_covers_the_error_of_an_accelerated_ball(acceleration, phase):
    # x = 30 - 4 t - a t^2 / 2 reaches 2 where a t^2 / 2 + 4 t = 28; the frames are shifted by a phase.
    a = acceleration
    true = (-4 + math.sqrt(16 + 56 * a)) / a
    frames = np.arange(0, 12) + phase - 1
    (contact,) = run(ball_meets_wall(lambda t: 30 - 4 * t - a * t * t / 2), frames).contacts
    error = abs(contact.first.frame - true)
    # The error is zero only where the contact is at a sample.
    assert error <= contact.first.uncertainty + 1e-12
    assert contact.first.uncertainty < 0.05


def test_linear_scan_of_curved_motion_is_late_or_early():
    # Guards the test above: the error is not zero halfway between samples.
    (contact,) = run(ball_meets_wall(lambda t: 30 - 4 * t - 0.2 * t * t), range(12)).contacts
    true = (-4 + math.sqrt(16 + 56 * 0.4)) / 0.4
    assert abs(contact.first.frame - true) > 1e-4


@pytest.mark.parametrize("kind", ["sphere", "box"])
@pytest.mark.parametrize("phase", np.linspace(0, 1, 9))
def test_uncertainty_covers_the_error_of_a_ball_on_a_circle(kind, phase):
    # On a circle of radius 10 in steps of 6 degrees towards a ball standing on it: the straight distance is
    # 20 sin(angle / 2), and 2 at an angle of 2 asin(0.1). The circle's second difference falls short of its
    # second derivative by (w h)^2 / 12 = 0.1 %.
    step = math.radians(6)

    def shapes(t):
        x, y = 10 * math.cos(t * step), 10 * math.sin(t * step)
        if kind == "sphere":
            return Sphere([[10, 0, 0], [x, y, 0]], 1)
        return Aabb([[9, -1, -1], [x - 1, y - 1, -1]], [[11, 1, 1], [x + 1, y + 1, 1]])

    # The boxes meet in y, since in x they overlap by then: 10 sin(angle) = 2.
    angle = 2 * math.asin(0.1) if kind == "sphere" else math.asin(0.2)
    true = -angle / step
    (contact,) = run(shapes, np.arange(-9, 1) + phase).contacts
    assert abs(contact.first.frame - true) <= contact.first.uncertainty * 1.002 + 1e-12
    assert contact.first.uncertainty < 0.3
