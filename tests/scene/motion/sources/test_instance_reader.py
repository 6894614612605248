"""Instances frame by frame, compared with reading all of them again."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.instances import read_instance_table
from addon.scene.motion.instance_reader import InstanceMatrices, InstanceReader
from tests.scene.building import CUBE, add_vertices, open_empty_file

pytestmark = pytest.mark.smoke


def add_math(tree, operation, *values):
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    for socket, value in zip(node.inputs, values, strict=False):
        if isinstance(value, (int, float)):
            socket.default_value = value
        else:
            tree.links.new(value, socket)
    return node.outputs[0]


def add_instances(name, change):
    """Show two objects of a collection at 20 points by nodes; `change` adds what changes with the frame."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    shown = bpy.data.collections.new(name)
    for size in (0.5, 0.9):
        item = add_vertices(f"{name} {size}", CUBE * size)
        bpy.context.scene.collection.objects.unlink(item)
        shown.objects.link(item)
    add, link = tree.nodes.new, tree.links.new
    start, end, instances = add("NodeGroupInput"), add("NodeGroupOutput"), add("GeometryNodeInstanceOnPoints")
    collection, moved = add("GeometryNodeCollectionInfo"), add("GeometryNodeTranslateInstances")
    collection.inputs[0].default_value = shown
    collection.inputs["Separate Children"].default_value = True
    instances.inputs["Pick Instance"].default_value = True
    offset = add("ShaderNodeCombineXYZ")
    frame, index = (
        add("GeometryNodeInputSceneTime").outputs["Frame"],
        add("GeometryNodeInputIndex").outputs[0],
    )
    link(add_math(tree, "SINE", add_math(tree, "ADD", frame, index)), offset.inputs[2])
    link(start.outputs[0], instances.inputs["Points"])
    link(collection.outputs[0], instances.inputs["Instance"])
    link(instances.outputs[0], moved.inputs[0])
    link(offset.outputs[0], moved.inputs["Translation"])
    link(moved.outputs[0], end.inputs[0])
    change(tree, instances, frame, index)
    item = add_vertices(name, [(3 * place, 0, 0) for place in range(20)])
    item.modifiers.new(name, "NODES").node_group = tree
    return item


def move_only(tree, instances, frame, index):
    pass


def switch_objects(tree, instances, frame, index):
    """Show one object at even frames and the other one at odd frames, with the same ids."""
    even = add_math(tree, "FLOORED_MODULO", add_math(tree, "ADD", frame, index), 2.0)
    tree.links.new(even, instances.inputs["Instance Index"])


def grow(tree, instances, frame, index):
    """Show more instances in each frame."""
    start = instances.inputs["Points"].links[0].from_socket
    deleted = tree.nodes.new("GeometryNodeDeleteGeometry")
    tree.links.new(start, deleted.inputs[0])
    rest = add_math(tree, "GREATER_THAN", index, add_math(tree, "MULTIPLY", frame, 2.0))
    tree.links.new(rest, deleted.inputs["Selection"])
    tree.links.new(deleted.outputs[0], instances.inputs["Points"])


def change_ids(tree, instances, frame, index):
    """Give the same instances in the same order other ids in each frame."""
    stored = tree.nodes.new("GeometryNodeSetID")
    start = instances.inputs["Points"].links[0].from_socket
    tree.links.new(start, stored.inputs[0])
    tree.links.new(add_math(tree, "ADD", index, frame), stored.inputs["ID"])
    tree.links.new(stored.outputs[0], instances.inputs["Points"])


