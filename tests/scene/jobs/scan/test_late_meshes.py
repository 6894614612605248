"""Meshes without vertices at the first frame of a scan that have some later are named."""

from __future__ import annotations

import json

import bpy
import pytest

from addon.cli.main import main
from addon.scene.settings import FitSettings
from tests.scene.building import Nodes, open_empty_file
from tests.scene.sampling import add_box, key, scan_scene


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24


def add_scene() -> bpy.types.Object:
    """Add two boxes, of which the second one passes through the first, which is returned."""
    wall = add_box("Wall", (1, 1, 1))
    key(add_box("Mover", (0.5, 0.5, 0.5)), "location", [(1, (8, 0, 0)), (24, (-8, 0, 0))])
    add_box("Post", (0.5, 0.5, 0.5)).location = (0, 9, 0)
    return wall


def mask_all(item: bpy.types.Object) -> bpy.types.Modifier:
    """Add a modifier that hides all vertices."""
    item.vertex_groups.new(name="Empty")
    modifier = item.modifiers.new("Mask", "MASK")
    modifier.vertex_group = "Empty"
    return modifier


def add_mask() -> None:
    key(mask_all(add_scene()), "show_viewport", [(1, True), (8, False)], "CONSTANT")


def add_build() -> None:
    build = add_scene().modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 5, 6


@pytest.mark.parametrize(("add", "first"), [(add_mask, 8), (add_build, 6)])
def test_mesh_that_gets_vertices_is_named_with_the_frame(add, first):
    add()
    result = scan_scene()
    reason = f"no vertices at the first frame, some at frame {first}: not included"
    assert [(entry.name, entry.reason) for entry in result.skipped] == [("Wall", reason)]
    assert [(entry.kind, entry.name) for entry in result.warnings] == [("lateMesh", "Wall")]
    assert f"at frame {first}" in result.warnings[0].message


@pytest.mark.parametrize("add", [add_mask, add_build])
def test_scan_that_begins_when_there_are_vertices_has_the_contact(add):
    add()
    result = scan_scene(frames=(10, 24, 1))
    (contact,) = result.report.contacts
    # The faces are 1.5 apart where they touch: at 8 - 16 (t - 1) / 23.
    assert contact.first.frame == pytest.approx(1 + 23 * 6.5 / 16, abs=1e-3)
    assert result.warnings == ()


def test_mesh_that_never_has_vertices_is_no_warning():
    mask_all(add_scene())
    result = scan_scene()
    assert [(entry.name, entry.reason) for entry in result.skipped] == [("Wall", "no vertices")]
    assert result.warnings == ()


def test_vertices_of_modifiers_do_not_count_for_base_meshes():
    wall = add_scene()
    wall.data.clear_geometry()
    nodes = Nodes(wall)
    nodes.end(nodes.add("GeometryNodeMeshCube").outputs[0])
    result = scan_scene(fit=FitSettings(modifiers="base"))
    assert [(entry.name, entry.reason) for entry in result.skipped] == [("Wall", "no vertices")]
    assert result.warnings == ()


def test_command_ends_with_an_error_unless_missing_inputs_are_allowed(tmp_path, capsys):
    add_mask()
    written = tmp_path / "out.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert main(["contacts", "-q", "-o", str(written)], opens_file=False) == 2
    assert "Wall: has no vertices at the first frame, and some at frame 8" in capsys.readouterr().err
    assert not written.exists()
    assert main(["contacts", "-q", "-o", str(written), "--allow-missing"], opens_file=False) == 0
    assert [entry["kind"] for entry in json.loads(written.read_text("utf-8"))["warnings"]] == ["lateMesh"]
    assert main(["validate", str(written)], opens_file=False) == 0
