"""Details of each time that a pair touches, with real clicks in the window."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long


def test_arrows_in_details_go_to_each_time_that_a_pair_touches(
    run_drive_script: Callable[..., Recording],
) -> None:
    recording = run_drive_script("scans/drive_intervals.py")
    frames = {name: note["frame"] + note["subframe"] for name, note in recording.notes.items()}
    # It falls 0.2 a frame from 3, then 0.125 a frame from 3, then 0.05 a frame from 1.5.
    expected = {"first": 10.0, "second": 15 + 2 / 0.125, "third": 37 + 0.5 / 0.05, "back": 31.0}
    assert {name: frames[name] for name in expected} == pytest.approx(expected, abs=1e-5)
    assert recording.notes["marked"]["markers"] == [10, 31, 47]
    document = recording.document("intervals")
    (contact,) = document["contacts"]
    speeds = [span["closingSpeed"] / document["time"]["fps"] for span in contact["intervals"]]
    assert speeds == pytest.approx([0.2, 0.125, 0.05], abs=1e-5)
    # The sidebar differs only in its details: nothing moves.
    left, width = recording.notes["marked"]["sidebar"]
    sidebar = {name: recording.screenshot(name)[:800, left : left + width] for name in expected}
    changed = np.abs(sidebar["second"] - sidebar["third"]).max(axis=-1) > 0.1
    rows = np.flatnonzero(changed.any(axis=1))
    assert 0 < len(rows) < 150, "more than the lines of the details has changed"
