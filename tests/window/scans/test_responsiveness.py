"""A scan of many objects leaves Blender responsive."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tiers import is_full
from tests.window.harness import Recording

pytestmark = pytest.mark.long
OPTIONS = {"seconds": 1200}


@pytest.mark.parametrize(("scene", "contacts"), [("keyed", 4000), ("drivers", 4000), ("meshes", 50)])
def test_scan_with_many_contacts_does_not_block_the_window(
    recording: Recording, scene: str, contacts: int
) -> None:
    note = recording.notes[scene]
    assert note["contacts"] > contacts
    # Processor time, because other programs may run. Slices are to end after 50 ms, between two steps.
    slices = np.array(note["slices"])
    assert np.quantile(slices, 0.9) < 0.07 and slices.max() < 0.3
    if is_full():
        # A timer waits for a slice and a redraw of the window at most; the last slice also shows the results.
        assert note["late"] < 0.05 + max(note["redraw"], 0.2)


@pytest.mark.parametrize("scene", ["keyed", "drivers"])
def test_scan_draws_the_viewport_only_when_it_shows_another_state(recording: Recording, scene: str) -> None:
    note = recording.notes[scene]
    # When a private scene is made or removed, and when the results are shown.
    assert len(note["slices"]) > 30
    assert note["draws"] <= 6
