"""Fixtures of the interface's tests, some of them shared with the tests of scenes."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.translations import LANGUAGES
from addon.ui import texts
from tests.scene.building import open_empty_file
from tests.scene.conftest import add_mesh, empty_file, factory_settings
from tests.ui.interface_texts import is_translated

__all__ = ["add_mesh", "empty_file", "factory_settings", "settings"]


@pytest.fixture(autouse=True)
def only_known_texts_are_translated(monkeypatch):
    """Fail where the interface looks up a text that the dictionaries lack."""
    known = {*LANGUAGES["de"]["messages"], *LANGUAGES["de"]["meanings"]}

    def checked(look_up):
        def with_check(text, *context):
            is_known = text in known or not is_translated(text) or text == "{value}"
            assert is_known, f"{text!r} is in no dictionary: see 'Add a string to the interface'"
            return look_up(text, *context)

        return with_check

    for name in ("pgettext_iface", "pgettext_tip", "pgettext_rpt"):
        monkeypatch.setattr(texts, name, checked(getattr(texts, name)))


@pytest.fixture
def settings():
    """Return the scene's settings, in an empty file with the extension enabled."""
    open_empty_file()
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()
