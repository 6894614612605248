# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of whole files, checked vertex by vertex against Blender by code that shares none of the product's.

The files are real ones made by others (where the folder of samples is present) and one made here that holds
the kinds they lack. The tolerances: 2e-6 is two units of the sixth decimal, the default that documents round
outward to; 1.0001 is what a minimal sphere may exceed the exact one by.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.scene.independent import (
    AXES,
    MESH_LIKE,
    METERS,
    EvaluatedObject,
    aabb_excess,
    aabb_looseness,
    bpy,
    evaluated_objects_at,
    load,
    make_moving_scene,
    make_odd_scene,
    minimal_sphere,
    obb_excess,
    obb_looseness,
    rotation_matrix,
    run_product,
    sample_files,
    scale_written,
    schema_errors,
    sphere_excess,
)

MADE = Path("made_odd.blend")
FILES = [MADE, *sample_files()]


# It has so many objects that it takes as long as all others.
LARGEST = "2CylinderEngine.glb"


def case_in(path: Path, preset: str) -> object:
    """Return a file in a space as a parameter. Quick are all files in one space, and one file in all."""
    marks = []
    if path != MADE and (preset != "blender" or path.name == LARGEST):
        marks.append(pytest.mark.long)
    if path == MADE and preset == "blender":
        marks.append(pytest.mark.smoke)
    return pytest.param((path, preset), id=f"{preset}-{path.name}", marks=marks)


CASES = [case_in(path, preset) for path in FILES for preset in AXES]
DECIMAL = 1e-6
EXCESS = {"aabb": aabb_excess, "sphere": sphere_excess, "obb": obb_excess}
INSTANCE_NAME = re.compile(r"^(?P<group>.+/.+)\.\d+$")


@dataclass(frozen=True)
class Match:
    """A written object beside what Blender says of it, the vertices already in the document's space."""

    written: dict
    thing: EvaluatedObject
    points: np.ndarray
    slack: float

    @property
    def local_points(self) -> np.ndarray:
        """The vertices seen from the written origin along the written axes, scale left in."""
        transform = self.written["transform"]
        return (self.points - transform["translation"]) @ rotation_matrix(transform["rotation"])

    @cached_property
    def radius(self) -> float:
        """Of the exact minimal sphere, which is the same in the world and along the object's axes."""
        return minimal_sphere(self.points)[1]


@dataclass(frozen=True)
class Seen:
    """A file at one frame as Blender evaluates it."""

    things: list[EvaluatedObject]
    hidden: set[str]
    time: dict
    meters_per_unit: float


@dataclass(frozen=True)
class Case:
    """One file in one space: the document, what Blender says of the file, and who is who."""

    document: dict
    text: str
    preset: str
    scale: float
    seen: Seen
    matches: list[Match]


def written_group(written: dict) -> str:
    found = INSTANCE_NAME.match(written["name"])
    return found["group"] if found else written["name"]


def match_up(
    written: list[dict], things: list[EvaluatedObject], axes: np.ndarray, scale: float
) -> list[Match]:
    """Pairs each thing with the object of its name; instances of one name with the nearest box."""
    left = list(written)
    matches = []
    for thing in things:
        if not len(thing.points):
            continue
        points = (thing.points @ axes.T) * scale
        same = [item for item in left if written_group(item) == thing.group]
        if same:
            best = min(same, key=lambda item: aabb_looseness(item["world"]["aabb"], points))
            left.remove(best)
            matches.append(Match(best, thing, points, 2.0 * scale * thing.slack))
    return matches


def scene_time() -> dict:
    scene = bpy.context.scene
    return {
        "fps": scene.render.fps / scene.render.fps_base,
        "frameStart": scene.frame_start,
        "frameEnd": scene.frame_end,
        "frameStep": scene.frame_step,
    }


@pytest.fixture(scope="module")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / MADE
    make_odd_scene(path)
    return path


