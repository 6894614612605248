"""What an object or a collection says about its own bounds: see `ui/object_settings.py` for the properties.

Read with care: in a Blender without the extension there are no such properties, and the job's settings count.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import bpy
import numpy as np

from .fitting import FitSettings

PROPERTY = "collision_bounds"
"""The name of the settings on objects and collections, in files and for scripts."""


def as_typed(value: float) -> float:
    """A single-precision property as the decimal number it stands for: 0.01, not 0.0099999998."""
    return float(str(np.float32(value)))


def says_something(item: bpy.types.Object) -> bool:
    """Whether an original object has settings or an override of its own: most have not."""
    own: Any = getattr(item, PROPERTY, None)
    return own is not None and (own.use_own or own.override != "none")


def fit_of(item: bpy.types.Object, fit: FitSettings) -> FitSettings:
    """How an original object wants to be fitted; `fit`, the very same, where it leaves that to the job."""
    own: Any = getattr(item, PROPERTY, None)
    if own is None or not own.use_own:
        return fit
    return _own_fit(fit, own.method, own.padding, own.modifiers, own.axes, own.depth)


@lru_cache(maxsize=1024)
def _own_fit(
    fit: FitSettings, method: Any, padding: float, modifiers: Any, axes: Any, depth: int
) -> FitSettings:
    """Kept, since the overlay asks for those of all objects in each frame."""
    axes = fit.axes if axes == "checked" else axes
    return replace(fit, method=method, padding=as_typed(padding), modifiers=modifiers, axes=axes, depth=depth)


def padding_of(item: bpy.types.Object) -> float:
    """The padding of an object that has settings of its own, as it is at this frame."""
    return as_typed(getattr(item, PROPERTY).padding)


def is_padding_animated(item: bpy.types.Object) -> bool:
    """Whether the padding of an object's own settings may differ from frame to frame."""
    own: Any = getattr(item, PROPERTY, None)
    return own is not None and own.use_own and item.animation_data is not None


COLLIDER = "collision_bounds_collider"
"""The custom property that marks what `colliders.py` made, and holds the name of what that stands for."""


def is_collider(item: bpy.types.Object) -> bool:
    """Whether an original object is a collider that was made here: it is no subject, it stands for one."""
    return item.get(COLLIDER) is not None


def is_in_parts(item: bpy.types.Object) -> bool:
    """Whether each loose part of an original object is a subject. Not with a shape set by hand for all."""
    own: Any = getattr(item, PROPERTY, None)
    return own is not None and own.use_own and own.made_of == "loose" and own.override == "none"


def is_one(collection: bpy.types.Collection | None) -> bool:
    """Whether all that is in a collection is one subject."""
    own: Any = getattr(collection, PROPERTY, None)
    return own is not None and own.take_as_one
