"""A scan changes nothing: the scene is the same after success, cancel and error, in every mode."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import bmesh
import bpy
import pytest

from addon.core.scan.pair_scanner import PairScanner
from addon.scene.jobs.contacts import find_contacts
from addon.scene.motion.pose_sources import PoseSources
from addon.scene.settings import ContactSettings
from tests.finished import finished
from tests.scene.building import add_armature, add_instance, open_empty_file
from tests.scene.sampling import add_object, add_points, ball_points, box_points, curves_of, key
from tests.tiers import times

# ---- Scene


@pytest.fixture(autouse=True, params=["with physics", "without physics"])
def scene(request: pytest.FixtureRequest) -> bpy.types.Scene:
    """Build a scene with keys, drivers, a rig, shape keys and instances.

    With physics the whole scene is played. Without, most objects are read in a private scene.
    """
    open_empty_file()
    active_scene = bpy.context.scene
    active_scene.frame_start, active_scene.frame_end = -2, 9
    active_scene.cursor.location = (1, 2, 3)
    child = add_animated_objects()
    add_rig()
    add_instances_curve_and_text()
    if request.param == "with physics":
        add_rigid_body()
    add_nla_strip()
    # Playing the scene fills the caches of simulations, which a scan of an unplayed scene would do too.
    for frame in range(active_scene.frame_start, active_scene.frame_end + 1):
        active_scene.frame_set(frame)
    active_scene.frame_set(4, subframe=0.25)
    for item in active_scene.objects:
        item.select_set(item.name in ("Mover", "Child"))
    bpy.context.view_layer.objects.active = child
    return active_scene


def add_animated_objects() -> bpy.types.Object:
    """Add objects with keys, shape keys, a driver and a constraint, and hidden ones. Returns the child."""
    mover = add_points("Mover", ball_points(0.5))
    key(mover, "location", [(-2, (-4, 0, 0)), (9, (4, 0, 0))], "BEZIER")
    key(mover, "rotation_euler", [(1, (0, 0, 0)), (7, (1, 2, 3))], "LINEAR")
    wall = add_points("Wall", box_points((0.1, 1, 1)))
    wall.shape_key_add(name="Basis")
    thick = wall.shape_key_add(name="Thick")
    for point in thick.data:
        point.co.x *= 4
    key(thick, "value", [(1, 0.0), (8, 1.0)])
    driven = add_points("Driven", ball_points(0.3))
    driven.driver_add("location", 0).driver.expression = "sin(frame)"
    child = add_points("Child", box_points((0.2, 0.3, 0.4)))
    child.parent, child.location = mover, (0, 0, 1)
    child.constraints.new("COPY_ROTATION").target = driven
    add_points("Hidden", ball_points(0.3)).hide_viewport = True
    add_points("Unseen", ball_points(0.3)).hide_set(True)
    return child


def add_rig() -> None:
    """Add an armature with an animated bone, and a mesh that it deforms."""
    rig = add_armature("Rig", {"Bone": ((0, 0, 0), (0, 0, 1))})
    rig.pose.bones["Bone"].rotation_mode = "XYZ"
    key(rig.pose.bones["Bone"], "rotation_euler", [(1, (0, 0, 0)), (8, (1, 0, 0))])
    skin = add_points("Skin", [(0, 0, z / 10) for z in range(11)])
    skin.vertex_groups.new(name="Bone").add(range(11), 1.0, "REPLACE")
    skin.modifiers.new("Rig", "ARMATURE").object = rig


def add_instances_curve_and_text() -> None:
    """Add an instanced collection, a curve and a text."""
    parts = bpy.data.collections.new("Parts")
    parts.objects.link(add_points("Part", ball_points(0.2)))
    add_instance("Crowd", parts)
    curve = bpy.data.curves.new("Hose", "CURVE")
    curve.bevel_depth = 0.1
    curve.splines.new("POLY").points.add(1)
    curve.splines[0].points[1].co = (1, 1, 1, 1)
    add_object("Hose", curve)
    text = bpy.data.curves.new("Text", "FONT")
    text.body, text.extrude = "Hello", 0.1
    add_object("Text", text)


def add_rigid_body() -> None:
    """Add a falling rigid body."""
    bpy.ops.rigidbody.world_add()
    physics = bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("Physics")
    falling = add_points("Falling", box_points((0.2, 0.2, 0.2)))
    falling.location.z = 5
    physics.objects.link(falling)


def add_nla_strip() -> None:
    """Add an object that a repeated NLA strip moves."""
    strip = add_points("Strip", ball_points(0.2))
    key(strip, "location", [(1, (0, 3, 0)), (5, (2, 3, 0))])
    action = strip.animation_data.action
    strip.animation_data.action = None
    strip.animation_data.nla_tracks.new().strips.new("Walk", 2, action).repeat = 2.0


# ---- State of the scene


NOT_READ = {"rna_type", "is_evaluated", "original", "id_data", "uv_sculpt"}
"""Properties of the Python API, and those that crash Blender 4.2 when they are read without a window."""


def values_of(holder: bpy.types.bpy_struct, depth: int = 2) -> dict[str, Any]:
    """Values of all properties of a datablock, and down to a depth of the data that it owns."""
    result: dict[str, Any] = {}
    for prop in holder.bl_rna.properties:
        if prop.identifier in NOT_READ:
            continue
        value = getattr(holder, prop.identifier, None)
        if prop.type == "POINTER":
            if value is None or isinstance(value, bpy.types.ID):
                result[prop.identifier] = value and value.name_full
            elif depth > 0:
                result[prop.identifier] = values_of(value, depth - 1)
        elif prop.type == "COLLECTION":
            if depth > 0 and len(value) < 100:
                result[prop.identifier] = [
                    entry.name_full if isinstance(entry, bpy.types.ID) else values_of(entry, depth - 1)
                    for entry in value
                ]
        elif prop.type == "ENUM" and prop.is_enum_flag:
            result[prop.identifier] = sorted(value)
        elif getattr(prop, "is_array", False):
            result[prop.identifier] = repr([*value] if prop.type != "FLOAT" else flatten(value))
        else:
            result[prop.identifier] = repr(value)
    return result


def flatten(value: Any) -> list[float]:
    """Return the numbers of a vector, or of a matrix row by row."""
    return [number for entry in value for number in (entry if hasattr(entry, "__len__") else (entry,))]


WINDOW_DATA = {"brushes", "screens", "window_managers", "workspaces"}
"""Collections that are not part of a scene. Reading some of them without a window crashes Blender 4.2."""


def data_state() -> dict[str, Any]:
    """Values of all datablocks of the file."""
    result: dict[str, Any] = {}
    for prop in bpy.data.bl_rna.properties:
        # Since Blender 5.2, `all_ids` lists every datablock a second time.
        if prop.type == "COLLECTION" and prop.identifier != "all_ids":
            for block in getattr(bpy.data, prop.identifier):
                is_read = prop.identifier not in WINDOW_DATA
                result[f"{prop.identifier} {block.name_full}"] = values_of(block) if is_read else {}
    return result


def extra_state() -> dict[str, Any]:
    """State that is not in properties: selection, visibility, mode, curves, meshes, poses."""
    layer = bpy.context.view_layer
    scene = bpy.context.scene
    result: dict[str, Any] = {
        "scene": (scene.name, scene.frame_current, scene.frame_subframe, scene.frame_current_final),
        "mode": bpy.context.mode,
        "active": layer.objects.active and layer.objects.active.name,
        "layer": [(item.name, item.select_get(), item.hide_get(), item.mode) for item in layer.objects],
    }
    graph = bpy.context.evaluated_depsgraph_get()
    for item in bpy.data.objects:
        result[f"matrix {item.name}"] = flatten(item.matrix_world)
        result[f"evaluated matrix {item.name}"] = flatten(item.evaluated_get(graph).matrix_world)
        if item.animation_data and item.animation_data.action:
            result[f"curves {item.name}"] = [
                (c.data_path, c.array_index, [(*p.co, p.interpolation) for p in c.keyframe_points])
                for c in curves_of(item)
            ]
    for mesh in bpy.data.meshes:
        result[f"mesh {mesh.name}"] = [tuple(vertex.co) for vertex in mesh.vertices]
    for shape in bpy.data.shape_keys:
        result[f"keys {shape.name}"] = [[b.value, [tuple(p.co) for p in b.data]] for b in shape.key_blocks]
    return result


def state() -> dict[str, Any]:
    return data_state() | extra_state()


def assert_same(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Assert that two states are equal. The message lists the differences."""
    different = [
        f"{name}: {describe_difference(before.get(name), after.get(name))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    assert not different, "\n".join(different)


def describe_difference(before: Any, after: Any, path: str = "") -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        return "; ".join(
            describe_difference(before.get(k), after.get(k), f"{path}.{k}")
            for k in before.keys() | after.keys()
            if before.get(k) != after.get(k)
        )
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return "; ".join(describe_difference(a, b, f"{path}[{k}]") for k, (a, b) in pairs if a != b)
    return f"{path} was {before!r:.200}, is {after!r:.200}"


def test_scene_comparison_detects_changes():
    # All tests below depend on this: the smallest change must be detected.
    before = state()
    for change, undo in (
        (lambda: setattr(bpy.data.objects["Wall"], "location", (0, 0, 1e-6)), None),
        (
            lambda: bpy.data.objects["Wall"].select_set(True),
            lambda: bpy.data.objects["Wall"].select_set(False),
        ),
        (lambda: bpy.data.meshes.new("Added"), None),
    ):
        change()
        with pytest.raises(AssertionError):
            assert_same(before, state())
        if undo:
            undo()
        before = state()


# ---- Scans

Ending = Callable[[Any], None]


def run_to_end(job: Any) -> None:
    for _ in job:
        pass


def close_after(steps: int) -> Ending:
    def run(job: Any) -> None:
        for _ in range(steps):
            if next(job, None) is None:
                break
        job.close()

    return run


def fail_after(steps: int) -> Ending:
    def run(job: Any) -> None:
        for _ in range(steps):
            next(job)
        with pytest.raises(RuntimeError, match="on purpose"):
            job.throw(RuntimeError("on purpose"))

    return run


ENDINGS = {
    "success": run_to_end,
    **{f"closed after {steps}": close_after(steps) for steps in (0, 1, 2, 5, 9, 12, 13, 25)},
    **{f"error after {steps}": fail_after(steps) for steps in (1, 6, 11)},
}
QUICK_ENDINGS = ("closed after 0", "closed after 5", "error after 6")
SHAPES_AND_MOTIONS = [
    ("sphere", "adaptive"),
    ("aabb", "linear"),
    pytest.param("obb", "adaptive", marks=pytest.mark.long),
    ("spheres", "adaptive"),
    pytest.param("aabb", "adaptive", marks=pytest.mark.long),
]


def start_scan(shape: str = "aabb", motion: str = "adaptive") -> Any:
    settings = ContactSettings(shape=shape, motion=motion, frames=(-2, 9, 1))
    return find_contacts(bpy.context.scene, settings)


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("success", marks=pytest.mark.smoke),
        *(
            pytest.param(ending, marks=() if ending in QUICK_ENDINGS else pytest.mark.long)
            for ending in ENDINGS
            if ending != "success"
        ),
    ],
)
def test_scan_changes_nothing_for_any_ending(ending):
    before = state()
    ENDINGS[ending](start_scan())
    assert_same(before, state())


