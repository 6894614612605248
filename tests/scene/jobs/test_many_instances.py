"""Bounds and documents of very many instances: bounded memory, progress, and the same answer as for few."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from addon.formats import Skipped, dumps
from addon.scene.jobs import bounds_table
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.settings import BoundsSettings
from tests.finished import finished
from tests.scene.building import CUBE, Nodes, add_instance, add_object, hidden_collection, open_empty_file
from tests.scene.jobs.contacts.test_scan_memory import run_script
from tests.scene.sampling import add_points
from tests.tiers import times

VERY_MANY = times(40_000, full=100_000)

PEAK = """
import json, os, resource, sys
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
if sys.argv[2] == "walk":
    count = sum(entry.is_instance for entry in bpy.context.evaluated_depsgraph_get().object_instances)
else:
    from addon.formats import json_parts
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.settings import BoundsSettings
    document = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("sphere", "aabb", "obb"))).document()
    with open(sys.argv[3], "w") as stream:
        stream.writelines(json_parts(document))
    count = len(document["objects"])
print("ANSWER" + json.dumps([count, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
sys.stdout.flush()
os._exit(0)
"""


def add_grid(count: int) -> bpy.types.Object:
    """Add points at (i % 100, i // 100, 0)."""
    mesh = bpy.data.meshes.new("Grid")
    mesh.from_pydata([(index % 100, index // 100, 0) for index in range(count)], [], [])
    grid = add_object("Grid", mesh)
    return grid


def instance_by_vertices(count: int) -> None:
    """Show a cube of size 0.5 at each point of a grid, by vertex instancing."""
    grid = add_grid(count)
    grid.instance_type = "VERTS"
    add_points("Cube", CUBE * 0.25).parent = grid


def instance_by_nodes(count: int) -> None:
    """Show a cube of size 0.5 at each point of a grid, by geometry nodes."""
    cube = add_points("Cube", CUBE * 0.25)
    nodes = Nodes(add_grid(count), "Instances")
    points = nodes.add("GeometryNodeMeshToPoints", {"Mesh": nodes.mesh}).outputs[0]
    nodes.end(nodes.on_points(points, nodes.instance_of(cube)))


def instance_turned_by_nodes(count: int) -> None:
    """Show a cube of size 0.5 at each point of a grid, by geometry nodes, each with a rotation of its own."""
    instance_by_nodes(count)
    tree = bpy.data.node_groups["Instances"]
    turns = tree.nodes.new("FunctionNodeRandomValue")
    turns.data_type = "FLOAT_VECTOR"
    instances = next(node for node in tree.nodes if node.bl_idname == "GeometryNodeInstanceOnPoints")
    tree.links.new(turns.outputs[0], instances.inputs["Rotation"])


def instance_collections(count: int) -> None:
    """Show a cube of size 0.5 at each point of a grid, by collections in collections."""
    cube = add_points("Cube", CUBE * 0.25)
    inside = hidden_collection("Cube", cube)
    for axis, size in enumerate((100, count // 100)):
        row = bpy.data.collections.new(f"Row {axis}")
        for index in range(size):
            empty = bpy.data.objects.new(f"Empty {axis}.{index}", None)
            empty.instance_type, empty.instance_collection = "COLLECTION", inside
            empty.location[axis] = index
            row.objects.link(empty)
        inside = row
    empty = add_instance("Grid", inside)


MAKERS = {"vertices": instance_by_vertices, "nodes": instance_by_nodes, "collections": instance_collections}


def check_grid(objects: list[dict[str, Any]], count: int) -> None:
    """Check that there is one cube at each point of a grid, and that ids are in the order of names."""
    instances = [entry for entry in objects if entry["name"].startswith("Grid/Cube.")]
    assert [entry["id"] for entry in instances] == sorted(f"Grid/Cube.{index}" for index in range(count))
    lows = {tuple(entry["world"]["aabb"]["min"]) for entry in instances}
    assert lows == {(index % 100 - 0.25, index // 100 - 0.25, -0.25) for index in range(count)}
    highs = {tuple(entry["world"]["aabb"]["max"]) for entry in instances}
    assert highs == {(index % 100 + 0.25, index // 100 + 0.25, 0.25) for index in range(count)}


def check_places(objects: list[dict[str, Any]], count: int) -> None:
    """Check that the boxes of turned cubes are around the points of a grid."""
    boxes = [entry["world"]["aabb"] for entry in objects if entry["name"].startswith("Grid/Cube.")]
    lows, highs = (np.array([box[side] for box in boxes]) for side in ("min", "max"))
    assert {tuple(point) for point in np.round((lows + highs) / 2, 4).tolist()} == {
        (index % 100, index // 100, 0) for index in range(count)
    }
    sizes = highs - lows
    # The width of a turned cube is between its edge and its diagonal.
    assert sizes.min() > 0.5 - 1e-4 and sizes.max() < 0.5 * math.sqrt(3) + 1e-4
    assert len(np.unique(np.round(sizes, 3), axis=0)) > count // 4


@pytest.mark.parametrize("kind", MAKERS)
def test_each_instance_has_bounds_at_its_place(kind):
    open_empty_file()
    MAKERS[kind](600)
    document = compute_bounds(bpy.context.scene, BoundsSettings()).document()
    check_grid(json.loads(dumps(document))["objects"], 600)
    check_grid(list(document["objects"]), 600)


def test_progress_of_plain_bounds_grows_while_reading_and_fitting():
    open_empty_file()
    instance_by_vertices(4500)
    job = bounds_in_parts(bpy.context.scene, BoundsSettings())
    seen = []
    while True:
        try:
            seen.append(next(job))
        except StopIteration as stop:
            assert len(stop.value.objects) == 4500 + 2  # the points and the cube are objects, too
            break
    assert [entry.done for entry in seen] == sorted(entry.done for entry in seen)
    assert [entry.phase for entry in seen] == ["reading"] + ["fitting"] * (len(seen) - 1)
    assert seen[-1].done / seen[-1].total == 0.5 and len(seen) > 2


def test_instances_that_are_fitted_in_many_batches_have_bounds_at_their_places(monkeypatch):
    open_empty_file()
    instance_turned_by_nodes(600)
    whole = dumps(compute_bounds(bpy.context.scene, BoundsSettings()).document())
    monkeypatch.setattr(bounds_table, "_SUBJECTS_AT_ONCE", 7)
    document = dumps(compute_bounds(bpy.context.scene, BoundsSettings()).document())
    assert document == whole
    check_places(json.loads(document)["objects"], 600)


def test_objects_that_are_deleted_between_batches_have_bounds_if_the_scene_may_change(monkeypatch):
    open_empty_file()
    instance_by_vertices(20)
    monkeypatch.setattr(bounds_table, "_SUBJECTS_AT_ONCE", 1)
    whole = dumps(compute_bounds(bpy.context.scene, BoundsSettings()).document())
    job = bounds_in_parts(bpy.context.scene, BoundsSettings(), may_change=True)
    assert next(job).phase == "reading"
    assert next(job).phase == "reading"
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes])
    bpy.context.view_layer.update()
    assert dumps(finished(job).document()) == whole


def test_object_that_is_deleted_between_finding_and_reading_is_skipped_if_the_scene_may_change():
    open_empty_file()
    for name in ("Early", "Late"):
        add_points(name, CUBE)
    job = bounds_in_parts(bpy.context.scene, BoundsSettings(), may_change=True)
    assert next(job).phase == "reading"
    bpy.data.objects.remove(bpy.data.objects["Early"])
    result = finished(job)
    assert [entry.name for entry in result.objects] == ["Late"]
    assert result.skipped == (Skipped("Early", "was deleted during the computation"),)


Peaks = Callable[[str, int], tuple[int, int, Path]]


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> Peaks:
    """Return a function that measures a bare walk over instances, and their document, in bytes."""

    def measure(kind: str, count: int) -> tuple[int, int, Path]:
        folder = tmp_path_factory.mktemp(kind)
        path, document = folder / "instances.blend", folder / "document.json"
        open_empty_file()
        {**MAKERS, "turned": instance_turned_by_nodes}[kind](count)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        (walked, bare), (written, peak) = (
            run_script(PEAK, path, job, document) for job in ("walk", "bounds")
        )
        assert written >= count <= walked
        return bare, peak, document

    return measure


@pytest.fixture(scope="module")
def few(peaks: Peaks) -> tuple[int, int, Path]:
    """Measure ten thousand instances."""
    return peaks("vertices", 10_000)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module of Unix")
def test_document_of_ten_thousand_instances_takes_little_memory(few):
    bare, peak, document = few
    # Modules and one batch take 30 MB, the instances 7 MB. Objects in Python would take 70 MB.
    assert peak - bare < 60e6
    assert document.stat().st_size > 10_000 * 500


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module of Unix")
@pytest.mark.parametrize("kind", MAKERS)
def test_document_of_very_many_instances_takes_a_kilobyte_each(peaks, kind):
    bare, peak, document = peaks(kind, VERY_MANY)
    assert peak - bare < 30e6 + VERY_MANY * 1000
    check_grid(json.loads(document.read_text("utf-8"))["objects"], VERY_MANY)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module of Unix")
def test_document_of_instances_that_are_all_turned_differently_takes_a_kilobyte_each(peaks):
    bare, peak, document = peaks("turned", VERY_MANY)
    assert peak - bare < 30e6 + VERY_MANY * 1000
    check_places(json.loads(document.read_text("utf-8"))["objects"], VERY_MANY)
