"""Contacts whose meshes cannot be verified have a reason, in the result and in every document of it."""

from __future__ import annotations

import bpy
import pytest

from addon.formats import Confirmation, NotVerified, dumps, parse_document, read_document
from addon.scene.settings import Selection
from tests.scene.blender.parts.rigs import add_rig, add_tube
from tests.scene.building import add_instance, merged_collection, open_empty_file
from tests.scene.enclosing import change_settings
from tests.scene.sampling import add_box, add_faces, add_object, ball_points, key, scan_scene

pytestmark = pytest.mark.usefixtures("object_settings")

HALF = 0.5


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24


def add_mover() -> bpy.types.Object:
    """Add a box that moves along x through the origin, where the target is."""
    mover = add_box("Mover", (HALF, HALF, HALF))
    key(mover, "location", [(1, (6.0, 0, 0.5)), (24, (-1.0, 0, 0.5))])
    return mover


def add_target() -> bpy.types.Object:
    """Add a box at the origin."""
    return add_box("Target", (HALF, HALF, HALF))


def add_bones() -> dict[str, object]:
    """Add a tube of three bones, each of which is checked on its own."""
    add_tube(add_rig())
    return {"selection": Selection(split_by_bones=True)}


def add_custom_shape() -> dict[str, object]:
    item = add_target()
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (1, 1, 1)
    return {}


def add_loose_parts() -> dict[str, object]:
    """Add two boxes as one mesh, of which each is checked on its own."""
    box = add_box("Target", (HALF, HALF, HALF))
    corners, sides = [tuple(vertex.co) for vertex in box.data.vertices], list(box.data.polygons)
    points = [(x, y + 3 * part, z) for part in (0, 1) for x, y, z in corners]
    faces = [tuple(8 * part + row for row in side.vertices) for part in (0, 1) for side in sides]
    mesh = bpy.data.meshes.new("Boxes")
    mesh.from_pydata(points, [], faces)
    box.data = mesh
    change_settings(box, bounds_for="loose_parts")
    return {}


def add_merged_collection() -> dict[str, object]:
    merged_collection("Group", *(add_box(name, (HALF, HALF, HALF)) for name in ("One", "Two")))
    return {}


def add_rigid_body(is_baked: bool) -> dict[str, object]:
    """Add a rigid body at rest in a simulation, which may be baked."""
    target, scene = add_target(), bpy.context.scene
    scene.gravity = (0, 0, 0)
    bpy.context.view_layer.objects.active = target
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
    bpy.ops.rigidbody.object_add()
    scene.rigidbody_world.point_cache.frame_end = 24
    if is_baked:
        with bpy.context.temp_override(point_cache=scene.rigidbody_world.point_cache):
            bpy.ops.ptcache.bake(bake=True)
    return {}


def add_cloth() -> dict[str, object]:
    add_target().modifiers.new("Cloth", "CLOTH")
    bpy.context.scene.gravity = (0, 0, 0)
    return {}


def add_points_only() -> dict[str, object]:
    add_faces("Target", ball_points(0.5).tolist(), [])
    return {}


def add_wire() -> dict[str, object]:
    """Add a curve without thickness, which has edges alone."""
    curve = bpy.data.curves.new("Target", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(3)
    for point, place in zip(spline.points, [(-1, -1, 0), (1, -1, 0), (1, 1, 1), (-1, 1, 1)], strict=True):
        point.co = (*place, 1)
    add_object("Target", curve)
    return {}


def add_walls() -> bpy.types.Object:
    """Add a mesh of two walls, between which the mover passes without a touch. Their box holds the origin."""
    y = 2.0
    points = [(i, j, k) for j in (-y, y) for i in (-1, 1) for k in (-1, 1)]
    return add_faces("Target", points, [(0, 1, 3, 2), (4, 5, 7, 6)])


def add_growing_array() -> dict[str, object]:
    """Add walls of which there are more from frame 19 on."""
    array = add_walls().modifiers.new("Array", "ARRAY")
    array.use_relative_offset, array.use_constant_offset = False, True
    array.constant_offset_displace = (0, 0, 3)
    key(array, "count", [(1, 1), (19, 2)], "CONSTANT")
    return {}


def add_vanishing_walls() -> dict[str, object]:
    """Add walls that deform, and that a driver hides while the mover is between them."""
    target = add_walls()
    target.shape_key_add(name="Basis")
    high = target.shape_key_add(name="High")
    high.data[0].co.z += 1
    key(high, "value", [(1, 0.0), (24, 1.0)])
    target.driver_add("hide_viewport").driver.expression = "frame > 20.3"
    return {}


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        pytest.param(add_bones, "bone", marks=pytest.mark.long),
        (add_custom_shape, "customShape"),
        (add_loose_parts, "loosePart"),
        (add_merged_collection, "mergedCollection"),
        (lambda: add_rigid_body(False), "unbakedSimulation"),
        (lambda: add_rigid_body(True), "simulated"),
        (add_cloth, "unbakedSimulation"),
        (add_points_only, "noFaces"),
        (add_wire, "noFaces"),
    ],
)
def test_each_contact_that_cannot_be_verified_has_its_reason(build, reason):
    settings = build()
    add_mover()
    result = scan_scene(confirm=True, **settings)
    reasons = [
        answer
        for contact, answer in zip(result.report.contacts, result.confirmed, strict=True)
        if "Mover" in (result.subjects[contact.a].name, result.subjects[contact.b].name)
    ]
    assert reasons and all(answer == NotVerified(reason) for answer in reasons)
    assert result.has_contacts
    document = parse_document(dumps(result.document()))
    written = {entry["notVerified"] for entry in document["contacts"] if "notVerified" in entry}
    assert reason in written and not any("meshes" in entry for entry in document["contacts"])
    assert tuple(read_document(document).scanned.confirmed) == result.confirmed
    assert f"not verified: {NotVerified(reason).text}" in result.contacts_table(document)


@pytest.mark.parametrize("build", [add_growing_array, add_vanishing_walls])
def test_meshes_that_change_or_vanish_between_which_another_passes_do_not_touch_it(build):
    build()
    add_mover()
    (answer,) = scan_scene(confirm=True).confirmed
    assert isinstance(answer, Confirmation) and answer.first is None and not answer.is_proven


def test_obstacles_and_instances_are_verified():
    group = bpy.data.collections.new("Group")
    target = add_target()
    group.objects.link(target)
    instancer = add_instance("Instancer", group)
    instancer.location.y = 3
    mover = add_mover()
    mover.scale.y = 9
    result = scan_scene(confirm=True, shape="sphere", obstacles=("Target",), ignored=("Target:Instancer*",))
    assert len(result.confirmed) == 2
    assert all(isinstance(answer, Confirmation) and answer.first for answer in result.confirmed)
