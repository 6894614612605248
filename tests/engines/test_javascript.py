"""First contacts of documents in three.js, Babylon.js and Rapier, for the shapes that each can test."""

from __future__ import annotations

import json

import pytest

from tests.node.node import PROGRAMS, run_program
from tests.paths import TOP

LOADERS = TOP / "docs" / "loaders"
ENGINES = {
    "three": ("gltf", ("sphere", "aabb", "obb", "capsule")),
    "babylon": ("unity", ("sphere", "aabb", "obb")),
    "rapier": ("blender", ("sphere", "aabb", "obb", "capsule")),
}
CASES = [(engine, space, shape) for engine, (space, shapes) in ENGINES.items() for shape in shapes]


@pytest.mark.parametrize(("engine", "space", "shape"), CASES)
def test_pairs_are_apart_before_their_first_contact_and_overlap_after_it(
    animated, tmp_path, engine, space, shape
):
    """A hundredth of a frame before and after it, with shapes that are fitted at that time."""
    contacts = animated.documents[shape]["contacts"]
    # Pairs that overlap at the start are in contact before it, too.
    moving = [number for number, contact in enumerate(contacts) if contact["first"]["frame"] > 1]
    assert len(moving) >= 3
    cases = [(number, side) for number in moving for side in (-1, 1)]
    documents = [
        json.loads((animated.folder / f"{shape}_{space}_{number}_{side}.json").read_text("utf-8"))
        for number, side in cases
    ]
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"documents": documents, "vertices": {}}), "utf-8")
    modules = (PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs"))
    results = run_program(f"{engine}_volumes.mjs", path, modules=modules)
    kind = "box" if shape == "aabb" else shape
    for (number, side), result in zip(cases, results, strict=True):
        pair = frozenset((contacts[number]["a"], contacts[number]["b"]))
        assert (pair in map(frozenset, result["pairs"][kind])) == (side > 0), (*pair, side)
