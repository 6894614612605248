"""What the panel has set for a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..scene import session
from ..scene.fitting import FitSettings
from ..scene.own_settings import as_typed
from ..scene.result import Result

if TYPE_CHECKING:
    from .properties import SceneSettings


def settings_on(scene: bpy.types.Scene) -> SceneSettings:
    """The settings that registration has put on every scene."""
    return scene.collision_bounds  # type: ignore[attr-defined]


def fit_settings(settings: SceneSettings) -> FitSettings:
    """How the panel wants shapes fitted. Single precision lengths, read as the decimals that were typed."""
    return FitSettings(settings.method, as_typed(settings.padding))


def envelopes_on(settings: SceneSettings) -> Result | None:
    """The envelopes of a scene, unless they are out of date."""
    return session.get(settings.result_id).fresh_envelopes(fit_settings(settings))
