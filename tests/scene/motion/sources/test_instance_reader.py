"""Instances frame by frame, compared with reading all of them again."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.instances import read_instance_table
from addon.scene.motion.instance_reader import InstanceMatrices, InstanceReader
from tests.scene.building import CUBE, Nodes, add_instance, add_vertices, hidden_collection, open_empty_file

pytestmark = pytest.mark.smoke


def add_instances(name, change):
    """Show two objects of a collection at 20 points by nodes; `change` adds what changes with the frame."""
    shown = hidden_collection(name, *(add_vertices(f"{name} {size}", CUBE * size) for size in (0.5, 0.9)))
    item = add_vertices(name, [(3 * place, 0, 0) for place in range(20)])
    nodes = Nodes(item, name)
    children = nodes.add("GeometryNodeCollectionInfo", {0: shown, "Separate Children": True}).outputs[0]
    shown_at = {"Points": nodes.mesh, "Instance": children, "Pick Instance": True}
    instances = nodes.add("GeometryNodeInstanceOnPoints", shown_at)
    frame, index = nodes.time("Frame"), nodes.add("GeometryNodeInputIndex").outputs[0]
    offset = nodes.add("ShaderNodeCombineXYZ", {2: nodes.math("SINE", nodes.math("ADD", frame, index))})
    translation = {0: instances.outputs[0], "Translation": offset.outputs[0]}
    nodes.end(nodes.add("GeometryNodeTranslateInstances", translation).outputs[0])
    change(nodes, instances, frame, index)
    return item


def move_only(nodes, instances, frame, index):
    pass


def switch_objects(nodes, instances, frame, index):
    """Show one object at even frames and the other one at odd frames, with the same ids."""
    even = nodes.math("FLOORED_MODULO", nodes.math("ADD", frame, index), 2.0)
    nodes.tree.links.new(even, instances.inputs["Instance Index"])


def grow(nodes, instances, frame, index):
    """Show more instances in each frame."""
    rest = nodes.math("GREATER_THAN", index, nodes.math("MULTIPLY", frame, 2.0))
    deleted = nodes.add("GeometryNodeDeleteGeometry", {0: nodes.mesh, "Selection": rest})
    nodes.tree.links.new(deleted.outputs[0], instances.inputs["Points"])


def change_ids(nodes, instances, frame, index):
    """Give the same instances in the same order other ids in each frame."""
    stored = nodes.add("GeometryNodeSetID", {0: nodes.mesh, "ID": nodes.math("ADD", index, frame)})
    nodes.tree.links.new(stored.outputs[0], instances.inputs["Points"])


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

    def offset(nodes, instances, frame, index):
        source = instances.inputs["Instance"].links[0].from_socket
        by = {"Translation": (0.1, 0.2, 0.3), "Rotation": (0.1, 0.2, 0.3)}
        placed = nodes.add("GeometryNodeTransform", {0: source, **by})
        nodes.tree.links.new(placed.outputs[0], instances.inputs["Instance"])

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
    add_instance("Empty", bpy.data.collections["Moving"])
    assert check_frames() == 5
