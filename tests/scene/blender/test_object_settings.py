"""Settings of single objects: bounds enclose what they guarantee to enclose, whatever the settings.

What must be inside is worked out here from the mesh data alone, vertex by vertex.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from addon.cli.main import main
from addon.core import Aabb, Obb, Sphere
from addon.formats import dumps, parse_document
from addon.scene.animation import subject_index
from addon.scene.animation.obstacles import MeshObstacles
from addon.scene.animation.scene_motion import SceneMotion
from addon.scene.blender import object_properties
from addon.scene.blender.loose_parts import rows_by_label
from addon.scene.errors import SceneError
from addon.scene.fitting.quality import measure_fit
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, PairSettings, Selection
from addon.scene.subjects import geometry as subject_geometry
from addon.scene.subjects.find import find_subjects
from addon.scene.subjects.pair_filters import make_scan_settings
from tests.finished import finished
from tests.paths import TOP
from tests.scene.building import CUBE, curves, key_location, open_empty_file

SHAPES = ["sphere", "aabb", "obb", "spheres"]
rng = np.random.default_rng(5)
CLOUD = rng.normal(size=(40, 3)).astype(np.float32)
FACES = [tuple(map(int, rng.choice(40, 3, replace=False))) for _ in range(60)]
PLACE = {"location": (1.5, -2, 0.5), "rotation_euler": (0.4, 1.1, -0.7), "scale": (2.0, 0.5, 1.25)}


@pytest.fixture(autouse=True)
def registered():
    """Open an empty file, with the property groups of objects but without the rest of the extension."""
    open_empty_file()
    object_properties.attach()
    yield
    object_properties.detach()


def add(name, points=CLOUD, faces=FACES, collection=None, **attributes):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], faces)
    item = bpy.data.objects.new(name, mesh)
    (collection or bpy.context.scene.collection).objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    bpy.context.view_layer.update()
    return item


def customize(item, **values):
    item.collision_bounds.use_object_settings = True
    for key, value in values.items():
        setattr(item.collision_bounds, key, value)
    return item


def vertices(item, points=None):
    """World positions, in double precision, of points in object space; by default those of its mesh."""
    if points is None:
        points = [tuple(vertex.co) for vertex in item.data.vertices]
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return np.asarray(points, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def encloses(shape, points, margin=0.0):
    """Return whether each point is inside any of the shapes, at least `margin` from its surface."""
    points = np.asarray(points)[:, None]
    slack = 1e-9 - margin
    if isinstance(shape, Sphere):
        gap = np.linalg.norm(points - shape.center, axis=-1) - shape.radius
    elif isinstance(shape, Aabb):
        gap = np.maximum(shape.min - points, points - shape.max).max(axis=-1)
    else:
        local = np.einsum("...ji,...j->...i", shape.rotation, points - shape.center)
        gap = (np.abs(local) - shape.half_extents).max(axis=-1)
    return bool((gap <= slack).any(axis=-1).all())


def bounds(shapes=("sphere", "aabb"), **fit):
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=FitSettings(**fit)))
    return {entry.name: entry for entry in result.objects}, result


def sampled_shapes(shape, frames=(1, 3, 5), **settings):
    """Shapes of all subjects by name, at each frame, as a scan samples them."""
    fit = FitSettings(**settings)
    result = compute_bounds(bpy.context.scene, BoundsSettings(fit=fit))
    subjects = result.subjects
    none = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), False)
    playback = SceneMotion(bpy.context.scene, subjects, Selection(), shape, fit, none)
    for frame in frames:
        sample = playback.sample(float(frame))
        assert sample.present.all()
        owners = np.arange(len(subjects)) if playback.owners is None else playback.owners
        yield {subject.name: sample.shapes[owners == number] for number, subject in enumerate(subjects)}


def animate(item):
    """Animate location and rotation, so that the object never rests."""
    for frame, angle in ((1, 0.1), (5, 1.9)):
        item.rotation_euler[2] = angle
        item.keyframe_insert("rotation_euler", frame=frame)
    start = np.array(item.location)
    key_location(item, {1: tuple(start), 5: tuple(start + np.array((3.0, 1.0, 0.0)))})
    return item


def contacts(shape="aabb", frames=(1, 11, 1), **more):
    job = find_contacts(
        bpy.context.scene, ContactSettings(shape=shape, frames=frames, static_pairs=True, **more)
    )
    return finished(job)


# ---- Own settings


def test_disabled_settings_change_nothing():
    add("A", **PLACE)
    plain, _ = bounds()
    item = bpy.data.objects["A"]
    customize(
        item, padding=3.0, method="box", bounds_for="loose_parts"
    ).collision_bounds.use_object_settings = False
    again, _ = bounds()
    assert again["A"].world[0].radius == plain["A"].world[0].radius
    assert list(again) == ["A"]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_subject_has_its_own_padding(shape):
    animate(add("Plain", **PLACE))
    animate(customize(add("Padded", **PLACE), padding=0.75))
    for frame in sampled_shapes(shape, padding=0.25):
        assert encloses(frame["Plain"], vertices(bpy.data.objects["Plain"]), margin=0.25)
        assert encloses(frame["Padded"], vertices(bpy.data.objects["Padded"]), margin=0.75)
        assert not encloses(frame["Plain"], vertices(bpy.data.objects["Plain"]), margin=0.5)


@pytest.mark.parametrize("method", ["minimal", "ritter", "centroid", "box"])
def test_each_subject_has_its_own_method(method):
    add("Plain", **PLACE)
    item = customize(add("Own", **PLACE), method=method)
    found, _ = bounds()
    sphere = found["Own"].world[0]
    assert encloses(sphere[None], vertices(item))
    center = {
        "minimal": found["Plain"].world[0].center,
        "centroid": vertices(item).mean(axis=0),
        "box": (vertices(item).min(axis=0) + vertices(item).max(axis=0)) / 2,
    }.get(method)
    assert center is None or np.allclose(sphere.center, center, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_base_and_evaluated_mesh_side_by_side(shape):
    for name, modifiers in (("Base", "base"), ("Shown", "evaluated")):
        item = customize(add(name, **PLACE), modifiers=modifiers)
        item.modifiers.new("Array", "ARRAY").count = 3
        animate(item)
    for frame in sampled_shapes(shape):
        base, shown = bpy.data.objects["Base"], bpy.data.objects["Shown"]
        assert encloses(frame["Base"], vertices(base))
        evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        assert len(points) == 3 * len(CLOUD)
        assert encloses(frame["Shown"], vertices(shown, points))
        assert not encloses(frame["Base"], vertices(base, points))


def test_box_with_object_axes_among_boxes_with_world_axes():
    animate(add("World", **PLACE))
    animate(customize(add("Own", **PLACE), axes="object"))
    for frame in sampled_shapes("aabb"):
        for name in ("World", "Own"):
            item = bpy.data.objects[name]
            assert isinstance(frame[name], Obb) and encloses(frame[name], vertices(item))
        assert np.allclose(frame["World"].rotation, np.eye(3))
        turn = np.array(bpy.data.objects["Own"].matrix_world.to_quaternion().to_matrix())
        assert np.allclose(frame["Own"].rotation, turn, atol=1e-5)
    found, _ = bounds()
    assert [type(shape) for shape in found["Own"].world] == [Sphere, Aabb, Obb]
    assert [type(shape) for shape in found["World"].world] == [Sphere, Aabb]


def test_axes_decide_whether_rotated_box_is_in_contact():
    # A square turned by 45 degrees reaches to x + y = root 2 only; its box along the world to (1.41, 1.41).
    turned = add("Turned", CUBE, [], rotation_euler=(0, 0, math.pi / 4))
    add("Near", CUBE, [], location=(2.2, 2.2, 0))
    report = contacts(frames=(1, 1, 1)).report
    assert len(report.contacts) == 1
    customize(turned, axes="object")
    result = contacts(frames=(1, 1, 1))
    assert not result.report.contacts
    assert result.shape == "obb"
    document = result.document()
    assert all("obb" in entry["world"] for entry in document["objects"])
    turned.collision_bounds.axes = "world"
    assert len(contacts("obb", frames=(1, 1, 1)).report.contacts) == 1


def test_tree_depth_limits_number_of_spheres():
    customize(add("Shallow"), depth=1)
    add("Plain")
    frame = next(iter(sampled_shapes("spheres", frames=(1,))))
    assert len(frame["Shallow"].radius) == 2
    assert 2 < len(frame["Plain"].radius) <= 16
    for shapes in frame.values():
        assert encloses(shapes, CLOUD)


@pytest.mark.smoke
def test_contact_by_growing_padding():
    # Two cubes of side 2, 4 apart: the gap of 2 is filled when a padding that goes from 0 to 2.5 in ten
    # frames is 2, after 8 frames.
    item = customize(add("Growing", CUBE, []))
    add("Still", CUBE, [], location=(4, 0, 0))
    for frame, padding in ((1, 0.0), (11, 2.5)):
        item.collision_bounds.padding = padding
        item.collision_bounds.keyframe_insert("padding", frame=frame)
    _make_linear(item)
    (contact,) = contacts().report.contacts
    assert contact.first.frame == pytest.approx(9.0, abs=2e-3)


def _make_linear(item):
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


# ---- Loose parts


def test_rows_by_label_are_rows_with_that_label():
    random = np.random.default_rng(5)
    for count in range(6):
        numbers = random.integers(0, count, 30) if count else np.empty(0, dtype=np.int64)
        found = rows_by_label(numbers, 7)
        assert [rows.tolist() for rows in found] == [
            [row for row, number in enumerate(numbers) if number == part] for part in range(7)
        ]
    assert rows_by_label(np.empty(0, dtype=np.int64)) == []


def test_loose_parts_are_labeled_once_per_object_however_many(monkeypatch):
    calls = []
    for module in (subject_geometry, subject_index):
        real = module.loose_part_labels

        def counted(*arguments, real=real):
            calls.append(arguments)
            return real(*arguments)

        monkeypatch.setattr(module, "loose_part_labels", counted)
    grid = add("Grid", np.concatenate([CUBE + np.array((5 * k, 0, 0)) for k in range(9)]), [])
    customize(grid, bounds_for="loose_parts").shape_key_add(name="Basis")
    grid.shape_key_add(name="Taller").data[0].co[2] = 3
    assert len(next(iter(sampled_shapes("sphere")))) == 9 * 8
    # The bounds label once, and their motion twice: for the first positions, and for the vertices that move.
    assert len(calls) == 3


def two_cubes(name, **attributes):
    """Two closed cubes in one mesh, the second 5 along x."""
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    points = np.concatenate([CUBE, CUBE + np.array((5, 0, 0))])
    faces = quads + [tuple(8 + corner for corner in quad) for quad in quads]
    return add(name, points, faces, **attributes)


@pytest.mark.parametrize("shape", SHAPES)
def test_loose_parts_have_bounds_of_their_own(shape):
    item = animate(customize(two_cubes("Pair", **PLACE), bounds_for="loose_parts"))
    for frame in sampled_shapes(shape):
        assert list(frame) == ["Pair/part.0", "Pair/part.1"]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            own_points = [tuple(vertex.co) for vertex in item.data.vertices][rows]
            assert encloses(frame[f"Pair/part.{part}"], vertices(item, own_points))
        assert not encloses(frame["Pair/part.0"], vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
def test_loose_parts_of_deforming_mesh(shape):
    item = customize(two_cubes("Pair"), bounds_for="loose_parts")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Taller")
    for number, point in enumerate(key.data):
        point.co[2] *= 2 + number // 8
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for frame in sampled_shapes(shape):
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            assert encloses(frame[f"Pair/part.{part}"], vertices(item, points[rows]))


def test_object_between_two_loose_parts_touches_neither():
    customize(two_cubes("Pair"), bounds_for="loose_parts")
    add("Between", CUBE * 0.5, [], location=(2.5, 0, 0))
    result = contacts(frames=(1, 1, 1))
    assert [entry.name for entry in result.objects] == ["Between", "Pair/part.0", "Pair/part.1"]
    assert not result.report.contacts
    bpy.data.objects["Pair"].collision_bounds.bounds_for = "object"
    assert len(contacts(frames=(1, 1, 1)).report.contacts) == 1


def test_loose_parts_of_one_object_are_pairs_only_on_request():
    customize(
        add("Pair", np.concatenate([CUBE, CUBE + 0.5]), [(0, 1, 3), (8, 9, 11)]), bounds_for="loose_parts"
    )
    assert not contacts(frames=(1, 1, 1)).report.contacts
    assert contacts(frames=(1, 1, 1), ignore_parents=False).report.contacts


def test_children_are_no_pair_with_any_loose_part_of_parent():
    pair = customize(two_cubes("Pair"), bounds_for="loose_parts")
    add("Child", [(0, 0, 0), (5, 0, 0)], [], parent=pair)
    add("Other", [(0, 0, 0), (5, 0, 0)], [])
    found, _ = bounds()
    assert found["Child"].parent == "Pair/part.0" and found["Other"].parent is None
    result = contacts(frames=(1, 1, 1))
    names = [subject.name for subject in result.subjects]
    met = {frozenset((names[contact.a], names[contact.b])) for contact in result.report.contacts}
    others = {frozenset(("Other", name)) for name in ("Child", "Pair/part.0", "Pair/part.1")}
    assert met == others


def test_thousand_loose_parts_make_no_list_of_pairs():
    grid = np.arange(1000)[:, None] * [(3, 0, 0)]
    points = (grid[:, None] + [(0, 0, 0), (1, 0, 0), (0, 1, 0)]).reshape(-1, 3)
    faces = [(k, k + 1, k + 2) for k in range(0, 3000, 3)]
    customize(add("Many", points, faces), bounds_for="loose_parts")
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    for more in ({}, {"ignore_collection": True}):
        chosen = make_scan_settings(scene, subjects, [None] * len(subjects), PairSettings(**more))
        assert len(subjects) == 1000 and len(chosen.ignored) == 0
        assert len(set(chosen.separate.tolist())) == 1 and chosen.separate[0] >= 0


# ---- Collections


@pytest.fixture
def group():
    """Add a merged collection to the scene."""
    collection = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(collection)
    collection.collision_bounds.merge_bounds = True
    return collection


@pytest.mark.parametrize("shape", SHAPES)
def test_merged_collection_encloses_its_objects_wherever_they_move(group, shape):
    a = animate(add("A", collection=group, **PLACE))
    b = add("B", collection=group, location=(0, 3, 0))
    add("Alone")
    for frame in sampled_shapes(shape):
        assert list(frame) == ["Alone", "Group"]
        assert encloses(frame["Group"], np.concatenate([vertices(a), vertices(b)]))
        assert not encloses(frame["Alone"], vertices(b))


def test_members_are_no_subjects_and_children_have_collection_as_parent(group):
    a = add("A", collection=group)
    add("B", collection=group, location=(9, 0, 0))
    add("Child", parent=a)
    found, result = bounds()
    assert list(found) == ["Child", "Group"]
    assert found["Group"].kind == "COLLECTION" and found["Child"].parent == "Group"
    assert found["Group"].parent is None
    assert not result.skipped


def test_object_through_middle_of_merged_collection_touches_it(group):
    add("A", CUBE, [], collection=group, location=(-4, 0, 0))
    add("B", CUBE, [], collection=group, location=(4, 0, 0))
    key_location(add("Ball", CUBE * 0.25, []), {1: (0, 0, 11), 11: (0, 0, -9)})
    (contact,) = contacts().report.contacts
    # It goes 2 down a frame; its lower side is at z = 1 after (11 - 0.25 - 1) / 2 frames.
    assert contact.first.frame == pytest.approx(1 + 9.75 / 2, abs=2e-3)


def test_each_instance_of_merged_collection_is_one_subject(group):
    a, b = add("A", collection=group), add("B", collection=group, location=(0, 3, 0))
    for name, x in (("First", 20.0), ("Second", -20.0)):
        empty = bpy.data.objects.new(name, None)
        empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", group, (x, 0, 0)
        bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    found, _ = bounds()
    assert list(found) == ["First", "Group", "Second"]
    both, far = np.concatenate([vertices(a), vertices(b)]), np.array((20, 0, 0))
    assert encloses(found["First"].world[1][None], both + far)
    for frame in sampled_shapes("aabb"):
        assert encloses(frame["Second"], both - far)


def test_sphere_override_counts_in_merged_collection(group):
    ball = add("Ball", collection=group, location=(1, 2, 3), rotation_euler=(0.3, 0.7, 0.1), scale=(2, 2, 2))
    settings = ball.collision_bounds
    settings.override, settings.radius = "sphere", 1.5
    add("Dot", [(1, 2, 3)], [], collection=group)
    found, _ = bounds()
    sphere, box = found["Group"].world
    assert 3 <= sphere.radius <= 3.03, "the box around it is 1.73 times as far across"
    assert (box.half_extents >= 3).all() and (box.half_extents <= 3.03).all()
    np.testing.assert_allclose(sphere.center, (1, 2, 3), atol=1e-3)


# ---- Overrides


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_enclose_box_override(shape):
    item = animate(add("A", **PLACE))
    item.collision_bounds.override = "box"
    item.collision_bounds.center, item.collision_bounds.half_extents = (0.5, 0, 4), (0.25, 1, 0.5)
    corners = np.array((0.5, 0, 4)) + CUBE * (0.25, 1, 0.5)
    for frame in sampled_shapes(shape):
        assert encloses(frame["A"], vertices(item, corners))
        assert not encloses(frame["A"], vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [(2.0, 0.5, 1.25), (1.5, 1.5, 1.5)])
def test_bounds_enclose_sphere_override(shape, scale):
    item = animate(add("A", **{**PLACE, "scale": scale}))
    item.collision_bounds.override = "sphere"
    item.collision_bounds.center, item.collision_bounds.radius = (0.5, 0, 4), 0.75
    directions = rng.normal(size=(500, 3))
    surface = np.array((0.5, 0, 4)) + 0.75 * directions / np.linalg.norm(directions, axis=1)[:, None]
    for frame in sampled_shapes(shape):
        assert encloses(frame["A"], vertices(item, surface))
    if shape in ("sphere", "spheres"):
        assert float(frame["A"].radius[0]) == pytest.approx(0.75 * max(scale), rel=1e-5)


def test_obstacle_with_override_is_rejected_by_name():
    two_cubes("Level").collision_bounds.override = "box"
    add("Ball", CUBE * 0.25, [], location=(0, 0, 5))
    with pytest.raises(SceneError, match="'Level': has an override"):
        contacts("sphere", obstacles="Level")


def test_loose_parts_as_obstacles_have_their_own_triangles():
    customize(two_cubes("Level"), bounds_for="loose_parts")
    key_location(add("Ball", CUBE * 0.25, []), {1: (5, 0, 11), 11: (5, 0, -9)})
    (contact,) = contacts("sphere", obstacles="Level*").report.contacts
    # 2 down a frame; the top of the second cube is at z = 1, the radius a quarter of root 3.
    assert contact.first.frame == pytest.approx(1 + (10 - 0.25 * math.sqrt(3)) / 2, abs=2e-3)


def test_local_shapes_enclose_override():
    item = add("A", **PLACE)
    item.collision_bounds.override = "sphere"
    item.collision_bounds.center, item.collision_bounds.radius = (0.5, 0, 4), 0.75
    found, _ = bounds(("sphere", "aabb", "obb"))
    entry = found["A"]
    directions = rng.normal(size=(500, 3))
    surface = np.array((0.5, 0, 4)) + 0.75 * directions / np.linalg.norm(directions, axis=1)[:, None]
    turn = np.array(Quaternion(entry.rotation).to_matrix())
    seen = (vertices(item, surface) - entry.translation) @ turn
    for shape in entry.local:
        assert encloses(shape[None], seen)
    for shape in entry.world:
        assert encloses(shape[None], vertices(item, surface))


def test_override_is_measured_with_vertices_outside():
    item = two_cubes("Pair", scale=(2, 1, 1))
    quality = measure_fit(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.volume == pytest.approx(2 * 16) and quality.outside == 0
    box = next(entry for entry in quality.shapes if entry.label == "Box")
    assert box.volume == pytest.approx(14 * 2 * 2) and box.touching == 16
    item.collision_bounds.override = "box"
    quality = measure_fit(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.outside == 8


def test_open_mesh_has_no_volume():
    item = two_cubes("Pair")
    faces = [tuple(face.vertices) for face in item.data.polygons][:-1]
    add("Open", [tuple(vertex.co) for vertex in item.data.vertices], faces)
    graph = bpy.context.evaluated_depsgraph_get()
    assert measure_fit(bpy.data.objects["Open"].evaluated_get(graph), FitSettings()).volume is None


# ---- Doors


@pytest.mark.parametrize(
    "is_own_process",
    [pytest.param(False, marks=pytest.mark.smoke), pytest.param(True, marks=pytest.mark.long)],
)
def test_command_line_reads_settings_without_extension(tmp_path, is_own_process):
    customize(add("A", **PLACE), padding=0.5, bounds_for="loose_parts")
    item = add("B", location=(9, 0, 0))
    item.collision_bounds.override = "sphere"
    _, result = bounds()
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    written = tmp_path / "scene.json"
    arguments = ["bounds", str(path), "-o", str(written), "-q"]
    if is_own_process:
        script = TOP / "scripts" / "collision_bounds.py"
        subprocess.run([sys.executable, str(script), *arguments], check=True, cwd=TOP)
    else:
        object_properties.detach()
        assert main(arguments, opens_file=True) == 0
    read = json.loads(written.read_text("utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    _, result = bounds()
    assert read == result.document()
    assert [entry["name"] for entry in read["objects"]][-1] == "B"


def test_without_properties_job_settings_apply(tmp_path):
    customize(add("A", **PLACE), padding=0.5)
    object_properties.detach()
    try:
        found, _ = bounds()
        assert not encloses(found["A"].world[0][None], vertices(bpy.data.objects["A"]), margin=0.25)
    finally:
        object_properties.attach()


# ---- Where settings of an object do not reach, and where they do


def joined_instances(item, instance_of):
    """Add geometry nodes that join the mesh with an instance on each vertex; of a new cube for None."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    into, on, join, out = (
        tree.nodes.new(kind)
        for kind in (
            "NodeGroupInput",
            "GeometryNodeInstanceOnPoints",
            "GeometryNodeJoinGeometry",
            "NodeGroupOutput",
        )
    )
    if instance_of is None:
        made = tree.nodes.new("GeometryNodeMeshCube")
        made.inputs["Size"].default_value = (4, 4, 4)
        tree.links.new(made.outputs[0], on.inputs["Instance"])
    else:
        made = tree.nodes.new("GeometryNodeObjectInfo")
        made.inputs["Object"].default_value = instance_of
        made.inputs["As Instance"].default_value = True
        tree.links.new(made.outputs["Geometry"], on.inputs["Instance"])
    tree.links.new(into.outputs[0], on.inputs["Points"])
    tree.links.new(into.outputs[0], join.inputs[0])
    tree.links.new(on.outputs[0], join.inputs[0])
    tree.links.new(join.outputs[0], out.inputs[0])
    item.modifiers.new("Nodes", "NODES").node_group = tree
    bpy.context.view_layer.update()


