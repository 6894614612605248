"""Random keyed pairs: objects with curves of all kinds, in cells of a grid so that pairs stay apart.

Some objects have drivers of the frame too, or copy the location of a keyed empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from random import Random

import bpy
from mathutils import Euler, Matrix, Vector

from tests.scene.building import add_object, curves
from tests.scene.sampling import add_points, box_points

FIRST, LAST = 1, 7
MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "QUATERNION", "AXIS_ANGLE")
EASINGS = ("SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC")
HANDLES = ("FREE", "FREE", "AUTO", "AUTO_CLAMPED", "VECTOR", "ALIGNED")
_ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


@dataclass(frozen=True)
class Pair:
    """Names of two objects, and the half extents of their boxes around their origins."""

    names: tuple[str, str]
    halves: tuple[tuple[float, ...], tuple[float, ...]]


def add_pairs(seed: int, count: int, shape: str, with_drivers: bool = True) -> list[Pair]:
    """Add random pairs to the scene; for spheres and oriented boxes nothing is stretched over time.

    with_drivers : whether some objects follow drivers, or the location of another object
    """
    generator, can_stretch = Random(f"{shape} {seed}"), shape == "aabb"
    builders = (
        PairBuilder(generator, name, center, can_stretch, with_drivers) for name, center in cells(count)
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    return [builder.pair() for builder in builders]


def cells(count: int, spacing: float = 30.0) -> Iterator[tuple[str, Vector]]:
    """Yield names and centers of cells of a cubic grid around the origin."""
    side = math.ceil(count ** (1 / 3))
    for number in range(count):
        cell = [number % side, number // side % side, number // side**2]
        yield f"{number}", Vector([spacing * (index - (side - 1) / 2) for index in cell])


class PairBuilder:
    """Builds one pair around a center."""

    def __init__(
        self, generator: Random, name: str, center: Vector, can_stretch: bool, with_drivers: bool
    ) -> None:
        self._random, self._name, self._center = generator, name, center
        self._can_stretch, self._with_drivers = can_stretch, with_drivers

    def pair(self) -> Pair:
        """Build both objects, each with its own motion."""
        style = self._random.choice(("smooth", "smooth", "bump", "jump", "turn", "turn"))
        halves = self._half_extents(style == "turn"), self._half_extents(False)
        a, b = (
            add_points(f"{self._name} {letter}", box_points(half))
            for letter, half in zip("ab", halves, strict=True)
        )
        moves = {"smooth": self._smooth, "bump": self._bump, "jump": self._jump, "turn": self._turn}
        moves[style](a)
        if self._random.random() < 0.5:
            b.location = self._place(2.5)
            self._rotate(b, (FIRST,))
        else:
            self._smooth(b)
        for item in (a, b):
            self._adorn(item)
        return Pair((a.name, b.name), halves)

    def _half_extents(self, is_blade: bool) -> tuple[float, ...]:
        if is_blade:
            return self._random.uniform(2, 4), self._random.uniform(0.02, 0.1), self._random.uniform(0.1, 0.5)
        return tuple(math.exp(self._random.uniform(math.log(0.15), math.log(1.2))) for _ in range(3))

    def _place(self, size: float) -> Vector:
        return self._center + Vector([self._random.uniform(-size, size) for _ in range(3)])

    def _times(self, count: int) -> list[float]:
        """Choose times of keys: whole frames, halves, 64ths, or any; sometimes outside the scan."""
        kind = self._random.choice((1, 2, 64, None))
        low, high = self._random.choice(((FIRST, LAST), (FIRST - 4, LAST + 4), (FIRST, LAST)))
        times = {self._random.uniform(low, high) for _ in range(count)}
        return sorted({round(time * kind) / kind for time in times} if kind else times)

    def _smooth(self, item: bpy.types.Object) -> None:
        """Move and turn by curves of any kind."""
        for time in self._times(self._random.randint(2, 5)):
            item.location = self._place(4)
            item.keyframe_insert("location", frame=time)
        if self._random.random() < 0.7:
            self._rotate(item, self._times(self._random.randint(1, 4)))
        if self._can_stretch and self._random.random() < 0.3:
            for time in self._times(3):
                item.scale = [self._random.uniform(-2, 2) for _ in range(3)]
                item.keyframe_insert("scale", frame=time)
        for curve in curves(item.animation_data.action):
            self._vary(curve)

    def _bump(self, item: bpy.types.Object) -> None:
        """Rest, but for a bump of 1/64 frame or longer."""
        width = 2.0 ** -self._random.uniform(0, 6)
        begin = self._random.uniform(FIRST, LAST - 2 * width)
        rest, top = self._place(4), self._place(2)
        for time, place in ((begin, rest), (begin + width / 2, top), (begin + width, rest)):
            item.location = place
            item.keyframe_insert("location", frame=time)
        kind = self._random.choice(("LINEAR", "BEZIER"))
        for curve in curves(item.animation_data.action):
            for key in curve.keyframe_points:
                key.interpolation = kind
            curve.update()

    def _jump(self, item: bpy.types.Object) -> None:
        """Jump past places, and sometimes into them; then maybe glide from there."""
        for time in self._times(self._random.randint(2, 6)):
            item.location = self._place(5)
            item.keyframe_insert("location", frame=time)
        glides = self._random.random() < 0.4
        for curve in curves(item.animation_data.action):
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"
                if glides and self._random.random() < 0.3:
                    key.interpolation = self._random.choice(("LINEAR", "BEZIER", *EASINGS))

    def _turn(self, item: bpy.types.Object) -> None:
        """Turn by up to three turns a frame at a constant rate, or faster and slower."""
        item.location = self._place(3)
        item.rotation_mode = self._random.choice(MODES)
        path = _ROTATION_PATHS.get(item.rotation_mode, "rotation_euler")
        turns = self._random.uniform(-3, 3) * (LAST - FIRST)
        for time, angle in ((FIRST, 0.0), (LAST, turns * math.tau)):
            if item.rotation_mode == "AXIS_ANGLE":
                item.rotation_axis_angle = angle, 0.3, -0.2, 0.9
            elif item.rotation_mode == "QUATERNION":
                setattr(item, path, [self._random.uniform(-1, 1) for _ in range(4)])
            else:
                setattr(item, path, [angle * self._random.choice((0, 0.1, 1)) for _ in range(3)])
            item.keyframe_insert(path, frame=time)
        kind = self._random.choice(("LINEAR", "LINEAR", "BEZIER", *self._random.sample(EASINGS, 1)))
        for curve in curves(item.animation_data.action):
            for key in curve.keyframe_points:
                key.interpolation = kind

    def _rotate(self, item: bpy.types.Object, times: object) -> None:
        item.rotation_mode = self._random.choice(MODES)
        path = _ROTATION_PATHS.get(item.rotation_mode, "rotation_euler")
        for time in times:
            count = len(getattr(item, path))
            setattr(item, path, [self._random.uniform(-3, 3) for _ in range(count)])
            item.keyframe_insert(path, frame=time)

    def _vary(self, curve: bpy.types.FCurve) -> None:
        """Give the keys of a curve random interpolation, easing and handles."""
        curve.extrapolation = self._random.choice(("CONSTANT", "CONSTANT", "LINEAR"))
        kinds = self._random.choice((("BEZIER",), ("BEZIER", "LINEAR"), ("BEZIER", "CONSTANT"), EASINGS))
        for key in curve.keyframe_points:
            key.interpolation = self._random.choice(kinds)
            key.easing = self._random.choice(("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT"))
            key.back = self._random.choice((0.0, 1.7, self._random.uniform(-4, 4)))
            key.amplitude = self._random.choice((0.0, self._random.uniform(-3, 3)))
            key.period = self._random.choice((0.0, self._random.uniform(0.3, 5)))
            key.handle_left_type = self._random.choice(HANDLES)
            key.handle_right_type = self._random.choice(HANDLES)
        curve.update()
        for key in curve.keyframe_points:
            reach = self._random.choice((0.0, 0.3, 1.0, 9.0))
            time, value = key.co
            if key.handle_left_type == "FREE":
                key.handle_left = time - reach, value + self._random.uniform(-3, 3)
            if key.handle_right_type == "FREE":
                key.handle_right = time + reach, value + self._random.uniform(-3, 3)

    def _adorn(self, item: bpy.types.Object) -> None:
        """Add what goes with the motion: delta transforms, another size, a parent."""
        if self._random.random() < 0.3:
            item.delta_location = [self._random.uniform(-1, 1) for _ in range(3)]
            item.delta_rotation_euler = [self._random.uniform(-3, 3) for _ in range(3)]
            item.delta_rotation_quaternion = [self._random.uniform(-1, 1) for _ in range(4)]
            item.delta_scale = [self._random.choice((-1, 0.7, 1.3)) for _ in range(3)]
        # Of its own numbers, because a test needs the pair that the others make.
        other = Random(copy(self._random).random())
        if other.random() < 0.2:
            for time in sorted(other.uniform(FIRST, LAST) for _ in range(3)):
                item.delta_location = [other.uniform(-1, 1) for _ in range(3)]
                item.keyframe_insert("delta_location", frame=time)
        if other.random() < 0.2:
            _repeat(item, other)
        if self._with_drivers and other.random() < 0.25:
            _drive(item, other)
        if self._random.random() < 0.3 and not _is_keyed(item, "scale"):
            item.scale = [self._random.choice((-1.2, 0.6, 1.5)) for _ in range(3)]
        if self._random.random() < 0.35:
            self._add_parent(item)
        elif self._with_drivers and other.random() < 0.15:
            self._copy_location(item, other)

    def _copy_location(self, item: bpy.types.Object, generator: Random) -> None:
        """Give an object the location of a keyed empty, instead of its own."""
        guide = add_object(f"{item.name} guide")
        for _ in range(3):
            guide.location = self._center + Vector([generator.uniform(-3, 3) for _ in range(3)])
            guide.keyframe_insert("location", frame=generator.uniform(FIRST, LAST))
        if generator.random() < 0.5:
            _drive(guide, generator)
        item.constraints.new("COPY_LOCATION").target = guide

    def _add_parent(self, item: bpy.types.Object) -> None:
        """Parent an object to one that moves, with an inverse matrix; sometimes that has a parent too."""
        parent = add_object(f"{item.name} parent")
        parent.location = self._place(0.5)
        parent.rotation_mode = self._random.choice(MODES)
        if self._random.random() < 0.8:
            for time in self._times(2):
                parent.location = self._place(1)
                parent.keyframe_insert("location", frame=time)
            self._rotate(parent, self._times(2))
            for curve in curves(parent.animation_data.action):
                self._vary(curve)
        turn = Euler([self._random.uniform(-3, 3) for _ in range(3)]).to_matrix().to_4x4()
        size = Matrix.Scale(self._random.uniform(0.7, 1.4), 4)
        if self._can_stretch:
            parent.scale = [self._random.uniform(0.7, 1.4) for _ in range(3)]
            size = Matrix.Diagonal([self._random.uniform(0.7, 1.4) for _ in range(4)])
            size[3][3] = 1
        item.parent = parent
        # Children are placed around the center in the space of the scene.
        item.matrix_parent_inverse = turn @ size @ Matrix.Translation(-self._center)
        if self._random.random() < 0.3:
            above = add_object(f"{parent.name} parent")
            above.rotation_euler = [self._random.uniform(-1, 1) for _ in range(3)]
            above.location = self._place(1)
            parent.parent = above
            parent.matrix_parent_inverse = Matrix.Translation(-self._center)


def _is_keyed(item: bpy.types.Object, path: str) -> bool:
    animation = item.animation_data
    return animation is not None and any(
        curve.data_path == path for curve in (curves(animation.action) if animation.action else ())
    )


def _repeat(item: bpy.types.Object, generator: Random) -> None:
    """Repeat the curves of an object before and after their keys, where their times stay exact."""
    animation = item.animation_data
    for curve in curves(animation.action) if animation is not None and animation.action else ():
        keys = curve.keyframe_points
        if len(keys) > 1 and all(key.co.x * 64 % 1 == 0 for key in keys):
            modifier = curve.modifiers.new("CYCLES")
            modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET"
            if generator.random() < 0.5:
                modifier.mode_before = modifier.mode_after = "REPEAT"
                keys[-1].co.y = keys[0].co.y
                curve.update()


def _drive(item: bpy.types.Object, generator: Random) -> None:
    """Drive channels of an object that have no keys by the frame, at up to three waves or turns a frame."""
    for path in ("location", "rotation_euler"):
        is_used = path == "location" or item.rotation_mode not in _ROTATION_PATHS
        if _is_keyed(item, path) or not is_used or generator.random() < 0.3:
            continue
        for axis in generator.sample(range(3), generator.randint(1, 3)):
            middle = getattr(item, path)[axis]
            rate = generator.choice((0.3, 1, 3, 6 * math.pi)) * generator.uniform(-1, 1)
            size = generator.uniform(-2, 2) / (1 + abs(rate) / 3)
            wave = generator.choice(
                (
                    "{size} * sin({rate} * frame + 1)",
                    "{size} * abs(cos(frame * {rate}))",
                    "{size} * sin({rate} * frame) * cos(frame * {rate} / 3 - 2)",
                    "radians({degrees} * frame) / 4",
                )
            ).format(size=round(size, 4), rate=round(rate, 4), degrees=round(40 * rate, 4))
            item.driver_add(path, axis).driver.expression = f"{middle:.4f} + {wave}"
