"""Objects, keys, bones and nodes of the scenes of a family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from tests.scene.building import add_armature, add_object, add_vertices, curves
from tests.scene.mesh_truth.solids import Mesh

FRAMES = (1.0, 9.0)


@dataclass(frozen=True)
class Pair:
    """Properties of a scene of a family, of objects whose names begin with A and B.

    Attributes
    ----------
    per_frame : int
        Samples that the fastest motion needs in a frame: see `first_touch`.
    early : float
        Frames by which Blender itself shows a key before its time, at jumps.
    is_linear : bool
        Whether scans take the motion between whole frames as linear, because of a simulation.
    """

    per_frame: int = 16
    early: float = 0.0
    is_linear: bool = False


def add(name: str, mesh: Mesh | None) -> bpy.types.Object:
    """Add an object to the scene; an empty without a mesh."""
    return add_object(name) if mesh is None else add_vertices(name, *mesh)


def key(
    owner: bpy.types.bpy_struct,
    path: str,
    keys: Iterable[tuple[float, object]],
    interpolation: str = "LINEAR",
    index: int = -1,
) -> None:
    """Key a property, or one element of it, with one interpolation."""
    wanted = owner.path_from_id(path) if not isinstance(owner, bpy.types.Object) else path
    for frame, value in keys:
        if index < 0:
            setattr(owner, path, value)
        else:
            getattr(owner, path)[index] = value
        owner.keyframe_insert(path, index=index, frame=frame)
    for curve in curves(owner.id_data.animation_data.action):
        if curve.data_path == wanted and index in (-1, curve.array_index):
            for point in curve.keyframe_points:
                point.interpolation = interpolation
            curve.update()


def easing(rng: np.random.Generator) -> str:
    """Return an interpolation of keys at random."""
    return str(rng.choice(["LINEAR", "BEZIER", "SINE", "CUBIC"]))


def direction(rng: np.random.Generator) -> np.ndarray:
    """Return a unit vector at random."""
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def place(rng: np.random.Generator, *items: bpy.types.Object, scale: Sequence[float] = (1, 1, 1)) -> None:
    """Turn and move a whole scene: each of its objects without a parent gets one of its own, all the same."""
    turn, offset = rng.uniform(-3, 3, 3), rng.uniform(-2, 2, 3)
    for item in items:
        holder = add(f"Place of {item.name}", None)
        holder.rotation_euler, holder.location, holder.scale = turn, offset, scale
        item.parent = holder


def path_through(
    rng: np.random.Generator, item: bpy.types.Object, through: Sequence[float], reach: float, keys: int = 3
) -> None:
    """Key locations of an object at random from one side of a place to the other."""
    offset = reach * direction(rng)
    frames = np.linspace(*FRAMES, keys)
    parts = np.linspace(-1, 1, keys)
    places = [
        (frame, np.asarray(through) + part * offset + 0.1 * reach * rng.normal(size=3))
        for frame, part in zip(frames.tolist(), parts, strict=True)
    ]
    key(item, "location", places, easing(rng))


def turn_at_random(rng: np.random.Generator, item: bpy.types.Object, most: float = 2.0) -> None:
    """Key a rotation at random."""
    key(item, "rotation_euler", [(frame, rng.uniform(-most, most, 3)) for frame in (1, 5, 9)], easing(rng))


def add_rig(name: str, length: float, bones: int) -> bpy.types.Object:
    """Add an armature with a chain of bones along z."""
    ends = [(0, 0, length * number / bones) for number in range(bones + 1)]
    rig = add_armature(name, {f"Bone {number}": (ends[number], ends[number + 1]) for number in range(bones)})
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    return rig


def bend_by(item: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Bend a mesh along z by the bones of an armature, of which each vertex has two."""
    bones = rig.data.bones
    heights = np.array([vertex.co.z for vertex in item.data.vertices])
    length = bones[0].length
    for number, bone in enumerate(bones):
        group = item.vertex_groups.get(bone.name) or item.vertex_groups.new(name=bone.name)
        weights = np.clip(1 - np.abs(np.clip(heights / length, 0.5, len(bones) - 0.5) - number - 0.5), 0, 1)
        for row in np.flatnonzero(weights).tolist():
            group.add([row], float(weights[row]), "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = rig


def key_bones(
    rng: np.random.Generator, rig: bpy.types.Object, most: float, interpolation: str = "BEZIER"
) -> None:
    """Key rotations of all bones of an armature at random."""
    for bone in rig.pose.bones:
        key(
            bone,
            "rotation_euler",
            [(frame, rng.uniform(-most, most, 3)) for frame in (1, 4, 7, 9)],
            interpolation,
        )
