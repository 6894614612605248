"""The panel of what touches now, by clicks."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_click_on_a_pair_selects_it(recording: Recording) -> None:
    selected = recording.notes["clicked"]["selected"]
    assert len(selected) == 2 and selected[1].endswith("Cart")