@pytest.mark.parametrize(("shape", "motion"), SHAPES_AND_MOTIONS)
@pytest.mark.parametrize("ending", ["success", pytest.param("closed after 9", marks=pytest.mark.long)])
def test_scan_changes_nothing_for_any_settings(shape, motion, ending):
    before = state()
    ENDINGS[ending](start_scan(shape, motion))
    assert_same(before, state())


@pytest.mark.parametrize(
    "ending",
    [
        "success",
        *(pytest.param(ending, marks=pytest.mark.long) for ending in ("closed after 5", "error after 6")),
    ],
)
@pytest.mark.parametrize(
    ("name", "mode"),
    [("Mover", "EDIT"), ("Rig", "POSE"), ("Rig", "EDIT"), ("Wall", "SCULPT"), ("Hose", "EDIT")],
)
def test_scan_keeps_mode_and_uncommitted_edits(name, mode, ending):
    item = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode=mode)
    if (name, mode) == ("Mover", "EDIT"):
        mesh = bmesh.from_edit_mesh(item.data)
        mesh.verts.ensure_lookup_table()
        mesh.verts[0].co = (7, 7, 7)
        bmesh.update_edit_mesh(item.data)
    bpy.context.view_layer.update()
    before = state()
    ENDINGS[ending](start_scan())
    assert_same(before, state())
    assert item.mode == mode
    if (name, mode) == ("Mover", "EDIT"):
        mesh = bmesh.from_edit_mesh(item.data)
        mesh.verts.ensure_lookup_table()
        assert tuple(mesh.verts[0].co) == (7, 7, 7)


