"""Volumes of documents in engines: they enclose their vertices tightly, and overlap correctly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from tests.javascript.conftest import MATRICES, Exported
from tests.javascript.volumes import Margin, grown, single_precision, with_side_moved_inward
from tests.node.node import PROGRAMS, run_program
from tests.paths import TOP
from tests.scene.independent.geometry import minimal_sphere

# The scene takes two seconds, and every Blender version exports the same documents, so one is enough.
pytestmark = pytest.mark.long

LOADERS = TOP / "docs" / "loaders"
SHAPES = {"box": "aabb", "sphere": "sphere", "obb": "obb"}
DOUBLE = [("three_volumes.mjs", "gltf"), ("babylon_volumes.mjs", "unity")]
SINGLE = [("rapier_volumes.mjs", space) for space in MATRICES]
ENGINES = [*DOUBLE, *SINGLE]


@dataclass(frozen=True)
class Results:
    """Results of an engine for a document and for changed copies of it, see `volumes.mjs`.

    Attributes
    ----------
    exact, larger, smaller : dict
        For the document, and with all shapes enlarged and shrunk.
    moved_in : tuple of dict
        With one side of each shape moved inward, for each side.
    thin : tuple of dict
        By side and kind, ids of shapes that are too thin for that, see `with_side_moved_inward`.
    """

    exact: dict
    larger: dict
    smaller: dict
    moved_in: tuple[dict, ...]
    thin: tuple[dict[str, set[str]], ...]


@pytest.fixture(scope="session")
def results_in(exported: Exported, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Results]:
    """Return a function that tests the document of a space in an engine, once for each combination."""

    @cache
    def run_engine(engine: str, space: str) -> Results:
        document = exported.bounds[space]
        margin = tolerance(engine)
        changed, thin = zip(*with_side_moved_inward(document, margin), strict=True)
        # Rounding to single precision can put vertices outside, so such a reader must enlarge the volumes.
        exact = grown(document, single_precision) if engine == "rapier_volumes.mjs" else document
        documents = (exact, grown(document, margin), grown(document, lambda entry: -margin(entry)), *changed)
        path = tmp_path_factory.mktemp("input") / "input.json"
        path.write_text(
            json.dumps({"documents": documents, "vertices": exported.vertices_in(space)}), "utf-8"
        )
        modules = (PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs"))
        results = run_program(engine, path, modules=modules)
        return Results(*results[:3], tuple(results[3:]), thin)

    return run_engine


def tolerance(engine: str) -> Margin:
    """Return the rounding error of volumes in an engine, by the document's decimals and its precision."""
    # Two roundings of lengths to six decimals, and one of a rotation to nine.
    if engine == "three_volumes.mjs":
        return lambda entry: 3e-6 + 4e-9 * entry["world"]["sphere"]["radius"]
    return lambda entry: 3e-6 + 4 * single_precision(entry)


@pytest.mark.parametrize(("engine", "space"), ENGINES)
def test_volumes_enclose_all_vertices(exported, results_in, engine, space):
    counts = results_in(engine, space).exact["outside"]["world"]
    assert {*counts} == {*exported.vertices}
    assert len(counts) == 31
    assert all({*kinds} == {*SHAPES} for kinds in counts.values())
    assert not {(id, kind): n for id, kinds in counts.items() for kind, n in kinds.items() if n}


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_local_volumes_enclose_all_vertices_at_their_transform(exported, results_in, engine, space):
    counts = results_in(engine, space).exact["outside"]["local"]
    assert {*counts} == {*exported.vertices}
    assert all({*kinds} == {*SHAPES} for kinds in counts.values())
    assert not {(id, kind): n for id, kinds in counts.items() for kind, n in kinds.items() if n}


@pytest.mark.parametrize(("engine", "space"), ENGINES)
def test_volumes_are_tight(results_in, engine, space):
    """When a side is moved slightly inward, a vertex is outside."""
    results = results_in(engine, space)
    for result, unchanged in zip(results.moved_in, results.thin, strict=True):
        for id, kinds in result["outside"]["world"].items():
            for kind, count in kinds.items():
                assert count or id in unchanged[kind], (id, kind)
    # Only a few shapes are exempt: flat, tiny, or too far from the origin for single precision.
    allowed = {"Flat", "Flattened", "Dot", "Tiny"} | ({"Far"} if engine != "three_volumes.mjs" else set())
    assert set().union(*(ids for unchanged in results.thin for ids in unchanged.values())) <= allowed


@pytest.mark.parametrize("space", MATRICES)
def test_spheres_are_minimal(exported, space):
    """Compare with another algorithm, because a sphere can touch vertices and still be too large."""
    for entry in exported.bounds[space]["objects"]:
        _, radius = minimal_sphere(exported.vertices[entry["id"]] @ MATRICES[space].T)
        assert entry["world"]["sphere"]["radius"] <= radius * (1 + 1e-8) + 3e-6, entry["id"]


@pytest.mark.parametrize(("engine", "space"), ENGINES)
def test_overlapping_pairs_match_engine(exported, results_in, engine, space):
    """All pairs that overlap when shrunk are contacts, and no pair that is apart when enlarged."""
    results = results_in(engine, space)
    for kind, shape in SHAPES.items():
        contacts = exported.overlaps[shape][space]["contacts"]
        found = {tuple(sorted((contact["a"], contact["b"]))) for contact in contacts}
        certain, possible = (
            {tuple(pair) for pair in each["pairs"][kind]} for each in (results.smaller, results.larger)
        )
        assert certain <= found <= possible, kind
        assert len(certain) >= {"box": 4, "sphere": 35, "obb": 4}[kind]
        assert len(possible - certain) <= 1


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "gltf", 'Not a Collision Bounds document: its "format" is not "collision-bounds".'),
        ("version", "2.0.0", "The document has version 2.0.0, but this loader reads version 1."),
        ("space", {"preset": "unreal"}, 'The document is in the space "unreal": export it with --preset '),
    ],
)
def test_loaders_reject_other_files_with_message(exported, tmp_path, engine, space, key, value, message):
    path = tmp_path / "input.json"
    wrong = {**exported.bounds[space], key: value}
    path.write_text(json.dumps({"documents": [wrong], "vertices": {}}), "utf-8")
    with pytest.raises(AssertionError, match=re.escape(f"Error: {message}")):
        run_program(engine, path, modules=(PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs")))
