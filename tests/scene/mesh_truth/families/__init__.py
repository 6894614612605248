"""Families of scenes: functions that build a scene of two bodies, A and B, at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.scene.mesh_truth.building import Pair
from tests.scene.mesh_truth.families import (
    bent,
    deformed,
    fast,
    mechanisms,
    modified,
    plain,
    shown,
    simulated,
)

FAMILIES: dict[str, Callable[[np.random.Generator], Pair]] = {
    build.__name__: build
    for build in (
        *mechanisms.FAMILIES,
        *plain.FAMILIES,
        *fast.FAMILIES,
        *bent.FAMILIES,
        *deformed.FAMILIES,
        *shown.FAMILIES,
        *modified.FAMILIES,
        *simulated.FAMILIES,
    )
}
