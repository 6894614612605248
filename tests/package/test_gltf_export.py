"""Colliders in Blender's glTF export, with the extension installed from its zip; read by three.js."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.engines.difficult_scene import SCENE
from tests.engines.gltf_reader import reach
from tests.node.node import errors_in, run_program

ENABLED = """
settings = scene.collision_bounds.gltf
settings.omi = settings.khr = True
"""

WITHOUT_COLLIDER = {"Flattened", "Skinned"}
OPTIONS = {"as_is": {}, "applied": {"export_apply": True}, "z_up": {"export_yup": False}}
CASES = [
    pytest.param("as_is", "obb", marks=pytest.mark.smoke),
    ("z_up", "sphere"),
    *(
        pytest.param(*case, marks=pytest.mark.long)
        for case in (("as_is", "sphere"), ("applied", "obb"), ("applied", "sphere"), ("z_up", "obb"))
    ),
]


def by_node(read: dict) -> dict[str, tuple[np.ndarray, list[tuple[str, dict, np.ndarray]]]]:
    """World-space vertices of each node with a mesh, and extension, shape and matrix of its colliders."""
    colliders: dict[str, list] = {}
    for collider in read["colliders"]:
        matrix = np.array(collider["matrix"]).reshape(4, 4).T
        colliders.setdefault(collider["parent"], []).append((collider["body"], collider["shape"], matrix))
    vertices: dict[str, list] = {}
    for mesh in read["meshes"]:
        # three.js splits a mesh with several materials into meshes below the node.
        is_part = mesh["parent"] in colliders and mesh["name"] not in colliders
        name = mesh["parent"] if is_part else mesh["name"]
        vertices.setdefault(name, []).append(np.array(mesh["vertices"]))
    return {name: (np.concatenate(points), colliders.get(name, [])) for name, points in vertices.items()}


@pytest.fixture
def exported(in_blender, tmp_path):
    """Return a function that runs extra lines, exports the scene, and returns the content and the path."""

    def export(lines: str = "", name: str = "scene.glb", **options: object):
        call = f"export(folder + '/{name}', **{options!r})"
        in_blender("\n".join((SCENE, ENABLED, lines, call, "answer(None)")))
        return run_program("read_gltf.mjs", tmp_path / name), tmp_path / name

    return export


@pytest.mark.parametrize(("options", "shape"), CASES)
def test_colliders_enclose_every_vertex_and_are_not_scaled(exported, shape, options):
    read, path = exported(f"settings.shape = {shape!r}", **OPTIONS[options])
    assert errors_in(path) == []
    nodes = by_node(read)
    assert len(nodes) >= 19
    assert {name for name, (_, colliders) in nodes.items() if not colliders} == WITHOUT_COLLIDER
    for name, (points, colliders) in nodes.items():
        if name in WITHOUT_COLLIDER:
            continue
        assert [body for body, *_ in colliders] == ["KHR_physics_rigid_bodies", "OMI_physics_body"] or [
            body for body, *_ in colliders
        ] == ["OMI_physics_body", "KHR_physics_rigid_bodies"]
        for _, volume, matrix in colliders:
            positions = reach(volume, matrix, points)
            assert positions.max() <= 1, name
            # The tolerance is the single-precision rounding error of the translation of off-center volumes.
            assert positions.max() > 1 - 1e-4, name
            linear = matrix[:3, :3]
            assert np.abs(linear.T @ linear - np.eye(3)).max() < 1e-5, name
            assert np.linalg.det(linear) > 0, name
            assert min(volume["box"]["size"] if "box" in volume else [volume["sphere"]["radius"]]) > 0


def test_boxes_are_along_axes_of_unsheared_objects(exported):
    nodes = by_node(exported()[0])
    # 2 x 0.6 x 4 scaled by 1, 2, 0.2; glTF has Blender's Z second.
    sides = {"Turned": (2, 0.8, 1.2), "Mirrored": (2, 2, 4), "InsideOut": (4, 3, 4)}
    for name, expected in sides.items():
        assert nodes[name][1][0][1]["box"]["size"] == pytest.approx(expected, rel=1e-5)


def test_object_settings_and_overrides_apply_to_colliders(exported):
    read, _ = exported(
        """
