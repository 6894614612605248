"""Documents of scans have the shapes that were tested: their shapes alone decide which pairs touch."""

from __future__ import annotations

from itertools import combinations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.formats import document_problems, dumps, parse_document, read_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.result import loaded_report
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from tests.core.scenes import random_rotations
from tests.finished import finished
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.building import add_object, add_vertices
from tests.scene.fitting.document_shapes import least_gaps, moved, placed_solids
from tests.scene.fitting.test_scanned_shapes import random_meshes
from tests.tiers import is_full, times

pytestmark = [pytest.mark.usefixtures("object_settings"), pytest.mark.long]

SHAPES = "sphere", "obb", "spheres", "capsule", "compound"
TOLERANCE = 1e-5
PARTS = "box", "sphere", "capsule"
PADDINGS = 0.0, 0.05, -0.03
BONES = Selection(split_by_bones=True)


def place(item: bpy.types.Object, rng) -> bpy.types.Object:
    """Link an object, and give it any place, rotation and scale."""
    if not item.users_collection:
        bpy.context.scene.collection.objects.link(item)
    turn = Matrix(random_rotations(rng, 1)[0].tolist()).to_4x4()
    size = rng.uniform(0.4, 1.2, 3) * rng.choice([1, 1, -1])
    item.matrix_world = turn @ Matrix.Diagonal((*size.tolist(), 1))
    item.location = rng.uniform(-1.8, 1.8, 3)
    return item


def add_meshes(rng) -> None:
    """Add objects that do not deform: meshes, also with settings of their own, and custom shapes."""
    meshes = random_meshes(rng, 4)
    for number in range(10):
        place(bpy.data.objects.new(f"Mesh {number}", rng.choice(meshes)), rng)
    settings = place(bpy.data.objects.new("Own Settings", meshes[0]), rng).collision_bounds
    settings.use_object_settings, settings.padding, settings.depth = True, 0.1, 2
    settings.axes = "smallest"
    for kind in ("box", "sphere"):
        custom = place(bpy.data.objects.new(f"Custom {kind}", meshes[1]), rng).collision_bounds
        custom.use_object_settings, custom.override, custom.radius = True, kind, 0.7
        custom.center, custom.half_extents = (0.1, 0.2, 0.3), (1, 0.5, 0.3)
    place(add_vertices("Flat", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), rng)
    place(add_vertices("Point", [(0, 0, 0)]), rng)
    place(bpy.data.objects.new("Loose", meshes[2]), rng).collision_bounds.bounds_for = "loose_parts"
    collection = bpy.data.collections.new("Instanced")
    collection.objects.link(bpy.data.objects.new("Source", meshes[3]))
    for number in range(3):
        empty = place(bpy.data.objects.new(f"Instance {number}", None), rng)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection


