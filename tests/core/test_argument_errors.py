"""Every public function of `addon.core` gives a valid result or one of its errors, for any argument."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from addon import core
from addon.core import (
    Aabb,
    Obb,
    Sample,
    ScanSettings,
    Segment,
    Sphere,
    SphereTree,
    Triangle,
    TriangleMesh,
)
from tests.argument_errors import Row, failures, missing_rows, result_of_valid_arguments, valid

RECORDS = (
    core.Clearance,
    core.Contact,
    core.ContactDetails,
    core.ContactInterval,
    core.ContactReport,
    core.ConvexHull,
    core.Envelopes,
    core.FirstContact,
    core.Impact,
    core.ImpactStatus,
    core.MeshSeparation,
    core.Progress,
    core.Sample,
    core.ScanSettings,
    core.Surface,
    core.WitnessPoints,
    # Protocols, which callers implement
    core.Motion,
    core.Sampler,
)
"""Classes that only hold their fields. The functions that use a record check it, in rows with its fields."""

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 2, 3]])
CORNERS = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1], [0, 1, 1]]])
BOXES = Aabb(np.zeros((3, 3)), np.ones((3, 3)))
SPHERES = Sphere(np.zeros((3, 3)), 1.0)
TRIANGLES = Triangle(CORNERS[:, 0], CORNERS[:, 1], CORNERS[:, 2])
MESH = TriangleMesh(TRIANGLES)
TREE = core.sphere_tree_from_triangles(CORNERS)
HULL = core.hull_from_points(POINTS)
SHAPES = {
    "Sphere": Sphere([0.0, 0, 0], 1.0),
    "Aabb": Aabb([0, 0, 0], [1, 1, 1]),
    "Obb": Obb([0, 0, 0], [1, 2, 3], np.eye(3)),
    "Capsule": core.Capsule([0, 0, 0], [0, 0, 1], 2, 1),
    "Cylinder": core.Cylinder([0, 0, 0], [0, 0, 1], 2, 1),
    "Segment": Segment([0, 0, 0], [1, 1, 1]),
    "Triangle": Triangle([0, 0, 0], [1, 0, 0], [0, 1, 0]),
    "SphereTree": TREE,
    "Meshes": core.Meshes(MESH, np.eye(4)),
}


class Falling:
    """Spheres that fall, sampled at any time; `replaced` is what one of its members returns instead."""

    def __init__(self, **replaced: Any) -> None:
        self._replaced = replaced

    @property
    def refinable(self) -> Any:
        return self._replaced.get("refinable", np.ones(3, bool))

    def sample(self, time: float) -> Any:
        return self._replaced.get("sample", Sphere(np.outer(range(3), (0, 0, 5 - time)), 1.0))

    def sample_between(self, time: float, subjects: Any) -> Any:
        return self._replaced.get("sample_between", Falling().sample(time)[subjects])


class FallingBoxes:
    """Boxes around them; `replaced` is what its members are, or return, instead."""

    def __init__(self, **replaced: Any) -> None:
        self.grain = replaced.get("grain", np.zeros(3))
        self.costs = replaced.get("costs", np.ones(3))
        self._replaced = replaced

    def at(self, shapes: Any, times: Any) -> Any:
        return self._replaced.get("boxes", falling_spheres(shapes, times).aabb())

    def are_present(self, shapes: Any, times: Any) -> Any:
        return self._replaced.get("are_present", np.ones(len(shapes), bool))


def falling_spheres(shapes: Any, times: Any) -> Sphere:
    return Sphere(np.outer(shapes, (0, 0, 1)) * (5 - times)[:, None], 1.0)


FRAMES = [1.0, 2.0, 3.0, 4.0]
SCAN_SETTINGS = {
    "clearance": 0.1,
    "group_a": None,
    "group_b": np.array([True, True, False]),
    "ignored": [(0, 1)],
    "separate": np.array([0, 1, -1]),
    "static_pairs": False,
    "owners": np.arange(3),
    "motion": "adaptive",
}


def scan_with_settings(**settings: Any) -> Any:
    return core.scan_contacts(Falling(), FRAMES, ScanSettings(**settings))


def scan_of_sample(**fields: Any) -> Any:
    return core.scan_contacts(Falling(sample=Sample(**fields), refinable=np.zeros(3, bool)), [1.0, 2.0])


def pair_row(function: Callable[..., Any]) -> Row:
    return Row(function, valid(a=SHAPES["Sphere"], b=SHAPES["Obb"]), {"a": ["shapes"], "b": ["shapes"]})


def motion_row(function: Callable[..., Any], **more: Any) -> Row:
    sphere = SHAPES["Sphere"]
    shapes = {"a_start": sphere, "a_end": sphere, "b_start": SHAPES["Aabb"], "b_end": SHAPES["Aabb"]}
    if function is core.closest_time:
        shapes |= {"b_start": sphere, "b_end": sphere}
    words = dict.fromkeys(shapes, ("shapes",))
    return Row(function, valid(**shapes, **more), words, may_be_nan=True)


MATRIX = np.eye(4)
METHODS = {
    "contains": Row(lambda this, /, **given: this.contains(**given), valid(points=POINTS)),
    "padded": Row(
        lambda this, /, **given: this.padded(**given),
        valid(amount=0.5),
        {"amount": ["padding", "radius", "half extents", "half length", "box", "tree", "margin"]},
    ),
    "transformed": Row(
        lambda this, /, **given: this.transformed(**given),
        valid(matrix=MATRIX),
    ),
    "merged": Row(lambda this, /, **given: this.merged(**given), {}),
    "broadcast_to": Row(lambda this, /, **given: this.broadcast_to(**given), valid(shape=(2, 3))),
    "reshaped": Row(lambda this, /, **given: this.reshaped(**given), valid(shape=(1, 1))),
    "to_local": Row(lambda this, /, **given: this.to_local(**given), valid(points=POINTS)),
    "to_world": Row(lambda this, /, **given: this.to_world(**given), valid(points=POINTS)),
}


def method_rows() -> dict[str, Row]:
    """Return the rows of the methods that several shapes have."""
    rows = {}
    for kind, shape in SHAPES.items():
        for method, row in METHODS.items():
            if not hasattr(shape, method):
                continue
            arguments = row.arguments or valid(other=shape)
            rows[f"{kind}.{method}"] = Row(functools.partial(row.call, shape), arguments, row.words)
    return rows


ROWS: dict[str, Row] = {
    **method_rows(),
    "Sphere": Row(Sphere, valid(center=[0, 0, 0], radius=1)),
    "Aabb": Row(Aabb, valid(min=[0, 0, 0], max=[1, 1, 1])),
    "Obb": Row(Obb, valid(center=[0, 0, 0], half_extents=[1, 1, 1], rotation=np.eye(3))),
    **{
        kind.__name__: Row(kind, valid(center=[0, 0, 0], axis=[0, 0, 1], half_length=2, radius=1))
        for kind in (core.Capsule, core.Cylinder)
    },
    **{
        f"{kind.__name__}.between": Row(
            kind.between,
            valid(start=[0, 0, 0], end=[0, 0, 1], radius=1),
            dict.fromkeys(("start", "end"), ("end", "half length")),
        )
        for kind in (core.Capsule, core.Cylinder)
    },
    "Segment": Row(Segment, valid(start=[0, 0, 0], end=[1, 1, 1])),
    "Triangle": Row(Triangle, valid(a=[0, 0, 0], b=[1, 0, 0], c=[0, 1, 0], one_sided=False)),
    "TriangleMesh": Row(TriangleMesh, valid(triangles=TRIANGLES), {"triangles": ["mesh"]}),
    "Meshes": Row(core.Meshes, valid(meshes=[MESH], matrix=np.eye(4)[None], is_solid=False)),
    "Meshes.balls": Row(core.Meshes.balls, valid(spheres=SPHERES)),
    "TriangleMesh.moved": Row(MESH.moved, valid(corners=CORNERS)),
    "TriangleMesh.require_same": Row(MESH.require_same, valid(other=MESH), {"other": ["meshes"]}),
    "SphereTree": Row(
        SphereTree,
        valid(
            center=[[0, 0, 0]] * 3,
            radius=[2, 1, 1],
            children=[[1, 2], [-1, -1], [-1, -1]],
            parts=None,
            order=(),
        ),
        {"center": ["tree", "sphere"], "radius": ["tree", "sphere"]},
    ),
    "SphereTree.require_same_nodes": Row(TREE.require_same_nodes, valid(other=TREE), {"other": ["trees"]}),
    "stacked": Row(core.stacked, valid(shapes=[SPHERES, SPHERES])),
    "aabb_from_points": Row(core.aabb_from_points, valid(points=POINTS)),
    "aabbs_from_groups": Row(
        core.aabbs_from_groups, valid(points=POINTS, offsets=[0, 2, 5]), {"points": ["offsets"]}
    ),
    "sphere_from_points": Row(core.sphere_from_points, valid(points=POINTS, method="minimal")),
    "spheres_from_groups": Row(
        core.spheres_from_groups,
        valid(points=POINTS, offsets=[0, 2, 5], method="ritter", is_sorted=False),
        {"points": ["offsets"]},
    ),
    "sphere_from_aabb": Row(core.sphere_from_aabb, valid(box=BOXES)),
    "obb_from_points": Row(core.obb_from_points, valid(points=POINTS, rotation=None)),
    "capsule_from_points": Row(core.capsule_from_points, valid(points=POINTS, axis=None)),
    "cylinder_from_points": Row(core.cylinder_from_points, valid(points=POINTS, axis=None)),
    "hull_from_points": Row(
        core.hull_from_points,
        valid(points=POINTS, max_vertices=255, decimals=6, margin=0.0),
        dict.fromkeys(("max_vertices", "decimals", "margin"), ("points",)),
    ),
    "box_surface": Row(core.box_surface, valid(low=[0, 0, 0], high=[1, 1, 1])),
    "ball_surface": Row(core.ball_surface, valid(center=[0, 0, 0], radius=1)),
    "capsule_surface": Row(
        core.capsule_surface, valid(capsule=core.capsule_from_points(POINTS)), {"capsule": ["radius"]}
    ),
    "cylinder_surface": Row(
        core.cylinder_surface, valid(cylinder=core.cylinder_from_points(POINTS)), {"cylinder": ["radius"]}
    ),
    "convex_parts": Row(core.convex_parts, valid(triangles=CORNERS, count=2, tolerance=0.0)),
    "sphere_tree_from_triangles": Row(
        core.sphere_tree_from_triangles, valid(triangles=CORNERS, depth=4, tightness=0.0, leaf_triangles=1)
    ),
    "overlapping_pairs": Row(core.overlapping_pairs, valid(boxes=BOXES)),
    "overlapping_pairs_between": Row(core.overlapping_pairs_between, valid(a=BOXES, b=BOXES)),
    **{
        function.__name__: pair_row(function)
        for function in (core.separation, core.overlaps, core.minimum_translation, core.witness_points)
    },
    "mesh_separation": Row(core.mesh_separation, valid(a=MESH, b=MESH, matrix_a=None, matrix_b=MATRIX)),
    "meshes_overlap": Row(core.meshes_overlap, valid(a=MESH, b=MESH, matrix_a=None, matrix_b=MATRIX)),
    "overlap_depth": Row(
        core.overlap_depth,
        valid(a=SHAPES["Meshes"], b=core.Meshes([MESH], MATRIX[None])),
        {"a": ["shapes"], "b": ["shapes"]},
        may_be_nan=True,
    ),
    **{
        function.__name__: motion_row(function)
        for function in (core.time_of_impact, core.first_impact, core.closest_time)
    },
    "overlap_span": motion_row(core.overlap_span, clearance=0.5),
    "at": Row(
        core.at,
        valid(start=SHAPES["Obb"], end=SHAPES["Obb"], time=0.5),
        dict.fromkeys(("start", "end"), ("no motion", "shapes")),
    ),
    "scan_contacts": Row(
        core.scan_contacts,
        valid(
            motion=Falling(), frames=FRAMES, settings=ScanSettings(), stops=lambda: False, drops=lambda: False
        ),
        callbacks=frozenset({"stops", "drops"}),
    ),
    "scan_contacts of settings": Row(scan_with_settings, valid(**SCAN_SETTINGS), {"owners": ["refinable"]}),
    "scan_contacts of a motion": Row(
        lambda **members: core.scan_contacts(Falling(**members), FRAMES[:2]),
        valid(refinable=np.ones(3, bool), sample=SPHERES, sample_between=SPHERES),
        {"sample": ["refinable"], "sample_between": ["sample"]},
    ),
    "scan_contacts of a sample": Row(
        scan_of_sample,
        valid(shapes=SPHERES, present=np.ones(3, bool), moved=np.ones(3, bool)),
        {"shapes": ["sample", "refinable", "owners"]},
    ),
    "envelopes_over": Row(
        core.envelopes_over,
        valid(boxes=FallingBoxes(), spheres=falling_spheres, frames=FRAMES),
        callbacks=frozenset({"spheres"}),
    ),
    "envelopes_over of a motion": Row(
        lambda **members: core.envelopes_over(FallingBoxes(**members), falling_spheres, FRAMES),
        valid(grain=np.zeros(3), costs=np.ones(3)),
    ),
    "envelopes_over of bounds": Row(
        lambda spheres, **members: core.envelopes_over(FallingBoxes(**members), lambda *_: spheres, [1.0]),
        valid(boxes=SPHERES.aabb(), are_present=np.ones(3, bool), spheres=SPHERES),
    ),
    "Sample.concatenate": Row(
        Sample.concatenate, valid(parts=[Sample(SPHERES).as_batch(), Sample(SPHERES).as_batch()])
    ),
}


LONG = {("scan_contacts of a motion", "sample_between"), ("hull_from_points", "margin")}
CASES = [
    pytest.param(name, argument, marks=pytest.mark.long if (name, argument) in LONG else ())
    for name, row in ROWS.items()
    for argument in row.arguments
]


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_every_value_gives_a_valid_result_or_an_error_that_names_the_argument(name, argument):
    found = failures(ROWS[name], argument)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ROWS)
def test_valid_arguments_of_row_are_accepted(name):
    result_of_valid_arguments(ROWS[name])


def test_every_public_function_has_a_row_with_all_its_parameters():
    assert missing_rows(core, ROWS, RECORDS) == []
