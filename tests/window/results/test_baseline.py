"""Compare with an earlier report, and accept a contact, by clicks."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_new_contact_is_accepted_with_a_comment(recording: Recording) -> None:
    compared, accepted = recording.notes["compared"], recording.notes["accepted"]
    assert compared["baseline"] == "before.json"
    new, gone = (int(part.split()[0]) for part in compared["counts"].split(", ")[:2])
    assert new >= 1 and gone >= 1
    assert recording.notes["new only"]["new_only"]
    assert accepted["accepted"] == [[recording.notes["clicked"]["pair"], "hinge"]]
    assert int(accepted["counts"].split()[0]) < new and accepted["counts"].endswith("accepted")
