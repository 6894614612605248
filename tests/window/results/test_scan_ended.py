"""A scan that is cut off by something else leaves Blender alive, and the playhead where it was."""

from __future__ import annotations

import pytest

from tests.window.harness import Told

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("name", "frame"), [("another file", 1), ("closed window", 3)])
def test_what_cuts_a_scan_off_ends_it(cut_off: Told, name: str, frame: int) -> None:
    assert cut_off.notes[name] == {"running": True, "after": False, "frame": frame}


def test_a_scan_stops_the_animation_that_plays(cut_off: Told) -> None:
    assert cut_off.notes["playing"] == {"before": True, "after": False}


def test_a_second_scan_is_refused_with_a_reason(cut_off: Told) -> None:
    assert "Blender is finding contacts: stop that first" in cut_off.notes["second"]["refused"]


def test_the_extension_may_be_switched_off_meanwhile(cut_off: Told) -> None:
    assert cut_off.notes["disabled"] == {"properties": False}