def handler_names() -> dict[str, list[str]]:
    """Names of the functions in each list of handlers of Blender."""
    lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return {
        name: [function.__name__ for function in handlers]
        for name, handlers in lists.items()
        if isinstance(handlers, list)
    }


def interrupt(job: Any, ending: str, ends: set[str], rng: random.Random, path: Path) -> None:
    """Interrupt a scan that has begun: by its functions that end it, an error, or another file."""
    if ending in ("stopped", "dropped"):
        ends.add("stops")
        if ending == "dropped":
            ends.add("drops")
        run_to_end(job)
    elif ending == "error":
        fail_after(0)(job)
    elif ending == "error in Blender":
        broken = rng.choice([(PairScanner, "process"), (PairScanner, "measure"), (PoseSources, "read")])
        with pytest.MonkeyPatch.context() as patch, suppress(ZeroDivisionError):
            patch.setattr(*broken, lambda *_: 1 / 0)
            run_to_end(job)
    else:
        if ending == "file loaded":
            bpy.ops.wm.open_mainfile(filepath=str(path))
        job.close()


def without_numbers(values: dict[str, Any]) -> dict[str, Any]:
    """Return a state without the numbers that datablocks have in one session of Blender."""
    return {
        name: {key: value for key, value in entry.items() if key != "session_uid"}
        if isinstance(entry, dict)
        else entry
        for name, entry in values.items()
    }