def add_deforming(rng) -> None:
    """Add objects whose shape may change: with shape keys, modifiers and bones, and a text."""
    (mesh,) = random_meshes(rng, 1)
    keyed = place(bpy.data.objects.new("Shape Key", mesh), rng)
    keyed.shape_key_add(name="Basis")
    block = keyed.shape_key_add(name="Large")
    for point in block.data:
        point.co = point.co * 1.5
    for frame, value in ((1, 0.3), (20, 1.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)
    bent = place(bpy.data.objects.new("Bent", mesh.copy()), rng)
    modifier = bent.modifiers.new("Bend", "SIMPLE_DEFORM")
    modifier.deform_method = "BEND"
    for frame, angle in ((1, 0.5), (20, 1.5)):
        modifier.angle = angle
        modifier.keyframe_insert("angle", frame=frame)
    text = bpy.data.curves.new("Text", "FONT")
    text.body, text.extrude = "Ab", 0.1
    place(bpy.data.objects.new("Text", text), rng)
    rig = add_rig()
    tube = add_tube(rig)
    rig.location = (-1, 0, -1)
    rotate_bones(rig, {1: 0.4}, 1)
    rotate_bones(rig, {1: 1.0}, 20)
    tube.location = (-1, 0, -1)


def document_of(shape: str, padding: float) -> dict:
    """Scan the first frame, and read the document, which validates it."""
    settings = ContactSettings(
        selection=BONES,
        shape=shape,
        fit=FitSettings(parts=4, padding=padding),
        frames=(1, 1, 1),
        static_pairs=True,
    )
    result = finished(find_contacts(bpy.context.scene, settings))
    text = dumps(result.document("gltf", 6))
    # Another program may write what it has read again.
    document = parse_document(text)
    again, _ = loaded_report(bpy.context.scene, read_document(document))
    assert dumps(again.document("gltf", 6)) == text
    return document


@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_touch_whose_shapes_in_the_document_overlap(shape):
    rng = np.random.default_rng() if is_full() else np.random.default_rng(3)
    decided = touching = 0
    while decided < times(200, full=500):
        for item in list(bpy.data.objects):
            bpy.data.objects.remove(item)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
        add_meshes(rng)
        add_deforming(rng)
        bpy.context.scene.frame_set(1)
        document = document_of(shape, float(rng.choice(PADDINGS)))
        at_rest = np.eye(4)[None]
        # A negative padding leaves nothing of some objects.
        entries = [entry for entry in document["objects"] if shape in entry["local"]]
        solids = {entry["id"]: moved(placed_solids(entry, shape), at_rest) for entry in entries}
        found = {frozenset((contact["a"], contact["b"])) for contact in document["contacts"]}
        for a, b in combinations(solids, 2):
            if a.partition("/")[0] == b.partition("/")[0]:
                continue
            gap = float(least_gaps(shape, solids[a], solids[b])[0])
            if abs(gap) > TOLERANCE:
                decided += 1
                touching += gap < 0
                assert (frozenset((a, b)) in found) == (gap < 0), (a, b, gap)
    print(f"\n{shape}: {touching} of {decided} pairs touch")
    assert decided / 20 < touching < decided * 0.95


@pytest.mark.parametrize("shape", ["spheres", "capsule", "compound"])
def test_bounds_of_the_same_settings_have_the_scanned_shapes(shape):
    """Numbers are rounded outward, and those of scans were moved, so the last decimal may differ by two."""
    add_meshes(np.random.default_rng(5))
    bpy.context.view_layer.update()
    fit = FitSettings(parts=4, part_shape="box")
    bounds = compute_bounds(bpy.context.scene, BoundsSettings(BONES, (shape,), fit))
    expected = {entry["id"]: entry for entry in parse_document(dumps(bounds.document("gltf", 6)))["objects"]}
    entries = document_of(shape, 0.0)["objects"]
    assert {entry["id"] for entry in entries} == set(expected)
    for entry in entries:
        for group in ("local", "world"):
            assert_same(entry[group][shape], expected[entry["id"]][group][shape], entry["id"])


@pytest.mark.parametrize("padding", [-0.03, -0.1, -0.2])
@pytest.mark.parametrize(("shape", "part"), [("cylinder", "box"), *(("compound", kind) for kind in PARTS)])
def test_documents_with_negative_padding_are_valid(shape, part, padding):
    """Padding takes more from the corner of a box than from a face of another one."""
    rng = np.random.default_rng(11)
    add_meshes(rng)
    add_deforming(rng)
    bpy.context.view_layer.update()
    fit = FitSettings(parts=4, part_shape=part, padding=padding)
    bounds = compute_bounds(bpy.context.scene, BoundsSettings(BONES, ("aabb", "sphere", shape), fit))
    document = parse_document(dumps(bounds.document("gltf", 6)))
    for group in ("local", "world"):
        shapes = document["objects"][0][group]
        parts = [shapes] if shape == "cylinder" else shapes["compound"]
        for each in parts:
            values = each[{"compound": {"box": "obb"}.get(part, part)}.get(shape, shape)]
            along = np.array(values["axis"] if shape == "cylinder" else (1, 0, 0))
            values["center"] = (np.array(values["center"]) + 9 * along).tolist()
    assert any(f".{shape}: " in problem for problem in document_problems(document))


def assert_same(found: object, expected: object, path: str) -> None:
    """Compare values of JSON; numbers within a few units of the last decimal."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_same(found[key], value, f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for index, value in enumerate(expected):
            assert_same(found[index], value, f"{path}[{index}]")
    else:
        assert found == pytest.approx(expected, abs=4e-6), path


def test_trees_of_objects_that_come_later_are_in_the_document_too():
    """Instances that appear after the first frame are tested from then on."""
    (mesh,) = random_meshes(np.random.default_rng(1), 1)
    collection = bpy.data.collections.new("Instanced")
    collection.objects.link(bpy.data.objects.new("Source", mesh))
    empty = add_object("Instance")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("At Rest", mesh))
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    for frame, is_hidden in ((1, True), (5, False)):
        empty.hide_viewport = is_hidden
        empty.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    result = finished(find_contacts(bpy.context.scene, ContactSettings(shape="spheres", static_pairs=True)))
    document = parse_document(dumps(result.document("blender", 6)))
    assert len(document["objects"]) == 2
    assert all(len(entry["local"]["spheres"]) > 1 for entry in document["objects"])
    assert document["contacts"]
