"""A scene of subjects that are read from several sources, and its properties to animate one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from addon.core.progress import run_to_end
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import BoundsSettings, FitSettings, Selection
from tests.scene.building import (
    CUBE,
    add_armature,
    add_object,
    add_vertices,
    curves,
    key_location,
    open_empty_file,
)
from tests.scene.sampling import go_to, world_points

TIMES = [float(frame) for frame in range(1, 21)]
"""Frames of a scan."""
CHANGED = (7, 9)
"""Frames from which on, and until which, a property has another value: not when sources are compared."""
MOMENTS = (4.0, 7.25, 8.0, 8.75, 12.5)
"""Times to compare with Blender."""
METHODS = ("keyed", "in the NLA", "in a meta strip", "driven", "driven by a custom property")
Owner = tuple[str, Any]


def build_scene() -> None:
    """Add a chain of bones with what it carries and bends, and objects with parents and constraints."""
    open_empty_file()
    bpy.context.scene.frame_end = int(TIMES[-1])
    link = bpy.context.scene.collection.objects.link
    target, carrier = (bpy.data.objects.new(name, None) for name in ("Target", "Carrier"))
    link(target)
    link(carrier)
    target.location, target.rotation_euler, target.scale = (4, 3, 2), (1, 1, 1), (2, 2, 2)
    _add_rig(target)
    key_location(carrier, {1: (5, 0, 0), 20: (9, 2, 1)}, "BEZIER")
    carrier.rotation_euler, carrier.scale = (0.3, 0.2, 0.1), (1, 2, 1)
    plain = add_vertices("Plain", rotation_euler=(0.1, 0.2, 0.3), scale=(1, 1.5, 0.5), parent=carrier)
    constraint = plain.constraints.new("COPY_SCALE")
    constraint.target, constraint.mute = target, True
    key_location(plain, {1: (0, 0, 0), 20: (1, 2, -1)})
    free = add_vertices("Free", rotation_euler=(0.1, 0.2, 0.3))
    free.constraints.new("COPY_LOCATION").target = target
    key_location(target, {1: (4, 3, 2), 20: (6, 3, 2)})
    cast = add_vertices("Cast", location=(-9, 0, 0))
    cast.modifiers.new("Cast", "CAST").show_viewport = False
    waving = add_vertices("Waving", location=(0, 9, 0), faces=[(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1)])
    waving.modifiers.new("Wave", "WAVE").height = 0.3
    waving.modifiers.new("Subdivision", "SUBSURF").levels = 2
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 0
    shaped = add_vertices("Shaped", location=(0, 19, 0))
    shaped.shape_key_add(name="Basis")
    wide = shaped.shape_key_add(name="Wide")
    for row in range(8):
        wide.data[row].co *= 2
    bpy.context.view_layer.update()


def _add_rig(target: bpy.types.Object) -> None:
    """Add a chain of four bones that turn, with muted constraints, meshes on them, and one that they bend."""
    ends = [(0, 0.1 * number, number) for number in range(5)]
    bones = {f"Bone {number}": (ends[number], ends[number + 1]) for number in range(4)}
    rig = add_armature("Rig", bones, connected=["Bone 2"])
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0), (20, 0.8)):
            bone.rotation_euler = (angle * 0.3, angle * (0.1 + number / 10), 0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    reach = rig.pose.bones["Bone 3"].constraints.new("IK")
    turn = rig.pose.bones["Bone 1"].constraints.new("COPY_ROTATION")
    reach.target, reach.chain_count, reach.mute = target, 2, True
    turn.target, turn.mute = target, True
    for number in range(4):
        item = add_vertices(f"On {number}", CUBE * 0.3)
        item.parent, item.parent_type, item.parent_bone = rig, "BONE", f"Bone {number}"
    skin = add_vertices("Skin", np.vstack([CUBE * 0.4 + (0, 0, row + 0.5) for row in range(4)]), parent=rig)
    for number in range(4):
        group = skin.vertex_groups.new(name=f"Bone {number}")
        group.add(list(range(8 * number, 8 * number + 8)), 1, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig


def owners() -> dict[str, Any]:
    """Return what has properties that decide how a subject is read, by name."""
    items, scene = bpy.data.objects, bpy.context.scene
    rig = items["Rig"]
    return {
        **{name: items[name] for name in ("Rig", "Plain", "Carrier", "Free", "Target", "Skin", "On 2")},
        "bone": rig.pose.bones["Bone 2"],
        "pose": rig.pose,
        "IK": rig.pose.bones["Bone 3"].constraints[0],
        "copied rotation": rig.pose.bones["Bone 1"].constraints[0],
        "copied scale": items["Plain"].constraints[0],
        "copied location": items["Free"].constraints[0],
        "armature": rig.data,
        "rest bone": rig.data.bones["Bone 2"],
        "armature modifier": items["Skin"].modifiers[0],
        "cast modifier": items["Cast"].modifiers[0],
        "mesh": items["Plain"].data,
        "bent mesh": items["Skin"].data,
        "shape keys": items["Shaped"].data.shape_keys,
        "shape key": items["Shaped"].data.shape_keys.key_blocks["Wide"],
        "animation": items["Plain"].animation_data,
        "animation of the rig": rig.animation_data,
        "scene": scene,
        "render settings": scene.render,
    }


def animatable_properties(owner: Any) -> list[str]:
    """Return the names of the properties that may be keyed or driven, and that scripts can set."""
    kinds = ("BOOLEAN", "ENUM", "INT", "FLOAT")
    return [
        each.identifier
        for each in owner.bl_rna.properties
        if each.is_animatable and not each.is_readonly and each.type in kinds
    ]


def other_value(owner: Any, name: str) -> Any:
    """Return another value that a property may have; None if it has none."""
    kind, value = owner.bl_rna.properties[name], getattr(owner, name)
    if kind.type == "ENUM":
        alternatives = [] if kind.is_enum_flag else [each.identifier for each in kind.enum_items]
        return next(
            (each for each in reversed(alternatives) if each != value and _can_be(owner, name, each)), None
        )
    if getattr(kind, "is_array", False):
        values = np.array(value)
        changed = ~values if kind.type == "BOOLEAN" else values + (0.7 if kind.type == "FLOAT" else 1)
        return changed.tolist() if values.ndim == 1 else None
    if kind.type == "BOOLEAN":
        return not value
    steps = (0.7, -0.7) if kind.type == "FLOAT" else (1, -1, 3)
    fitting = (value + step for step in steps if kind.hard_min <= value + step <= kind.hard_max)
    return next(fitting, None)


def _can_be(owner: Any, name: str, value: str) -> bool:
    before = getattr(owner, name)
    try:
        setattr(owner, name, value)
    except TypeError:
        return False
    setattr(owner, name, before)
    return True


def animate(owner: Any, name: str, value: Any, method: str) -> bool:
    """Let a property have a value while it is `CHANGED`; return whether Blender can animate it."""
    try:
        owner.path_from_id(name)
    except ValueError:  # an animation, before Blender 5.0
        return False
    kind, before = owner.bl_rna.properties[name], getattr(owner, name)
    is_array = getattr(kind, "is_array", False)
    before = list(before) if is_array else before
    if method.startswith("driven"):
        source = _add_keyed_property() if method == "driven by a custom property" else None
        pairs = zip(before, value, strict=True) if is_array else [(before, value)]
        for index, pair in enumerate(pairs):
            usual, other = (_number(kind, each) for each in pair)
            driver = owner.driver_add(name, index if is_array else -1).driver
            condition = f"frame > 6.75 and frame < {CHANGED[1]}"
            if source is not None:
                variable = driver.variables.new()
                variable.name, variable.targets[0].id = "switch", source
                variable.targets[0].data_path, condition = '["switch"]', "switch > 0.5"
            driver.expression = f"{other!r} if {condition} else {usual!r}"
        return True
    for frame, each in ((1, before), (CHANGED[0], value), (CHANGED[1], before)):
        try:
            setattr(owner, name, each)
        except AttributeError:  # read-only at times
            return False
        if not owner.keyframe_insert(name, frame=frame):
            return False
    animation, path = owner.id_data.animation_data, owner.path_from_id(name)
    for curve in curves(animation.action):
        if curve.data_path == path:
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"
    if method in ("in the NLA", "in a meta strip"):
        track = animation.nla_tracks.new()
        strip = track.strips.new("Strip", 1, animation.action)
        animation.action = None
        if method == "in a meta strip" and isinstance(owner.id_data, bpy.types.Object):
            _make_meta(owner.id_data, track, strip)
    return True


def _add_keyed_property() -> bpy.types.Object:
    """Add an empty with a custom property that is 1 while others are `CHANGED`, and 0 else."""
    item = add_object("Switch")
    for frame, value in ((1, 0.0), (CHANGED[0], 1.0), (CHANGED[1], 0.0)):
        item["switch"] = value
        item.keyframe_insert('["switch"]', frame=frame)
    for curve in curves(item.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    item["switch"] = 0.0
    return item


def _make_meta(item: bpy.types.Object, track: bpy.types.NlaTrack, strip: bpy.types.NlaStrip) -> None:
    """Put a strip in a meta strip, and that in another one."""
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "NLA_EDITOR"
    region = next(each for each in area.regions if each.type == "WINDOW")
    for other in bpy.context.view_layer.objects:
        other.select_set(other == item)
    bpy.context.view_layer.objects.active = item
    track.select = strip.select = True
    with bpy.context.temp_override(window=window, area=area, region=region, object=item, active_object=item):
        for _ in range(2):
            bpy.ops.nla.meta_add()
    (outer,) = track.strips
    assert outer.type == outer.strips[0].type == "META"


def _number(kind: Any, value: Any) -> float:
    """Return a value as a driver gives it."""
    return float(kind.enum_items[value].value if kind.type == "ENUM" else value)


def known_subjects(motion: SceneMotion) -> np.ndarray:
    """Mask (n,) of the subjects of a motion, of one shape each, that follow curves."""
    if motion.certain is None:
        return np.zeros(len(motion.reader.subjects), dtype=bool)
    return motion.certain.is_certain


def motion_of_scene() -> tuple[list[str], SceneMotion]:
    """Return the names of all subjects, and their motion, compared with the scene as for a scan."""
    scene = bpy.context.scene
    scene.frame_set(1)
    subjects = compute_bounds(scene, BoundsSettings()).subjects
    motion = SceneMotion(scene, subjects, Selection(), "aabb", FitSettings())
    run_to_end(motion.comparing(TIMES))
    return [subject.name for subject in subjects], motion


def wrong_boxes() -> Iterator[tuple[str, float, bool]]:
    """Compare boxes with those of Blender's vertices: names, times, and whether they counted as known."""
    names, motion = motion_of_scene()
    found = {time: motion.sample_between(time, np.arange(len(names))) for time in MOMENTS}
    for time, sample in found.items():
        go_to(time)
        shown = {
            each.object.name
            for each in bpy.context.evaluated_depsgraph_get().object_instances
            if not each.is_instance
        }
        for row, name in enumerate(names):
            points = world_points(name)
            expected = np.array([points.min(axis=0), points.max(axis=0)])
            box = np.array([sample.shapes.min[row], sample.shapes.max[row]])
            is_same = np.allclose(box, expected, rtol=1e-5, atol=1e-5) or name not in shown
            if bool(sample.present[row]) != (name in shown) or not is_same:
                yield name, time, bool(known_subjects(motion)[row])