item = bpy.data.objects["Turned"].collision_bounds
item.override, item.half_extents, item.center = "box", (0.5, 0.5, 0.5), (0, 0, 1)
item = bpy.data.objects["Plain"].collision_bounds
item.override, item.radius = "sphere", 3.0
item = bpy.data.objects["Far"].collision_bounds
item.use_object_settings, item.padding = True, 0.25
item = bpy.data.objects["Arrayed"].collision_bounds
item.use_object_settings, item.bounds_for = True, "loose_parts"
arrayed.modifiers["Array"].relative_offset_displace[0] = 1.5
""",
        export_apply=True,
    )
    nodes = by_node(read)
    shapes = {name: [shape for _, shape, _ in colliders] for name, (_, colliders) in nodes.items()}
    # Scaled by 1, 2, 0.2.
    assert shapes["Turned"][0]["box"]["size"] == pytest.approx((1, 0.2, 2), rel=1e-5)
    assert shapes["Plain"][0] == {"type": "sphere", "sphere": {"radius": pytest.approx(3, rel=1e-5)}}
    assert shapes["Far"][0]["box"]["size"] == pytest.approx((1.5, 1.5, 1.5), rel=1e-5)
    assert len(shapes["Arrayed"]) == 2 * 4
    points, colliders = nodes["Arrayed"]
    positions = np.array([reach(shape, matrix, points) for _, shape, matrix in colliders])
    assert positions.min(axis=0).max() <= 1
    for shape in shapes["Arrayed"]:
        assert shape["box"]["size"] == pytest.approx((0.4, 0.4, 0.4), rel=1e-4)


def test_each_of_several_custom_shapes_is_a_collider(exported):
    read, path = exported(
        """
item = bpy.data.objects["Turned"].collision_bounds
item.override, item.half_extents, item.center = "box", (0.5, 0.5, 0.5), (0, 0, 1)
for kind, center in (("sphere", (3, 0, 0)), ("box", (0, 4, 0))):
    more = item.more_shapes.add()
    more.shape, more.center, more.half_extents, more.radius = kind, center, (1, 2, 3), 0.25
"""
    )
    _, colliders = by_node(read)["Turned"]
    # Each is written for both extensions.
    shapes = [shape for _, shape, _ in colliders[::2]]
    # In the axes of glTF, and scaled by 1, 2, 0.2; the sphere is around the ellipsoid.
    assert shapes[0]["box"]["size"] == pytest.approx((1, 0.2, 2), rel=1e-5)
    assert shapes[1]["sphere"]["radius"] == pytest.approx(0.5, rel=1e-5)
    assert shapes[2]["box"]["size"] == pytest.approx((2, 1.2, 8), rel=1e-5)
    assert len(colliders) == 2 * 3 and errors_in(path) == []


@pytest.mark.parametrize("name", ["omi", pytest.param("khr", marks=pytest.mark.long)])
def test_each_extension_can_be_exported_alone(exported, name):
    other = "khr" if name == "omi" else "omi"
    read, path = exported(f"settings.{other} = False", "alone.gltf")
    assert errors_in(path) == []
    bodies = {collider["body"] for collider in read["colliders"]}
    assert bodies == {{"omi": "OMI_physics_body", "khr": "KHR_physics_rigid_bodies"}[name]}
    used = json.loads(path.read_text("utf-8"))["extensionsUsed"]
    assert {entry[:3].lower() for entry in used if "physics" in entry or "shape" in entry} == {name}


@pytest.mark.long
def test_disabled_export_writes_same_file_as_blender_without_extension(in_empty_blender, tmp_path):
    def export_to(folder: str, before: str = "") -> list[bytes]:
        (tmp_path / folder).mkdir()
        in_empty_blender(
            SCENE
            + before
            + f"""
