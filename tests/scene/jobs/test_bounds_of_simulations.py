"""Bounds at a frame of simulations that are not baked: those that Blender shows when it has played up to it.

The reference is Blender's own evaluated mesh, played frame by frame by the test. Between frames Blender
interpolates what it has simulated: there positions are between those of the frames before and after.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.animated import Simulations
from addon.scene.blender.frames import advance_to
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.settings import BoundsSettings
from tests.cli.command_line import run
from tests.scene.building import CUBE, Nodes, add_vertices, open_empty_file

pytestmark = pytest.mark.smoke

SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
LAST = 12
RISE = 3.0


def add_rigid_body(item: bpy.types.Object) -> None:
    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Bodies")
    world.collection.objects.link(item)  # this makes it a rigid body


def add_cloth(item: bpy.types.Object) -> None:
    item.modifiers.new("Cloth", "CLOTH")


def add_soft_body(item: bpy.types.Object) -> None:
    item.modifiers.new("Soft", "SOFT_BODY").settings.use_goal = False


def add_simulation_zone(item: bpy.types.Object) -> None:
    """Add nodes that raise the mesh at each step."""
    nodes = Nodes(item)
    step, last = (nodes.add(f"GeometryNodeSimulation{end}put") for end in ("In", "Out"))
    step.pair_with_output(last)
    nodes.tree.links.new(nodes.mesh, step.inputs["Geometry"])
    moved = nodes.moved(step.outputs["Geometry"], Z=RISE)
    nodes.tree.links.new(moved, last.inputs["Geometry"])
    nodes.end(last.outputs["Geometry"])


def lowest(item: bpy.types.Object) -> float:
    """Lowest height of the evaluated vertices in the world."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(len(mesh.vertices) * 3)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world)
    return float((points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])[:, 2].min())


Simulate = Callable[[bpy.types.Object], None]


@pytest.fixture(params=[add_rigid_body, add_cloth, add_soft_body, add_simulation_zone])
def played(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[float]]:
    """Save a scene before its simulation is played; lowest heights at frames 0 to LAST, the first unused."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    item = add_vertices("Body", CUBE, SIDES)
    simulate: Simulate = request.param
    simulate(item)
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    heights = [math.nan]
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        heights.append(lowest(item))
    assert abs(heights[LAST] - heights[1]) > 0.2, "it moves"
    return path, heights


def bounds_at(path: Path, frame: float) -> float:
    """Lowest height of the bounds at a frame, in a file that was just opened."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("aabb",), frame=frame))
    return float(result.objects[0].world[0].min[2])


@pytest.mark.parametrize("frame", [1, 7, LAST])
def test_bounds_at_a_frame_are_those_of_the_played_simulation(played, frame):
    path, heights = played
    assert bounds_at(path, frame) == pytest.approx(heights[frame], abs=1e-4)


def test_bounds_at_a_subframe_are_between_those_of_its_frames(played):
    path, heights = played
    expected = heights[5] + 0.44 * (heights[6] - heights[5])
    # Blender's curve through two frames of a falling body is not a straight line.
    assert bounds_at(path, 5.44) == pytest.approx(expected, abs=2e-3)


def test_envelope_from_a_subframe_encloses_what_was_played(played):
    path, heights = played
    bpy.ops.wm.open_mainfile(filepath=str(path))
    settings = BoundsSettings(shapes=("aabb",), frame=5.44, envelope=True, frames=(5.44, 10.0, 0.7))
    result = run_to_end(bounds_in_parts(bpy.context.scene, settings))
    expected = min([*heights[6:11], heights[5] + 0.44 * (heights[6] - heights[5])])
    assert result.objects[0].envelope[0].min[2] == pytest.approx(expected, abs=2e-3)


def test_bounds_command_plays_up_to_the_frame_that_was_saved(played, tmp_path):
    path, heights = played
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.context.scene.frame_current = 9
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    ended = run("bounds", path, "--shapes", "aabb", "-o", tmp_path / "bounds.json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads((tmp_path / "bounds.json").read_text())
    assert document["objects"][0]["world"]["aabb"]["min"][2] == pytest.approx(heights[9], abs=1e-4)


def test_colliders_are_checked_at_the_frame_that_was_saved(tmp_path):
    """A collider around the mesh at frame 9 encloses it there alone."""
    open_empty_file()
    scene = bpy.context.scene
    item = add_vertices("Body", CUBE, SIDES)
    add_simulation_zone(item)
    path = tmp_path / "scene.blend"
    for frame in range(1, 10):
        scene.frame_set(frame)
    height = lowest(item) + 1
    collider = add_vertices("UCX_Body_00", CUBE * 1.01 + (0, 0, height), SIDES)
    collider.parent = item
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    ended = run("check-colliders", path, "-o", tmp_path / "out.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("step", [0.5, 0.7])
def test_subframes_from_the_start_do_not_change_later_frames(played, step):
    path, heights = played
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene, item = bpy.context.scene, bpy.data.objects["Body"]
    simulations, last = Simulations.of(scene), None
    for time in (*np.arange(1, 9.5, step).tolist(), 10.0):
        advance_to(scene, time, simulations, last)
        last = time
    assert lowest(item) == pytest.approx(heights[10], abs=1e-4)
