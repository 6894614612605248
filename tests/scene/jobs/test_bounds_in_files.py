# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of whole files, checked against Blender's vertices by independent code.

The files are sample files of other authors, if their folder is present, and one file that is built here with
the types that they lack. Tolerances: 2e-6 is two units of the sixth decimal, to which documents round
outward by default. A minimal sphere may be 1.0001 times as large as the exact one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.scene.independent.evaluation import MESH_LIKE, EvaluatedObject, evaluated_objects_at
from tests.scene.independent.files import (
    AXES,
    METERS,
    load,
    run_product,
    sample_files,
    schema_errors,
    units_per_blender_unit,
)
from tests.scene.independent.geometry import (
    aabb_excess,
    aabb_looseness,
    minimal_sphere,
    obb_excess,
    obb_looseness,
    rotation_matrix,
    sphere_excess,
)
from tests.scene.independent.scenes import make_moving_scene, make_odd_scene
from tests.scene.sampling import curves_of

BUILT_FILE = Path("built_odd.blend")
FILES = [BUILT_FILE, *sample_files()]


LARGEST = "2CylinderEngine.glb"
"""A sample with so many objects that it takes as long as all others."""


def case_in(path: Path, preset: str) -> object:
    """Return a file in a space as a parameter.

    The quick tier has all files but the largest in one space, and the built file in all spaces.
    """
    marks = []
    if path != BUILT_FILE and (preset != "blender" or path.name == LARGEST):
        marks.append(pytest.mark.long)
    if path == BUILT_FILE and preset == "blender":
        marks.append(pytest.mark.smoke)
    return pytest.param((path, preset), id=f"{preset}-{path.name}", marks=marks)


CASES = [case_in(path, preset) for path in FILES for preset in AXES]
DECIMAL = 1e-6
EXCESS = {"aabb": aabb_excess, "sphere": sphere_excess, "obb": obb_excess}
INSTANCE_NAME = re.compile(r"^(?P<group>.+/.+)\.\d+$")


@dataclass(frozen=True)
class Match:
    """A written object and the evaluated object.

    Attributes
    ----------
    written : dict
        Object of the document.
    evaluated : EvaluatedObject
        Object as Blender evaluates it.
    points : (n, 3) float64
        Its vertices in the space of the document.
    slack : float
        Rounding error of the points.
    """

    written: dict
    evaluated: EvaluatedObject
    points: np.ndarray
    slack: float

    @property
    def local_points(self) -> np.ndarray:
        """The vertices in the written translation and rotation; the scale is included."""
        transform = self.written["transform"]
        return (self.points - transform["translation"]) @ rotation_matrix(transform["rotation"])

    @cached_property
    def radius(self) -> float:
        """Radius of the exact minimal sphere, which is the same in world and local space."""
        return minimal_sphere(self.points)[1]


@dataclass(frozen=True)
class EvaluatedFile:
    """A file at one frame as Blender evaluates it."""

    objects: list[EvaluatedObject]
    hidden: set[str]
    time: dict
    meters_per_unit: float


@dataclass(frozen=True)
class Case:
    """One file in one space: the document, the evaluated file, and pairs of their objects."""

    document: dict
    text: str
    preset: str
    scale: float
    evaluated: EvaluatedFile
    matches: list[Match]


def written_group(written: dict) -> str:
    """Name of a written object, without the number of an instance."""
    found = INSTANCE_NAME.match(written["name"])
    return found["group"] if found else written["name"]


def match_objects(
    written: list[dict], objects: list[EvaluatedObject], axes: np.ndarray, scale: float
) -> list[Match]:
    """Match each evaluated object with the written one of its name, and instances by the nearest box."""
    unmatched = list(written)
    matches = []
    for evaluated in objects:
        if not len(evaluated.points):
            continue
        points = (evaluated.points @ axes.T) * scale
        candidates = [item for item in unmatched if written_group(item) == evaluated.group]
        if candidates:
            best = min(candidates, key=lambda item: aabb_looseness(item["world"]["aabb"], points))
            unmatched.remove(best)
            matches.append(Match(best, evaluated, points, 2.0 * scale * evaluated.slack))
    return matches


def scene_time(source: Path) -> dict:
    """Time of the open scene; of one that was imported, the whole frames with all keyframes, or one frame."""
    scene = bpy.context.scene
    start, end = scene.frame_start, scene.frame_end
    if source.suffix != ".blend":
        animated = [item for item in bpy.data.user_map() if getattr(item, "animation_data", None)]
        curves = [curve for item in animated if item.animation_data.action for curve in curves_of(item)]
        frames = [point.co.x for curve in curves for point in curve.keyframe_points]
        start = math.floor(min(frames, default=1))
        end = math.ceil(max(frames, default=1))
    return {
        "fps": scene.render.fps / scene.render.fps_base,
        "frameStart": start,
        "frameEnd": end,
        "frameStep": scene.frame_step,
    }


