"""A scan that is interrupted ends without crashing Blender, and restores the frame."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record interrupted scans."""
    return run_drive_script("results/drive_scan_interruption.py")


@pytest.mark.parametrize(("name", "frame"), [("file opened", 1), ("window closed", 3)])
def test_interrupted_scan_ends_and_restores_the_frame(recording: Recording, name: str, frame: int) -> None:
    assert recording.notes[name] == {"running": True, "running_after": False, "frame": frame}


def test_scan_stops_animation_playback(recording: Recording) -> None:
    assert recording.notes["playing"] == {"before": True, "after": False}


def test_second_scan_is_refused_with_a_reason(recording: Recording) -> None:
    assert (
        "Blender is finding contacts: stop it, or wait until it is done"
        in recording.notes["second scan"]["error"]
    )


def test_extension_can_be_disabled_during_a_scan(recording: Recording) -> None:
    assert recording.notes["disabled"] == {"properties": False}
