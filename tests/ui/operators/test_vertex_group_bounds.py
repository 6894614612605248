"""Compute Bounds of a vertex group: options, drawn boxes, exported files, swept bounds and errors."""

from __future__ import annotations

import io
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from addon.core import Aabb
from addon.scene.jobs import result_store
from addon.ui.panels import bounds as bounds_panel
from addon.ui.panels.menus import COLLISION_BOUNDS_OT_preset_add
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.building import CUBE, add_vertices, select_objects
from tests.ui.drawn_panel import Page
from tests.ui.overlay_data import draw_data_on

GROUP_OPTIONS = {"vertex_group", "group_threshold"}
POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, 2, 0), (5, 6, 7)], dtype=float)
WEIGHTS = (0.25, 0.5, 1.0, 0.0)


@pytest.fixture
def scene(settings):
    """Return the scene: Limb has a group, Crate has none."""
    limb = add_vertices("Limb", POINTS.tolist(), location=(10, 0, 0))
    group = limb.vertex_groups.new(name="Hand")
    for index, weight in enumerate(WEIGHTS):
        group.add([index], weight, "REPLACE")
    add_vertices("Crate", CUBE)
    bpy.context.view_layer.objects.active = limb
    settings.scope = "VISIBLE"
    settings.display.show_spheres = False
    return bpy.context.scene


def compute(**options):
    assert bpy.ops.collision_bounds.compute_bounds(**options) == {"FINISHED"}


def drawn(scene) -> list[tuple]:
    """Return the center and half extents of each drawn box, from left to right."""
    rows = draw_data_on(scene).by_mesh["boxes"].rows
    return sorted((*row[:3, 3].round(5).tolist(), *np.diag(row).round(5).tolist()[:3]) for row in rows)


def boxes_of(*selected: list[int]) -> list[tuple]:
    """Return the center and half extents around vertices of Limb, and those of Crate for none."""
    found = []
    for rows in selected:
        points = POINTS[rows] + (10, 0, 0) if rows else np.array(CUBE, dtype=float)
        low, high = points.min(axis=0), points.max(axis=0)
        found.append((*((low + high) / 2).tolist(), *((high - low) / 2).tolist()))
    return sorted(found)


@pytest.mark.smoke
def test_bounds_enclose_the_group_alone_and_the_option_is_kept_by_the_scene(scene, settings):
    compute(vertex_group="Hand")
    settings = bpy.context.scene.collision_bounds
    assert settings.vertex_group == "Hand" and drawn(scene) == boxes_of([1, 2])
    compute(group_threshold=0.0)
    assert drawn(scene) == boxes_of([0, 1, 2]), "vertices of weight 0 are never part"
    compute(vertex_group="")
    assert drawn(scene) == boxes_of([0, 1, 2, 3], [])


def test_drawn_boxes_are_those_that_were_computed_and_follow_edits(scene, settings):
    compute(vertex_group="Hand")
    settings = bpy.context.scene.collision_bounds
    settings.vertex_group, settings.group_threshold = "", 0.75
    limb = bpy.data.objects["Limb"]
    limb.location.x += 1
    bpy.context.view_layer.update()
    moved = [(x + 1, *rest) for x, *rest in boxes_of([1, 2])]
    assert drawn(scene) == moved
    limb.vertex_groups["Hand"].add([0], 1.0, "REPLACE")
    limb.data.update()
    bpy.context.view_layer.update()
    assert drawn(scene) == [(x + 1, *rest) for x, *rest in boxes_of([0, 1, 2])]
    limb.collision_bounds.use_object_settings = True
    limb.collision_bounds.padding = 1
    bpy.context.view_layer.update()
    ((x, y, z, *half),) = drawn(scene)
    assert (x, y, z) == pytest.approx((11.5, 1, 0)) and half == pytest.approx([1.5, 2, 1])


@pytest.mark.parametrize("shape", ["obb", "spheres", "capsule", "compound"])
def test_all_shapes_that_are_drawn_are_those_of_the_group(scene, settings, shape):
    settings = bpy.context.scene.collision_bounds
    settings.shape = shape
    settings.added_shapes = {"capsule", "compound"}
    compute(vertex_group="Hand")
    data = draw_data_on(scene)
    low, high = extents(data.instances.rows)
    assert low == pytest.approx((11, 0, 0), abs=1.1)
    assert high == pytest.approx((11, 2, 0), abs=1.1)


