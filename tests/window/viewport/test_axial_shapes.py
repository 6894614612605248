"""Capsules and cylinders in Blender's window."""

from __future__ import annotations

import numpy as np

from tests.window.harness import Recording

STATES = ("nothing", "show_capsules", "show_cylinders")


def test_chosen_shapes_are_computed_and_shown(recording: Recording) -> None:
    assert recording.notes["chosen"]["added"] == ["cylinder"]
    assert list(recording.notes["chosen"]["drawn"]) == ["aabb", "cylinder"]
    assert recording.notes["computed"]["shapes"] == ["Sphere", "Aabb", "Obb", "Cylinder"]


def test_capsules_and_cylinders_are_drawn(recording: Recording) -> None:
    nothing, *shown = (recording.viewport(state) for state in STATES)
    for picture, state in zip(shown, STATES[1:], strict=True):
        # Lines of shapes that are not checked are faint: blue ones are free, and red ones are in contact.
        change = picture - nothing
        for channel, other in ((2, 0), (0, 2)):
            assert (change[..., channel] - change[..., other] > 0.08).sum() > 500, state
    assert (np.abs(shown[0] - shown[1]).max(axis=-1) > 0.08).sum() > 500
