"""Contacts of instances: moving, appearing, disappearing and simulated ones."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.formats import dumps, parse_document
from addon.scene.motion import frame_reader
from addon.scene.motion.instance_reader import InstanceReader
from addon.scene.settings import Selection
from tests.scene.building import Nodes, add_instance
from tests.scene.sampling import add_box, add_points, contacts_by_names, key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

HALF = (0.5, 0.5, 0.5)


def add_block() -> None:
    add_box("Block", HALF)


def add_part(name: str = "Part") -> bpy.types.Object:
    """Add a cube that is not in the scene, only in collections that are instanced."""
    part = add_box(name, HALF)
    bpy.context.scene.collection.objects.unlink(part)
    return part


def add_crowd(*parts: bpy.types.Object, name: str = "Crowd") -> bpy.types.Object:
    """Add an empty that instances a collection of these objects."""
    collection = bpy.data.collections.new(name)
    for part in parts:
        collection.objects.link(part)
    return add_instance(name, collection)
    crowd = add_instance(name, collection)
    return crowd


def bake(cache: bpy.types.PointCache, start: int, end: int) -> None:
    """Play a simulation and bake its cache."""
    cache.frame_start, cache.frame_end = start, end
    for frame in range(start, end + 1):
        bpy.context.scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake_from_cache()
    assert cache.is_baked
    bpy.context.scene.frame_set(start)


# ---- Motion


@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_contact_when_instancer_and_instanced_object_move(shape):
    add_block()
    part = add_part()
    crowd = add_crowd(part)
    key(crowd, "location", [(1, (-20, 0, 0)), (21, (0, 0, 0))])
    key(part, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0))], "QUAD")
    contact = contacts_by_names(scan_scene(shape=shape, frames=(1, 21, 1)))[
        frozenset(("Block", "Crowd/Part.0"))
    ]
    # With s = (frame - 1) / 20, x = -20 + 20 s - 10 + 20 s^2 is -1 at the positive root of
    # 20 s^2 + 20 s - 29. Blender eases in by default.
    s = (-20 + (400 + 4 * 20 * 29) ** 0.5) / 40
    assert contact.first.frame == pytest.approx(1 + 20 * s, abs=1e-3)
    assert contact.first.motion == "sampled"


@pytest.mark.smoke
def test_contact_of_instance_on_point_that_nodes_move():
    add_block()
    part, host = add_part(), add_box("Host", HALF)
    nodes = Nodes(host)
    row = {"Count": 2, "Start Location": (-10, 0, 0), "Offset": (0, 5, 0)}
    line = nodes.add("GeometryNodeMeshLine", row).outputs["Mesh"]
    seconds = nodes.time("Seconds")
    moved = nodes.moved(line, X=nodes.math("MULTIPLY", seconds, seconds))
    nodes.end(nodes.on_points(moved, nodes.instance_of(part)))
    bpy.context.scene.render.fps = 2
    found = contacts_by_names(scan_scene(frames=(0, 8, 1)))
    # x = -10 + s^2, where s is the time in seconds at 2 frames per second: x = -1 at s = 3. The other
    # instance passes at y = 5.
    assert set(found) == {frozenset(("Block", "Host/Part.0"))}
    (contact,) = found.values()
    assert contact.first.frame == pytest.approx(6, abs=1e-3)
    assert contact.first.motion == "sampled"


@pytest.mark.parametrize("grows", [True, False])
def test_new_instances_take_part_and_removed_instances_are_absent(grows):
    add_box("Wall", (20, 0.5, 0.5)).location.z = 5
    part, host = add_part(), add_box("Host", HALF)
    nodes = Nodes(host)
    # The number of instances is the frame number, or 10 minus the frame number.
    count = nodes.math("ADD" if grows else "SUBTRACT", 0.01 if grows else 10.01, nodes.time("Frame"))
    line = nodes.add("GeometryNodeMeshLine", {"Count": count, "Offset": (3, 0, 0)}).outputs["Mesh"]
    nodes.end(nodes.on_points(line, nodes.instance_of(part)))
    key(host, "location", [(4, (0, 0, 0)), (8, (0, 0, 8))])
    result = scan_scene(frames=(4, 8, 1))
    parse_document(dumps(result.document()))
    reasons = {entry.name: entry.reason for entry in result.skipped}
    assert reasons.pop("Host") == "no vertices"  # the nodes remove its mesh
    found = contacts_by_names(result)
    # They rise by 2 per frame from frame 4. Their upper sides reach the lower side of the wall, z = 4.5, at
    # frame 6.
    if grows:
        # The last one but one appears at frame 6.99, in the wall; the last one appears beyond.
        late = found.pop(frozenset(("Wall", "Host/Part.6")))
        assert late.first.frame == pytest.approx(6.99, abs=1e-4)
        assert set(found) == {frozenset(("Wall", f"Host/Part.{index}")) for index in range(6)}
        assert set(reasons) == {f"Host/Part.{index}" for index in range(4, 8)}
        assert set(reasons.values()) == {"not present at frame 4: skipped while absent"}
    else:
        # There are six instances at frame 4, five soon after it, and four at the contact.
        assert set(found) == {frozenset(("Wall", f"Host/Part.{index}")) for index in range(4)}
        assert set(reasons) == {f"Host/Part.{index}" for index in range(2, 6)}
        assert "not present at frame 4.49" in reasons["Host/Part.5"]
        assert "not present at frame 7.43" in reasons["Host/Part.2"]
    for contact in found.values():
        assert contact.first.frame == pytest.approx(6, abs=1e-3)


def add_growing_row(start: int) -> bpy.types.Object:
    """Add a host of nodes with as many instances of a part as frames after `start`."""
    part, host = add_part(), add_box("Host", HALF)
    nodes = Nodes(host)
    count = nodes.math("SUBTRACT", nodes.time("Frame"), start - 0.01)
    line = nodes.add("GeometryNodeMeshLine", {"Count": count}).outputs["Mesh"]
    nodes.end(nodes.on_points(line, nodes.instance_of(part)))
    return host


def late_names(**settings: object) -> set[str]:
    """Names of the subjects of a scan that are instances."""
    return {subject.name for subject in scan_scene(**settings).subjects if "/" in subject.name}


@pytest.mark.parametrize("has_block", [True, False])
@pytest.mark.parametrize("in_group", [True, False])
def test_instances_take_part_if_nodes_show_none_at_the_first_frame(has_block, in_group):
    host = add_growing_row(5)
    if in_group:
        tree = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        group = tree.nodes.new("GeometryNodeGroup")
        group.node_tree, host.modifiers[0].node_group = host.modifiers[0].node_group, tree
        tree.links.new(group.outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0])
    if has_block:
        add_block()
    names = {f"Host/Part.{number}" for number in range(3)}
    assert late_names(frames=(1, 8, 1)) == names
    assert late_names(frames=(1, 8, 1), selection=Selection(("Ho*[s]t*",))) == names
    assert late_names(frames=(1, 5, 1)) == set()
    if has_block:
        assert late_names(frames=(1, 8, 1), selection=Selection(("B*",))) == set()


@pytest.fixture
def registered():
    """Enable the extension, so that objects have settings."""
    registration.register()
    yield
    registration.unregister()


@pytest.mark.usefixtures("registered")
def test_loose_parts_of_an_instance_that_comes_later_are_named():
    part = add_part()
    part.collision_bounds.use_object_settings, part.collision_bounds.bounds_for = True, "loose_parts"
    add_crowd(part)
    key(part, "hide_viewport", [(1, True), (5, False)], "CONSTANT")
    add_block()
    skipped = {entry.name: entry.reason for entry in scan_scene(frames=(1, 8, 1)).skipped}
    assert skipped == {"Crowd/Part": "not present at the first frame, appears at frame 5: not tested"}


def test_scene_is_searched_for_instances_only_if_the_selection_may_have_some(monkeypatch):
    add_growing_row(5)
    add_block()
    frames = []

    def count(reader, depsgraph):
        frames.append(depsgraph.scene.frame_current)
        return read(reader, depsgraph)

    def count_once(depsgraph, describe):
        frames.append(depsgraph.scene.frame_current)
        return read_once(depsgraph, describe)

    read, read_once = InstanceReader.read, frame_reader.read_instance_table
    monkeypatch.setattr(InstanceReader, "read", count)
    monkeypatch.setattr(frame_reader, "read_instance_table", count_once)
    scan_scene(frames=(1, 8, 1), selection=Selection(("Block",)))
    assert frames == [1]
    scan_scene(frames=(1, 8, 1), selection=Selection(("Block", "[H]ost")))
    assert set(frames) == set(range(1, 9))


# ---- Simulations


def add_independent_pair() -> frozenset[str]:
    """Add a pair that is independent of all simulations."""
    add_box("Wall", HALF).location = (0, 50, 0)
    key(add_box("Dot", HALF), "location", [(1, (-5, 50, 0)), (21, (5, 50, 0))], "QUAD")
    return frozenset(("Wall", "Dot"))


def assert_linear_only(names: tuple[str, ...], pair: frozenset[str], other: frozenset[str]) -> None:
    """Assert that only `names`, with the contact of `pair`, are linear between frames."""
    result = scan_scene(frames=(1, 21, 1), static_pairs=True)
    assert set(result.linear_only) == set(names)
    found = contacts_by_names(result)
    assert found[pair].first.motion == "linear" or found[pair].first.at_start
    assert found[other].first.motion == "proven"


@pytest.mark.smoke
def test_instances_with_rigid_body_parent_are_linear():
    other = add_independent_pair()
    add_block()
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Physics")
    body = add_box("Body", HALF)
    body.location = (0, 3, 6)
    world.collection.objects.link(body)
    crowd = add_crowd(add_part())
    crowd.parent, crowd.location = body, (0, -3, 0)
    nested = add_crowd(add_part("Deep"), name="Inner")
    bpy.context.scene.collection.objects.unlink(nested)
    nested.parent, nested.location = body, (0, 8, 0)
    add_crowd(nested, name="Outer")
    bake(world.point_cache, 1, 40)
    # The fall from z = 6 to 1 above the block takes 24 frames, which is longer than the scan.
    body.location = (0, 3, 6)
    block = bpy.data.objects["Block"]
    block.location = (0, 0, 4)
    names = ("Body", "Crowd/Part.0", "Outer/Deep.0")
    assert_linear_only(names, frozenset(("Block", "Crowd/Part.0")), other)


def test_instances_of_cloth_outside_scene_are_linear():
    other = add_independent_pair()
    add_block()
    part = add_part("Flag")
    cloth = part.modifiers.new("Cloth", "CLOTH")
    crowd = add_crowd(part)
    crowd.location = (0, 0, 1.2)
    bake(cloth.point_cache, 1, 40)
    assert_linear_only(("Crowd/Flag.0",), frozenset(("Block", "Crowd/Flag.0")), other)


@pytest.mark.parametrize("instanced_by", ["nodes", "vertices"])
def test_instances_of_cloth_in_scene_are_linear(instanced_by):
    other = add_independent_pair()
    flag = add_box("Flag", HALF)
    flag.location = (0, 0, 30)
    cloth = flag.modifiers.new("Cloth", "CLOTH")
    if instanced_by == "nodes":
        host = add_box("Host", HALF)
        nodes = Nodes(host)
        nodes.end(nodes.add("GeometryNodeGeometryToInstance", {0: nodes.instance_of(flag)}).outputs[0])
    else:
        # The instancer has no reference to its children.
        host = add_points("Host", [(0, 0, 0)])
        host.instance_type, flag.parent = "VERTS", host
    bake(cloth.point_cache, 1, 40)
    result = scan_scene(frames=(1, 21, 1))
    flags = {subject.name for subject in result.subjects if "Flag" in subject.name}
    assert "Host/Flag.0" in flags
    # The flag and its instances deform, whichever object instances it.
    assert set(result.linear_only) - {"Host"} == flags
    assert contacts_by_names(result)[other].first.motion == "proven"


def test_unbaked_cloth_that_is_only_instanced_is_played_from_its_start():
    add_block()
    part = add_part("Flag")
    part.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 3
    add_crowd(part).location = (0, 0, 20)
    key(add_box("Dot", HALF), "location", [(1, (-5, 0, 0)), (21, (5, 0, 0))])
    frames = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _: frames.append(scene.frame_float))
    try:
        result = scan_scene(frames=(8, 21, 1))
    finally:
        bpy.app.handlers.frame_change_post.clear()
    assert set(result.linear_only) == {"Block", "Crowd/Flag.0", "Dot"}
    assert all(frame == int(frame) for frame in frames)
    assert frames[:5] == [3, 4, 5, 6, 7]
