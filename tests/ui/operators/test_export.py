"""Export operators: axes, tables, tiles, glTF, and refused exports."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import bpy
import pytest

from addon.formats import file_text
from addon.formats.export.robotics.links import ROBOTICS_SPACE
from addon.scene.jobs import result_store
from addon.ui import job_state
from addon.ui.operators import export
from tests.ui import scanned_scene

OPERATORS = [
    *("export_json", "export_csv", "export_tiles", "export_gltf", "export_unity", "export_unreal"),
    *("export_urdf", "export_mjcf", "export_usd", "export_curobo"),
]


@pytest.fixture
def scanned(settings):
    """Return the settings of a scanned scene."""
    scanned_scene.build()
    scanned_scene.scan()
    return settings


def written(path, **options) -> dict:
    assert bpy.ops.collision_bounds.export_json(filepath=str(path), **options) == {"FINISHED"}
    return json.loads(path.read_text("utf-8"))


@pytest.mark.smoke
def test_custom_axes_equal_to_an_engines_give_the_same_numbers(scanned, tmp_path):
    known = written(tmp_path / "a.json", preset="unreal")
    axes = {"up": "+Z", "forward": "+Y", "handedness": "left", "units": 100}
    custom = written(tmp_path / "b.json", preset="custom", **axes)
    assert custom["objects"] == known["objects"] and custom["contacts"] == known["contacts"]
    assert custom["space"]["metersPerUnit"] == 0.01


def test_table_of_contacts_is_proposed_where_there_are_contacts(settings):
    assert export.proposed_table(bpy.context) == "bounds"
    scanned_scene.build()
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE") == {"FINISHED"}
    assert export.proposed_table(bpy.context) == "bounds"
    scanned_scene.scan()
    assert export.proposed_table(bpy.context) == "contacts"


def test_invalid_axes_are_reported_and_nothing_is_written(scanned, tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(RuntimeError, match="must be different axes"):
        bpy.ops.collision_bounds.export_json(filepath=str(path), preset="custom", up="+Y", forward="-Y")
    assert not path.exists()


@pytest.mark.parametrize("table", ["bounds", "contacts"])
def test_table_has_row_for_each_object_or_pair(scanned, tmp_path, table):
    document = written(tmp_path / "a.json")
    path = tmp_path / "a.csv"
    assert bpy.ops.collision_bounds.export_csv(filepath=str(path), table=table) == {"FINISHED"}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    wanted = document["objects"] if table == "bounds" else [*document["contacts"], *document["clearances"]]
    if table == "contacts":
        # Six pairs of the four objects that never move.
        *rows, skipped, scan = rows
        assert (skipped["pairs"], scan["frame"], scan["until"], scan["fps"]) == ("6", "0", "20", "24")
    assert len(rows) == len(wanted) > 0


def test_tiles_have_blender_units_as_meters_for_any_unit_of_scene(scanned, tmp_path):
    before = written(tmp_path / "a.json")
    bpy.context.scene.unit_settings.scale_length = 0.01
    scanned_scene.scan()
    path = tmp_path / "tileset.json"
    assert bpy.ops.collision_bounds.export_tiles(filepath=str(path)) == {"FINISHED"}
    tiles = json.loads(path.read_text("utf-8"))["root"]["children"]
    for tile, entry in zip(tiles, before["objects"], strict=True):
        low, high = entry["world"]["aabb"]["min"], entry["world"]["aabb"]["max"]
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        assert tile["boundingVolume"]["box"][:3] == pytest.approx(middle, abs=1e-6)


@pytest.mark.parametrize(
    ("operator", "axes", "center", "half"),
    [
        ("export_unity", "xyz", "m_Center", "m_Extent"),
        ("export_unreal", "XYZ", "Origin", "BoxExtent"),
    ],
)
def test_bounds_for_engine_are_in_its_axes(scanned, tmp_path, operator, axes, center, half):
    known = written(tmp_path / "a.json", preset=operator.removeprefix("export_"), decimals=3)
    path = tmp_path / "b.json"
    assert getattr(bpy.ops.collision_bounds, operator)(filepath=str(path), decimals=3) == {"FINISHED"}
    made = json.loads(path.read_text("utf-8"))["bounds"]
    for found, entry in zip(made, known["objects"], strict=True):
        middle, reach = ([found["world"][key][axis] for axis in axes] for key in (center, half))
        box = entry["world"]["aabb"]
        for k, (low, high) in enumerate(zip(box["min"], box["max"], strict=True)):
            assert middle[k] - reach[k] == pytest.approx(low, abs=1e-4, rel=1e-6)
            assert middle[k] + reach[k] == pytest.approx(high, abs=1e-4, rel=1e-6)


def test_gltf_has_selected_extensions_only(scanned, tmp_path):
    path = tmp_path / "colliders.gltf"
    known = written(tmp_path / "a.json", preset="gltf")["objects"]
    assert bpy.ops.collision_bounds.export_gltf(filepath=str(path), extensions={"khr"}) == {"FINISHED"}
    made = json.loads(path.read_text("utf-8"))
    assert made["extensionsUsed"] == ["KHR_implicit_shapes", "KHR_physics_rigid_bodies"]
    for found, entry in zip((made["nodes"][i] for i in made["scenes"][0]["nodes"]), known, strict=True):
        assert found["name"] == entry["name"]
        assert found.get("translation", [0, 0, 0]) == pytest.approx(entry["transform"]["translation"])
        collider = made["nodes"][found["children"][0]]["extensions"]["KHR_physics_rigid_bodies"]["collider"]
        assert (
            made["extensions"]["KHR_implicit_shapes"]["shapes"][collider["geometry"]["shape"]]["type"]
            == "box"
        )


def test_gltf_without_extensions_is_refused_and_not_written(scanned, tmp_path):
    path = tmp_path / "colliders.gltf"
    with pytest.raises(RuntimeError, match="choose at least one"):
        bpy.ops.collision_bounds.export_gltf(filepath=str(path), extensions=set())
    assert not path.exists()


@pytest.mark.parametrize("operator", OPERATORS)
def test_export_is_refused_while_scan_runs(scanned, operator):
    assert getattr(bpy.ops.collision_bounds, operator).poll()
    job_state.begin()
    try:
        assert not getattr(bpy.ops.collision_bounds, operator).poll()
    finally:
        job_state.end()


@pytest.mark.parametrize("operator", OPERATORS)
def test_export_is_refused_without_results(settings, operator):
    assert not getattr(bpy.ops.collision_bounds, operator).poll()


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("export_json", "level.json"),
        ("export_csv", "level.csv"),
        ("export_tiles", "tileset.json"),
        ("export_gltf", "level.colliders.gltf"),
        ("export_unity", "level.unity.json"),
        ("export_unreal", "level.unreal.json"),
        ("export_urdf", "level.urdf"),
        ("export_mjcf", "level.xml"),
        ("export_usd", "level.colliders.usda"),
        ("export_curobo", "level.spheres.yml"),
    ],
)
def test_suggested_names_of_formats_differ(operator, name):
    cls = next(cls for cls in export.EXPORTS if cls.bl_idname == f"collision_bounds.{operator}")
    path = Path(export.suggested_path("/work/level.blend", cls.suggested_name))
    assert path == Path("/work", name) and path.suffix == cls.filename_ext


def test_file_that_was_never_saved_is_suggested_as_untitled():
    assert Path(export.suggested_path("", "{file}.unity.json")) == Path("untitled.unity.json")


@pytest.mark.parametrize(
    ("operator", "name", "begin"),
    [
        ("export_urdf", "a.urdf", "<?xml"),
        ("export_mjcf", "a.xml", "<!--"),
        ("export_usd", "a.usda", "#usda 1.0"),
        ("export_curobo", "a.yml", "# Collision Bounds"),
    ],
)
def test_files_for_robots_have_the_text_of_the_document(scanned, tmp_path, operator, name, begin):
    path = tmp_path / name
    assert getattr(bpy.ops.collision_bounds, operator)(filepath=str(path), decimals=4) == {"FINISHED"}
    text = path.read_bytes().decode("utf-8")
    result = result_store.get(scanned.result_id).contacts
    kind = operator.removeprefix("export_")
    assert text == "".join(file_text(result.document(ROBOTICS_SPACE, 4), kind))
    assert text.startswith(begin) and bpy.context.scene.objects[0].name in text


def test_mjcf_has_free_joints_on_request(scanned, tmp_path):
    path = tmp_path / "a.xml"
    for is_free in (False, True):
        export_mjcf = bpy.ops.collision_bounds.export_mjcf
        assert export_mjcf(filepath=str(path), free_joints=is_free) == {"FINISHED"}
        assert ("<freejoint" in path.read_text("utf-8")) == is_free
