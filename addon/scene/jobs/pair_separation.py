"""Job: separation of one pair of subjects over the frames of a scan, between frames too where they touch.

It can be written as keys of a custom property, for drivers, sound and Geometry Nodes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...core import Meshes, Progress, Sample, Shape, separation
from ...core.distance.mesh_depth import separations_by_depth
from ...core.messages import message
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.sweep.interpolation import at
from ...formats.wording import valid_text
from ..blender.animated import Simulations, curves_of_action
from ..blender.frames import advance_to, playhead, preserve_frame, require_active_scene, sample_times
from ..blender.instances import name_of
from ..blender.private_scene import without_private_scenes
from ..errors import SceneError
from ..fitting.mesh_fits import Obstacles
from ..motion.scene_motion import SceneMotion
from ..settings import ContactSettings, Selection
from .result import Result

_PARTS = 8
"""Parts of a frame in which a pair begins or ends to touch, or is deepest or closest."""
_MOST_INTERVALS = 200
"""Intervals of a contact around which there are samples between frames."""
_MOST_PAIRS = 1_000_000
"""Pairs of shapes whose separation is computed at once."""


@dataclass(frozen=True, eq=False)
class SeparationCurve:
    """Separation of a pair over time.

    frames : (n,) float64, increasing times of the samples
    values : (n,) float64, signed separation of the shapes in world space, in Blender units; NaN where one is
        absent
    names : of both subjects
    clearance : distance below which the scan counts the pair as in contact
    """

    frames: Floats
    values: Floats
    names: tuple[str, str]
    clearance: float = 0.0

    @property
    def range(self) -> tuple[float, float]:
        """Return the least and the greatest separation."""
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))


@without_private_scenes
def separation_over_time(
    scene: bpy.types.Scene, result: Result, settings: ContactSettings, pair: tuple[int, int]
) -> Generator[Progress, None, SeparationCurve]:
    """Compute the separation of the shapes of a pair at each frame of a scan, and near its contacts.

    The motion is read as the scan reads it: from curves or from a private scene where possible. In any case
    the playhead returns to where it was. Closing the generator cancels. Yields progress after each sample.

    scene : The active scene.
    result, settings : Of the scan; its frames are those of the result.
    pair : (int, int). Indices of two subjects of the result.
    Returns curve : SeparationCurve. Between frames, it is that of the motion that the scan has assumed:
        linear for simulated subjects.
    Raises SceneError: if both subjects are never present at the same time, as after they were deleted.
    """
    require_active_scene(scene)
    subjects = [result.subjects[index] for index in pair]
    span = result.time
    frames = sample_times(span.start, span.end, span.step)
    between = times_near_contacts(result, pair, frames)
    with preserve_frame(scene):
        home = playhead(scene)
        advance_to(scene, frames[0], Simulations.of(scene), None)
        obstacles_of_scan = result.scanned.obstacles if result.scanned else frozenset()
        is_obstacle = np.array([subject.id in obstacles_of_scan for subject in subjects])
        obstacles = Obstacles(is_obstacle, settings.one_sided)
        selection = Selection(patterns=tuple(subject.name for subject in subjects))
        motion = SceneMotion(scene, subjects, selection, settings.shape, settings.fit, obstacles)
        begun = Progress(0, len(frames), frames[0])
        for _ in motion.comparing(frames, home):
            yield begun
        is_sampled = settings.motion == "adaptive" and bool(motion.refinable.all())
        times = sorted({*frames, *between}) if is_sampled else frames
        for done, time in enumerate(times):
            motion.record(time)
            yield Progress(done + 1, len(times), time)
        pair_shapes = _pair_shapes(motion.recorded(), motion)
    found = np.array(times)
    if not is_sampled and between:
        found = np.array(sorted({*frames, *between}))
        pair_shapes = _interpolated(pair_shapes, np.array(times), found)
    values = _separations(pair_shapes)
    if np.isnan(values).all():
        text = "{a!r} and {b!r} are not both there at frame {frame:g} and later: find contacts again"
        raise SceneError(message(text, a=subjects[0].name, b=subjects[1].name, frame=frames[0]))
    return SeparationCurve(found, values, (subjects[0].name, subjects[1].name), settings.clearance)


def times_near_contacts(result: Result, pair: tuple[int, int], frames: Sequence[float]) -> list[float]:
    """Return times between frames: where contacts of a pair begin, end and are deepest, and around these.

    frames : increasing times of the scan; no time is outside of them
    """
    assert result.report is not None, "the result of a scan has a report"
    exact: list[float] = []
    for contact in result.report.contacts:
        if {contact.a, contact.b} == set(pair):
            exact += [contact.first.frame, contact.deepest_frame]
            exact += [time for span in contact.intervals[:_MOST_INTERVALS] for time in span]
    exact += [near.frame for near in result.report.clearances if {near.a, near.b} == set(pair)]
    times, known = set(exact), np.array(frames)
    for time in exact:
        # A time at a frame is at the end of one interval and at the start of another.
        row = int(np.searchsorted(known, time))
        for first in {max(row - 1, 0), min(row, len(frames) - 1)}:
            last = min(first + 1, len(frames) - 1)
            times.update(np.linspace(frames[first], frames[last], _PARTS + 1)[1:-1].tolist())
    return sorted(time for time in times if frames[0] <= time <= frames[-1])


_PairShapes: TypeAlias = tuple[Shape, Shape, Bools]
"""Shapes of two subjects at each of t times, (t, n) and (t, m), and whether both are there (t,)."""


def _pair_shapes(sample: Sample, motion: SceneMotion) -> _PairShapes:
    """Divide a sample of several times into both subjects."""
    shapes = sample.shapes
    is_present: Bools = np.ones(shapes.shape[0], dtype=bool)
    if sample.present is not None:
        is_present = np.logical_and.reduce(sample.present, axis=1)
    owners: Ints = np.arange(2) if motion.owners is None else motion.owners
    return shapes[:, np.flatnonzero(owners == 0)], shapes[:, np.flatnonzero(owners == 1)], is_present


def _interpolated(pair: _PairShapes, times: Floats, wanted: Floats) -> _PairShapes:
    """Return the shapes at other times, as if they moved linearly between the times."""
    a, b, is_present = pair
    row = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, max(len(times) - 2, 0))
    after = np.minimum(row + 1, len(times) - 1)
    part = (wanted - times[row]) / np.where(after > row, times[after] - times[row], 1.0)
    # A subject that appears at a frame is not there before it.
    are_there = (is_present[row] | (part == 1)) & (is_present[after] | (part == 0))
    return at(a[row], a[after], part[:, None]), at(b[row], b[after], part[:, None]), are_there


def _separations(pair: _PairShapes) -> Floats:
    """Return the least separation (t,) of any shape of the one and any of the other; NaN for none."""
    a: Any
    b: Any
    a, b, is_present = pair
    (count, count_a), count_b = a.shape, b.shape[1]
    values, size = np.full(count, np.nan), max(_MOST_PAIRS // max(count_a * count_b, 1), 1)
    for begin in range(0, count if count_a * count_b else 0, size):
        part = slice(begin, begin + size)
        one, other = a[part].reshaped((-1, count_a, 1)), b[part].reshaped((-1, 1, count_b))
        if isinstance(a, Meshes):
            batch = len(values[part]), count_a, count_b
            first, second = (each.broadcast_to(batch).reshaped((-1,)) for each in (one, other))
            cutoff = np.full(len(first.margin), np.inf)
            found = separations_by_depth(first, second, cutoff).reshape(batch)
        else:
            found = separation(one, other)
        values[part] = found.min(axis=(1, 2))
    values[~is_present] = np.nan
    return values


MAX_NAME = 63
"""Bytes that Blender keeps of the name of a custom property."""


def key_separation(scene: bpy.types.Scene, item: bpy.types.Object, name: str, curve: SeparationCurve) -> int:
    """Write a separation over time to a custom property of an object, one linear key for each sample.

    A property of this name that is a number is replaced, with all its keys. The time remapping of the scene
    converts frames of the timeline to frames of the animation. Samples without a value get no key.

    Returns the number of keys. Raises SceneError for a linked object or action, for a name that is empty or
    too long, and for a property of this name that is driven or no number.
    """
    shown = valid_text(name_of(item))
    held: Any = item
    animation: Any = item.animation_data
    path = f'["{bpy.utils.escape_identifier(name)}"]'
    text = ""
    if item.library is not None:
        text = "{object} is linked: make a library override, or choose the other object"
    elif not name or len(name.encode()) > MAX_NAME:
        text = "property {name!r}: needs a name of 1 to {most} bytes"
    elif name in held and not isinstance(held[name], (int, float)):
        text = "{object} has a property {name!r} that is no number: choose another name"
    elif animation is not None and any(each.data_path == path for each in animation.drivers):
        text = "{object} has a driver on {name!r}: delete the driver, or choose another name"
    elif animation is not None and animation.action is not None and animation.action.library is not None:
        text = "{object} has a linked action: make the action local, or choose the other object"
    if text:
        raise SceneError(message(text, object=shown, name=name, most=MAX_NAME))
    has_value = ~np.isnan(curve.values)
    settings = scene.render
    times = curve.frames[has_value] * (settings.frame_map_old / settings.frame_map_new)
    values = curve.values[has_value]
    held[name] = float(values[0])
    held.id_properties_ui(name).update(description="Separation", subtype="NONE")
    if (old := _curve_of(item, path)) is not None:
        old.keyframe_points.clear()
    item.keyframe_insert(path, frame=float(times[0]))
    keyed = _curve_of(item, path)
    if keyed is None:
        text = "{object} cannot be animated: remove its action, or choose the other object"
        raise SceneError(message(text, object=shown))
    points: Any = keyed.keyframe_points
    points.add(len(times) - len(points))
    points.foreach_set("co", np.stack([times, values], axis=1).astype(np.float32).ravel())
    for point in points:
        point.interpolation = "LINEAR"
    keyed.update()
    # Otherwise the evaluated copy of an object that was animated before has no such property.
    item.update_tag(refresh={"OBJECT"})
    return len(points)


def _curve_of(item: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    """Return the F-curve of a property of an object, or None."""
    if item.animation_data is None:
        return None
    curves = curves_of_action(item.animation_data)
    return next((curve for curve in curves if curve.data_path == path), None)
