"""Time of imported scenes, of which Blender's importers set little.

They keep the frame range of Blender's start-up scene, except for USD, and its frame.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import Any

import bpy

from .blender.frames import LAST_FRAME

_GLTF_SUFFIXES = (".glb", ".gltf")


def set_time_of_import(scene: bpy.types.Scene, path: Path) -> tuple[str, ...]:
    """Set the frame range, frame rate and current frame of an imported scene to those of its file.

    The range has all keyframes of the animation that plays, in whole frames. Times of glTF begin at 0, which
    is frame 0. A scene without animation has one frame.

    scene : As an importer has left it.
    Returns problems : tuple of str. Reasons why the range or the rate may be wrong.
    """
    suffix = path.suffix.lower()
    ranges: list[tuple[float, float]] = []
    problems: list[str] = []
    data: Any = bpy.data
    for item in data.user_map():
        animation: Any = getattr(item, "animation_data", None)
        if animation is None:
            continue
        action = animation.action
        if action is not None and action.frame_range[1] > action.frame_range[0]:
            ranges.append(tuple(action.curve_frame_range))
        for track in animation.nla_tracks:
            if not track.mute:
                ranges += [(strip.frame_start, strip.frame_end) for strip in track.strips]
    if suffix in _GLTF_SUFFIXES and ranges:
        ranges.append((0.0, 0.0))
    if suffix.startswith(".usd"):
        try:
            rate, codes = _usd_time(path)
        except ValueError as error:
            # Blender's importer has set the range.
            codes, rate = (scene.frame_start, scene.frame_end), scene.render.fps / scene.render.fps_base
            problems.append(
                f"{error}, so its frame rate is unknown and seconds are those of {rate:g} frames per second; "
                f"frames {scene.frame_start} to {scene.frame_end} are used (--frames names others)"
            )
        else:
            # Blender stores a whole number and a divisor.
            scene.render.fps = max(1, round(rate))
            scene.render.fps_base = scene.render.fps / rate
            if codes is None and bpy.data.cache_files:
                codes = _usd_sample_range(path)
                if codes is None:
                    problems.append("has no range of time codes, so a range of frames is needed (--frames)")
        ranges += [] if codes is None else [codes]
    first = math.floor(min((start for start, _ in ranges), default=scene.frame_current))
    last = max(first, math.ceil(max((end for _, end in ranges), default=first)))
    start, end = (min(max(frame, 0), LAST_FRAME) for frame in (first, last))
    if (start, end) != (first, last):
        problems.append(
            f"is animated from frame {first} to {last}, but the frame range of a scene is within frames 0 to "
            f"{LAST_FRAME}, so only frames {start} to {end} are used without --frames {first}:{last}"
        )
    scene.frame_start, scene.frame_end = start, end
    scene.frame_set(start)
    return tuple(problems)


def _usd_time(path: Path) -> tuple[float, tuple[float, float] | None]:
    """Time codes per second of a USD layer, and its first and last time code, if it names both.

    Blender's importer reads the range in whole frames. Raises ValueError if the time is unknown.
    """
    with contextlib.suppress(AttributeError):  # the Blender application needs no call
        bpy.utils.expose_bundled_modules()  # type: ignore[attr-defined, unused-ignore]
    try:
        from pxr import Sdf, Tf
    except ImportError as error:
        raise ValueError(
            "this Blender has no Python module of USD (`pip install usd-core` into its Python adds it)"
        ) from error
    try:
        # An anonymous layer is read again if the file has changed since Blender read it.
        layer = Sdf.Layer.OpenAsAnonymous(os.fsencode(path), metadataOnly=True)
    except Tf.ErrorException as error:
        raise ValueError("the metadata cannot be read") from error
    rate = layer.timeCodesPerSecond  # without it, framesPerSecond, or 24
    if not 0 < rate < math.inf:
        raise ValueError(f"the metadata has a rate of {rate:g}")
    if not (math.isfinite(layer.startTimeCode) and math.isfinite(layer.endTimeCode)):
        raise ValueError("the metadata has an infinite range")
    has_range = layer.HasStartTimeCode() and layer.HasEndTimeCode()
    return rate, (layer.startTimeCode, layer.endTimeCode) if has_range else None


def _usd_sample_range(path: Path) -> tuple[float, float] | None:
    """First and last sample of a USD stage; None without samples."""
    from pxr import Usd

    stage = Usd.Stage.Open(os.fsencode(path))
    prims = stage.Traverse(Usd.TraverseInstanceProxies())
    samples = [attribute.GetTimeSamples() for prim in prims for attribute in prim.GetAuthoredAttributes()]
    times = [time for each in samples if each for time in (each[0], each[-1])]
    return (min(times), max(times)) if times else None