ENDINGS_OF_USERS = ("stopped", "dropped", "closed", "error", "error in Blender", "file loaded")


@pytest.mark.parametrize("seed", range(times(6, 3, full=50)))
def test_scan_interrupted_at_a_random_moment_leaves_no_trace(seed, tmp_path):
    rng = random.Random(seed)
    ending = ENDINGS_OF_USERS[seed % len(ENDINGS_OF_USERS)]
    path, copy = tmp_path / "scene.blend", tmp_path / "copy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    if ending == "file loaded":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    on_disk, handlers, before = path.read_bytes(), handler_names(), state()
    ends: set[str] = set()
    shape = rng.choice(["sphere", "aabb", "obb", "spheres", "mesh"])
    settings = ContactSettings(shape=shape, frames=(-2, 9, 1))
    functions = (partial(ends.__contains__, name) for name in ("stops", "drops"))
    job = find_contacts(bpy.context.scene, settings, *functions)
    for _ in range(rng.randrange(60)):
        if next(job, None) is None:
            break
    # A user may save the file between two steps.
    bpy.ops.wm.save_as_mainfile(filepath=str(copy), copy=True)
    with bpy.data.libraries.load(str(copy)) as (saved, _):
        assert saved.scenes == ["Scene"]
    interrupt(job, ending, ends, rng, path)
    after = state()
    if ending == "file loaded":
        # Blender numbers all datablocks that it loads.
        before, after = without_numbers(before), without_numbers(after)
    assert_same(before, after)
    assert handler_names() == handlers
    assert path.read_bytes() == on_disk


def test_discarded_scan_restores_frame():
    # When a window closes, the generator is discarded without a call.
    before = state()
    job = start_scan()
    for _ in range(4):
        next(job)
    del job
    assert_same(before, state())


def test_rejected_scan_changes_nothing():
    before = state()
    for settings in (
        ContactSettings(frames=(5, 1, 1)),
        ContactSettings(clearance=-1.0),
        ContactSettings(group_a=("Nobody",)),
    ):
        with pytest.raises(ValueError, match=r"frames|clearance|Nobody"):
            run_to_end(find_contacts(bpy.context.scene, settings))
        assert_same(before, state())


@pytest.mark.parametrize("scene", ["with physics"], indirect=True)
def test_scan_keeps_bakes():
    scene = bpy.context.scene
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = -2, 9
    for frame in range(-2, 10):
        scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake_from_cache()
    assert cache.is_baked
    scene.frame_set(4, subframe=0.25)
    before = state()
    run_to_end(start_scan())
    assert cache.is_baked
    assert_same(before, state())


def test_second_scan_gives_same_result():
    def scan_to_document() -> Any:
        return finished(start_scan("sphere")).document()

    assert scan_to_document() == scan_to_document()
