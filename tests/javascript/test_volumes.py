"""Volumes of documents in engines: they enclose their vertices, are tight, and overlap correctly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from tests.javascript.conftest import MATRICES, Exported
from tests.javascript.volumes import By, grown, single_precision, with_a_side_moved_in
from tests.node.node import PROGRAMS, run_program
from tests.paths import TOP
from tests.scene.independent import minimal_sphere

# The scene takes two seconds, and every Blender exports the same documents, so one is enough.
pytestmark = pytest.mark.long

LOADERS = TOP / "docs" / "loaders"
SHAPES = {"box": "aabb", "sphere": "sphere", "obb": "obb"}
DOUBLE = [("ask_three.mjs", "gltf"), ("ask_babylon.mjs", "unity")]
SINGLE = [("ask_rapier.mjs", space) for space in MATRICES]
EVERY = [*DOUBLE, *SINGLE]


@dataclass(frozen=True)
class Answers:
    """Answers of an engine about a document, about it enlarged and shrunk, and with sides moved inward.

    thin : by side and kind, ids of thinner shapes, see `with_a_side_moved_in`
    """

    exact: dict
    larger: dict
    smaller: dict
    moved_in: tuple[dict, ...]
    thin: tuple[dict[str, set[str]], ...]


@pytest.fixture(scope="session")
def ask(exported: Exported, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Answers]:
    """Evaluate the document of a space in an engine, once for each pair of both."""

    @cache
    def ask_engine(engine: str, space: str) -> Answers:
        document = exported.bounds[space]
        by = loss(engine)
        changed, thin = zip(*with_a_side_moved_in(document, by), strict=True)
        # In single precision, a volume loses vertices: a reader in single precision has to enlarge it.
        exact = grown(document, single_precision) if engine == "ask_rapier.mjs" else document
        documents = (exact, grown(document, by), grown(document, lambda entry: -by(entry)), *changed)
        path = tmp_path_factory.mktemp("input") / "input.json"
        path.write_text(
            json.dumps({"documents": documents, "vertices": exported.vertices_in(space)}), "utf-8"
        )
        modules = (PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs"))
        found = run_program(engine, path, modules=modules)
        return Answers(*found[:3], tuple(found[3:]), thin)

    return ask_engine


def loss(engine: str) -> By:
    """Tolerance of a volume in an engine: decimals of the document and precision of the engine."""
    # Two roundings to six decimals, and a rotation rounded to nine.
    if engine == "ask_three.mjs":
        return lambda entry: 3e-6 + 4e-9 * entry["world"]["sphere"]["radius"]
    return lambda entry: 3e-6 + 4 * single_precision(entry)


@pytest.mark.parametrize(("engine", "space"), EVERY)
def test_volumes_enclose_all_vertices(exported, ask, engine, space):
    counted = ask(engine, space).exact["outside"]["world"]
    assert {*counted} == {*exported.vertices}
    assert len(counted) == 31
    assert all({*kinds} == {*SHAPES} for kinds in counted.values())
    assert not {(id, kind): n for id, kinds in counted.items() for kind, n in kinds.items() if n}


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
def test_local_volumes_enclose_all_vertices_at_their_transform(exported, ask, engine, space):
    counted = ask(engine, space).exact["outside"]["local"]
    assert {*counted} == {*exported.vertices}
    assert all({*kinds} == {*SHAPES} for kinds in counted.values())
    assert not {(id, kind): n for id, kinds in counted.items() for kind, n in kinds.items() if n}


@pytest.mark.parametrize(("engine", "space"), EVERY)
def test_volumes_are_tight(ask, engine, space):
    """Move each side slightly inward: a vertex is outside then."""
    answers = ask(engine, space)
    for answer, left in zip(answers.moved_in, answers.thin, strict=True):
        for id, kinds in answer["outside"]["world"].items():
            for kind, count in kinds.items():
                assert count or id in left[kind], (id, kind)
    # Only a few shapes may be exempt: flat, tiny, or too far away for single precision.
    allowed = {"Flat", "Flattened", "Dot", "Tiny"} | ({"Far"} if engine != "ask_three.mjs" else set())
    assert set().union(*(ids for left in answers.thin for ids in left.values())) <= allowed


@pytest.mark.parametrize("space", MATRICES)
def test_spheres_are_the_smallest(exported, space):
    """Compare with another algorithm, because a sphere can touch vertices and still be too large."""
    for entry in exported.bounds[space]["objects"]:
        _, radius = minimal_sphere(exported.vertices[entry["id"]] @ MATRICES[space].T)
        assert entry["world"]["sphere"]["radius"] <= radius * (1 + 1e-8) + 3e-6, entry["id"]


@pytest.mark.parametrize(("engine", "space"), EVERY)
def test_overlapping_pairs_match_engine(exported, ask, engine, space):
    """Find all pairs that overlap when shrunk, and none that is apart when enlarged."""
    answers = ask(engine, space)
    for kind, shape in SHAPES.items():
        contacts = exported.overlaps[shape][space]["contacts"]
        found = {tuple(sorted((contact["a"], contact["b"]))) for contact in contacts}
        sure, possible = (
            {tuple(pair) for pair in each["pairs"][kind]} for each in (answers.smaller, answers.larger)
        )
        assert sure <= found <= possible, kind
        assert len(sure) >= {"box": 4, "sphere": 35, "obb": 4}[kind]
        assert len(possible - sure) <= 1


@pytest.mark.parametrize(("engine", "space"), DOUBLE)
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format", "gltf", 'This is no Collision Bounds document: its "format" is not "collision-bounds".'),
        ("version", "2.0.0", "This document is of version 2.0.0, and this loader reads version 1."),
        ("space", {"preset": "unreal"}, 'This document is in the space "unreal": export it with --preset '),
    ],
)
def test_loaders_refuse_other_files_in_one_sentence(exported, tmp_path, engine, space, key, value, words):
    path = tmp_path / "input.json"
    wrong = {**exported.bounds[space], key: value}
    path.write_text(json.dumps({"documents": [wrong], "vertices": {}}), "utf-8")
    with pytest.raises(AssertionError, match=re.escape(f"Error: {words}")):
        run_program(engine, path, modules=(PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs")))
