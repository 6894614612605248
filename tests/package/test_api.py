"""The functions for scripts inside Blender give what Export JSON writes, and clear errors, once installed."""

from __future__ import annotations

import json
import math

import pytest

from tests.documented import by_language

EXAMPLES = [
    block.text for block in by_language("docs/python.md", "python") if block.text.startswith("import bpy\n")
]
"""Those that need Blender; the math runs without."""

OPEN = """
bpy.ops.wm.open_mainfile(filepath=scene_path)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 20, 30
api = scene.collision_bounds.api
def error_of(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except api.CollisionBoundsError as error:
        return [type(error).__name__, str(error)]
    return None
"""


@pytest.fixture
def in_scene(in_blender):
    """Return a function that runs a script with `api` in the example scene, at frames 20 to 30."""
    return lambda script: in_blender(OPEN + script)


@pytest.mark.smoke
def test_latest_results_are_those_of_export_json(in_scene, tmp_path):
    file = tmp_path / "exported.json"
    results, contacts, ids = in_scene(
        f"""
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
bpy.ops.collision_bounds.export_json(filepath={str(file)!r}, preset="unity")
answer([api.latest_results(preset="unity"), api.latest_contacts(), [NAME, api.__name__]])
"""
    )
    assert results == json.loads(file.read_text("utf-8"))
    projectile = next(entry for entry in contacts if {entry["a"], entry["b"]} == {"Plate", "Projectile"})
    # It starts 1.6171875 m in front of the plate at frame 20, and flies 0.375 m per frame.
    assert projectile["first"]["frame"] == pytest.approx(20 + 1.6171875 / 0.375, abs=1e-6)
    assert ids[1] == f"{ids[0]}.api"


@pytest.mark.smoke
def test_errors_name_scene_and_remedy(in_scene):
    found = in_scene(
        """
found = [error_of(api.latest_results)]
bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
found += [error_of(api.latest_results), error_of(api.latest_contacts)]
scene.objects["Mast"].location.x += 1
# No update of the view layer: the function does it.
found += [error_of(api.latest_results), error_of(api.latest_results, allow_stale=True)]
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
found += [error_of(api.latest_contacts)]
scene.objects["Mast"].location.x += 1
found += [error_of(api.latest_contacts), error_of(api.latest_contacts, allow_stale=True)]
answer(found)
"""
    )
    nothing, with_bounds, no_scan, stale, allowed, scanned, stale_contacts, allowed_contacts = found
    assert nothing[0] == "NoResultsError" and "compute bounds or find contacts first" in nothing[1]
    assert with_bounds is allowed is scanned is allowed_contacts is None
    assert no_scan[0] == "NoResultsError" and "find contacts first" in no_scan[1]
    assert stale == stale_contacts
    assert (
        stale[0] == "StaleResultsError" and "has changed since" in stale[1] and "scene 'Factory'" in stale[1]
    )


@pytest.mark.smoke
def test_bounds_of_named_objects_enclose_their_vertices_and_leave_the_panel_alone(in_scene):
    entry, corners, names, frame, before, after = in_scene(
        """
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
before = [scene.collision_bounds.result_id, scene.frame_current]
document = api.bounds_of([scene.objects["Projectile"], "Plate"], shapes=["aabb"], frame=24.5)
after = [scene.collision_bounds.result_id, scene.frame_current]
names = sorted(item["name"] for item in document["objects"])
(entry,) = [item for item in document["objects"] if item["name"] == "Projectile"]
scene.frame_set(24, subframe=0.5)
item = scene.objects["Projectile"].evaluated_get(bpy.context.evaluated_depsgraph_get())
points = [item.matrix_world @ vertex.co for vertex in item.data.vertices]
corners = [[function(point[axis] for point in points) for axis in range(3)] for function in (min, max)]
answer([entry, corners, names, document["time"]["referenceFrame"], before, after])
"""
    )
    assert names == ["Plate", "Projectile"]
    assert (frame, before) == (24.5, after)
    box = entry["world"]["aabb"]
    assert box["min"] == pytest.approx(corners[0], abs=2e-6) and box["max"] == pytest.approx(
        corners[1], abs=2e-6
    )
    assert all(low <= corner for low, corner in zip(box["min"], corners[0], strict=True))