@pytest.fixture(scope="module")
def built_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / BUILT_FILE
    make_odd_scene(path)
    return path


@lru_cache(maxsize=1)
def evaluate_file(source: Path, frame: int) -> EvaluatedFile:
    """Load a file and evaluate a frame. The last result is kept for the other spaces of the file."""
    load(source)
    time, meters_per_unit = scene_time(source), bpy.context.scene.unit_settings.scale_length
    objects = evaluated_objects_at(frame)
    hidden = {item.name for item in bpy.context.scene.objects if not item.visible_get()}
    return EvaluatedFile(objects, hidden, time, meters_per_unit)


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, built_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path, preset = request.param
    source = built_file if path == BUILT_FILE else path
    output = tmp_path_factory.mktemp("bounds") / "out.json"
    options = ("--preset", preset, "--shapes", ",".join(EXCESS), "--allow-missing")
    document = run_product("bounds", source, output, *options)
    evaluated = evaluate_file(source, document["time"]["referenceFrame"])
    scale = units_per_blender_unit(document["space"])
    matches = match_objects(document["objects"], evaluated.objects, AXES[preset], scale)
    return Case(document, output.read_bytes().decode("utf-8"), preset, scale, evaluated, matches)


def test_space_is_requested_one(case: Case) -> None:
    """Spaces of engines have the documented axes and units. The space of Blender has Blender's numbers.

    The unit of a scene is a float32, so the document may have 0.1 for Python's 0.10000000149.
    """
    space = case.document["space"]
    assert space["preset"] == case.preset
    rotation = np.array(space["fromBlender"]).reshape(3, 3)
    assert (rotation == AXES[case.preset] * case.scale).all()
    rounding = float(np.finfo(np.float32).eps)
    # Blender's glTF exporter writes one meter per unit whatever the unit scale is.
    meters = 1.0 if case.preset == "gltf" else case.evaluated.meters_per_unit
    assert case.scale * space["metersPerUnit"] == pytest.approx(meters, rel=rounding)
    if case.preset == "blender":
        assert case.scale == 1.0
    else:
        assert space["metersPerUnit"] == METERS[case.preset]


def test_time_is_that_of_scene(case: Case) -> None:
    """The header has the frame range of the scene, and its frame rate, fps / fps_base."""
    written = {key: case.document["time"][key] for key in case.evaluated.time}
    assert written == pytest.approx(case.evaluated.time, abs=1e-5)


def test_visible_objects_are_written_or_skipped(case: Case) -> None:
    """Each visible mesh-like object is written, or skipped with a reason. All instances are written."""
    expected = Counter(item.group for item in case.evaluated.objects if len(item.points))
    assert Counter(written_group(written) for written in case.document["objects"]) == expected
    named = {written["name"] for written in case.document["objects"]}
    named |= {skipped["name"] for skipped in case.document["skipped"]}
    assert {item.name for item in case.evaluated.objects if item.instancer is None} <= named
    assert all(skipped["reason"] for skipped in case.document["skipped"])


def test_hidden_objects_get_no_bounds(case: Case) -> None:
    """Only visible objects are subjects."""
    assert not case.evaluated.hidden & {written["name"] for written in case.document["objects"]}


def test_objects_are_sorted_and_parents_exist(case: Case) -> None:
    """Objects are sorted by name and id, ids are unique, types are known and parents exist."""
    objects = case.document["objects"]
    keys = [(written["name"], written["id"]) for written in objects]
    ids = {identifier for _, identifier in keys}
    assert keys == sorted(keys)
    assert len(ids) == len(keys)
    assert {written["type"] for written in objects} <= MESH_LIKE
    assert {written["parent"] for written in objects} <= ids | {None}


def test_text_is_deterministic_json(case: Case) -> None:
    """The text has only LF, no NaN, no negative zero, and lengths with at most six decimals, the default."""
    assert "\r" not in case.text
    assert not re.search(r"NaN|Infinity|(?<![\d.])-0(\.0*)?(?![\d.])", case.text)
    lengths = []
    for written in case.document["objects"]:
        lengths += written["transform"]["translation"]
        for space in ("local", "world"):
            lengths += [*written[space]["aabb"]["min"], *written[space]["aabb"]["max"]]
            lengths += [*written[space]["sphere"]["center"], written[space]["sphere"]["radius"]]
            lengths += [*written[space]["obb"]["center"], *written[space]["obb"]["halfExtents"]]
    assert [number for number in lengths if round(number, 6) != number] == []


def test_world_shapes_enclose_every_vertex(case: Case) -> None:
    """Documents round outward, so there is no tolerance. The slack is the rounding error of the test."""
    outside = {}
    for match in case.matches:
        world = match.written["world"]
        for shape, excess in EXCESS.items():
            if (distance := excess(world[shape], match.points)) > match.slack:
                outside[match.written["name"], shape] = distance
    assert not outside


