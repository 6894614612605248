"""Importer of documents for Unity, on models whose objects have non-uniform scales and shear."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.native.samples_of_shapes import random_parts, sampled
from tests.engines.native.test_native_loaders import numbers, printed_values, rotated_back
from tests.engines.native.test_unity_documents import IDENTITY, document_of, excess, written

TURNED = "0.2 0.4 -0.4 0.8"
MODEL = f"""Level\t\t{IDENTITY}
Crate\tLevel\t1 2 3 {TURNED} 1 3 2
Above\tCrate\t0 1 0 0 0 0.7071068 0.7071068 0.5 4 1
Mirrored\tLevel\t0 5 0 {TURNED} -1 1 1
Lid\tCrate\t0 0 1 {TURNED} 1 1 1
Even\tLevel\t0 0 4 {TURNED} 100 100 100
"""
NAMES = ("Crate", "Above", "Mirrored", "Lid", "Even")


@pytest.mark.parametrize("times", [1, 2])
def test_colliders_below_scaled_objects_are_where_the_document_has_them(unity_program, tmp_path, times):
    """No collider is sheared or scaled: its axes in the world are those of its rotation, as in PhysX."""
    random = np.random.default_rng(4)
    parts = {name: random_parts(random, 4) for name in NAMES}
    written(document_of([{"name": name, "world": {"compound": parts[name]}} for name in NAMES]), tmp_path)
    model = tmp_path / "level.fbx"
    model.write_text(MODEL, "utf-8")
    printed = printed_values([*unity_program, "--document", model, str(times)])
    ids = [id for kind, id in printed if kind == "place"]
    assert len(ids) == 4 * len(NAMES)
    for name in NAMES:
        found = [id for id in ids if id.startswith(f"{name} collider|")]
        for id, part in zip(found, parts[name], strict=True):
            points = sampled(part)
            slack = 2e-5 * np.abs(points).max()
            place, axes = numbers(printed["place", id]), numbers(printed["axes", id]).reshape(3, 3)
            assert rotated_back(axes, place[3:7]) == pytest.approx(np.eye(3), abs=1e-5), id
            assert -slack <= excess(printed, id, points).max() <= slack, id
            assert printed["parent", id] == ("Even" if name == "Even" else f"{name} collider")
    assert printed["warning", ""] == "Lid: is sheared, so its collider is a child of Crate."
    # One object undoes the scale of each scaled object, also after a second import.
    tree = printed["objects", ""].split()
    assert tree.count("collider") == 4 * len(NAMES) + 4


def test_model_scaled_non_uniformly_gets_no_sheared_colliders(unity_program, tmp_path):
    box = {"obb": {"center": [1, 2, 3], "halfExtents": [1, 2, 3], "rotation": [0.2, 0.4, -0.4, 0.8]}}
    plain = {"obb": {**box["obb"], "rotation": [0, 0, 0, 1]}}
    objects = [{"name": "Crate", "world": box}, {"name": "Plain", "world": plain}]
    written(document_of(objects), tmp_path)
    model = tmp_path / "level.fbx"
    model.write_text(
        f"Level\t\t0 0 0 0 0 0 1 1 2 1\nCrate\tLevel\t{IDENTITY}\nPlain\tLevel\t{IDENTITY}\n", "utf-8"
    )
    printed = printed_values([*unity_program, "--document", model, "1"])
    (id,) = [id for kind, id in printed if kind == "place"]
    assert id.startswith("Plain") and numbers(printed["axes", id]).tolist() == [1, 0, 0, 0, 2, 0, 0, 0, 1]
    assert printed["warning", ""] == "Crate: shear of the model cannot be undone, so it gets no collider."
