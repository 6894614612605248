"""Depths of contacts and intervals of a document, and gaps of those that only come close."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

EXTENTS = ("deepest", "closest")
"""Keys of a contact, and of an interval, one of which is there."""


def extent(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the deepest overlap of a contact or interval, or its closest approach, with frame and length."""
    found: Mapping[str, Any] = entry["closest"] if "closest" in entry else entry["deepest"]
    return found


def signed_depth(entry: Mapping[str, Any]) -> float:
    """Return the depth of a contact or interval, or minus its gap; NaN if that is not known."""
    if "closest" in entry:
        return -float(entry["closest"]["gap"])
    depth = entry["deepest"]["depth"] if "deepest" in entry else None
    return math.nan if depth is None else float(depth)