def test_world_shapes_are_tight(case: Case) -> None:
    """Boxes have a vertex on each face, and spheres are as small as those of another algorithm."""
    loose = {}
    for match in case.matches:
        world = match.written["world"]
        box = aabb_looseness(world["aabb"], match.points) - match.slack
        if box > 2 * DECIMAL:
            loose[match.written["name"], "aabb"] = box
        if world["sphere"]["radius"] > 1.0001 * match.radius + 3 * DECIMAL + match.slack:
            loose[match.written["name"], "sphere"] = (world["sphere"]["radius"], match.radius)
        excess = obb_looseness(world["obb"], match.points) - 4.0 * match.slack
        # Rotations have nine decimals. At the ends of long boxes their error is larger than that of lengths.
        if excess > max(3 * DECIMAL, 4e-9 * match.radius):
            loose[match.written["name"], "obb"] = excess
    assert not loose


def test_local_shapes_enclose_every_vertex(case: Case) -> None:
    """A local shape at the written transform encloses all vertices, with scale and shear."""
    outside = {}
    for match in case.matches:
        local, points = match.written["local"], match.local_points
        for shape, excess in EXCESS.items():
            if (distance := excess(local[shape], points)) > 4.0 * match.slack:
                outside[match.written["name"], shape] = distance
    assert not outside


def test_local_shapes_are_tight(case: Case) -> None:
    """Local shapes are as tight as world shapes."""
    loose = {}
    for match in case.matches:
        local, points = match.written["local"], match.local_points
        box = aabb_looseness(local["aabb"], points) - 4.0 * match.slack
        if box > 2 * DECIMAL:
            loose[match.written["name"], "aabb"] = box
        if local["sphere"]["radius"] > 1.0001 * match.radius + 3 * DECIMAL + match.slack:
            loose[match.written["name"], "sphere"] = (local["sphere"]["radius"], match.radius)
    assert not loose


def test_oriented_boxes_have_axes_of_their_objects(case: Case) -> None:
    """World boxes have the rotation of the transform. Local ones have none, and equal the local AABB."""
    for match in case.matches:
        local = match.written["local"]
        rotation = np.array(match.written["transform"]["rotation"])
        # Blender's quaternions have length 1 only to single precision.
        rotation /= np.linalg.norm(rotation)
        found = np.array(match.written["world"]["obb"]["rotation"])
        np.testing.assert_allclose(found * np.sign(found @ rotation), rotation, atol=2e-9)
        assert local["obb"]["rotation"] == [0, 0, 0, 1]
        low, high = np.array(local["aabb"]["min"]), np.array(local["aabb"]["max"])
        np.testing.assert_allclose(local["obb"]["center"], (low + high) / 2, rtol=0, atol=2 * DECIMAL)
        np.testing.assert_allclose(local["obb"]["halfExtents"], (high - low) / 2, rtol=0, atol=3 * DECIMAL)


def test_transform_is_that_of_object(case: Case) -> None:
    """The origin is exact to the last decimal. Rotation and scale give the matrix if it has no shear."""
    axes = AXES[case.preset]
    for match in case.matches:
        transform, matrix = match.written["transform"], match.evaluated.matrix
        origin = axes @ matrix[:3, 3] * case.scale
        np.testing.assert_allclose(transform["translation"], origin, rtol=0, atol=DECIMAL + match.slack)
        assert abs(np.linalg.norm(transform["rotation"]) - 1.0) < 4 * DECIMAL
        linear = axes @ matrix[:3, :3] @ axes.T
        gram = linear.T @ linear
        size = np.sqrt(np.diag(gram))
        if np.abs(gram - np.diag(np.diag(gram))).max() < 1e-6 * size.min() * size.max():
            rebuilt = rotation_matrix(transform["rotation"]) * transform["scale"]
            np.testing.assert_allclose(rebuilt, linear, rtol=0, atol=1e-5 * max(1.0, size.max()))


def test_document_is_valid_for_shipped_schema(case: Case) -> None:
    """Other programs validate documents with the schema."""
    assert not schema_errors(case.document)


def test_bounds_at_requested_frame(tmp_path: Path) -> None:
    """`--frame N` gives bounds at frame N, for any current frame in the file."""
    source = tmp_path / "moving.blend"
    make_moving_scene(source)
    document = run_product("bounds", source, tmp_path / "out.json", "--frame", "6")
    assert document["time"]["referenceFrame"] == 6
    load(source)
    matches = match_objects(document["objects"], evaluated_objects_at(6), AXES["blender"], 1.0)
    assert len(matches) == len(document["objects"]) == 9
    for match in matches:
        assert aabb_looseness(match.written["world"]["aabb"], match.points) <= 2 * DECIMAL
        assert aabb_excess(match.written["world"]["aabb"], match.points) <= match.slack