def read_frames(count=5):
    """Yield for each frame what the reader returns, and all instances read again."""
    reader, scene = InstanceReader(lambda item: item.key[:2]), bpy.context.scene
    for frame in range(1, count + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        table = reader.read(depsgraph)
        yield table, run_to_end(read_instance_table(depsgraph, lambda item: item.key[:2]))


def check_frames(count=5):
    """Check all frames; return how often all instances were read."""
    sequences = []
    for table, again in read_frames(count):
        rows = np.arange(len(again.kind_of))
        assert [table.key_of(row) for row in rows.tolist()] == [again.key_of(row) for row in rows.tolist()]
        np.testing.assert_array_equal(table.matrices(rows), again.matrices(rows))
        assert [kind.details for kind in table.kinds] == [kind.details for kind in again.kinds]
        sequences.append(table.kind_of)
    return sum(last is not now for last, now in zip([None, *sequences[:-1]], sequences, strict=True))


HAS_GEOMETRY = hasattr(bpy.types.Object, "evaluated_geometry")


def test_where_instances_only_move_what_they_show_is_read_once():
    open_empty_file()
    add_instances("Moving", move_only)
    assert check_frames() == (1 if HAS_GEOMETRY else 5)


def turn_host(item):
    """Move, turn and stretch an object that shows instances, from frame 3 on."""
    for path, values in (("location", (1, 2, 3)), ("rotation_euler", (1, 0.5, 2)), ("scale", (1, -2, 0.3))):
        item.keyframe_insert(path, frame=3)
        setattr(item, path, values)
        item.keyframe_insert(path, frame=8)


def count_full_reads(monkeypatch):
    """Count how often all matrices are read from Blender."""
    read, calls = InstanceMatrices._read_all, []
    monkeypatch.setattr(
        InstanceMatrices, "_read_all", lambda self, *args: calls.append(1) or read(self, *args)
    )
    return calls


def test_matrices_of_instances_on_an_object_that_turns_are_those_of_blender(monkeypatch):
    open_empty_file()
    add_vertices("Still", CUBE)
    turn_host(add_instances("Moving", move_only))
    add_instances("Unmoved", move_only)
    calls = count_full_reads(monkeypatch)
    assert check_frames(12) == (1 if HAS_GEOMETRY else 12)
    # Once for each new pattern of zeros and ones: at rest, while it turns, and at the end.
    assert 0 < len(calls) <= 4 if HAS_GEOMETRY else not calls


def test_matrices_of_instances_with_a_transform_of_their_own_are_those_of_blender(monkeypatch):
    open_empty_file()

    def offset(tree, instances, frame, index):
        source = instances.inputs["Instance"].links[0].from_socket
        placed = tree.nodes.new("GeometryNodeTransform")
        placed.inputs["Translation"].default_value = (0.1, 0.2, 0.3)
        placed.inputs["Rotation"].default_value = (0.1, 0.2, 0.3)
        tree.links.new(source, placed.inputs[0])
        tree.links.new(placed.outputs[0], instances.inputs["Instance"])

    turn_host(add_instances("Moving", move_only))
    turn_host(add_instances("Placed", offset))
    assert check_frames(12) == (1 if HAS_GEOMETRY else 12)


@pytest.mark.parametrize("change", [switch_objects, grow, change_ids])
def test_instances_that_change_are_read_again(change):
    open_empty_file()
    add_instances("Moving", move_only)
    add_instances("Changing", change)
    assert check_frames() == 5


def test_objects_that_come_and_go_are_read_again():
    open_empty_file()
    add_instances("Moving", move_only)
    for name, frames in (("First", (1, 3)), ("Second", (3, 1))):
        item = add_vertices(name, CUBE)
        for hidden, frame in zip((False, True), frames, strict=True):
            item.hide_viewport = hidden
            item.keyframe_insert("hide_viewport", frame=frame)
    assert check_frames() == (2 if HAS_GEOMETRY else 5)


def test_instances_of_an_object_that_is_itself_hidden_are_read_again():
    open_empty_file()
    add_instances("Moving", move_only)
    add_instances("Changing", switch_objects).hide_viewport = True
    hidden = add_instances("Hidden", switch_objects)
    hidden.show_instancer_for_viewport = False
    assert check_frames() == 5


def test_instances_of_collections_are_read_again_in_each_frame():
    open_empty_file()
    add_instances("Moving", move_only)
    empty = bpy.data.objects.new("Empty", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", bpy.data.collections["Moving"]
    bpy.context.scene.collection.objects.link(empty)
    assert check_frames() == 5
