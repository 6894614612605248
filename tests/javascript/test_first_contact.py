"""First contacts of documents, compared with Rapier."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.javascript.conftest import MATRICES, Exported, open_scene
from tests.node.node import run_program
from tests.scene.independent.files import AXES

# The scene takes two seconds, and every Blender version exports the same documents, so one is enough.
pytestmark = pytest.mark.long

# Half extents and centers before scaling, from the script of the scene.
BOXES = {
    "Dart": ((0.5, 0.1, 0.1), (0.3, 0, 0)),
    "Plate": ((0.2, 2, 2), (0, 0, 0)),
    "Spinner": ((3, 0.2, 0.3), (0, 0, 0)),
    "Post": ((0.3, 0.3, 2), (0, 0, 0)),
    "Swing": ((0.4, 0.2, 0.3), (0, 0, 0)),
    "Wall": ((0.5, 0.5, 2), (0, 0, 0)),
}
PAIRS = (("Dart", "Plate"), ("Post", "Spinner"), ("Swing", "Wall"))
SINGLE_PRECISION = 2e-5
"""Error of Rapier in frames: single precision, about ten units from the origin, with fast objects."""


def poses(times: np.ndarray) -> dict[str, list[dict]]:
    """Poses of the six boxes and of the spheres around them at each time, from Blender."""
    by_name: dict[str, list[dict]] = {name: [] for name in BOXES}
    for time in times.tolist():
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        for name, (half, middle) in BOXES.items():
            matrix = bpy.data.objects[name].matrix_world
            world = np.array(matrix, dtype=np.float64)
            size = np.array(half) * np.linalg.norm(world[:3, :3], axis=0)
            w, x, y, z = matrix.to_quaternion()
            by_name[name].append(
                {
                    "center": (world[:3, :3] @ np.array(middle) + world[:3, 3]).tolist(),
                    "halfExtents": size.tolist(),
                    "rotation": [x, y, z, w],
                    "radius": float(np.linalg.norm(size)),
                }
            )
    return by_name


def first_steps(times: np.ndarray, shape: str, pairs: tuple, path: Path) -> list[int]:
    """Index of the first time at which each pair touches in Rapier."""
    keys = {"obb": ("center", "halfExtents", "rotation"), "sphere": ("center", "radius")}[shape]
    shapes = {
        name: [{key: pose[key] for key in keys} for pose in object_poses]
        for name, object_poses in poses(times).items()
    }
    queries = [{"a": shapes[a], "b": shapes[b], "steps": True} for a, b in pairs]
    path.write_text(json.dumps(queries), "utf-8")
    return run_program("rapier_contacts.mjs", path)


@pytest.mark.parametrize(
    ("shape", "pairs"),
    [("obb", PAIRS), ("mesh", PAIRS), ("sphere", (("Dart", "Plate"), ("Dart", "Spinner"), ("Dart", "Post")))],
)
def test_first_contact_matches_rapier_at_poses_of_blender(exported, tmp_path, shape, pairs):
    """Sample at sixteenths of a frame, then 512 times as densely around the contact.

    The meshes of the pairs are boxes.
    """
    bounds = "obb" if shape == "mesh" else shape
    contacts = {
        tuple(sorted((contact["a"], contact["b"]))): contact["first"]
        for contact in exported.contacts[shape]["blender"]["contacts"]
    }
    open_scene()
    coarse = np.arange(1, 12 + 1 / 32, 1 / 16)
    rough = first_steps(coarse, bounds, pairs, tmp_path / "input.json")
    for pair, index in zip(pairs, rough, strict=True):
        assert index
        fine = coarse[index - 1] + np.arange(65) / 1024
        (step,) = first_steps(fine, bounds, (pair,), tmp_path / "input.json")
        first = contacts[tuple(sorted(pair))]
        assert step
        assert first["frame"] <= fine[step] + SINGLE_PRECISION, pair
        assert first["frame"] >= fine[step - 1] - first["uncertainty"] - SINGLE_PRECISION, pair
        assert first["uncertainty"] < 1e-3


@pytest.mark.parametrize("space", MATRICES)
def test_first_contact_matches_shape_cast_of_tracks_in_rapier(exported: Exported, tmp_path, space):
    """Move spheres linearly from frame to frame, as an engine interpolates the tracks of a document."""
    tracks = {track["object"]: track for track in exported.bounds[space]["tracks"]}

    def spheres_of(id: str) -> list[dict]:
        spheres = tracks[id]["sphere"]
        assert tracks[id]["frames"] == list(range(1, 13))
        return [
            {"center": center, "radius": radius}
            for center, radius in zip(spheres["centers"], spheres["radii"], strict=True)
        ]

    # Dart moves linearly; the others rest, or rotate about their centers.
    contacts = {
        (contact["a"], contact["b"]): contact["first"]["frame"]
        for contact in exported.contacts["sphere"][space]["contacts"]
        if contact["a"] == "Dart" and contact["b"] != "Huge"
    }
    assert {*contacts} == {("Dart", name) for name in ("Plate", "Spinner", "Post")}
    path = tmp_path / "input.json"
    path.write_text(json.dumps([{"a": spheres_of(a), "b": spheres_of(b)} for a, b in contacts]), "utf-8")
    for frame, index in zip(contacts.values(), run_program("rapier_contacts.mjs", path), strict=True):
        assert index is not None
        # A shape cast can stop slightly early, by Rapier's tolerance: ten-thousandths of the size.
        assert 1 + index == pytest.approx(frame, abs=1e-4)


@pytest.mark.parametrize("shape", ["aabb", "sphere", "obb", "mesh"])
@pytest.mark.parametrize("space", MATRICES)
def test_contacts_match_in_all_spaces(exported: Exported, shape, space):
    """Compare frames, and points and normals converted to the space."""
    contacts, in_blender = (exported.contacts[shape][name]["contacts"] for name in (space, "blender"))
    assert len(contacts) == len(in_blender) > 1
    rotation = MATRICES[space] / np.abs(MATRICES[space]).max()
    assert (rotation == AXES.get(space, rotation)).all()
    scale = np.abs(MATRICES[space]).max()
    matrices = {"normal": rotation, "direction": rotation}
    matrices |= {"point": MATRICES[space], "velocity": MATRICES[space]}

    def assert_converted(found, expected):
        """Compare all values; vectors are converted, depths and speeds scaled, and times stay."""
        assert found.keys() == expected.keys()
        for name, value in found.items():
            other = expected[name]
            if isinstance(other, dict):
                assert_converted(value, other)
            elif name in matrices and other is not None:
                wanted = matrices[name] @ other
                assert value == pytest.approx(wanted, abs=1e-6 * (1 + scale)), name
            elif name in ("depth", "gap", "clearance", "closingSpeed") and other is not None:
                assert value == pytest.approx(scale * other, abs=1e-6 * (1 + scale)), name
            else:
                assert value == other, name

    for found, expected in zip(contacts, in_blender, strict=True):
        assert (found["a"], found["b"]) == (expected["a"], expected["b"])
        assert_converted(found["first"], expected["first"])
        assert len(found["intervals"]) == len(expected["intervals"])
        for interval, other in zip(found["intervals"], expected["intervals"], strict=True):
            assert_converted(interval, other)
