"""Settings of objects as Blender's own: copied, saved, undone, animated; and the panels for them."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon import registration
from addon.scene.jobs import session
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.subjects.identities import identify_subjects
from addon.ui import fit_measures
from addon.ui.panels import object as object_panels
from addon.ui.properties.scene import fit_settings
from tests.scene.building import CUBE, open_empty_file
from tests.ui.drawn import Page


@pytest.fixture(autouse=True)
def extension():
    """An empty file with the extension switched on."""
    open_empty_file()
    registration.register()
    yield
    registration.unregister()


def add(name, points=CUBE, faces=(), **attributes):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], list(faces))
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    return item


def choose(*items):
    """Select these, the first of them active."""
    bpy.context.view_layer.update()
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[0] if items else None


def fill(own):
    """Values that no default has."""
    own.use_object_settings, own.method, own.padding, own.axes, own.depth = True, "ritter", 0.25, "object", 2
    own.override, own.center, own.half_extents, own.radius = "box", (1, 2, 3), (0.5, 0.25, 2), 0.75


def values(own):
    named = ("use_object_settings", "method", "padding", "axes", "depth", "override", "radius")
    return [getattr(own, name) for name in named] + [list(own.center), list(own.half_extents)]


# ---- Data of the object


@pytest.mark.smoke
def test_settings_are_copied_with_object():
    item = add("A")
    fill(item.collision_bounds)
    choose(item)
    bpy.ops.object.duplicate()
    twin = bpy.context.object
    assert twin != item and values(twin.collision_bounds) == values(item.collision_bounds)
    twin.collision_bounds.padding = 1.0
    assert item.collision_bounds.padding == 0.25


@pytest.mark.smoke
def test_settings_are_saved_in_file(tmp_path):
    item = add("A")
    fill(item.collision_bounds)
    before = values(item.collision_bounds)
    collection = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(collection)
    collection.collision_bounds.merge_bounds = True
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert values(bpy.data.objects["A"].collision_bounds) == before
    assert bpy.data.collections["Group"].collision_bounds.merge_bounds


def test_settings_are_undone_and_redone():
    choose(add("A"))
    bpy.ops.ed.undo_push(message="start")
    fill(bpy.context.object.collision_bounds)
    before = values(bpy.context.object.collision_bounds)
    bpy.ops.ed.undo_push(message="settings")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["A"].collision_bounds.use_object_settings
    bpy.ops.ed.redo()
    assert values(bpy.data.objects["A"].collision_bounds) == before


def test_only_padding_can_be_animated():
    own = add("A").collision_bounds
    assert own.keyframe_insert("padding", frame=1)
    for name in ("method", "use_object_settings", "override", "center", "half_extents", "radius", "depth"):
        with pytest.raises(TypeError, match="not animatable"):
            own.keyframe_insert(name, frame=1)


@pytest.mark.smoke
def test_settings_can_be_overridden_in_linked_files(tmp_path):
    fill(add("A").collision_bounds)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["A"]
    linked = wanted.objects[0]
    assert linked.collision_bounds.padding == 0.25
    override = linked.override_create()
    override.collision_bounds.padding = 0.5
    main = str(tmp_path / "main.blend")
    bpy.context.scene.collection.objects.link(override)
    bpy.ops.wm.save_as_mainfile(filepath=main)
    bpy.ops.wm.open_mainfile(filepath=main)
    again = next(item for item in bpy.data.objects if item.override_library)
    assert again.collision_bounds.padding == 0.5 and again.collision_bounds.method == "ritter"


@pytest.mark.smoke
def test_change_marks_results_stale_and_updates_overlay_at_once():
    item = add("A")
    choose(item)
    bpy.ops.collision_bounds.compute_bounds()
    scene = bpy.context.scene
    box = shown_box(scene)
    assert np.allclose(box, 1.0)
    item.collision_bounds.use_object_settings, item.collision_bounds.padding = True, 0.5
    bpy.context.view_layer.update()
    assert session.get(scene.collision_bounds.result_id).stale
    assert np.allclose(shown_box(scene), 1.5)


def shown_box(scene):
    """Largest x of the boxes that the overlay shows."""
    results = session.get(scene.collision_bounds.result_id)
    fit = fit_settings(scene.collision_bounds)
    live = LiveSubjects(results.bounds, identify_subjects(results.bounds.subjects))
    found = live.update(bpy.context.evaluated_depsgraph_get(), fit, ["aabb"], "aabb", False)
    return found.shapes["aabb"].shape.max[:, 0]


# ---- Operators


def test_copy_to_selected_copies_to_all_selected_objects():
    source, *others = [add(f"Part {number}") for number in range(5)]
    fill(source.collision_bounds)
    choose(source, *others[:3])
    assert bpy.ops.collision_bounds.copy_to_selected() == {"FINISHED"}
    for item in others[:3]:
        assert item.collision_bounds.method == "ritter" and item.collision_bounds.padding == 0.25
        assert item.collision_bounds.override == "none", "a shape set by hand is only copied when asked for"
    assert not others[3].collision_bounds.use_object_settings
    bpy.ops.collision_bounds.copy_to_selected(settings=False, override=True)
    assert values(others[0].collision_bounds) == values(source.collision_bounds)


def test_copy_to_selected_needs_other_objects():
    choose(add("A"))
    assert not bpy.ops.collision_bounds.copy_to_selected.poll()
    choose()
    assert not bpy.ops.collision_bounds.copy_to_selected.poll()


@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_start_from_fit_encloses_every_vertex_of_selected_objects(shape):
    rng = np.random.default_rng(2)
    items = [add(f"Cloud {n}", rng.normal(size=(50, 3)) * 3 + 7, scale=(1, 2, 3)) for n in range(3)]
    choose(*items)
    assert bpy.ops.collision_bounds.override_from_fit(shape=shape) == {"FINISHED"}
    for item in items:
        own = item.collision_bounds
        points = np.array([tuple(vertex.co) for vertex in item.data.vertices], dtype=np.float64)
        beside = points - np.array(own.center, dtype=np.float64)
        assert own.override == shape
        if shape == "sphere":
            assert (np.linalg.norm(beside, axis=1) <= own.radius).all()
        else:
            assert (np.abs(beside) <= np.array(own.half_extents)).all()
    measure = fit_measures.find_measurement(items[0], fit_settings(bpy.context.scene.collision_bounds))
    assert measure.quality.outside == 0


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_vertex_that_is_not_finite_is_reported_in_plain_words(number, capfd):
    choose(add("Broken", [(0, 0, 0), (1, number, 0), (2, 0, 0)]))
    told = "Broken: the place of a vertex is not a finite number"
    for shape in ("box", "sphere"):
        assert bpy.ops.collision_bounds.override_from_fit(shape=shape) == {"CANCELLED"}
        assert told in capfd.readouterr().out
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.collision_bounds.measure_fit()


def test_compute_reports_vertices_outside_override():
    item = add("A")
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.5, 0.5, 0.5)
    choose(item)
    bpy.ops.collision_bounds.compute_bounds()
    result = session.get(bpy.context.scene.collision_bounds.result_id).bounds
    assert result.objects_outside_override == ("A",)
    assert result.document()["objects"][0]["override"] == "box"


def test_measure_is_fresh_until_object_or_settings_change():
    item = add("A")
    choose(item)
    settings = bpy.context.scene.collision_bounds

    def measure():
        return fit_measures.find_measurement(item, fit_settings(settings))

    assert measure() is None
    bpy.ops.collision_bounds.measure_fit()
    assert not measure().stale
    settings.padding = 1.0
    assert measure().stale
    settings.padding = 0.0
    assert not measure().stale
    item.location.x = 3.0
    bpy.context.view_layer.update()
    assert measure().stale
    bpy.ops.collision_bounds.measure_fit()
    assert not measure().stale


# ---- Panels


class Layout:
    """Layout that checks that the properties of a panel exist, and records its contents."""

    def __init__(self, page):
        self.page = page

    def row(self, **_):
        return Layout(self.page)

    column = split = row

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties
        self.page.options.append(name)

    def label(self, text="", icon="NONE"):
        self.page.labels.append(text)

    def operator(self, name, **_):
        self.page.buttons.append(name)


def page(panel):
    """Contents of a panel in the current context."""
    found = SimpleNamespace(options=[], labels=[], buttons=[])
    stand_in = SimpleNamespace(layout=Layout(found))
    if hasattr(panel, "draw_header"):
        panel.draw_header(stand_in, bpy.context)
    panel.draw(stand_in, bpy.context)
    return found


PANELS = [
    object_panels.COLLISION_BOUNDS_PT_object_settings,
    object_panels.COLLISION_BOUNDS_PT_custom_shape,
    object_panels.COLLISION_BOUNDS_PT_fit_statistics,
]


@pytest.mark.smoke
@pytest.mark.parametrize("panel", PANELS)
def test_empty_panels_give_reason(panel):
    choose()
    assert page(panel).labels[-1] == "No object is active: click one"
    light = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    choose(light)
    assert page(panel).labels[-1] == "Lamp has no surface"


@pytest.mark.parametrize("count", [1, 500])
def test_panels_of_one_and_of_many_objects(count):
    items = [add(f"Part {number}") for number in range(count)]
    choose(*items)
    own, by_hand, fit = map(page, PANELS)
    assert {"use_object_settings", "padding", "bounds_for", "axes", "depth", "modifiers", "method"} <= set(
        own.options
    )
    assert by_hand.options == ["override"]
    assert fit.buttons == ["collision_bounds.measure_fit"]
    bpy.ops.collision_bounds.measure_fit()
    assert any("Not closed" in text for text in page(object_panels.COLLISION_BOUNDS_PT_fit_statistics).labels)


def test_override_panel_reports_vertices_outside():
    item = add("A")
    choose(item)
    bpy.ops.collision_bounds.override_from_fit()
    item.collision_bounds.half_extents[0] = 0.5
    bpy.ops.collision_bounds.measure_fit()
    assert "8 vertices lie outside" in page(object_panels.COLLISION_BOUNDS_PT_custom_shape).labels


def test_collections_of_object_can_be_merged():
    collection = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(collection)
    item = add("A")
    choose(item)
    assert "merge_bounds" not in page(object_panels.COLLISION_BOUNDS_PT_object_settings).options
    collection.objects.link(item)
    assert "merge_bounds" in page(object_panels.COLLISION_BOUNDS_PT_object_settings).options


@pytest.mark.smoke
def test_settings_that_cannot_be_edited_say_where_they_can(tmp_path):
    """Labels of the panels for the active object: a linked one, and an empty that shows a collection."""
    add("A")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["A"]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    choose(linked)
    for panel in (
        object_panels.COLLISION_BOUNDS_PT_object_settings,
        object_panels.COLLISION_BOUNDS_PT_custom_shape,
    ):
        assert "Linked: make a library override" in Page(panel).labels
    assert not bpy.ops.collision_bounds.override_from_fit.poll()
    local = add("B")
    local.select_set(True)
    assert bpy.ops.collision_bounds.override_from_fit.poll(), "another that is selected can be changed"

    props = bpy.data.collections.new("Props")
    empty = bpy.data.objects.new("Group", None)
    bpy.context.scene.collection.objects.link(empty)
    choose(empty)
    assert Page(object_panels.COLLISION_BOUNDS_PT_fit_statistics).labels == ["Group has no surface"]
    empty.instance_type, empty.instance_collection = "COLLECTION", props
    assert Page(object_panels.COLLISION_BOUNDS_PT_fit_statistics).labels == [
        "Group shows Props:",
        "click an object of that",
    ]


def test_ratios_fit_into_five_characters_however_large():
    told = {ratio: object_panels._ratio(ratio) for ratio in (1.0, 94.804, 139.6, 51234.5, 3.1e9)}
    assert told == {1.0: "1.00", 94.804: "94.80", 139.6: "140", 51234.5: "51234", 3.1e9: "3e+09"}


@pytest.mark.smoke
def test_only_object_settings_have_switch_in_physics_tab():
    choose(add("A"))
    assert not Page(object_panels.COLLISION_BOUNDS_PT_physics).options, (
        "bounds are not what is switched on there"
    )
    assert "padding" in Page(object_panels.COLLISION_BOUNDS_PT_physics_object_settings).options
    assert (
        object_panels.COLLISION_BOUNDS_PT_physics_object_settings.bl_parent_id
        == object_panels.COLLISION_BOUNDS_PT_physics.bl_idname
    )
