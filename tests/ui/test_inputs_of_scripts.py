"""Missing inputs and blocked drivers are errors for scripts, unless an option allows them."""

from __future__ import annotations

import pytest

from addon.api import _require_inputs
from addon.formats import InputWarning
from addon.scene.errors import SceneError


@pytest.mark.parametrize(
    ("kind", "option"), [("missingLibrary", "allow_missing"), ("blockedDriver", "allow_blocked_drivers")]
)
def test_missing_inputs_are_errors_unless_an_option_allows_them(kind, option):
    warnings = [
        InputWarning("blockedScript", "panel.py", "was not run"),
        InputWarning(kind, "Gate", "is gone"),
    ]
    other = "allow_blocked_drivers" if option == "allow_missing" else "allow_missing"
    for given in ({}, {other: True}, {option: False}):
        with pytest.raises(SceneError, match=f"Gate: is gone; {option}=True accepts this"):
            _require_inputs(warnings, given)
    _require_inputs(warnings, {option: True})
