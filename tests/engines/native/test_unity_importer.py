"""Importer for Unity: colliders of named objects, which enclose all their vertices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engines.native.test_native_loaders import numbers, printed_values

KINDS = {
    "UBX_Crate_00": "BoxCollider",
    "Crate_BoxCollider_00": "BoxCollider",
    "USP_Crate": "SphereCollider",
    "Crate_SphereCollider_12": "SphereCollider",
    "UCP_Crate_00": "CapsuleCollider",
    "Crate_CapsuleCollider": "CapsuleCollider",
    "UCX_Crate_00": "MeshCollider",
    "Crate_MeshCollider_00": "MeshCollider",
    "Crate_00-convcolonly": "MeshCollider",
    "Crate_00-colonly": "MeshCollider",
}
OTHERS = ("Crate", "UCX_", "UCXCrate", "BoxCollider_00", "Crate_BoxCollider_00 old", "Crate-col")


def imported(program: list, meshes: dict[str, np.ndarray], folder: Path) -> dict[tuple[str, str], str]:
    """Run the importer on objects with these vertices (n, 3) float32."""
    path = folder / "objects.txt"
    rows = (f"{name}\t{' '.join(map(str, points.ravel().tolist()))}" for name, points in meshes.items())
    path.write_text("\n".join(rows), "utf-8")
    return printed_values([*program, "--import", path])


def test_objects_with_collider_names_alone_are_converted(unity_program, tmp_path):
    points = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32)
    found = imported(unity_program, dict.fromkeys((*KINDS, *OTHERS), points), tmp_path)
    assert numbers(found["count", ""]).tolist() == [len(KINDS)]
    components: dict[str, set[str]] = {}
    for kind, name in found:
        components.setdefault(name, set()).add(kind)
    for name, kind in KINDS.items():
        assert components[name] == {kind}, name
    for name in OTHERS:
        assert components[name] == {"MeshFilter", "MeshRenderer"}, name
    convex = {
        name: numbers(found["MeshCollider", name]).tolist()
        for name in KINDS
        if ("MeshCollider", name) in found
    }
    assert convex == {name: [name != "Crate_00-colonly", 8] for name in convex}
    assert len(convex) == 4


@pytest.mark.parametrize("seed", range(5))
def test_colliders_enclose_all_vertices_tightly(unity_program, tmp_path, seed):
    random = np.random.default_rng(seed)
    meshes = {}
    for number in range(60):
        size, far = random.uniform(0.01, 3, 3), random.choice([0, 1, 100])
        points = random.normal(size=(30, 3)) * size + random.normal(size=3) * far
        prefix = ("UBX", "USP", "UCP")[number % 3]
        meshes[f"{prefix}_{number}"] = points.astype(np.float32)
    found = imported(unity_program, meshes, tmp_path)
    for name, mesh in meshes.items():
        points = mesh.astype(np.float64)
        slack = 4e-6 * np.abs(points).max()
        if name.startswith("UBX"):
            values = numbers(found["BoxCollider", name])
            outside = np.abs(points - values[:3]) - values[3:] / 2
            # A vertex is on each pair of sides.
            assert (outside.max(axis=0) <= 0).all() and (outside.max(axis=0) >= -slack).all(), name
            continue
        if name.startswith("USP"):
            *center, radius = numbers(found["SphereCollider", name])
            outside = np.linalg.norm(points - center, axis=1) - radius
        else:
            *center, along, radius, height = numbers(found["CapsuleCollider", name])
            sizes = np.ptp(points, axis=0)
            assert sizes[int(along)] == sizes.max() and height >= 2 * radius
            offset = points - center
            half = height / 2 - radius
            offset[:, int(along)] -= np.clip(offset[:, int(along)], -half, half)
            outside = np.linalg.norm(offset, axis=1) - radius
        assert -slack <= outside.max() <= 0, name
