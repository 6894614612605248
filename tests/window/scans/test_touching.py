"""The panel of what touches now, by clicks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record the panel at several frames."""
    return run_drive_script("scans/drive_touching.py", size=SMALL)


def test_click_on_a_pair_selects_it(recording: Recording) -> None:
    selected = recording.notes["clicked"]["selected"]
    assert len(selected) == 2 and selected[1].endswith("Cart")
