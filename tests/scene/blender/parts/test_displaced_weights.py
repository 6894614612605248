"""Weights of many vertices copied as blocks, against a loop over the vertices."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from addon.scene.blender.parts import weights as weights_module
from addon.scene.blender.parts.weights import is_worth_a_scene, weights_of_meshes
from addon.scene.blender.private_scene import end_step
from tests.scene.building import add_object, add_vertices, key_location

pytestmark = pytest.mark.usefixtures("empty_file")

NAMES = ("Bone", 'quo"te\\', "überall", " ", "x" * 60, "Bone.001", "nobody")
BLOCKS = ("scenes", "objects", "meshes", "materials", "collections", "actions")


def add_weighted(seed, vertices=50, name="Body"):
    """Add vertices with weights at random, of no group, one or several; nothing is in the last group."""
    generator = random.Random(seed)
    item = add_vertices(name, [[generator.uniform(-9, 9) for _ in range(3)] for _ in range(vertices)])
    groups = [item.vertex_groups.new(name=each) for each in NAMES]
    for vertex in range(vertices):
        for group in generator.sample(groups[:-1], generator.randrange(5)):
            group.add([vertex], generator.choice((0, 1e-30, 1e-6, generator.random(), 1)), "REPLACE")
    return item


def expected(item, groups):
    """Weights of groups by a loop."""
    found = {group: ([], []) for group in groups}
    for vertex in item.data.vertices:
        for entry in vertex.groups:
            if entry.weight > 0 and entry.group in found:
                found[entry.group][0].append(vertex.index)
                found[entry.group][1].append(entry.weight)
    return list(found.values())


def assert_weights(item, groups, found):
    for weights, (rows, values) in zip(found, expected(item, groups), strict=True):
        assert weights[0].tolist() == rows
        assert weights[1].tolist() == values


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_the_vertices_to_the_bit(seed):
    first, second = add_weighted(seed), add_weighted(seed + 9, name="Other")
    shared = add_object("Shared", first.data)
    wanted = [(first, list(range(len(NAMES)))), (second, [5, 1]), (shared, []), (shared, [3])]
    for (item, groups), found in zip(wanted, weights_of_meshes(wanted, as_blocks=True), strict=True):
        assert_weights(item, groups, found)
    end_step()


def test_groups_are_evaluated_in_several_runs(monkeypatch):
    item, groups = add_weighted(1), [6, 0, 2, 3, 1, 4, 5]
    monkeypatch.setattr(weights_module, "_MOST_POSITIONS", 1)
    (found,) = weights_of_meshes([(item, groups)], as_blocks=True)
    assert_weights(item, groups, found)


def test_mesh_without_vertices_has_no_weights():
    item = add_weighted(2, vertices=0)
    assert [len(each[0]) for each in weights_of_meshes([(item, [0, 1])], as_blocks=True)[0]] == [0, 0]


def test_weights_in_a_loop_need_no_scene(monkeypatch):
    def refuse():
        raise AssertionError

    monkeypatch.setattr(weights_module, "temporary_scene", refuse)
    item = add_weighted(3)
    assert_weights(item, [4, 2], weights_of_meshes([(item, [4, 2])], as_blocks=False)[0])


def test_few_vertices_are_not_worth_a_scene_in_a_large_file():
    item = add_weighted(3)
    assert is_worth_a_scene(2000) and not is_worth_a_scene(10)
    for _ in range(200):
        bpy.data.objects.new("More", item.data)
    assert is_worth_a_scene(20_000) and not is_worth_a_scene(2000)


@pytest.mark.smoke
def test_nothing_else_in_the_file_changes():
    item = add_weighted(4)
    item.data.materials.append(bpy.data.materials.new("Skin"))
    item.modifiers.new("Array", "ARRAY")
    key_location(item, {1: (0, 0, 0), 9: (4, 0, 0)})
    bpy.context.scene.frame_set(5)
    bpy.context.view_layer.update()
    calls = []
    handlers = [
        getattr(bpy.app.handlers, f"{name}_{when}")
        for name in ("frame_change", "depsgraph_update")
        for when in ("pre", "post")
    ]
    for each in handlers:
        each.append(lambda *_: calls.append(1))
    before = state(item)
    try:
        weights_of_meshes([(item, list(range(len(NAMES))))], as_blocks=True)
        end_step()
        bpy.context.view_layer.update()
    finally:
        for each in handlers:
            each.pop()
    assert (state(item), calls) == (before, [])


def state(item):
    """Return names of data-blocks, the playhead, and the object with its mesh."""
    points = np.empty(3 * len(item.data.vertices), dtype=np.float32)
    item.data.vertices.foreach_get("co", points)
    return (
        [[each.name_full for each in getattr(bpy.data, name)] for name in BLOCKS],
        [each.users for each in (item, item.data, item.data.materials[0])],
        (bpy.context.scene.name, bpy.context.scene.frame_current_final, item.location[:]),
        ([each.name for each in item.modifiers], points.tolist()),
    )


def test_nothing_is_left_after_an_error(monkeypatch):
    def fail(*_):
        raise MemoryError

    item = add_weighted(5)
    before = [len(getattr(bpy.data, name)) for name in BLOCKS]
    monkeypatch.setattr(weights_module, "vertex_positions", fail)
    with pytest.raises(MemoryError):
        weights_of_meshes([(item, [0, 1, 2, 3])], as_blocks=True)
    end_step()
    assert [len(getattr(bpy.data, name)) for name in BLOCKS] == before