export(folder + "/{folder}/off.glb")
export(folder + "/{folder}/off.gltf", export_apply=True)
answer(None)
"""
        )
        return [(tmp_path / folder / name).read_bytes() for name in ("off.glb", "off.gltf", "off.bin")]

    without = export_to("without")
    assert all(len(content) > 1000 for content in without)
    in_empty_blender("answer(install())")
    assert export_to("enabled") == without
    assert export_to("disabled", "import addon_utils\naddon_utils.disable(NAME)\n") == without


# The exporter reports its log in the interface. Without a window, reports are only printed, so collect them.
EXPORT_WITH_WARNINGS = """
from importlib import import_module
for name in ("debug", "gltf2_io_debug"):
    try:
        log = import_module("io_scene_gltf2.io.com." + name).Log
    except ImportError:
        continue
warnings, warning = [], log.warning
log.warning = lambda self, message, popup=False: warnings.append([message, popup])
export(folder + "/scene.glb")
log.warning = warning
answer(warnings)
"""


def test_objects_without_collider_are_reported_with_reason(in_blender):
    lines = in_blender(SCENE + ENABLED + EXPORT_WITH_WARNINGS)
    assert all(popup for line, popup in lines if "collider" in line)
    assert sorted(line for line, _ in lines if "collider" in line) == [
        "Flattened: no collider, its scale is 0 along an axis, which a child collider cannot compensate",
        "Skinned: no collider, it is deformed by bones, which a collider would not follow: "
        "set Bounds For to Each Bone, and use Create Colliders",
    ]


def test_mesh_whose_bones_have_colliders_is_not_reported(in_blender):
    """Colliders that users made count too, if they follow the skeleton of the mesh."""
    lines = """