def test_contacts_of_objects_are_those_of_the_whole_scan(in_scene):
    alone, every, one, result_id = in_scene(
        """
names = ("Projectile", "Plate")
alone = api.contacts_among(names, frames=(20, 30, 1))["contacts"]
every = api.contacts_among(preset="blender")["contacts"]
every = [entry for entry in every if {entry["a"], entry["b"]} == set(names)]
answer([alone, every, api.contacts_among("Projectile")["contacts"], scene.collision_bounds.result_id])
"""
    )
    assert len(alone) == 1 and alone == every
    assert (one, result_id) == ([], "")


@pytest.mark.smoke
def test_contacts_without_options_are_those_of_meshes(in_scene):
    """Above the foot of a post, of radius 1/8, the body of the cart reaches its shaft, of radius 1/16.

    The post is 1.5 m ahead of the cart, and the front of the cart 0.3125 m.
    """
    scans = in_scene(
        """
scene.frame_start, scene.frame_end = 36, 42
scans = []
for options in ({}, {"shape": "aabb"}, {"frames": (36, 40)}, {"shape": "aabb", "frames": (36, 40)}):
    found = api.contacts_among(("Cart", "Fence"), **options)["contacts"]
    scans.append([[entry["a"], entry["b"], entry["shape"], entry["first"]["frame"]] for entry in found])
answer(scans)
"""
    )
    of_meshes, of_boxes = (
        ["Cart", "Fence/Post.3", shape, pytest.approx(frame_of_cart(1.5 - 0.3125 - radius), abs=1e-3)]
        for shape, radius in (("mesh", 1 / 16), ("aabb", 1 / 8))
    )
    assert scans == [[of_meshes], [of_boxes], [], [of_boxes]]


def frame_of_cart(travel: float) -> float:
    """Return the frame at which the cart has moved by a length, of 1.25 m from frame 10 to 48.

    Its keys are eased: at the part s of the time, it has moved by the part 3 s^2 - 2 s^3.
    """
    return 10 + 38 * (0.5 - math.sin(math.asin(1 - 2 * travel / 1.25) / 3))


def test_frame_and_values_without_a_key_stay(in_scene):
    """Unlike the operators, which discard these values as moving the playhead does."""
    before, after, moved, is_stale = in_scene(
        """
item = scene.objects["Projectile"]
item["Charge"] = 1.5
item.keyframe_insert('["Charge"]', frame=20)
scene.frame_set(22, subframe=0.25)
bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
item.location, item["Charge"] = (1, 2, 3), 7.5
bpy.context.view_layer.update()
def values():
    return [scene.frame_current_final, *item.location, item["Charge"], *item.matrix_world.translation]
before = values()
at_frame = api.bounds_of("Projectile", shapes=["aabb"], frame=27)
after = [values()]
api.contacts_among(["Projectile", "Plate"])
after.append(values())
here = api.bounds_of("Projectile", shapes=["aabb"])
boxes = [each["objects"][0]["transform"]["translation"] for each in (at_frame, here)]
answer([before, after, boxes, error_of(api.latest_results)])
"""
    )
    assert before == [22.25, 1, 2, 3, 7.5, 1, 2, 3]
    assert after == [before, before]
    assert moved[0] != moved[1] == [1, 2, 3]
    assert is_stale is not None and is_stale[0] == "StaleResultsError"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("bounds_of('Plat')", "object 'Plat': is not in scene 'Factory'"),
        ("bounds_of(bpy.data.objects.new('Loose', None))", "object 'Loose': is not in scene"),
        ("bounds_of(shapes=['cube'])", "shapes 'cube': choose from sphere, aabb"),
        ("bounds_of(preset='godot')", "preset 'godot': choose from blender, gltf"),
        ("bounds_of(frame=float('nan'))", "frame"),
        ("bounds_of(padding=float('nan'))", "padding"),
        ("contacts_among(shape='hull')", "shape 'hull': choose from aabb"),
        ("contacts_among(motion='fast')", "motion 'fast': choose from adaptive, linear"),
        ("contacts_among(frames=(30, 20, 1))", "frame"),
        ("contacts_among(frames=(1, 5, 1, 1))", "frames"),
        ("contacts_among(frames='1:5')", "frames '1:5': must be a frame"),
        ("contacts_among(clearance='a')", "clearance 'a': must be a number of 0 or more"),
        ("contacts_among(5)", "objects 5: must be objects or their names"),
        ("contacts_among(shape=['obb'])", "shape ['obb']: choose from aabb"),
        ("contacts_among(preset={})", "preset {}: choose from blender"),
        ("bounds_of(padding='a')", "padding 'a': must be a finite number"),
        ("bounds_of(frame='a')", "frame 'a': must be a finite number"),
        ("bounds_of(shapes=None)", "shapes None: must be a sequence of names"),
        ("bounds_of([None])", "object None: must be an object or its name"),
        ("contacts_among(clearance=-1)", "clearance"),
        ("latest_results(preset='godot')", "preset 'godot'"),
        ("bounds_of(bnes=True)", "option 'bnes': choose from"),
        ("bounds_of(parts=0)", "parts 0: must be a whole number from 1 to 256"),
        ("contacts_among(shape='obb', parts=4)", "parts: only valid with shape"),
        ("contacts_among(shape='compound', part_shape='box')", "option 'part_shape': choose from"),
        ("collider_report('Plat')", "object 'Plat': is not in scene 'Factory'"),
    ],
)
def test_wrong_arguments_are_one_sentence(in_scene, call, message):
    name, _, arguments = call.partition("(")
    found = in_scene(
        f"""
bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
answer(error_of(api.{name}, {arguments})
"""
    )
    assert found is not None and message in found[1] and "\n" not in found[1]


