"""Settings that objects carry themselves: whatever they say, bounds enclose what they promise to enclose.

What must be inside is worked out here from the mesh data alone, vertex by vertex.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from addon.cli import main
from addon.core import Aabb, Obb, Sphere
from addon.formats import dumps, parse_document
from addon.scene import composition, jobs
from addon.scene import playback as playing
from addon.scene.errors import SceneError
from addon.scene.fit_quality import measured
from addon.scene.fitting import FitSettings
from addon.scene.jobs import BoundsSettings, ContactSettings
from addon.scene.loose_parts import connected, rows_by_part
from addon.scene.obstacles import MeshObstacles
from addon.scene.pairs import PairSettings, chosen_pairs
from addon.scene.playback import Playback
from addon.scene.selection import Selection
from addon.scene.subjects import find_subjects
from addon.ui import object_settings
from tests.finished import finished
from tests.scene.building import CUBE, curves, key_location, open_empty_file

TOP = Path(__file__).resolve().parents[2]
SHAPES = ["sphere", "aabb", "obb", "spheres"]
rng = np.random.default_rng(5)
CLOUD = rng.normal(size=(40, 3)).astype(np.float32)
FACES = [tuple(map(int, rng.choice(40, 3, replace=False))) for _ in range(60)]
PLACE = {"location": (1.5, -2, 0.5), "rotation_euler": (0.4, 1.1, -0.7), "scale": (2.0, 0.5, 1.25)}


@pytest.fixture(autouse=True)
def registered():
    """An empty file in a Blender that knows the settings of objects, and nothing else of the extension."""
    open_empty_file()
    object_settings.attach()
    yield
    object_settings.detach()


def add(name, points=CLOUD, faces=FACES, collection=None, **attributes):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], faces)
    item = bpy.data.objects.new(name, mesh)
    (collection or bpy.context.scene.collection).objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    bpy.context.view_layer.update()
    return item


def own(item, **values):
    item.collision_bounds.use_own = True
    for key, value in values.items():
        setattr(item.collision_bounds, key, value)
    return item


def vertices(item, points=None):
    """World positions, in double precision, of points of the item's own space: its mesh's if not told."""
    if points is None:
        points = [tuple(vertex.co) for vertex in item.data.vertices]
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return np.asarray(points, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def holds(shape, points, margin=0.0):
    """Whether points are inside of shapes, of any one of them, and as far as `margin` from the surface."""
    points = np.asarray(points)[:, None]
    slack = 1e-9 - margin
    if isinstance(shape, Sphere):
        gap = np.linalg.norm(points - shape.center, axis=-1) - shape.radius
    elif isinstance(shape, Aabb):
        gap = np.maximum(shape.min - points, points - shape.max).max(axis=-1)
    else:
        beside = np.einsum("...ji,...j->...i", shape.rotation, points - shape.center)
        gap = (np.abs(beside) - shape.half_extents).max(axis=-1)
    return bool((gap <= slack).any(axis=-1).all())


def bounds(shapes=("sphere", "aabb"), **fit):
    result = jobs.compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=FitSettings(**fit)))
    return {entry.name: entry for entry in result.objects}, result


def played(shape, frames=(1, 3, 5), **settings):
    """Shapes of all subjects by name, at each of some frames, as a scan has them."""
    fit = FitSettings(**settings)
    result = jobs.compute_bounds(bpy.context.scene, BoundsSettings(fit=fit))
    subjects = result.subjects
    none = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), False)
    playback = Playback(bpy.context.scene, subjects, Selection(), shape, fit, none)
    for frame in frames:
        sample = playback.sample(float(frame))
        assert sample.present.all()
        owners = np.arange(len(subjects)) if playback.owners is None else playback.owners
        yield {subject.name: sample.shapes[owners == number] for number, subject in enumerate(subjects)}


def wander(item):
    """Key a way with turns, so that nothing is at rest."""
    for frame, angle in ((1, 0.1), (5, 1.9)):
        item.rotation_euler[2] = angle
        item.keyframe_insert("rotation_euler", frame=frame)
    start = np.array(item.location)
    key_location(item, {1: tuple(start), 5: tuple(start + np.array((3.0, 1.0, 0.0)))})
    return item


def contacts(shape="aabb", frames=(1, 11, 1), **more):
    job = jobs.find_contacts(
        bpy.context.scene, ContactSettings(shape=shape, frames=frames, static_pairs=True, **more)
    )
    return finished(job)


# ---- Own settings


def test_settings_that_are_off_change_nothing():
    add("A", **PLACE)
    plain, _ = bounds()
    item = bpy.data.objects["A"]
    own(item, padding=3.0, method="box", made_of="loose").collision_bounds.use_own = False
    again, _ = bounds()
    assert again["A"].world[0].radius == plain["A"].world[0].radius
    assert list(again) == ["A"]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_subject_has_the_padding_of_its_own(shape):
    wander(add("Plain", **PLACE))
    wander(own(add("Padded", **PLACE), padding=0.75))
    for frame in played(shape, padding=0.25):
        assert holds(frame["Plain"], vertices(bpy.data.objects["Plain"]), margin=0.25)
        assert holds(frame["Padded"], vertices(bpy.data.objects["Padded"]), margin=0.75)
        assert not holds(frame["Plain"], vertices(bpy.data.objects["Plain"]), margin=0.5)


@pytest.mark.parametrize("method", ["minimal", "ritter", "centroid", "box"])
def test_each_subject_has_the_method_of_its_own(method):
    add("Plain", **PLACE)
    item = own(add("Own", **PLACE), method=method)
    found, _ = bounds()
    sphere = found["Own"].world[0]
    assert holds(sphere[None], vertices(item))
    center = {
        "minimal": found["Plain"].world[0].center,
        "centroid": vertices(item).mean(axis=0),
        "box": (vertices(item).min(axis=0) + vertices(item).max(axis=0)) / 2,
    }.get(method)
    assert center is None or np.allclose(sphere.center, center, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_base_and_evaluated_mesh_side_by_side(shape):
    for name, modifiers in (("Base", "base"), ("Shown", "evaluated")):
        item = own(add(name, **PLACE), modifiers=modifiers)
        item.modifiers.new("Array", "ARRAY").count = 3
        wander(item)
    for frame in played(shape):
        base, shown = bpy.data.objects["Base"], bpy.data.objects["Shown"]
        assert holds(frame["Base"], vertices(base))
        evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        assert len(points) == 3 * len(CLOUD)
        assert holds(frame["Shown"], vertices(shown, points))
        assert not holds(frame["Base"], vertices(base, points))


def test_a_box_along_its_own_axes_among_boxes_along_the_world():
    wander(add("World", **PLACE))
    wander(own(add("Own", **PLACE), axes="object"))
    for frame in played("aabb"):
        for name in ("World", "Own"):
            item = bpy.data.objects[name]
            assert isinstance(frame[name], Obb) and holds(frame[name], vertices(item))
        assert np.allclose(frame["World"].rotation, np.eye(3))
        turn = np.array(bpy.data.objects["Own"].matrix_world.to_quaternion().to_matrix())
        assert np.allclose(frame["Own"].rotation, turn, atol=1e-5)
    found, _ = bounds()
    assert [type(shape) for shape in found["Own"].world] == [Sphere, Aabb, Obb]
    assert [type(shape) for shape in found["World"].world] == [Sphere, Aabb]


def test_axes_decide_whether_a_turned_box_is_in_contact():
    # A square turned by 45 degrees reaches to x + y = root 2 only; its box along the world to (1.41, 1.41).
    turned = add("Turned", CUBE, [], rotation_euler=(0, 0, math.pi / 4))
    add("Near", CUBE, [], location=(2.2, 2.2, 0))
    report = contacts(frames=(1, 1, 1)).report
    assert len(report.contacts) == 1
    own(turned, axes="object")
    result = contacts(frames=(1, 1, 1))
    assert not result.report.contacts
    assert result.shape == "obb"
    document = result.document()
    assert all("obb" in entry["world"] for entry in document["objects"])
    turned.collision_bounds.axes = "world"
    assert len(contacts("obb", frames=(1, 1, 1)).report.contacts) == 1


def test_the_depth_of_a_tree_bounds_the_number_of_its_spheres():
    own(add("Shallow"), depth=1)
    add("Plain")
    frame = next(iter(played("spheres", frames=(1,))))
    assert len(frame["Shallow"].radius) == 2
    assert 2 < len(frame["Plain"].radius) <= 16
    for shapes in frame.values():
        assert holds(shapes, CLOUD)


@pytest.mark.smoke
def test_contact_by_a_padding_that_grows():
    # Two cubes of side 2, 4 apart: the gap of 2 is filled when a padding that goes from 0 to 2.5 in ten
    # frames is 2, after 8 frames.
    item = own(add("Growing", CUBE, []))
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


def test_components_are_numbered_by_their_first_vertices():
    # Checked against a walk from vertex to vertex.
    for seed in range(30):
        random = np.random.default_rng(seed)
        count = int(random.integers(1, 60))
        edges = random.integers(0, count, (int(random.integers(0, 60)), 2))
        label = [-1] * count
        for start in range(count):
            if label[start] >= 0:
                continue
            number, waiting = max(label) + 1, [start]
            while waiting:
                at = waiting.pop()
                if label[at] >= 0:
                    continue
                label[at] = number
                waiting += [int(b) for a, b in (*edges, *edges[:, ::-1]) if a == at]
        assert connected(count, edges.astype(np.int32)).tolist() == label


def test_rows_of_parts_are_those_that_have_their_numbers():
    random = np.random.default_rng(5)
    for count in range(6):
        numbers = random.integers(0, count, 30) if count else np.empty(0, dtype=np.int64)
        found = rows_by_part(numbers, 7)
        assert [rows.tolist() for rows in found] == [
            [row for row, number in enumerate(numbers) if number == part] for part in range(7)
        ]
    assert rows_by_part(np.empty(0, dtype=np.int64)) == []


def test_parts_are_told_apart_once_an_object_however_many_there_are(monkeypatch):
    asked = []
    for module in (composition, playing):
        real = module.part_numbers

        def counted(*arguments, real=real):
            asked.append(arguments)
            return real(*arguments)

        monkeypatch.setattr(module, "part_numbers", counted)
    grid = add("Grid", np.concatenate([CUBE + np.array((5 * k, 0, 0)) for k in range(9)]), [])
    own(grid, made_of="loose").shape_key_add(name="Basis")
    grid.shape_key_add(name="Taller").data[0].co[2] = 3
    assert len(next(iter(played("sphere")))) == 9 * 8
    # By the bounds once, and by what plays them for where they are at first, and for which vertices move.
    assert len(asked) == 3


def two_cubes(name, **attributes):
    """Two closed cubes in one mesh, the second 5 along x."""
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    points = np.concatenate([CUBE, CUBE + np.array((5, 0, 0))])
    faces = quads + [tuple(8 + corner for corner in quad) for quad in quads]
    return add(name, points, faces, **attributes)


@pytest.mark.parametrize("shape", SHAPES)
def test_loose_parts_each_on_their_own(shape):
    item = wander(own(two_cubes("Pair", **PLACE), made_of="loose"))
    for frame in played(shape):
        assert list(frame) == ["Pair/part.0", "Pair/part.1"]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            own_points = [tuple(vertex.co) for vertex in item.data.vertices][rows]
            assert holds(frame[f"Pair/part.{part}"], vertices(item, own_points))
        assert not holds(frame["Pair/part.0"], vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
def test_loose_parts_of_a_mesh_that_deforms(shape):
    item = own(two_cubes("Pair"), made_of="loose")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Taller")
    for number, point in enumerate(key.data):
        point.co[2] *= 2 + number // 8
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for frame in played(shape):
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        for part, rows in enumerate((slice(0, 8), slice(8, 16))):
            assert holds(frame[f"Pair/part.{part}"], vertices(item, points[rows]))


def test_something_between_two_parts_touches_neither():
    own(two_cubes("Pair"), made_of="loose")
    add("Between", CUBE * 0.5, [], location=(2.5, 0, 0))
    result = contacts(frames=(1, 1, 1))
    assert [entry.name for entry in result.objects] == ["Between", "Pair/part.0", "Pair/part.1"]
    assert not result.report.contacts
    bpy.data.objects["Pair"].collision_bounds.made_of = "whole"
    assert len(contacts(frames=(1, 1, 1)).report.contacts) == 1


def test_parts_of_one_object_are_no_pair_unless_asked_for():
    own(add("Pair", np.concatenate([CUBE, CUBE + 0.5]), [(0, 1, 3), (8, 9, 11)]), made_of="loose")
    assert not contacts(frames=(1, 1, 1)).report.contacts
    assert contacts(frames=(1, 1, 1), ignore_parents=False).report.contacts


def test_children_of_an_object_in_loose_parts_are_no_pair_with_any_part():
    pair = own(two_cubes("Pair"), made_of="loose")
    add("Child", [(0, 0, 0), (5, 0, 0)], [], parent=pair)
    add("Other", [(0, 0, 0), (5, 0, 0)], [])
    found, _ = bounds()
    assert found["Child"].parent == "Pair/part.0" and found["Other"].parent is None
    result = contacts(frames=(1, 1, 1))
    names = [subject.name for subject in result.subjects]
    met = {frozenset((names[contact.a], names[contact.b])) for contact in result.report.contacts}
    others = {frozenset(("Other", name)) for name in ("Child", "Pair/part.0", "Pair/part.1")}
    assert met == others


def test_a_thousand_parts_make_no_list_of_pairs():
    grid = np.arange(1000)[:, None] * [(3, 0, 0)]
    points = (grid[:, None] + [(0, 0, 0), (1, 0, 0), (0, 1, 0)]).reshape(-1, 3)
    faces = [(k, k + 1, k + 2) for k in range(0, 3000, 3)]
    own(add("Many", points, faces), made_of="loose")
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    for more in ({}, {"ignore_collection": True}):
        chosen = chosen_pairs(scene, subjects, [None] * len(subjects), PairSettings(**more))
        assert len(subjects) == 1000 and len(chosen.ignored) == 0
        assert len(set(chosen.separate.tolist())) == 1 and chosen.separate[0] >= 0


# ---- Collections


@pytest.fixture
def group():
    """A collection that is taken as one, in the scene."""
    collection = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(collection)
    collection.collision_bounds.take_as_one = True
    return collection


@pytest.mark.parametrize("shape", SHAPES)
def test_a_collection_as_one_holds_all_its_objects_wherever_they_go(group, shape):
    a = wander(add("A", collection=group, **PLACE))
    b = add("B", collection=group, location=(0, 3, 0))
    add("Alone")
    for frame in played(shape):
        assert list(frame) == ["Alone", "Group"]
        assert holds(frame["Group"], np.concatenate([vertices(a), vertices(b)]))
        assert not holds(frame["Alone"], vertices(b))


def test_members_are_no_subjects_and_children_hang_on_the_collection(group):
    a = add("A", collection=group)
    add("B", collection=group, location=(9, 0, 0))
    add("Child", parent=a)
    found, result = bounds()
    assert list(found) == ["Child", "Group"]
    assert found["Group"].kind == "COLLECTION" and found["Child"].parent == "Group"
    assert found["Group"].parent is None
    assert not result.skipped


def test_what_flies_through_the_middle_of_a_collection_touches_it(group):
    add("A", CUBE, [], collection=group, location=(-4, 0, 0))
    add("B", CUBE, [], collection=group, location=(4, 0, 0))
    key_location(add("Ball", CUBE * 0.25, []), {1: (0, 0, 11), 11: (0, 0, -9)})
    (contact,) = contacts().report.contacts
    # It goes 2 down a frame; its lower side is at z = 1 after (11 - 0.25 - 1) / 2 frames.
    assert contact.first.frame == pytest.approx(1 + 9.75 / 2, abs=2e-3)


def test_each_instance_of_a_collection_taken_as_one_is_one(group):
    a, b = add("A", collection=group), add("B", collection=group, location=(0, 3, 0))
    for name, x in (("First", 20.0), ("Second", -20.0)):
        empty = bpy.data.objects.new(name, None)
        empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", group, (x, 0, 0)
        bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    found, _ = bounds()
    assert list(found) == ["First", "Group", "Second"]
    both, far = np.concatenate([vertices(a), vertices(b)]), np.array((20, 0, 0))
    assert holds(found["First"].world[1][None], both + far)
    for frame in played("aabb"):
        assert holds(frame["Second"], both - far)


def test_a_sphere_set_by_hand_counts_as_one_in_a_collection_too(group):
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
def test_bounds_enclose_a_box_set_by_hand(shape):
    item = wander(add("A", **PLACE))
    item.collision_bounds.override = "box"
    item.collision_bounds.center, item.collision_bounds.half_extents = (0.5, 0, 4), (0.25, 1, 0.5)
    corners = np.array((0.5, 0, 4)) + CUBE * (0.25, 1, 0.5)
    for frame in played(shape):
        assert holds(frame["A"], vertices(item, corners))
        assert not holds(frame["A"], vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [(2.0, 0.5, 1.25), (1.5, 1.5, 1.5)])
def test_bounds_enclose_a_sphere_set_by_hand(shape, scale):
    item = wander(add("A", **{**PLACE, "scale": scale}))
    item.collision_bounds.override = "sphere"
    item.collision_bounds.center, item.collision_bounds.radius = (0.5, 0, 4), 0.75
    directions = rng.normal(size=(500, 3))
    surface = np.array((0.5, 0, 4)) + 0.75 * directions / np.linalg.norm(directions, axis=1)[:, None]
    for frame in played(shape):
        assert holds(frame["A"], vertices(item, surface))
    if shape in ("sphere", "spheres"):
        assert float(frame["A"].radius[0]) == pytest.approx(0.75 * max(scale), rel=1e-5)


def test_an_obstacle_with_an_override_is_refused_by_name():
    two_cubes("Level").collision_bounds.override = "box"
    add("Ball", CUBE * 0.25, [], location=(0, 0, 5))
    with pytest.raises(SceneError, match="'Level': has an override"):
        contacts("sphere", obstacles="Level")


def test_loose_parts_as_obstacles_are_the_triangles_of_each():
    own(two_cubes("Level"), made_of="loose")
    key_location(add("Ball", CUBE * 0.25, []), {1: (5, 0, 11), 11: (5, 0, -9)})
    (contact,) = contacts("sphere", obstacles="Level*").report.contacts
    # 2 down a frame; the top of the second cube is at z = 1, the radius a quarter of root 3.
    assert contact.first.frame == pytest.approx(1 + (10 - 0.25 * math.sqrt(3)) / 2, abs=2e-3)


def test_local_shapes_hold_the_override_as_well():
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
        assert holds(shape[None], seen)
    for shape in entry.world:
        assert holds(shape[None], vertices(item, surface))


def test_an_override_is_measured_and_says_what_it_leaves_out():
    item = two_cubes("Pair", scale=(2, 1, 1))
    quality = measured(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.volume == pytest.approx(2 * 16) and quality.outside == 0
    box = next(entry for entry in quality.shapes if entry.label == "Box")
    assert box.volume == pytest.approx(14 * 2 * 2) and box.touching == 16
    item.collision_bounds.override = "box"
    quality = measured(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.outside == 8


def test_an_open_mesh_has_no_volume():
    item = two_cubes("Pair")
    faces = [tuple(face.vertices) for face in item.data.polygons][:-1]
    add("Open", [tuple(vertex.co) for vertex in item.data.vertices], faces)
    graph = bpy.context.evaluated_depsgraph_get()
    assert measured(bpy.data.objects["Open"].evaluated_get(graph), FitSettings()).volume is None


# ---- Doors


@pytest.mark.parametrize(
    "is_own_process",
    [pytest.param(False, marks=pytest.mark.smoke), pytest.param(True, marks=pytest.mark.long)],
)
def test_the_command_line_reads_the_settings_where_the_extension_is_off(tmp_path, is_own_process):
    own(add("A", **PLACE), padding=0.5, made_of="loose")
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
        object_settings.detach()
        assert main(arguments, opens_file=True) == 0
    read = json.loads(written.read_text("utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    _, result = bounds()
    assert read == result.document()
    assert [entry["name"] for entry in read["objects"]][-1] == "B"


def test_without_the_properties_the_job_counts(tmp_path):
    own(add("A", **PLACE), padding=0.5)
    object_settings.detach()
    try:
        found, _ = bounds()
        assert not holds(found["A"].world[0][None], vertices(bpy.data.objects["A"]), margin=0.25)
    finally:
        object_settings.attach()


# ---- Where settings of an object do not reach, and where they do


def joined_instances(item, instance_of):
    """Geometry nodes that put an instance on each vertex, beside the mesh; a cube of their own for None."""
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
def test_what_nodes_make_instances_of_keeps_its_own_size():
    """An override stands for the object's mesh: not for the cubes of side 4 on its vertices."""
    item = add("A", CUBE, [])
    joined_instances(item, None)
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.1, 0.1, 0.1)
    result = jobs.compute_bounds(bpy.context.scene, BoundsSettings(shapes=("aabb",)))
    for entry in result.objects:
        (box,) = entry.world
        half = 0.1 if entry.name == "A" else 2.0
        np.testing.assert_allclose(box.half_extents, half, atol=1e-6)
    assert len(result.objects) == 9


