"""Random animations with all ways to move, deform, appear and jump, for scans that are divided."""

from __future__ import annotations

import random

import bpy

from tests.scene.building import CUBE, add_instance, add_vertices, curves, hidden_collection, play

FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
END = 48
"""Last frame of the animations."""


def build(seed: int, *, with_obstacle: bool = False) -> random.Random:
    """Add objects to an empty file and return the generator of random numbers, which can go on."""
    rng = random.Random(seed)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, END
    count = rng.randint(4, 8)
    items = [_add(f"Body{number}", rng) for number in range(count)]
    items += [_add(f"Still{number}", rng) for number in range(2)]
    if with_obstacle:
        wall = add_vertices("Wall", CUBE * (3.0, 3.0, 0.2), FACES)
        if rng.random() < 0.5:
            _key(wall, "rotation_euler", rng, 1.0)
    for item in items[:count]:
        rng.choice([_move, _turn, _follow, _drive, _deform, _bend, _play_scene, _hide, _jump])(
            item, rng, items
        )
    if rng.random() < 0.5:
        _add_instances(rng)
    scene.frame_set(1)
    return rng


def _add(name: str, rng: random.Random) -> bpy.types.Object:
    sides = [rng.uniform(0.3, 1.2) for _ in range(3)]
    item = add_vertices(name, CUBE * sides, FACES)
    item.location = [rng.uniform(-4, 4) for _ in range(3)]
    return item


def _key(item: bpy.types.ID, path: str, rng: random.Random, size: float, kind: str = "") -> None:
    """Add keys of random times, values and interpolation."""
    frames = sorted(rng.sample(range(1, END + 1), rng.randint(2, 6)))
    count = len(value) if hasattr(value := getattr(item, path), "__len__") else 0
    for frame in frames:
        values = [rng.uniform(-size, size) for _ in range(count or 1)]
        setattr(item, path, values if count else abs(values[0]))
        item.keyframe_insert(path, frame=frame)
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = kind or rng.choice(["BEZIER", "LINEAR", "CONSTANT", "BEZIER"])
        if rng.random() < 0.3:
            curve.modifiers.new("CYCLES")


def _move(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    _key(item, "location", rng, 4.0)


def _turn(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    _key(item, "location", rng, 4.0)
    _key(item, "rotation_euler", rng, 6.0)
    if rng.random() < 0.4:
        _key(item, "scale", rng, 1.5)


def _follow(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Let an object move with one before it, by a constraint."""
    _move(item, rng, items)
    before = items[: items.index(item)]
    if before:
        constraint = item.constraints.new("COPY_LOCATION")
        constraint.target, constraint.influence = rng.choice(before), rng.uniform(0.2, 0.9)


def _drive(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Let a driver move an object by the frame."""
    curve = item.driver_add("location", rng.randint(0, 2))
    curve.driver.expression = f"4 * sin(frame / {rng.uniform(1.5, 9):.3f})"


def _deform(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Deform an object in a part of the animation: it keeps the last form then, and may turn."""
    item.shape_key_add(name="Basis")
    block = item.shape_key_add(name="Wide")
    for point in block.data:
        point.co = [value * rng.uniform(0.5, 2.5) for value in point.co]
    begin = rng.randint(1, END - 12)
    for frame, value in ((begin, 0.0), (begin + rng.randint(2, 10), 1.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)
    rng.choice([_move, _turn])(item, rng, items)


def _bend(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Change the faces of an object at some frame, by a modifier."""
    modifier = item.modifiers.new("Subdivided", "SUBSURF")
    for frame, value in ((1, False), (rng.randint(5, END), True), (END, False)):
        modifier.show_viewport = value
        modifier.keyframe_insert("show_viewport", frame=frame)
    _move(item, rng, items)


def _play_scene(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Move an object that only the scene itself can evaluate."""
    _turn(item, rng, items)
    play(item)


def _hide(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    """Hide and show an object that may deform."""
    rng.choice([_move, _deform])(item, rng, items)
    is_hidden = rng.random() < 0.3
    for frame in sorted(rng.sample(range(1, END + 1), 4)):
        item.hide_viewport = is_hidden = not is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)


def _jump(item: bpy.types.Object, rng: random.Random, items: list[bpy.types.Object]) -> None:
    _key(item, "location", rng, 3.0, "CONSTANT")


def _add_instances(rng: random.Random) -> None:
    """Add a moving instance of a collection with an object of its own."""
    part = _add("Part", rng)
    source = hidden_collection("Source", part)
    owner = add_instance("Crowd", source)
    _key(owner, "location", rng, 3.0)
