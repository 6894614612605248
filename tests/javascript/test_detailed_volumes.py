"""Loaders for three.js and Babylon.js read capsules, cylinders, hulls, sphere trees and bones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.javascript.conftest import Exported
from tests.javascript.test_volumes import DOUBLE, LOADERS, SINGLE, tolerance
from tests.javascript.volumes import Margin, single_precision
from tests.node.node import PROGRAMS, run_program

pytestmark = pytest.mark.long

KINDS = {"capsule", "cylinder", "hull", "spheres"}

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(exported: Exported, tmp_path: Path) -> Run:
    """Return a function that reads documents in an engine, see `volumes.mjs`."""

    def run_engine(engine: str, space: str, *documents: dict[str, Any]) -> list[dict[str, Any]]:
        path = tmp_path / "input.json"
        path.write_text(
            json.dumps({"documents": documents, "vertices": exported.vertices_in(space)}), "utf-8"
        )
        return run_program(engine, path, modules=(PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs")))

    return run_engine


def shrunk(document: dict[str, Any], factor: float) -> dict[str, Any]:
    """Shrink the radii of capsules, cylinders and leaves, and hulls toward the mean of their vertices."""
    changed = copy.deepcopy(document)
    for entry in changed["objects"]:
        world = entry["world"]
        for each in (world["capsule"], world["cylinder"], *world["spheres"]):
            each["radius"] *= factor
        vertices = np.array(world["hull"]["vertices"])
        world["hull"]["vertices"] = (vertices.mean(0) + factor * (vertices - vertices.mean(0))).tolist()
    return changed


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_volumes_enclose_all_vertices_and_shrunk_ones_do_not(exported, run, engine, space):
    document = exported.detailed[space]
    result, smaller = run(engine, space, document, shrunk(document, 0.9))
    for group in ("world", "local"):
        counts = result["outside"][group]
        assert {*counts} == {*exported.vertices}
        assert all({*kinds} >= KINDS for kinds in counts.values())
        assert not {(id, kind): n for id, kinds in counts.items() for kind, n in kinds.items() if n}, group
    for id, kinds in smaller["outside"]["world"].items():
        # Dot is a single vertex, at the center of its shapes. Leaves of a tree overlap.
        assert id == "Dot" or all(kinds[kind] for kind in ("capsule", "cylinder", "hull")), id


def inner_radius(hull: dict[str, Any]) -> float:
    """Return the distance of the mean of a hull's vertices from the plane of the nearest face; 0 if flat."""
    vertices = np.array(hull["vertices"])
    corners = vertices[np.array(hull["faces"])]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    heights = ((corners[:, 0] - vertices.mean(0)) * normals).sum(axis=1)
    return float((heights[lengths > 0] / lengths[lengths > 0]).min(initial=np.inf)) if lengths.any() else 0.0


def grown(document: dict[str, Any], margin: Margin) -> dict[str, Any]:
    """Enlarge capsules, cylinders, leaves, and hulls that are not flat, on every side."""
    changed = copy.deepcopy(document)
    for entry in changed["objects"]:
        world, amount = entry["world"], margin(entry)
        for kind in ("capsule", "cylinder"):
            world[kind]["radius"] = max(world[kind]["radius"] + amount, 0)
        world["cylinder"]["halfLength"] = max(world["cylinder"]["halfLength"] + amount, 0)
        for node in world["spheres"]:
            node["radius"] = max(node["radius"] + amount, 0)
        if (inner := inner_radius(world["hull"])) > 0:
            vertices = np.array(world["hull"]["vertices"])
            center = vertices.mean(0)
            world["hull"]["vertices"] = (center + max(1 + amount / inner, 0) * (vertices - center)).tolist()
    return changed


@pytest.mark.parametrize(("engine", "space"), SINGLE)
def test_volumes_of_rapier_enclose_all_vertices_and_shrunk_ones_do_not(exported, run, engine, space):
    document = exported.detailed[space]
    exact = grown(document, lambda entry: 2 * single_precision(entry))
    result, smaller = run(engine, space, exact, grown(shrunk(document, 0.9), single_precision))
    kinds = ("capsule", "cylinder", "hull", "spheres")
    counts = result["outside"]["world"]
    assert {*counts} == {*exported.vertices}
    assert not {(id, kind): each[kind] for id, each in counts.items() for kind in kinds if each.get(kind)}
    for id, each in smaller["outside"]["world"].items():
        # Margins of single precision are larger than these. Leaves overlap, and Rapier refuses flat hulls.
        is_outside = [each[kind] for kind in kinds[:3] if kind in each]
        assert id in ("Dot", "Tiny", "Far") or all(is_outside), (id, each)
    assert sum("hull" in each for each in counts.values()) > 15


@pytest.mark.parametrize(("engine", "space"), [DOUBLE[0], *SINGLE])
def test_overlapping_capsules_match_document(exported, run, engine, space):
    """All pairs that overlap when shrunk are contacts, and no pair that is apart when enlarged."""
    document, margin = exported.detailed[space], tolerance(engine)
    results = run(engine, space, grown(document, lambda entry: -margin(entry)), grown(document, margin))
    certain, possible = ({tuple(pair) for pair in each["pairs"]["capsule"]} for each in results)
    contacts = exported.overlaps["capsule"][space]["contacts"]
    assert certain <= {tuple(sorted((each["a"], each["b"]))) for each in contacts} <= possible
    assert len(certain) > 10 and len(possible - certain) <= 1


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_local_envelopes_enclose_all_vertices_at_their_transform(exported, run, engine, space):
    document, smaller = exported.bounds[space], copy.deepcopy(exported.bounds[space])
    ids = {entry["id"] for entry in document["objects"] if "local" in entry.get("envelope", {})}
    for entry in smaller["objects"]:
        if entry["id"] in ids:
            entry["envelope"]["local"]["sphere"]["radius"] *= 0.5
    result, shrunk_result = run(engine, space, document, smaller)
    counts = result["outside"]["localEnvelope"]
    assert {*counts} == ids and len(ids) > 20
    assert all(kinds == {"box": 0, "sphere": 0} for kinds in counts.values())
    assert sum(bool(kinds["sphere"]) for kinds in shrunk_result["outside"]["localEnvelope"].values()) > 20


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_only_leaves_are_the_shape_of_a_tree(exported, run, engine, space):
    """Inner nodes enclose the object too, so a reader that tests them finds no vertex outside."""
    document = copy.deepcopy(exported.detailed[space])
    trees = {entry["id"]: entry["world"]["spheres"] for entry in document["objects"]}
    for nodes in trees.values():
        for node in nodes:
            node["radius"] *= 1 if node["children"] else 1e-3
    (result,) = run(engine, space, document)
    split = [id for id, nodes in trees.items() if len(nodes) > 1]
    assert len(split) > 10
    for id in split:
        assert result["outside"]["world"][id]["spheres"], id


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_bones_are_read(exported, run, engine, space):
    document = copy.deepcopy(exported.detailed[space])
    ids = [entry["id"] for entry in document["objects"][:2]]
    document["objects"][0]["bone"], document["objects"][1]["bone"] = "Arm.L", ""
    (result,) = run(engine, space, document)
    assert result["bones"] == {ids[0]: "Arm.L", ids[1]: ""}
