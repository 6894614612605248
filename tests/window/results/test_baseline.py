"""Compare with an earlier report, and accept a contact, by clicks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record a comparison and an acceptance."""
    return run_drive_script("results/drive_baseline.py", size=SMALL)


def test_new_contact_is_accepted_with_a_comment(recording: Recording) -> None:
    compared, accepted = recording.notes["compared"], recording.notes["accepted"]
    assert compared["baseline"] == "before.json"
    new, gone = (int(part.split()[0]) for part in compared["counts"].split(", ")[:2])
    assert new >= 1 and gone >= 1
    assert recording.notes["new only"]["new_only"]
    assert accepted["accepted"] == [[recording.notes["clicked"]["pair"], "hinge"]]
    assert int(accepted["counts"].split()[0]) < new and accepted["counts"].endswith("accepted")