def test_missing_inputs_are_an_error_unless_they_are_allowed(in_scene):
    refused, allowed, scanned = in_scene(
        """
modifier = scene.objects["Plate"].modifiers.new("Cache", "MESH_CACHE")
modifier.cache_format, modifier.filepath = "PC2", folder + "/gone.pc2"
refused = [error_of(function, "Plate") for function in (api.bounds_of, api.contacts_among)]
allowed = api.bounds_of("Plate", allow_missing=True)["warnings"]
scanned = api.contacts_among(["Plate", "Projectile"], frames=24, allow_missing=True)["time"]
answer([refused, allowed, scanned])
"""
    )
    assert all("gone.pc2" in text and "allow_missing=True" in text for _, text in refused)
    assert [entry["kind"] for entry in allowed] == ["missingFile"]
    assert (scanned["frameStart"], scanned["frameEnd"]) == (24, 24)


@pytest.mark.smoke
def test_module_lists_its_public_names_alone(in_scene):
    names = in_scene("answer(dir(api))")
    assert names == [
        *("CollisionBoundsError", "NoResultsError", "StaleResultsError", "bounds_of", "collider_report"),
        *("contacts_among", "latest_contacts", "latest_results"),
    ]


@pytest.mark.smoke
def test_example_scans_all_objects_after_an_edit_whatever_is_selected(in_scene):
    """With a selected object alone, the operator would find no contact."""
    (source,) = [text for text in EXAMPLES if "StaleResultsError" in text]
    printed = in_scene(
        f"""
import contextlib, io
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
for item in scene.objects:
    item.select_set(item.name == "Mast")
scene.objects["Mast"].location.x += 1
with contextlib.redirect_stdout(io.StringIO()) as output:
    exec({source!r}, {{}})
answer(output.getvalue())
"""
    )
    assert int(printed.split()[0]) >= 1


def test_objects_without_bounds_are_skipped_with_reasons(in_scene):
    document = in_scene(
        """
scene.objects["Plate"].hide_set(True)
answer(api.bounds_of(["Plate", "Projectile"]))
"""
    )
    assert [entry["name"] for entry in document["objects"]] == ["Projectile"]
    assert [entry["name"] for entry in document["skipped"]] == ["Plate"]


def test_object_whose_name_is_a_pattern_is_that_object_alone(in_scene):
    names = in_scene(
        """
scene.objects["Plate"].name = "P*"
answer([entry["name"] for entry in api.bounds_of([scene.objects["P*"]])["objects"]])
"""
    )
    assert names == ["P*"]


@pytest.mark.smoke
def test_module_is_found_whatever_the_repository_is_called(in_new_blender):
    found = in_new_blender(
        """
import addon_utils, os, shutil
addon_utils.disable(NAME)
attached = hasattr(bpy.types.Scene, "collision_bounds")
directory = os.path.join(folder, "studio")
repositories = bpy.context.preferences.extensions.repos
repositories.new(name="Studio", module="studio_tools", custom_directory=directory)
source = os.path.dirname(package.__file__)
shutil.copytree(source, os.path.join(directory, "collision_bounds"))
addon_utils.modules_refresh()
addon_utils.enable("bl_ext.studio_tools.collision_bounds")
bpy.ops.wm.open_mainfile(filepath=scene_path)
api = bpy.context.scene.collision_bounds.api
answer([attached, api.__name__, len(api.bounds_of("Plate")["objects"])])
"""
    )
    assert found == [False, "bl_ext.studio_tools.collision_bounds.api", 1]


