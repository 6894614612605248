"""Time and missing files of imported scenes, of which Blender's importers set little.

They keep the frame range of Blender's start-up scene, except for USD, and its frame.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from .usd_layer import USD_SUFFIXES, read_layer_time

_GLTF_SUFFIXES = (".glb", ".gltf")

_UNREAD_LAYER = re.compile(r"Could not (?:open asset|load sublayer) @([^@]+)@")
"""USD's warning of a reference, payload or sublayer that cannot be opened."""


def unread_layers(output: str) -> tuple[str, ...]:
    """Find the files that a USD stage refers to and that could not be opened, in what USD printed."""
    return tuple(sorted(set(_UNREAD_LAYER.findall(output))))


def without_unread_layers(output: str) -> str:
    """Remove the lines of `unread_layers` from what USD printed."""
    return "".join(line for line in output.splitlines(keepends=True) if not _UNREAD_LAYER.search(line))


def set_time_of_import(scene: bpy.types.Scene, path: Path) -> str | None:
    """Set the frame range, frame rate and current frame of an imported scene to those of its file.

    The range has all keyframes of the animation that plays, in whole frames. Times of glTF begin at 0, which
    is frame 0. A scene without animation has one frame.

    Parameters
    ----------
    scene : bpy.types.Scene
        As an importer has left it.
    path : Path
        The imported file.

    Returns
    -------
    problem : str or None
        Reason why the range or the rate may be wrong.
    """
    suffix = path.suffix.lower()
    ranges, problem = list(_key_ranges()), None
    if suffix in _GLTF_SUFFIXES and ranges:
        ranges.append((0.0, 0.0))
    if suffix in USD_SUFFIXES:
        rate, codes = read_layer_time(path)
        _set_rate(scene, rate)
        if codes is None and bpy.data.cache_files:
            codes = _usd_sample_range(path)
            if codes is None:
                problem = "has no range of time codes, so a range of frames is needed (--frames)"
        ranges += [] if codes is None else [codes]
    first = math.floor(min((start for start, _ in ranges), default=scene.frame_current))
    last = math.ceil(max((end for _, end in ranges), default=first))
    scene.frame_start, scene.frame_end = first, max(first, last)
    scene.frame_set(first)
    return problem


def _key_ranges() -> Iterator[tuple[float, float]]:
    """Yield first and last frame of each action and strip that plays."""
    data: Any = bpy.data
    for item in data.user_map():
        animation: Any = getattr(item, "animation_data", None)
        if animation is None:
            continue
        if animation.action is not None and animation.action.frame_range[1] > animation.action.frame_range[0]:
            yield tuple(animation.action.curve_frame_range)
        for track in animation.nla_tracks:
            if not track.mute:
                yield from ((strip.frame_start, strip.frame_end) for strip in track.strips)


def _set_rate(scene: bpy.types.Scene, rate: float) -> None:
    """Set the frame rate, which Blender stores as a whole number and a divisor."""
    scene.render.fps = max(1, round(rate))
    scene.render.fps_base = scene.render.fps / rate


def _usd_sample_range(path: Path) -> tuple[float, float] | None:
    """First and last sample of a USD stage; None without samples, or without USD's module for Python."""
    with contextlib.suppress(AttributeError):  # the Blender application needs no call
        bpy.utils.expose_bundled_modules()  # type: ignore[attr-defined, unused-ignore]
    try:
        from pxr import Usd
    except ImportError:
        return None
    stage = Usd.Stage.Open(str(path))
    prims = stage.Traverse(Usd.TraverseInstanceProxies())
    samples = [attribute.GetTimeSamples() for prim in prims for attribute in prim.GetAuthoredAttributes()]
    times = [time for each in samples if each for time in (each[0], each[-1])]
    return (min(times), max(times)) if times else None
