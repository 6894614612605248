"""The tab: contents of its panels, greyed-out settings, and settings that reach the scan."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.cli.parser import parse_arguments
from addon.scene.jobs import result_store
from addon.scene.subjects.selection import COLLECTION_PREFIX
from addon.ui import job_state
from addon.ui.panels import bounds as bounds_panel
from addon.ui.panels import contacts as contacts_panel
from addon.ui.panels import menus, sidebar
from addon.ui.properties import options
from addon.ui.properties.scene import contact_settings
from tests.scene.sampling import add_box, add_faces, key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.mark.smoke
def test_every_option_of_find_contacts_is_in_panels_and_operator(settings):
    settings.shape = "compound"  # which has options that other shapes lack
    shown = {
        **Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings).options,
        **Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options,
    }
    for name in options.CONTACT_OPTIONS:
        assert name in shown
        of_scene = settings.bl_rna.properties[name]
        of_button = bpy.ops.collision_bounds.find_contacts.get_rna_type().properties[name]
        assert of_scene.description == of_button.description and of_scene.description
        assert of_scene.type == of_button.type


def test_every_option_of_compute_bounds_is_in_panel_and_operator(settings):
    settings.added_shapes, settings.vertex_group = {"compound"}, "Hand"
    shown = Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings).options
    button = bpy.ops.collision_bounds.compute_bounds.get_rna_type().properties
    for name in options.BOUNDS_OPTIONS:
        assert name in shown
        assert settings.bl_rna.properties[name].description == button[name].description


@pytest.mark.smoke
def test_bounds_panel_is_short_and_its_options_are_in_folded_panels(settings):
    assert set(Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).options) == {"scope"}
    for name in ("fit_settings", "swept_bounds"):
        panel = getattr(bounds_panel, f"COLLISION_BOUNDS_PT_{name}")
        assert panel.bl_options == {"DEFAULT_CLOSED"}
        assert panel.bl_parent_id == bounds_panel.COLLISION_BOUNDS_PT_bounds.__name__


def header_of_fit_settings(monkeypatch, room: int = 100) -> list[str]:
    """Return the texts at the end of the header of Fit Settings, with room for so many characters.

    Without a window, Blender measures no texts.
    """
    monkeypatch.setattr(sidebar, "fits_in_sidebar", lambda *_: lambda text: len(text) <= room)
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_swept_bounds)
    page.labels.clear()
    bounds_panel.COLLISION_BOUNDS_PT_fit_settings.draw_header_preset(page, bpy.context)
    return page.labels


def test_header_of_fit_settings_has_what_is_not_default(settings, monkeypatch):
    bpy.context.scene.unit_settings.system = "METRIC"
    assert header_of_fit_settings(monkeypatch) == []
    settings.padding = 2.0
    assert header_of_fit_settings(monkeypatch) == ["Padding 2 m"]
    settings.added_shapes = {"capsule", "compound"}
    assert header_of_fit_settings(monkeypatch) == ["Padding 2 m +2"]
    settings.padding, settings.box_axes = 0.0, "smallest"
    assert header_of_fit_settings(monkeypatch) == ["Axes: Smallest +2"]
    settings.box_axes = "checked"
    assert header_of_fit_settings(monkeypatch) == ["Capsules +1"]
    settings.added_shapes = set()
    # Convex parts of the scan are in the Contacts panel.
    settings.parts, settings.shape = 3, "compound"
    assert header_of_fit_settings(monkeypatch) == []


def test_header_of_fit_settings_has_a_number_where_it_lacks_the_room(settings, monkeypatch):
    bpy.context.scene.unit_settings.system = "METRIC"
    settings.padding, settings.added_shapes = 2.0, {"capsule", "compound"}
    room = len("Fit Settings Padding 2 m +2")
    assert header_of_fit_settings(monkeypatch, room) == ["Padding 2 m +2"]
    assert header_of_fit_settings(monkeypatch, room - 1) == ["+3"]


def test_added_shapes_are_computed_measured_and_shown(settings):
    add_box("Box", (1, 1, 1))
    assert settings.display.shapes_drawn == ("aabb",)
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE", added_shapes={"capsule"}) == {"FINISHED"}
    assert settings.added_shapes == {"capsule"}
    assert settings.display.shapes_drawn == ("aabb", "capsule")
    entry = result_store.get(settings.result_id).bounds.objects[0]
    assert [type(shape).__name__ for shape in entry.world] == ["Sphere", "Aabb", "Capsule"]


def test_convex_parts_of_the_panel_reach_bounds_scans_and_the_overlay(settings):
    add_box("Box", (1, 1, 1))
    done = bpy.ops.collision_bounds.compute_bounds(
        scope="VISIBLE", added_shapes={"compound"}, parts=3, parts_tolerance=0.25, part_shape="sphere"
    )
    assert done == {"FINISHED"}
    assert settings.display.shapes_drawn == ("aabb", "compound")
    entry = result_store.get(settings.result_id).bounds.objects[0]
    (compound,) = [shape for shape in entry.world if type(shape).__name__ == "Compound"]
    assert [type(part).__name__ for part in compound.parts] == ["Sphere"]
    fit = contact_settings(settings).fit
    assert (fit.parts, fit.parts_tolerance, fit.part_shape) == (3, 0.25, "sphere")
    assert bpy.ops.collision_bounds.find_contacts(shape="compound", parts=5) == {"FINISHED"}
    assert settings.parts == 5 and settings.shape == "compound"


@pytest.mark.parametrize("parts", [1, 2])
def test_tolerance_of_parts_is_greyed_out_with_one_part(settings, parts):
    settings.added_shapes, settings.parts = {"compound"}, parts
    options = Page(bounds_panel.COLLISION_BOUNDS_PT_fit_settings).options
    assert options["parts"] and options["parts_tolerance"] == (parts > 1)


def test_box_axes_of_the_scene_reach_bounds_scans_and_the_overlay(settings):
    assert contact_settings(settings).fit.axes == "checked"
    add_box("Box", (1, 1, 1)).rotation_euler.z = 0.5
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE", box_axes="object") == {"FINISHED"}
    assert settings.box_axes == "object" == contact_settings(settings).fit.axes
    entry = result_store.get(settings.result_id).bounds.objects[0]
    assert "Obb" in [type(shape).__name__ for shape in entry.world]


def test_rarely_changed_options_are_folded(settings):
    shown = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts, unfolded=False).options
    assert "shape" in shown and not {"motion", "clearance", "use_scene_range", "group_a"} & set(shown)


@pytest.mark.smoke
def test_options_without_effect_are_greyed_out_with_reason(settings):
    scene = bpy.context.scene
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert page.options["motion"] and page.options["static_pairs"]
    assert not page.options["ignore_collection"]
    needs = "Needs Meshes, Spheres or Sphere Trees"
    assert page.options["obstacles"] and not page.options["one_sided"] and needs not in page.labels
    settings.shape = "aabb"
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert not page.options["obstacles"] and needs in page.labels
    settings.shape = "sphere"
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert page.options["obstacles"] and not page.options["one_sided"]
    settings.obstacles = "Level*"
    assert Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options["one_sided"]
    assert page.labels.count("This scene has no collections") == 1
    scene.collection.children.link(bpy.data.collections.new("Props"))
    assert Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options["ignore_collection"]
    settings.use_scene_range = False
    settings.frame_start = settings.frame_end = 7
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert not page.options["motion"] and not page.options["static_pairs"]
    assert [label for label in page.labels if "Single frame" in label]


def test_defaults_equal_those_of_command_line(settings):
    typed = parse_arguments(["contacts"], opens_file=False)
    converted = contact_settings(settings)
    assert (converted.shape, converted.motion, converted.clearance) == (
        typed.shape,
        typed.motion,
        typed.clearance,
    )
    assert (converted.group_a, converted.group_b, converted.ignored) == (
        tuple(typed.a),
        tuple(typed.b),
        tuple(typed.ignore),
    )
    assert (converted.ignore_parents, converted.ignore_collection, converted.static_pairs) == (
        typed.ignore_parents,
        typed.ignore_collection,
        typed.static_pairs,
    )
    assert converted.frames is typed.frames is None


def test_fields_of_tab_reach_scan(settings):
    settings.group_a, settings.group_b = "Car*", f"{COLLECTION_PREFIX}Road"
    settings.ignored = "Car:Kerb, Car.001:Kerb"
    settings.ignore_parents, settings.ignore_collection, settings.static_pairs = False, True, True
    converted = contact_settings(settings)
    assert (converted.group_a, converted.group_b) == (("Car*",), ("collection:Road",))
    assert converted.ignored == ("Car:Kerb", "Car.001:Kerb")
    assert (converted.ignore_parents, converted.ignore_collection, converted.static_pairs) == (
        False,
        True,
        True,
    )


ON_OBJECTS = ("compute_bounds", "compute_envelope", "find_contacts")


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_without_selection_buttons_work_on_all_visible_objects(settings, name):
    scanned_scene.build()
    settings.scope = "SELECTED"
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
    assert "Nothing selected: all visible" in page.labels
    assert not page.greyed + Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).greyed
    assert getattr(bpy.ops.collision_bounds, name)() == {"FINISHED"}
    results = result_store.get(settings.result_id)
    found = results.bounds or results.envelopes
    assert {subject.name for subject in found.subjects} == {item.name for item in bpy.data.objects}
    assert settings.scope == "SELECTED"


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_with_selection_buttons_work_on_selected_objects(settings, name):
    scanned_scene.build()
    settings.scope = "SELECTED"
    for item in ("Near", "Slider"):
        bpy.data.objects[item].select_set(True)
    labels = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels
    assert "2 selected" in labels and "Nothing selected: all visible" not in labels
    assert getattr(bpy.ops.collision_bounds, name)() == {"FINISHED"}
    results = result_store.get(settings.result_id)
    found = results.bounds or results.envelopes
    assert {subject.name for subject in found.subjects} == {"Near", "Slider"}


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_without_selection_script_gets_error_unless_it_passes_visible(settings, name):
    scanned_scene.build()
    operator = getattr(bpy.ops.collision_bounds, name)
    with pytest.raises(RuntimeError, match="No object with geometry is selected: select a mesh, or set"):
        operator(scope="SELECTED")
    assert operator(scope="VISIBLE") == {"FINISHED"}


def test_clear_results_is_next_to_compute_bounds_and_below_list(settings):
    clear = "collision_bounds.clear_results"
    assert clear in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).buttons
    assert clear not in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert not bpy.ops.collision_bounds.clear_results.poll()
    scanned_scene.build()
    scanned_scene.scan()
    assert clear in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert bpy.ops.collision_bounds.clear_results() == {"FINISHED"}
    assert not settings.rows and not bpy.ops.collision_bounds.clear_results.poll()


def test_details_of_active_row_have_both_full_names(settings):
    scanned_scene.build()
    bpy.data.objects["Far"].name = long = "Something With A Name That No List Has Room For"
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Slider", long)
    assert {long, "Slider"} <= set(Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels)


def test_header_of_details_has_subframe_of_playhead(settings):
    scanned_scene.build()
    scanned_scene.scan()
    for frame, subframe, text in ((7, 0.25, "7.25"), (3, 0.0, "3"), (4, 0.3125, "4.3125")):
        bpy.context.scene.frame_set(frame, subframe=subframe)
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        assert [label for label in labels if label.startswith("Playhead")] == [f"Playhead {text}"]


def bouncing_ball() -> None:
    """Key a cube of side 1 that touches the top of a floor, at 0, at frames 10 and 30, from above.

    It falls 0.2 a frame to -0.5 at frame 12.5, rises 0.8 a frame, leaves the floor 0.625 later, and falls
    again 0.1 a frame to -1 at frame 40.
    """
    half = (0.5, 0.5, 0.5)
    ball = add_box("Ball", half)
    key(ball, "location", [(0, (0, 0, 2.5)), (12.5, (0, 0, 0)), (15, (0, 0, 2)), (40, (0, 0, -0.5))])
    add_box("Floor", (5, 5, 2)).location = (0, 0, -2)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 45


def test_details_show_the_interval_at_the_playhead_and_buttons_go_to_others(settings):
    bouncing_ball()
    scanned_scene.scan()
    scene = bpy.context.scene
    scene.unit_settings.system = "NONE"
    settings.active_row = 0
    (row,) = settings.rows
    panel, go_to = contacts_panel.COLLISION_BOUNDS_PT_contacts, bpy.ops.collision_bounds.go_to_interval
    assert {row.a, row.b} == {"Ball", "Floor"} and scene.frame_current == 10
    labels = Page(panel).labels
    # 0.2 a frame at 24 frames per second.
    for text in ("Bounds: 1 of 2, 10.0000 to 13.12", "Closing speed 4.8/s", "Bounds: deepest 0.5 at 12.50"):
        assert text in labels
    # Ball is the first one: Floor leaves it downwards.
    assert "Apart along (0.00, 0.00, -1.00)" in labels
    height = len(labels)
    assert go_to(direction="NEXT") == {"FINISHED"}
    assert scene.frame_current == 30
    labels = Page(panel).labels
    for text in ("Bounds: 2 of 2, 30.0000 to 45.00", "Closing speed 2.4/s", "Bounds: deepest 1 at 40.00"):
        assert text in labels
    assert len(labels) == height
    assert go_to(direction="NEXT") == {"CANCELLED"}
    scene.frame_set(3)
    assert "Bounds: 1 of 2, 10.0000 to 13.12" in Page(panel).labels
    assert go_to(direction="NEXT") == {"FINISHED"} and scene.frame_current == 10
    scene.frame_set(44)
    assert go_to(direction="PREVIOUS") == {"FINISHED"} and scene.frame_current == 10
    assert "collision_bounds.go_to_interval" in Page(panel).buttons


def test_details_show_all_lines_of_a_row_with_much_to_say(settings):
    bouncing_ball()
    scanned_scene.scan()
    (row,) = settings.rows
    settings.active_row = 0
    row.accepted, row.comment, row.tunnelling = True, "Known", True
    bpy.data.objects["Floor"].hide_set(True)
    labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
    for text in (
        "Accepted: Known",
        "Tunnelling: between frames only",
        "Floor is hidden",
    ):
        assert text in labels


def test_details_of_a_pair_in_contact_from_the_start_have_no_speed(settings):
    add_box("Floor", (5, 5, 2)).location = (0, 0, -2)
    key(add_box("Ball", (0.5, 0.5, 0.5)), "location", [(1, (0, 0, 0)), (20, (0, 0, 3))])
    scanned_scene.scan()
    settings.active_row = 0
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert "Closing speed unknown" in page.labels and "In contact at the first frame" in page.labels
    assert not bpy.ops.collision_bounds.go_to_interval.poll()


def shown_and_loaded(folder):
    """Yield False with the results as they are, and True after they were saved and loaded again."""
    path = folder / "found.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    yield False
    bpy.ops.collision_bounds.clear_results()
    assert bpy.ops.collision_bounds.load_report(filepath=str(path)) == {"FINISHED"}
    yield True


@pytest.mark.parametrize(("shape", "tested"), [("aabb", "Bounds"), ("obb", "Bounds"), ("mesh", "Meshes")])
def test_each_frame_depth_and_gap_says_what_was_tested_in_list_and_details(settings, tmp_path, shape, tested):
    """The list of a report that is loaded says the same, whatever shape the settings have then."""
    scanned_scene.build()
    scanned_scene.scan(shape=shape)
    settings.shape = "sphere"
    for _ in shown_and_loaded(tmp_path):
        settings.contact_list.show_near_misses = True
        assert {row.is_near_miss for row in settings.rows} == {False, True}
        for index, row in enumerate(settings.rows):
            settings.active_row = index
            labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
            lines = labels[labels.index(row.b) + 1 :]
            numbers = [line for line in lines if {"at", "to", "gap", "Gap"} & set(line.split())]
            assert len(numbers) == 2 and all(line.startswith(f"{tested}: ") for line in numbers)


@pytest.mark.parametrize(
    ("wall", "path", "detail", "sentence"),
    [
        ((2, 2, 2), [(-5, 0, 0), (0, 0, 0)], "inside, 1.5 m at ", "One mesh is inside the other"),
        ((2, 2, 2), [(-5, 0, 0), (-2, 0, 0)], "deepest 0.5 m at 11.00", "The surfaces of the meshes cross"),
        ((2, 2, 2), [(-2.5, -1, 0), (-2.5, 1, 0)], "touch at ", "The meshes touch without overlap"),
        ((3, 0.1, 0.1), [(0, 0, -5), (0, 0, 0)], "surfaces cross at ", "The surfaces of the meshes cross"),
    ],
)
def test_details_and_tooltip_say_how_meshes_overlap(settings, tmp_path, wall, path, detail, sentence):
    add_box("Wall", wall)
    key(add_box("Mover", (0.5, 0.5, 0.5)), "location", list(zip((1, 11), path, strict=True)))
    bpy.context.scene.frame_end = 11
    scanned_scene.scan(shape="mesh")
    for _ in shown_and_loaded(tmp_path):
        settings.active_row = 0
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        assert any(label.startswith(f"Meshes: {detail}") for label in labels), labels
        assert sentence in settings.rows[0].tooltip


@pytest.mark.parametrize(("shape", "tested"), [("aabb", "bounds"), ("mesh", "meshes")])
def test_lines_above_the_list_say_what_was_tested(settings, shape, tested):
    scanned_scene.build()
    scanned_scene.scan(shape=shape)
    labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
    above = labels[: labels.index("Details")]
    assert ("Of bounds:" in above) == (shape == "aabb")
    assert f"3 contacts of {tested}" in above


def test_near_misses_of_meshes_without_contacts_are_of_meshes_after_loading_too(settings, tmp_path):
    add_box("Wall", (0.5, 0.5, 0.5)).location = (0, 1.25, 0)
    key(add_box("Mover", (0.5, 0.5, 0.5)), "location", [(1, (-5, 0, 0)), (11, (5, 0, 0))])
    bpy.context.scene.frame_end = 11
    scanned_scene.scan(shape="mesh")
    for is_loaded in shown_and_loaded(tmp_path):
        settings.contact_list.show_near_misses, settings.active_row = True, 0
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        assert any(label.startswith("Meshes: closest at ") for label in labels), (is_loaded, labels)


@pytest.mark.smoke
def test_details_of_a_scan_of_meshes_have_what_the_triangles_do(settings):
    """A cube falls on a slope: it enters the box around that before it touches the slope."""
    add_faces("Slope", [(-2, -2, 2), (-2, 2, 2), (2, 2, -2), (2, -2, -2)], [(0, 1, 2, 3)])
    key(add_box("Cube", (0.5, 0.5, 0.5)), "location", [(1, (0, 0, 11)), (21, (0, 0, -9))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 21
    bpy.context.scene.unit_settings.system = "NONE"
    begins = {}
    for shape in ("aabb", "mesh"):
        scanned_scene.scan(shape=shape)
        settings.active_row = 0
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        begins[shape] = [line for line in labels if ": contact" in line]
    # The slope is z = -x from 2 to -2, and the bottom of the cube is at z = 11.5 - frame. Its edges are at
    # x = -0.5 and 0.5, those of its top 1 above.
    assert begins == {
        "aabb": ["Bounds: contact 9.5000 to 14.50"],
        "mesh": ["Meshes: contact 11.0000 to 13.00"],
    }


@pytest.mark.parametrize(
    ("nearest", "extent"),
    [(0.93, "Meshes: closest 0.03 at 11.00"), (0.85, "Meshes: deepest 0.05 at 11.00")],
)
def test_details_say_when_meshes_are_within_the_clearance_and_whether_they_touch(
    settings, tmp_path, nearest, extent
):
    """The details of a report that is loaded are the same."""
    add_box("Wall", (0.5, 0.5, 0.5))
    key(add_box("Mover", (0.4, 0.4, 0.4)), "location", [(1, (5, 0, 0)), (11, (nearest, 0, 0))])
    bpy.context.scene.frame_end = 11
    bpy.context.scene.unit_settings.system = "NONE"
    scanned_scene.scan(shape="mesh", clearance=0.1)
    path = tmp_path / "near.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path), preset="unity")
    # Their sides are 0.1 apart where the centers are 1 apart.
    begin, text = 1 + 10 * (5 - 1) / (5 - nearest), "Meshes: contact "
    for is_loaded in (False, True):
        if is_loaded:
            bpy.ops.collision_bounds.clear_results()
            assert bpy.ops.collision_bounds.load_report(filepath=str(path)) == {"FINISHED"}
        settings.active_row = 0
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        frames = [float(label.removeprefix(text).split()[0]) for label in labels if label.startswith(text)]
        assert frames == [pytest.approx(begin, abs=2e-3)]
        assert any(label.startswith(extent) for label in labels), labels
        assert not any("-0." in label for label in labels)


def test_custom_box_takes_part_in_a_scan_of_meshes(settings):
    """It has sides of 2, its mesh those of 0.2: the cube comes from x = 3 and touches it at x = 1.5."""
    custom = add_box("Custom", (0.1, 0.1, 0.1))
    custom.collision_bounds.override, custom.collision_bounds.half_extents = "box", (1, 1, 1)
    key(add_box("Cube", (0.5, 0.5, 0.5)), "location", [(1, (3, 0, 0)), (20, (0, 0, 0))])
    scanned_scene.scan(shape="mesh")
    settings.active_row = 0
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert "Meshes: contact 10.5000 to 250.00" in page.labels and page.popovers == []


@pytest.mark.smoke
def test_every_operator_is_in_menu_and_so_in_search(settings):
    operators = {
        cls.bl_idname
        for cls in registration._CLASSES
        if issubclass(cls, bpy.types.Operator) and "INTERNAL" not in cls.bl_options
    }
    there = set(Page(menus.VIEW3D_MT_collision_bounds).buttons)
    assert there == operators - {"collision_bounds.preset_add"}


def test_group_fields_suggest_collections_and_objects(settings):
    scene = bpy.context.scene
    scene.collection.children.link(bpy.data.collections.new("Props"))
    scene.collection.objects.link(bpy.data.objects.new("Crate", None))
    assert list(options.suggested_names(settings, bpy.context, "")) == ["collection:Props", "Crate"]


def test_results_of_before_are_not_shown_while_a_scan_runs_but_the_hint_about_esc_is(settings):
    scanned_scene.build()
    scanned_scene.scan()
    assert "Click a row" in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
    job = job_state.begin()
    job.has_partial_result, job.operator = True, "collision_bounds.find_contacts"
    try:
        page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    finally:
        job_state.end()
    assert job.esc_text in page.labels and job.esc_text not in page.greyed_labels
    assert "Click a row" not in page.labels and "Details" not in page.labels