@pytest.mark.smoke
def test_examples_of_the_page_run(in_blender):
    assert len(EXAMPLES) >= 3
    printed = in_blender(
        f"""
import contextlib, io, runpy
bpy.ops.wm.open_mainfile(filepath=scene_path)
bpy.context.scene.frame_start, bpy.context.scene.frame_end = 20, 30
bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
printed = []
for number, source in enumerate({EXAMPLES!r}):
    file = folder + f"/example{{number}}.py"
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(source)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(file)
    printed.append(output.getvalue())
answer(printed)
"""
    )
    assert any("Plate Projectile 24.31" in text for text in printed)


def test_instances_of_an_object_count_with_it(in_scene):
    names = in_scene('answer([entry["name"] for entry in api.bounds_of("Fence")["objects"]])')
    assert names == [f"Fence/Post.{number}" for number in range(6)]


@pytest.mark.long
def test_all_shapes_are_computed(in_scene):
    keys = in_scene(
        """
shapes = ["sphere", "aabb", "obb", "spheres", "hull", "capsule", "cylinder", "compound"]
(entry,) = api.bounds_of("Crate", shapes=shapes)["objects"]
answer([shapes, sorted(entry["world"])])
"""
    )
    assert sorted(keys[0]) == keys[1]


@pytest.mark.long
def test_options_of_the_command_line_apply_to_scripts(in_scene):
    crate, moving, group, contacts = in_scene(
        """
(crate,) = api.bounds_of("Crate", parts=2, part_shape="box", box_axes="smallest")["objects"]
(moving,) = api.bounds_of("Projectile", envelope=True, frames=(20, 22, 1))["objects"]
plate = scene.objects["Plate"]
plate.vertex_groups.new(name="Edge").add([0, 1], 1.0, "REPLACE")
of_group = api.bounds_of("Plate", vertex_group="Edge", shapes=["aabb"])
(group,) = of_group["objects"]
contacts = api.contacts_among(["Projectile", "Plate"], shape="compound", parts=2)["contacts"]
points = [list(plate.matrix_world @ plate.data.vertices[index].co) for index in (0, 1)]
answer([crate["world"], moving, [group["world"]["aabb"], points, of_group["extras"]], contacts])
"""
    )
    assert len(crate["compound"]) in (1, 2) and all("obb" in str(part) for part in crate["compound"]), crate
    assert {"sphere", "aabb", "local"} <= set(moving["envelope"])
    box, points, extras = group
    assert extras == {"vertexGroup": "Edge"}
    for axis in range(3):
        assert box["min"][axis] == pytest.approx(min(point[axis] for point in points), abs=2e-6)
        assert box["max"][axis] == pytest.approx(max(point[axis] for point in points), abs=2e-6)
    assert len(contacts) == 1 and contacts[0]["shape"] == "compound"


@pytest.mark.smoke
def test_colliders_are_created_and_checked_by_scripts(in_scene):
    right, wrong, of_other = in_scene(
        """
plate = scene.objects["Plate"]
for item in scene.objects:
    item.select_set(item == plate)
bpy.ops.collision_bounds.create_colliders(scope="SELECTED", kind="box")
right = api.collider_report()
(collider,) = [item for item in plate.children if item.name.startswith("UBX_")]
collider.scale = (0.5, 0.5, 0.5)
bpy.context.view_layer.update()
answer([right, api.collider_report(collider), api.collider_report("Crate")])
"""
    )
    assert right["format"] == "collision-bounds-collider-check"
    assert [entry["mesh"] for entry in right["colliders"]] == ["Plate"] and right["problems"] == []
    assert "outside" in [entry["kind"] for entry in wrong["problems"]]
    assert of_other["colliders"] == []


def test_running_job_is_an_error_that_names_it(in_scene):
    found = in_scene(
        """
import sys
job_state = sys.modules[f"{NAME}.ui.job_state"]
job_state.begin()
found = [error_of(api.bounds_of), error_of(api.contacts_among)]
job_state.end()
answer([found, error_of(api.bounds_of, "Plate")])
"""
    )
    (first, second), after = found
    assert first == second and "Blender is finding contacts: stop it" in first[1]
    assert after is None