def character(name, collider):
    rig = put(bpy.data.objects.new(name + " Rig", bpy.data.armatures.new(name)))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Hand").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = put(mesh(name), parent=rig)
    skin.vertex_groups.new(name="Hand").add(range(8), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    if collider:
        held = put(mesh(collider), parent=rig)
        held.parent_type, held.parent_bone = "BONE", "Hand"

character("Named", "UCX_Named_00")
character("Suffixed", "Fist-convcolonly")
character("Bare", None)
character("Armed", "Sword")
"""
    reported = in_blender(SCENE + ENABLED + lines + EXPORT_WITH_WARNINGS)
    names = sorted(line.partition(":")[0] for line, _ in reported if "deformed by bones" in line)
    assert names == ["Armed", "Bare", "Skinned"]


@pytest.mark.parametrize("shape", ["obb", "hull"])
def test_loose_part_without_collider_does_not_affect_others(in_blender, tmp_path, shape):
    """Two cubes of 2, and two of 0.2, which a padding of -0.3 removes. Hulls have no negative padding."""
    cubes = """
for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
corners = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
places = ((0, 1), (5, 0.1), (10, 1), (15, 0.1))
data = bpy.data.meshes.new("Crates")
data.from_pydata(
    [(place + size * x, size * y, size * z) for place, size in places for x, y, z in corners],
    [],
    [tuple(8 * number + index for index in face) for number in range(4) for face in faces],
)
crates = put(bpy.data.objects.new("Crates", data))
item = crates.collision_bounds
item.use_object_settings, item.bounds_for, item.padding = True, "loose_parts", -0.3
"""
    settings = f"settings.shape = {shape!r}\n"
    warnings = in_blender(SCENE + ENABLED + settings + cubes + EXPORT_WITH_WARNINGS)
    lines = [line for line, _ in warnings if "collider" in line]
    found = run_program("read_gltf.mjs", tmp_path / "scene.glb")["colliders"]
    if shape == "hull":
        assert found == []
        assert lines == [
            "Crates: no collider, a hull cannot shrink: use a padding of 0 or more",
        ]
    else:
        assert sorted({collider["name"] for collider in found}) == ["Crates_collider", "Crates_collider_2"]
        assert all(
            shape["box"]["size"] == pytest.approx([1.4] * 3) for shape in (each["shape"] for each in found)
        )
        (line,) = lines
        assert line.startswith("Crates: no collider for 2 of its 4 parts, ")


@pytest.mark.smoke
def test_options_are_in_dialog_and_off_by_default(in_blender):
    found = in_blender(
        """
        from io_scene_gltf2 import exporter_extension_layout_draw as dialogs
        settings = bpy.context.scene.collision_bounds.gltf
        off = [settings.omi, settings.khr]
        settings.khr = True
        bpy.ops.wm.save_as_mainfile(filepath=folder + "/saved.blend")
        bpy.ops.wm.open_mainfile(filepath=folder + "/saved.blend")
        loaded = bpy.context.scene.collision_bounds.gltf.khr
        drawn = dialogs[NAME].__module__
        # The exporter of Blender 4.2 would draw these instead.
        other_functions = [name for name in ("draw", "draw_export") if hasattr(package, name)]
        answer([off, loaded, drawn, other_functions])
        """
    )
    drawn = "bl_ext.user_default.collision_bounds.ui.panels.export"
    assert found == [[False, False], True, drawn, []]


def test_collider_objects_get_no_collider(exported):
    """A collider object would otherwise get a second collider around itself."""
    make = "bpy.ops.collision_bounds.create_colliders(scope='VISIBLE')"
    _, path = exported(make, "scene.gltf")
    nodes = json.loads(path.read_text("utf-8"))["nodes"]
    (collider,) = (node for node in nodes if node["name"].startswith("UBX_"))
    assert collider["name"] == "UBX_Skinned_00", "of a mesh that gets no collider node"
    assert "children" not in collider and "extensions" not in collider


def content_of(path: Path) -> dict:
    """Content of the first chunk of a binary file, which is JSON, after two headers of 12 and 8 bytes."""
    data = path.read_bytes()
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])


def test_collider_objects_are_dropped_where_nodes_replace_them(in_blender, tmp_path):
    """Colliders of bones stay: their meshes get no collider nodes. Without the extensions, all stay."""
    lines = """
from importlib import import_module
for item in list(bpy.data.objects):
    if item.name not in ("Skinned", "Rig", "Armature") and item.type != "ARMATURE":
        bpy.data.objects.remove(item)
data = bpy.data.meshes.new("Crate")
corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
data.from_pydata(corners, [], [(0, 1, 3, 2), (4, 5, 7, 6)])
put(bpy.data.objects.new("Crate", data))
skinned = bpy.data.objects["Skinned"].collision_bounds
skinned.use_object_settings, skinned.bounds_for = True, "bones"
bpy.context.view_layer.update()
bpy.ops.collision_bounds.create_colliders(scope="VISIBLE", kind="box", naming="godot")
answers = sorted(item.name for item in bpy.data.objects if "collision_bounds_collider" in item)
export(folder + "/with.glb")
settings.omi = settings.khr = False
export(folder + "/without.glb")
settings.omi = True
"""
    show = "answer([answers, warnings])\n"
    report = EXPORT_WITH_WARNINGS.replace("answer(warnings)", show)
    colliders, warnings = in_blender(SCENE + ENABLED + lines + report)
    assert not [line for line, _ in warnings if "collider" in line], "the bones have colliders"
    crate = [name for name in colliders if name.startswith("Crate")]
    assert len(crate) == 1 and len(colliders) > 1
    names = {
        file: {node.get("name") for node in content_of(tmp_path / file)["nodes"]}
        for file in ("with.glb", "without.glb")
    }
    assert set(colliders) <= names["without.glb"]
    assert set(colliders) & names["with.glb"] == set(colliders) - set(crate)


def test_export_does_not_make_results_outdated(in_blender):
    """The exporter plays the animation, and restores the scene."""
    lines = """
item = bpy.data.objects["Wall"] if "Wall" in bpy.data.objects else next(iter(bpy.data.objects))
for frame, x in ((1, 0.0), (10, 5.0)):
    item.location.x = x
    item.keyframe_insert("location", frame=frame)
scene.frame_start, scene.frame_end = 1, 10
scene.frame_set(1)
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
bpy.context.view_layer.update()
import sys
store = sys.modules["bl_ext.user_default.collision_bounds.scene.jobs.result_store"]
answers = [store.get(scene.collision_bounds.result_id).stale]
export(folder + "/scene.glb")
answers += [store.get(scene.collision_bounds.result_id).stale]
bpy.context.view_layer.update()
answers += [store.get(scene.collision_bounds.result_id).stale]
item.location.y += 3
bpy.context.view_layer.update()
answer([*answers, store.get(scene.collision_bounds.result_id).stale])
"""
    assert in_blender(SCENE + ENABLED + lines) == [False, False, False, True]
