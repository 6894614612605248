"""Random scenes of bodies of many kinds, and options of their scans with a clearance."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from tests.scene.building import hidden_collection, play
from tests.scene.mesh_truth import solids
from tests.scene.mesh_truth.building import add, add_rig, bend_by, direction, easing, key, key_bones
from tests.scene.mesh_truth.solids import Mesh

END = 12
SHAPES = ("aabb", "sphere", "obb", "capsule", "compound", "spheres", "mesh")
PLAIN = ("box", "ball", "cone", "plate", "needle", "arc", "stairs")
"""Kinds of whole meshes that do not deform."""
KINDS = (*PLAIN, "bent", "loose", "custom box", "custom sphere", "instance", "child", "array")


class RandomScan(NamedTuple):
    """A scan of a saved scene.

    Attributes
    ----------
    clearance : float
        In Blender units.
    options : tuple of str
        Of the command line.
    kinds : dict
        Kinds of the bodies, by the beginning of their names.
    deforming : frozenset of str
        Names of bodies whose shapes a scan fits again and again, unlike those of a document.
    motion, shape : str
    """

    clearance: float
    options: tuple[str, ...]
    kinds: dict[str, str]
    deforming: frozenset[str]
    motion: str
    shape: str


def cone(radius: float, height: float, around: int = 9) -> Mesh:
    """Return a frustum along z that is nearly a cone."""
    turn = 2 * np.pi * np.arange(around) / around

    def ring(row: int) -> np.ndarray:
        out = radius * (1 - 0.97 * row)
        return np.column_stack(
            [out * np.cos(turn), out * np.sin(turn), np.full(around, height * (row - 0.5))]
        )

    return solids.tube(ring, 2)


def mesh_of(kind: str, rng: np.random.Generator) -> Mesh:
    """Return a mesh of a kind, about one unit large."""
    size, other, third = rng.uniform(0.15, 0.5, 3).tolist()
    if kind == "ball":
        return solids.ball(size, int(rng.integers(3, 7)), int(rng.integers(5, 10)))
    if kind == "cone":
        return cone(size, 3 * other)
    if kind == "plate":
        return solids.sheet(2 * size, 2)
    if kind == "needle":
        return solids.box(0.01, 0.02, 2 * size)
    if kind == "arc":
        return solids.torus(1.5 * size, 0.3 * size, 9, 6, float(rng.uniform(2, 5)))
    if kind == "stairs":
        return solids.joined(
            solids.box(size, other, 0.1), solids.moved(solids.box(0.1, other, size), (-size, 0, size))
        )
    if kind == "loose":
        return solids.joined(solids.box(0.1, size, 0.1), solids.moved(solids.ball(other, 4, 6), (1.2, 0, 0)))
    return solids.box(size, other, third)


def add_body(kind: str, name: str, rng: np.random.Generator) -> bpy.types.Object:
    """Add a body of a kind, and return the object that moves."""
    if kind == "bent":
        rig = add_rig(f"Rig of {name}", 1.2, 2)
        item = add(name, solids.bar(float(rng.uniform(0.05, 0.2)), 1.2, 5))
        item.parent = rig
        bend_by(item, rig)
        key_bones(rng, rig, 1.5, easing(rng))
        return rig
    if kind == "instance":
        part = add(f"{name} part", mesh_of(str(rng.choice(PLAIN)), rng))
        collection = hidden_collection(f"Library of {name}", part)
        part.location = rng.uniform(-0.3, 0.3, 3)
        item = add(name, None)
        item.instance_type, item.instance_collection = "COLLECTION", collection
        return item
    item = add(name, mesh_of(kind, rng))
    settings = item.collision_bounds
    if kind == "loose":
        settings.use_object_settings, settings.bounds_for = True, "loose_parts"
    elif kind.startswith("custom"):
        settings.override = kind.split()[1]
        settings.center, settings.radius = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.2, 0.5)
        settings.half_extents = rng.uniform(0.1, 0.5, 3)
    elif kind == "array":
        item.modifiers.new("Array", "ARRAY").count = 3
    elif kind == "child":
        holder = add(f"Holder of {name}", None)
        holder.scale = rng.uniform(0.7, 1.3, 3)
        item.parent, item.location = holder, rng.uniform(-1, 1, 3)
        return holder
    return item


def move(item: bpy.types.Object, rng: np.random.Generator) -> bool:
    """Let an object move, turn or grow by keys, drivers, or the scene; returns whether it grows."""
    item.location = center = rng.uniform(-1.6, 1.6, 3)
    item.rotation_euler = rng.uniform(-3, 3, 3)
    if item.type != "ARMATURE" and rng.random() < 0.4:
        item.scale = rng.uniform(0.5, 1.6, 3) * rng.choice([1, 1, -1])
    if rng.random() < 0.85:
        offset = rng.uniform(0.5, 3) * direction(rng)
        frames = (1, int(rng.integers(4, 9)), END)
        places = [center + offset, center + rng.normal(0, 0.3, 3), center - offset * rng.uniform(-1, 1)]
        kind = "CONSTANT" if rng.random() < 0.1 else easing(rng)
        key(item, "location", list(zip(frames, places, strict=True)), kind)
    if rng.random() < 0.5:
        key(item, "rotation_euler", [(frame, rng.uniform(-3, 3, 3)) for frame in (1, END)], easing(rng))
    grows = rng.random() < 0.1 and item.type != "ARMATURE"
    if grows:
        key(item, "scale", [(frame, rng.uniform(0.6, 1.4, 3)) for frame in (2, 9)], "LINEAR")
    if rng.random() < 0.15:
        item.driver_add("rotation_euler", 2).driver.expression = "sin(frame * 0.7)"
    if rng.random() < 0.1:
        play(item)
    return bool(grows)


def save_random_scan(path: Path, shape: str, seed: int) -> RandomScan:
    """Save a scene of some bodies of random kinds, and choose the options of its scan."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    kinds, deforming = {}, set()
    for number in range(int(rng.integers(3, 6))):
        name, kind = f"{chr(ord('A') + number)} body", str(rng.choice(KINDS))
        kinds[name] = kind
        if move(add_body(kind, name, rng), rng) or kind in ("bent", "array"):
            deforming.add(name)
    bpy.context.scene.frame_end = END
    bpy.context.scene.unit_settings.scale_length = float(rng.choice([1, 1, 0.01]))
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    clearance = float(rng.choice([0.0013, 0.05, 0.3, 0.3, 0.6]))
    motion = str(rng.choice(["adaptive", "adaptive", "adaptive", "linear"]))
    options = ["--shape", shape, "--clearance", f"{clearance}", "--motion", motion]
    options += ["--preset", str(rng.choice(["blender", "blender", "unity", "unreal"]))]
    options += ["--decimals", str(rng.choice([3, 6, 6, 9]))]
    if shape in ("sphere", "spheres") and kinds["A body"] in PLAIN and "A body" not in deforming:
        options += ["--obstacles", "A*"]
    if shape == "obb" and rng.random() < 0.5:
        options += ["--box-axes", str(rng.choice(["smallest", "world"]))]
    if rng.random() < 0.2:
        options += ["--padding", "0.02"]
    if rng.random() < 0.3:
        options += ["--static-pairs", "--no-ignore-parents"]
    return RandomScan(clearance, tuple(options), kinds, frozenset(deforming), motion, shape)
