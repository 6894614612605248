"""Scans of meshes of all kinds of subjects: parts, collections, custom shapes, simulations, obstacles."""

from __future__ import annotations

import bpy
import pytest

from addon.core import Contact
from addon.formats import dumps, parse_document, read_document
from addon.scene.settings import Selection
from tests.scene.blender.parts.rigs import add_rig, add_tube
from tests.scene.building import add_instance, merged_collection
from tests.scene.enclosing import change_settings
from tests.scene.sampling import (
    add_box,
    add_faces,
    add_object,
    ball_points,
    contacts_by_names,
    key,
    scan_scene,
)

HALF = 0.5
REACHED = 1 + 23 * (6 - 2 * HALF) / 7
"""Frame at which the mover reaches the target."""


@pytest.fixture(autouse=True)
def empty_scene(object_settings):
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


def add_custom_shape(kind: str) -> dict[str, object]:
    """Add a small box that counts as a box as large as the target, or a sphere of that size."""
    item = add_box("Target", (0.1, 0.1, 0.1))
    item.collision_bounds.override, item.collision_bounds.half_extents = kind, (HALF, HALF, HALF)
    item.collision_bounds.radius = HALF
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


def mover_contacts(**settings: object) -> dict[str, Contact]:
    """Scan the meshes, check the document, and return the contacts of the mover by the other name."""
    result = scan_scene(shape="mesh", **settings)
    document = parse_document(dumps(result.document()))
    assert len(read_document(document).scanned.report.contacts) == len(result.report.contacts)
    assert result.has_contacts == bool(document["contacts"])
    found = contacts_by_names(result)
    return {next(iter(pair - {"Mover"})): each for pair, each in found.items() if "Mover" in pair}


@pytest.mark.parametrize(
    ("build", "names", "motion"),
    [
        (lambda: add_custom_shape("box"), {"Target"}, "sampled"),
        (add_loose_parts, {"Target/part.0"}, "proven"),
        (add_merged_collection, {"Group"}, "sampled"),
        (lambda: add_rigid_body(False), {"Target"}, "linear"),
        (lambda: add_rigid_body(True), {"Target"}, "linear"),
        (add_cloth, {"Target"}, "linear"),
    ],
    ids=["custom box", "loose parts", "merged collection", "rigid body", "baked rigid body", "cloth"],
)
def test_mover_touches_box_of_each_kind_when_it_reaches_it(build, names, motion):
    settings = build()
    add_mover()
    found = mover_contacts(**settings)
    assert set(found) == names
    for contact in found.values():
        assert abs(contact.first.frame - REACHED) <= contact.first.uncertainty + 1e-5
        assert contact.first.uncertainty < 1e-3
        assert [span.end for span in contact.intervals] == [24]
        assert contact.first.motion == motion


def test_mover_touches_custom_sphere_when_its_edge_does():
    add_custom_shape("sphere")
    # Its lower edge passes at a height of 0.3, where the sphere is 0.4 wide.
    add_mover().delta_location = (0, 0, 0.3)
    contact = mover_contacts()["Target"]
    assert contact.first.frame == pytest.approx(1 + 23 * (6 - HALF - 0.4) / 7, abs=1e-3)
    (span,) = contact.intervals
    assert span.end == pytest.approx(1 + 23 * (6 + HALF + 0.4) / 7, abs=1e-3)
    # The top of the sphere is 0.2 above the lower side of the mover.
    assert contact.depth == pytest.approx(0.2, abs=2e-3)


def test_mover_touches_the_bone_whose_faces_it_reaches():
    settings = add_bones()
    add_mover()
    found = mover_contacts(**settings)
    assert set(found) == {"Tube/bone.Bone 0"}
    (span,) = found["Tube/bone.Bone 0"].intervals
    # The tube is 0.2 wide to each side.
    assert (span.start, span.end) == pytest.approx((1 + 23 * 5.3 / 7, 1 + 23 * 6.7 / 7), abs=1e-3)


@pytest.mark.parametrize("build", [add_points_only, add_wire])
def test_object_without_faces_is_skipped(build):
    build()
    add_mover()
    result = scan_scene(shape="mesh")
    assert result.report.contacts == () and not result.has_contacts
    assert [(entry.name, entry.reason) for entry in result.skipped] == [
        ("Target", "skipped at frame 1: no faces")
    ]
    assert scan_scene(shape="aabb").has_contacts


@pytest.mark.parametrize("build", [add_growing_array, add_vanishing_walls])
def test_meshes_that_change_or_vanish_between_which_another_passes_do_not_touch_it(build):
    build()
    add_mover()
    assert mover_contacts() == {}
    assert scan_scene(shape="aabb").has_contacts


def test_obstacles_and_instances_are_tested():
    group = bpy.data.collections.new("Group")
    target = add_target()
    group.objects.link(target)
    instancer = add_instance("Instancer", group)
    instancer.location.y = 3
    mover = add_mover()
    mover.scale.y = 9
    found = mover_contacts(ignored=("Target:Instancer*",))
    assert len(found) == 2
    for contact in found.values():
        assert contact.first.frame == pytest.approx(REACHED, abs=1e-3)
    # The sphere around the mover reaches both earlier, the first one as a mesh.
    spheres = scan_scene(shape="sphere", obstacles=("Target",), ignored=("Target:Instancer*",))
    assert len(spheres.report.contacts) == 2
    assert all(contact.first.frame < REACHED - 1 for contact in spheres.report.contacts)