def test_a_collection_with_an_instance_of_what_is_not_there_is_not_its_own_parent():
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.take_as_one = True
    elsewhere = bpy.data.collections.new("Elsewhere")
    source = add("A", CUBE, [], collection=elsewhere)
    joined_instances(add("B", CUBE, [], collection=together), source)
    result = jobs.compute_bounds(bpy.context.scene, BoundsSettings())
    assert [(entry.name, entry.parent) for entry in result.objects] == [("Together", None)]
    parse_document(dumps(result.document()))


@pytest.mark.parametrize("mirrored", [1, -1])
@pytest.mark.parametrize("as_one", [False, True])
def test_a_mirrored_floor_faces_up_also_when_taken_as_one(mirrored, as_one):
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.take_as_one = as_one
    corners = [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)]
    floor = add("Floor", corners, [(0, 1, 2, 3)], collection=together)
    floor.scale.x = mirrored
    key_location(add("Ball", 0.1 * CUBE, []), {1: (0, 0, 5), 10: (0, 0, 0.05)})
    result = scanned(
        shape="sphere", obstacles="Together" if as_one else "Floor", one_sided=True, frames=(1, 10, 1)
    )
    assert len(result.report.contacts) == 1


def test_meshes_are_not_asked_about_shapes_set_by_hand():
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
    return finished(jobs.find_contacts(bpy.context.scene, ContactSettings(**settings)))