@pytest.mark.smoke
def test_instances_made_by_nodes_keep_their_size():
    """An override stands for the object's mesh: not for the cubes of side 4 on its vertices."""
    item = add("A", CUBE, [])
    joined_instances(item, None)
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.1, 0.1, 0.1)
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("aabb",)))
    for entry in result.objects:
        (box,) = entry.world
        half = 0.1 if entry.name == "A" else 2.0
        np.testing.assert_allclose(box.half_extents, half, atol=1e-6)
    assert len(result.objects) == 9


def test_collection_with_instance_of_missing_object_is_not_its_own_parent():
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.merge_bounds = True
    elsewhere = bpy.data.collections.new("Elsewhere")
    source = add("A", CUBE, [], collection=elsewhere)
    joined_instances(add("B", CUBE, [], collection=together), source)
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert [(entry.name, entry.parent) for entry in result.objects] == [("Together", None)]
    parse_document(dumps(result.document()))


@pytest.mark.parametrize("mirrored", [1, -1])
@pytest.mark.parametrize("as_one", [False, True])
def test_mirrored_floor_faces_up_also_when_merged(mirrored, as_one):
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.merge_bounds = as_one
    corners = [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)]
    floor = add("Floor", corners, [(0, 1, 2, 3)], collection=together)
    floor.scale.x = mirrored
    key_location(add("Ball", 0.1 * CUBE, []), {1: (0, 0, 5), 10: (0, 0, 0.05)})
    result = scanned(
        shape="sphere", obstacles="Together" if as_one else "Floor", one_sided=True, frames=(1, 10, 1)
    )
    assert len(result.report.contacts) == 1


def test_meshes_are_not_tested_for_overrides():
    """The override meets the other, its small mesh does not: that refutes nothing."""
    small = add("Small", 0.1 * CUBE, cube_faces())
    small.collision_bounds.override, small.collision_bounds.half_extents = "box", (1, 1, 1)
    key_location(add("Other", 0.1 * CUBE, cube_faces()), {1: (5, 0, 0), 10: (0.8, 0, 0)})
    result = scanned(confirm=True, frames=(1, 10, 1))
    assert len(result.report.contacts) == 1 and result.confirmed == (None,)
    assert result.has_contacts


def cube_faces():
    return [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]


def scanned(**settings):
    """The result of a scan."""
    return finished(find_contacts(bpy.context.scene, ContactSettings(**settings)))