def extents(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box around all that is drawn."""
    half = np.abs(rows[:, :3, :3]).sum(axis=2)
    return (rows[:, :3, 3] - half).min(axis=0), (rows[:, :3, 3] + half).max(axis=0)


@pytest.mark.parametrize("threshold", [0.5, 0.75])
def test_file_is_that_of_the_command_line(scene, tmp_path, threshold):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "limb.blend"))
    compute(vertex_group="Hand", group_threshold=threshold)
    bpy.ops.collision_bounds.export_json(filepath=str(tmp_path / "panel.json"))
    options = ["--vertex-group", "Hand", "--group-threshold", str(threshold), "-q"]
    target = str(tmp_path / "command_line.json")
    assert main(["bounds", *options, "-o", target], opens_file=False, out=io.StringIO()) == 0
    assert Path(target).read_bytes() == (tmp_path / "panel.json").read_bytes()
    assert b'"vertexGroup": "Hand"' in Path(target).read_bytes()


def test_objects_without_the_group_are_notes(scene, settings):
    compute(vertex_group="Hand")
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds_notes)
    wanted = "has no vertices of weight 0.5 or more in vertex group 'Hand'"
    # Long lines are broken.
    assert f"Crate: {wanted}" in " ".join(page.labels)


def test_group_that_no_object_has_is_an_error_and_results_stay(scene, settings):
    compute()
    before = bpy.context.scene.collision_bounds.result_id
    with pytest.raises(
        RuntimeError, match=r"no visible object has vertices of weight 0\.5 or more in vertex"
    ):
        bpy.ops.collision_bounds.compute_bounds(vertex_group="Tail")
    assert bpy.context.scene.collision_bounds.result_id == before


def test_swept_bounds_are_those_of_all_vertices_and_not_exported_with_the_group(scene, settings, tmp_path):
    """The command line refuses to add them to bounds of a group."""
    select_objects(bpy.data.objects["Limb"])
    compute(vertex_group="Hand", scope="SELECTED")
    assert bpy.ops.collision_bounds.compute_envelope() == {"FINISHED"}
    path = tmp_path / "out.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    assert b'"envelope"' not in path.read_bytes()
    compute(vertex_group="")
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    assert path.read_bytes().count(b'"envelope"') == 1


def test_contacts_are_those_of_all_vertices(scene, settings):
    """Crate touches the vertex of weight 0."""
    bpy.data.objects["Crate"].location = (15, 6, 7)
    settings = bpy.context.scene.collision_bounds
    settings.vertex_group = "Hand"
    assert bpy.ops.collision_bounds.find_contacts(shape="aabb", static_pairs=True) == {"FINISHED"}
    assert len(settings.rows) == 1
    assert len(drawn(scene)) == 2 and boxes_of([0, 1, 2, 3])[0] in drawn(scene)


def test_bones_of_a_group_are_enclosed_at_one_frame(scene, settings):
    """Bounds at all frames would enclose all vertices of each bone."""
    rig = add_rig()
    tube = add_tube(rig, is_smooth=False)
    rotate_bones(rig, {1: 0.0}, frame=1)
    rotate_bones(rig, {1: 1.0}, frame=10)
    bpy.context.scene.frame_set(1)
    rows = [row for row, vertex in enumerate(tube.data.vertices) if 0.5 < vertex.co.z < 0.9]
    tube.vertex_groups.new(name="Ring").add(rows, 1.0, "REPLACE")
    of_tube = tube.collision_bounds
    of_tube.use_object_settings, of_tube.bounds_for, of_tube.bone_frames = True, "bones", "all"
    compute(vertex_group="Ring")
    (entry,) = result_store.get(bpy.context.scene.collision_bounds.result_id).bounds.objects
    (box,) = (shape for shape in entry.world if isinstance(shape, Aabb))
    points = np.array([tube.data.vertices[row].co for row in rows])
    assert (entry.bone, entry.all_frames) == ("Bone 0", False)
    assert box.min == pytest.approx(points.min(axis=0), abs=1e-5)
    assert box.max == pytest.approx(points.max(axis=0), abs=1e-5)


def test_menu_has_the_groups_of_the_active_object_and_chooses_one(scene, settings):
    bpy.data.objects["Limb"].vertex_groups.new(name="Foot")
    chooses = "collision_bounds.choose_vertex_group"
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings)
    assert page.buttons.count(chooses) == 2
    assert bpy.ops.collision_bounds.choose_vertex_group(group="Foot") == {"FINISHED"}
    assert bpy.context.scene.collision_bounds.vertex_group == "Foot"
    bpy.context.view_layer.objects.active = bpy.data.objects["Crate"]
    assert chooses not in Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings).buttons
    bpy.context.view_layer.objects.active = None
    assert chooses not in Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings).buttons


def test_panel_has_a_threshold_only_with_a_group(scene, settings):
    settings = bpy.context.scene.collision_bounds
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings)
    assert GROUP_OPTIONS & {*page.options} == {"vertex_group"}
    settings.vertex_group = "Hand"
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings)
    assert {*page.options} >= GROUP_OPTIONS


def test_presets_do_not_store_names_of_groups(scene):
    stored = {value.rpartition(".")[2] for value in COLLISION_BOUNDS_OT_preset_add.preset_values}
    assert not stored & GROUP_OPTIONS and "padding" in stored
