"""The overlap of two meshes agrees with Blender's boolean modifier, and with closed forms."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import Meshes, Sphere, overlap_depth
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.scene.live.overlap import find_overlap
from tests.core.meshes import random_poses
from tests.tiers import times


def ball():
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3)


def ring():
    bpy.ops.mesh.primitive_torus_add(major_segments=24, minor_segments=12, minor_radius=0.4)


def block():
    bpy.ops.mesh.primitive_cube_add(size=1.5)


def head():
    """Add the monkey as one closed surface."""
    bpy.ops.mesh.primitive_monkey_add()
    modifier = bpy.context.object.modifiers.new("Closed", "REMESH")
    modifier.mode, modifier.voxel_size = "VOXEL", 0.12
    bpy.ops.object.modifier_apply(modifier="Closed")


def sheet():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=3)


def added(make, pose):
    """Add an object in a pose (4, 4), and return it and its mesh."""
    make()
    item = bpy.context.object
    item.matrix_world = pose.T
    bpy.context.view_layer.update()
    item.data.calc_loop_triangles()
    points = np.array([vertex.co for vertex in item.data.vertices])
    triangles = np.array([each.vertices for each in item.data.loop_triangles])
    nodes = np.empty(1, dtype=object)
    nodes[0] = MeshBvh(points, triangles)
    return item, Meshes.unchecked(nodes, np.array(item.matrix_world, dtype=float)[None], np.zeros(1))


def area_of(corners):
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.linalg.norm(np.cross(first, second), axis=1).sum() / 2


def area_of_intersection(a, b):
    """Area of what both objects have in common, by the boolean modifier."""
    modifier = a.modifiers.new("Both", "BOOLEAN")
    modifier.operation, modifier.solver, modifier.object = "INTERSECT", "EXACT", b
    evaluated = a.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    points = np.array([vertex.co for vertex in mesh.vertices]).reshape(-1, 3)
    corners = points[np.array([each.vertices for each in mesh.loop_triangles], dtype=int).reshape(-1, 3)]
    evaluated.to_mesh_clear()
    matrix = np.array(a.matrix_world)
    return area_of(corners @ matrix[:3, :3].T + matrix[:3, 3])


PAIRS = [(ball, ring), (ring, block), (block, ball), (head, ring), (ring, ring), (head, block)]


@pytest.mark.long
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_faces_inside_are_those_of_the_intersection(empty_file, first, second):
    found = 0
    for seed in range(times(3)):
        items, meshes = zip(
            *(added(*each) for each in zip((first, second), random_poses(2, 0.5, seed), strict=True)),
            strict=True,
        )
        overlap = find_overlap(*meshes)
        expected = area_of_intersection(*items)
        assert area_of(overlap.inside) == pytest.approx(expected, rel=2e-3, abs=1e-4)
        depth, points = overlap_depth(*meshes)
        assert overlap.depth == depth[0]
        np.testing.assert_array_equal(overlap.ends, [points.on_a[0], points.on_b[0]])
        found += expected > 0.1
    assert found


def test_blocks_corner_in_corner_have_the_faces_of_their_common_box(empty_file):
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, 3] = 1.0, 1.2, 0.9
    overlap = find_overlap(*(added(block, pose)[1] for pose in poses))
    x, y, z = 0.5, 0.3, 0.6
    assert area_of(overlap.inside) == pytest.approx(2 * (x * y + y * z + z * x), rel=1e-6)
    lengths = np.linalg.norm(overlap.curve[:, 1] - overlap.curve[:, 0], axis=1)
    assert lengths.sum() == pytest.approx(2 * (x + y + z), rel=1e-6)
    assert overlap.depth == pytest.approx(0.3, rel=1e-6), "the corner of either is inside by the least width"


def test_corners_in_the_plane_of_a_side_do_not_join_what_is_inside_to_what_is_outside(empty_file):
    """The middle row of vertices of the grid is in the top of the block, as where objects snap."""
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, :3], poses[1, :3, 3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0.01, 0.02, 0.75]
    overlap = find_overlap(*(added(*each)[1] for each in zip((block, sheet), poses, strict=True)))
    # The sheet is vertical, 3 wide, and its lower half is in the block down to z = -0.75.
    assert area_of(overlap.inside) == pytest.approx(1.5 * 1.5, rel=1e-3)
    assert overlap.inside[..., 2].max() < 0.75 + 1e-6


def test_sheet_through_a_ball_has_a_curve_and_no_depth_of_its_own(empty_file):
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, 3] = 0.03, 0.02, 0.1
    (_, solid), (_, surface) = added(ball, poses[0]), added(sheet, poses[1])
    overlap = find_overlap(solid, surface)
    lengths = np.linalg.norm(overlap.curve[:, 1] - overlap.curve[:, 0], axis=1)
    assert lengths.sum() == pytest.approx(2 * np.pi * np.sqrt(1 - 0.01), rel=0.02)
    # Of the sheet, the part in the ball; of the ball nothing, because a sheet has no inside.
    assert area_of(overlap.inside) == pytest.approx(np.pi * (1 - 0.01), rel=0.04)
    assert np.ptp(overlap.inside[..., 2]) < 1e-6
    assert np.isnan(find_overlap(surface, added(sheet, random_poses(1, 0.0)[0])[1]).depth)


def test_meshes_apart_have_a_gap_and_nothing_else(empty_file):
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, 3] = 0, 0, 2.5
    overlap = find_overlap(*(added(block, pose)[1] for pose in poses))
    assert overlap.depth == pytest.approx(-1.0, rel=1e-6)
    assert not len(overlap.curve) and not len(overlap.inside)
    assert overlap.ends[1, 2] - overlap.ends[0, 2] == pytest.approx(1.0, rel=1e-6)


def test_balls_of_custom_shapes_have_a_depth_and_no_curve():
    a, b = (Meshes.balls(Sphere(np.array([[x, 0.0, 0.0]]), np.ones(1))) for x in (0.0, 1.5))
    overlap = find_overlap(a, b)
    assert overlap.depth == pytest.approx(0.5) and not len(overlap.curve) and not len(overlap.inside)