@lru_cache(maxsize=1)
def seen_at(source: Path, frame: int) -> Seen:
    """Load a file, once for all spaces of it."""
    load(source)
    time, meters_per_unit = scene_time(), bpy.context.scene.unit_settings.scale_length
    things = evaluated_objects_at(frame)
    hidden = {item.name for item in bpy.context.scene.objects if not item.visible_get()}
    return Seen(things, hidden, time, meters_per_unit)


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, made_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path, preset = request.param
    source = made_file if path == MADE else path
    output = tmp_path_factory.mktemp("bounds") / "out.json"
    document = run_product("bounds", source, output, "--preset", preset, "--shapes", ",".join(EXCESS))
    seen = seen_at(source, document["time"]["referenceFrame"])
    scale = scale_written(document["space"])
    matches = match_up(document["objects"], seen.things, AXES[preset], scale)
    return Case(document, output.read_bytes().decode("utf-8"), preset, scale, seen, matches)


def test_space_is_the_one_asked_for(case: Case) -> None:
    """Engines have the axes and the unit that they publish; Blender's own space keeps Blender's numbers.

    A scene's unit is a float32, so the document may say 0.1 where Python reads 0.10000000149.
    """
    space = case.document["space"]
    assert space["preset"] == case.preset
    turn = np.array(space["fromBlender"]).reshape(3, 3)
    assert (turn == AXES[case.preset] * case.scale).all()
    rounding = float(np.finfo(np.float32).eps)
    assert case.scale * space["metersPerUnit"] == pytest.approx(case.seen.meters_per_unit, rel=rounding)
    if case.preset == "blender":
        assert case.scale == 1.0
    else:
        assert space["metersPerUnit"] == METERS[case.preset]


def test_time_is_the_scenes(case: Case) -> None:
    """The header repeats the scene's own range and its true rate, fps over fps_base."""
    written = {key: case.document["time"][key] for key in case.seen.time}
    assert written == pytest.approx(case.seen.time, abs=1e-5)


def test_nothing_visible_is_missing(case: Case) -> None:
    """Each visible mesh-like object is written, or skipped with a reason; each instance is counted."""
    expected = Counter(thing.group for thing in case.seen.things if len(thing.points))
    assert Counter(written_group(written) for written in case.document["objects"]) == expected
    named = {written["name"] for written in case.document["objects"]}
    named |= {skipped["name"] for skipped in case.document["skipped"]}
    assert {thing.name for thing in case.seen.things if thing.instancer is None} <= named
    assert all(skipped["reason"] for skipped in case.document["skipped"])


def test_hidden_objects_get_no_bounds(case: Case) -> None:
    """Only visible objects are subjects without a pattern that asks for others."""
    assert not case.seen.hidden & {written["name"] for written in case.document["objects"]}


def test_objects_are_sorted_and_refer_to_each_other(case: Case) -> None:
    """By name then id, ids once each, types known, parents present."""
    objects = case.document["objects"]
    keys = [(written["name"], written["id"]) for written in objects]
    ids = {identifier for _, identifier in keys}
    assert keys == sorted(keys)
    assert len(ids) == len(keys)
    assert {written["type"] for written in objects} <= MESH_LIKE
    assert {written["parent"] for written in objects} <= ids | {None}


def test_text_is_deterministic_json(case: Case) -> None:
    """LF only, no NaN, no negative zero, and lengths with no more than the six decimals of the default."""
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


def test_world_shapes_hold_every_vertex(case: Case) -> None:
    """No tolerance: documents promise rounding outward. The slack is float64's in this check's own sums."""
    outside = {}
    for match in case.matches:
        world = match.written["world"]
        for shape, excess in EXCESS.items():
            if (distance := excess(world[shape], match.points)) > match.slack:
                outside[match.written["name"], shape] = distance
    assert not outside


def test_world_shapes_are_tight(case: Case) -> None:
    """A box has the vertices' own faces, an oriented one too; a sphere is the minimal one by another way."""
    loose = {}
    for match in case.matches:
        world = match.written["world"]
        box = aabb_looseness(world["aabb"], match.points) - match.slack
        if box > 2 * DECIMAL:
            loose[match.written["name"], "aabb"] = box
        if world["sphere"]["radius"] > 1.0001 * match.radius + 3 * DECIMAL + match.slack:
            loose[match.written["name"], "sphere"] = (world["sphere"]["radius"], match.radius)
        turned = obb_looseness(world["obb"], match.points) - 4.0 * match.slack
        # Its rotation has nine decimals, which move the ends of long boxes by more than lengths are rounded.
        if turned > max(3 * DECIMAL, 4e-9 * match.radius):
            loose[match.written["name"], "obb"] = turned
    assert not loose


