"""Loaders for C++ and Unity read capsules, cylinders, hulls, sphere trees, bones and local envelopes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from addon.core import capsule_from_points
from tests.engines.broken_documents import document_for
from tests.engines.native.samples_of_shapes import random_parts
from tests.engines.native.test_native_loaders import (
    are_single_precision,
    axial_excess,
    numbers,
    printed_values,
    rotated_back,
)


def assert_detailed(printed: dict[tuple[str, str], str], entry: dict, prefix: str) -> None:
    """Compare printed numbers of an object with those of the document."""
    id, world = entry["id"], entry["world"]
    assert printed["bone", id] == entry["bone"] == "Arm"

    def values(kind: str) -> list[float]:
        return numbers(printed[f"{prefix}{kind}", id]).tolist()

    for kind in ("capsule", "cylinder"):
        axial = world[kind]
        expected = [*axial["center"], *axial["axis"], axial["halfLength"], axial["radius"]]
        assert values(kind) == pytest.approx(expected, rel=1e-15)
    assert values("vertices") == np.ravel(world["hull"]["vertices"]).tolist()
    assert values("faces") == np.ravel(world["hull"]["faces"]).tolist()
    for number, node in enumerate(world["spheres"]):
        assert values(f"node {number}") == [*node["center"], node["radius"]]
        assert values(f"children {number}") == node["children"]
    box = entry["envelope"]["local"]["aabb"]
    assert numbers(printed["local envelope aabb", id]).tolist() == [*box["min"], *box["max"]]


def written(document: dict, folder: Path) -> Path:
    path = folder / "detailed.json"
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_cpp_reads_detailed_shapes(cpp_program, tmp_path):
    document = document_for("blender")
    printed = printed_values([cpp_program, written(document, tmp_path), "blender"])
    assert_detailed(printed, document["objects"][1], "world ")
    assert ("bone", document["objects"][0]["id"]) not in printed
    assert ("world vertices", document["objects"][0]["id"]) not in printed


def test_cpp_reads_convex_parts_and_responses(cpp_program, tmp_path):
    document = document_for("blender")
    parts = random_parts(np.random.default_rng(9), 20)
    plain, entry = document["objects"][:2]
    entry["world"] = {"compound": parts}
    path = written({**document, "tracks": [], "contacts": [], "clearances": []}, tmp_path)
    printed = printed_values([cpp_program, path, "blender"])
    keys = {
        "hull": ("vertices",),
        "sphere": ("center", "radius"),
        "obb": ("center", "halfExtents", "rotation"),
    }
    keys["capsule"] = ("center", "axis", "halfLength", "radius")
    for number, part in enumerate(parts):
        ((kind, shape),) = part.items()
        found = numbers(printed[f"world part {number} {'vertices' if kind == 'hull' else kind}", entry["id"]])
        expected = np.concatenate([np.ravel(shape[key]) for key in keys[kind]])
        assert found == pytest.approx(expected, rel=1e-15), number
    # Trigger, group 3, and groups 1 and 3 in the mask; the other one is solid, in group 1, with all groups.
    assert numbers(printed["collision", entry["id"]]).tolist() == [1, 3, 5]
    assert numbers(printed["collision", plain["id"]]).tolist() == [0, 1, 65535]
    assert (printed["material", entry["id"]], printed["material", plain["id"]]) == ("Ice", "none")


def test_cpp_objects_collide_if_each_has_the_group_of_the_other_in_its_mask(cpp_program, tmp_path):
    random = np.random.default_rng(3)
    document = document_for("blender")
    plain = {**document["objects"][0], "parent": None}
    sets = [(int(random.integers(1, 17)), {*random.integers(1, 17, 8).tolist()}) for _ in range(20)]
    document["objects"] = [
        {
            **plain,
            "id": str(number),
            "collision": {
                "response": "solid",
                "group": group,
                "mask": sum(2 ** (each - 1) for each in groups),
                "material": None,
            },
        }
        for number, (group, groups) in enumerate(sets)
    ]
    path = written({**document, "tracks": [], "contacts": [], "clearances": []}, tmp_path)
    printed = printed_values([cpp_program, path, "blender"])
    meeting = {
        (a, b): group in masked and other in groups
        for a, (group, groups) in enumerate(sets)
        for b, (other, masked) in enumerate(sets)
    }
    assert 0 < sum(meeting.values()) < len(meeting)
    for (a, b), expected in meeting.items():
        assert numbers(printed["meets", f"{a}|{b}"]).tolist() == [expected], (a, b)


def test_unity_reads_detailed_shapes(unity_program, tmp_path):
    document = document_for("unity")
    for entry in document["objects"]:
        entry["name"] = entry["id"]
    printed = printed_values([*unity_program, "--detailed", written(document, tmp_path)])
    entry = document["objects"][1]
    assert_detailed(printed, entry, "")
    assert ("bone", document["objects"][0]["id"]) not in printed
    hull = entry["world"]["hull"]
    assert numbers(printed["MeshCollider", entry["id"]]).tolist() == np.ravel(hull["vertices"]).tolist()
    assert numbers(printed["triangles", entry["id"]]).tolist() == np.ravel(hull["faces"]).tolist()
    assert sum(kind == "MeshCollider" for kind, _ in printed) == 1


def test_unity_capsule_colliders_enclose_their_points(unity_program, tmp_path):
    random = np.random.default_rng(11)
    document = document_for("unity")
    entry, clouds, objects = document["objects"][0], [], []
    axes = [np.array(axis, dtype=np.float64) for axis in ((0, -1, 0), (0, 1, 0), (1e-9, -1, 1e-9))]
    for number in range(40):
        points = random.normal(size=(50, 3)) * random.uniform(0.1, 3, 3) + random.normal(size=3) * 100
        if number < len(axes):
            # Along the Y axis of Unity, in both directions.
            points = random.uniform(-0.1, 0.1, (50, 3)) + np.linspace(-5, 5, 50)[:, None] * axes[number]
        shape = capsule_from_points(points)
        capsule = {
            "center": shape.center.tolist(),
            "axis": shape.axis.tolist(),
            "halfLength": float(shape.half_length),
            "radius": float(shape.radius) + 1e-9,
        }
        clouds.append(points)
        objects.append({**entry, "id": str(number), "name": str(number), "world": {"capsule": capsule}})
    document = {**document, "objects": objects, "tracks": [], "contacts": [], "clearances": []}
    for each in objects:
        each["parent"] = None
    printed = printed_values([*unity_program, "--detailed", written(document, tmp_path)])
    for number, points in enumerate(clouds):
        values = numbers(printed["CapsuleCollider", str(number)])
        radius, height, direction = values[7:]
        assert are_single_precision(values) and direction == 1
        # Unity's capsules are along Y, and their height includes the ends.
        local = rotated_back(points - values[:3], values[3:7])
        capsule = np.array([0, 0, 0, 0, 1, 0, height / 2 - radius, radius])
        assert -1e-3 < axial_excess("capsule", capsule, local) <= 0, number