def test_local_shapes_hold_every_vertex(case: Case) -> None:
    """Whoever puts a local shape at the written transform gets a bound, scale and shear included."""
    outside = {}
    for match in case.matches:
        local, points = match.written["local"], match.local_points
        for shape, excess in EXCESS.items():
            if (distance := excess(local[shape], points)) > 4.0 * match.slack:
                outside[match.written["name"], shape] = distance
    assert not outside


def test_local_shapes_are_tight(case: Case) -> None:
    """As tight as in the world: seen from the written transform the vertices are as good as known."""
    loose = {}
    for match in case.matches:
        local, points = match.written["local"], match.local_points
        box = aabb_looseness(local["aabb"], points) - 4.0 * match.slack
        if box > 2 * DECIMAL:
            loose[match.written["name"], "aabb"] = box
        if local["sphere"]["radius"] > 1.0001 * match.radius + 3 * DECIMAL + match.slack:
            loose[match.written["name"], "sphere"] = (local["sphere"]["radius"], match.radius)
    assert not loose


def test_oriented_boxes_have_the_axes_of_their_objects(case: Case) -> None:
    """In the world those of the written transform, seen from there none: the local box in other words."""
    for match in case.matches:
        local = match.written["local"]
        turned = np.array(match.written["transform"]["rotation"])
        # Blender's own quaternions have length 1 to single precision only.
        turned /= np.linalg.norm(turned)
        found = np.array(match.written["world"]["obb"]["rotation"])
        np.testing.assert_allclose(found * np.sign(found @ turned), turned, atol=2e-9)
        assert local["obb"]["rotation"] == [0, 0, 0, 1]
        low, high = np.array(local["aabb"]["min"]), np.array(local["aabb"]["max"])
        np.testing.assert_allclose(local["obb"]["center"], (low + high) / 2, rtol=0, atol=2 * DECIMAL)
        np.testing.assert_allclose(local["obb"]["halfExtents"], (high - low) / 2, rtol=0, atol=3 * DECIMAL)


def test_transform_is_the_objects_own(case: Case) -> None:
    """Origin to the last decimal; rotation and scale rebuild Blender's matrix where it has no shear."""
    axes = AXES[case.preset]
    for match in case.matches:
        transform, matrix = match.written["transform"], match.thing.matrix
        origin = axes @ matrix[:3, 3] * case.scale
        np.testing.assert_allclose(transform["translation"], origin, rtol=0, atol=DECIMAL + match.slack)
        assert abs(np.linalg.norm(transform["rotation"]) - 1.0) < 4 * DECIMAL
        linear = axes @ matrix[:3, :3] @ axes.T
        gram = linear.T @ linear
        size = np.sqrt(np.diag(gram))
        if np.abs(gram - np.diag(np.diag(gram))).max() < 1e-6 * size.min() * size.max():
            rebuilt = rotation_matrix(transform["rotation"]) * transform["scale"]
            np.testing.assert_allclose(rebuilt, linear, rtol=0, atol=1e-5 * max(1.0, size.max()))


def test_document_fits_the_shipped_schema(case: Case) -> None:
    """The schema is what other programs check against."""
    assert not schema_errors(case.document)


def test_another_frame_can_be_asked_for(tmp_path: Path) -> None:
    """`--frame N` bounds the pose of frame N, whatever frame the file was saved at."""
    source = tmp_path / "moving.blend"
    make_moving_scene(source)
    document = run_product("bounds", source, tmp_path / "out.json", "--frame", "6")
    assert document["time"]["referenceFrame"] == 6
    load(source)
    matches = match_up(document["objects"], evaluated_objects_at(6), AXES["blender"], 1.0)
    assert len(matches) == len(document["objects"]) == 9
    for match in matches:
        assert aabb_looseness(match.written["world"]["aabb"], match.points) <= 2 * DECIMAL
        assert aabb_excess(match.written["world"]["aabb"], match.points) <= match.slack
