"""Colliders and bodies in Godot, by its own import, scripts and physics engines, around vertices in Godot.

The numbers of boxes, spheres, capsules and cylinders enclose the vertices but for rounding: Godot stores the
vertices of imported meshes in 16 bits. In the physics engine, a ball around each vertex touches a body. Its
radius is up to 0.0003 of the size of the mesh: Godot rounds vertices of convex shapes that it imports. With
Jolt Physics, it is another 2 mm for hulls: Jolt drops vertices that are hardly outside of the others.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from tests.engines.godot.conftest import ENGINES
from tests.engines.godot.program import run_godot
from tests.engines.godot.scenes import EXPORTED, KINDS, NAMINGS, PARTS, SCENES, SHAPES
from tests.paths import TOP

IMPORTED = (
    *(f"omi_{shape}" for shape in EXPORTED),
    *(f"{naming}_{kind}" for naming in NAMINGS for kind in KINDS),
)
ALONE = tuple(f"alone_{shape}" for shape in (*SHAPES, *PARTS) if shape != "spheres")
LOADED = tuple(f"{done}_{shape}" for done in ("placed", "added") for shape in (*SHAPES, *PARTS))
TASKS = [(scene, task) for scene in SCENES for task in (*IMPORTED, *ALONE, *LOADED)]

GAP_OF_SIZE, GAP_OF_DISTANCE, LEAST_GAP = 3e-4, 3e-6, 3e-5
GAP_OF_HULLS_IN_JOLT = 2e-3
SMALL = {"Tiny", "Dot"}
"""Objects of at most a millimeter: Jolt Physics makes no hull of them, and no engine finds balls so small."""
THIN = {"Flat"}
INSTANCED = {"InCollection", "InCollection2"}

pytestmark = pytest.mark.long


def excess(shape: dict[str, Any], points: np.ndarray) -> np.ndarray:
    """Distances (n,) of points (n, 3) from a box, sphere, capsule or cylinder, negative inside."""
    *columns, origin = np.array(shape["columns"])
    basis = np.stack(columns, axis=1)
    assert np.abs(basis.T @ basis - np.eye(3)).max() < 1e-5, "scaled shapes are not the same in all engines"
    local = (points - origin) @ basis
    kind = shape["kind"].removesuffix("Shape3D")
    if kind == "Box":
        return (np.abs(local) - np.array(shape["size"]) / 2).max(axis=1)
    if kind == "Sphere":
        return np.linalg.norm(local, axis=1) - shape["radius"]
    # Along Y. The height of a capsule includes its ends.
    around, half = np.linalg.norm(local[:, [0, 2]], axis=1), shape["height"] / 2
    if kind == "Capsule":
        beyond = np.maximum(np.abs(local[:, 1]) - (half - shape["radius"]), 0)
        return np.hypot(around, beyond) - shape["radius"]
    return np.maximum(around - shape["radius"], np.abs(local[:, 1]) - half)


def test_readme_names_the_version_that_is_tested(godot, tmp_path):
    (version,) = re.findall(
        r"^\| Godot \| ([\d.]+) \|$", (TOP / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert run_godot(godot, tmp_path, "--version").startswith(f"{version}.")


def is_plain(shape: dict[str, Any]) -> bool:
    return "Polygon" not in shape["kind"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scene", "task"), TASKS)
def test_every_vertex_is_in_the_body_of_its_object(read_in_godot, engine, scene, task):
    groups = [group for group in read_in_godot(engine)[f"{scene}/{task}"] if group["shapes"]]
    assert len(groups) >= 7
    for group in groups:
        name, kinds = group["name"], {shape["kind"] for shape in group["shapes"]}
        if name in SMALL:
            continue
        allowed = GAP_OF_SIZE * group["size"] + GAP_OF_DISTANCE * group["distance"] + LEAST_GAP
        if "ConvexPolygonShape3D" in kinds and engine != "godot":
            allowed += GAP_OF_HULLS_IN_JOLT
        # With the margin that the importer gives to shapes, Jolt rounds their edges.
        is_rounded = engine == "jolt" and task not in LOADED and "ConcavePolygonShape3D" not in kinds
        assert group["gap"] <= allowed or is_rounded, (name, group["gap"])
        assert group["inward"] == 0 or len(group["shapes"]) > 1 or name in THIN, name
        assert group["far"] == 0, name


@pytest.mark.parametrize(("scene", "task"), TASKS)
def test_numbers_of_shapes_enclose_the_vertices(read_in_godot, scene, task):
    for group in read_in_godot("jolt")[f"{scene}/{task}"]:
        points = np.array(group["points"]).reshape(-1, 3)
        if all(map(is_plain, group["shapes"])) and len(points) and group["shapes"]:
            outside = np.min([excess(shape, points) for shape in group["shapes"]], axis=0)
            allowed = 1.6e-5 * group["size"] + 1e-6 * group["distance"]
            assert outside.max() <= allowed, (group["name"], outside.max())


WITHOUT_BODY = {
    "difficult": {"omi": {"Flattened", "Skinned"}, "godot": {"Flattened", "Skinned", *INSTANCED}},
    "robot": {"omi": {"Grip"}, "godot": {"Grip"}},
    "floor": {"omi": {"Arm"}, "godot": {"Arm", "Post", "Post2", "Post3"}},
}
"""Meshes without a body of their own: flat ones, skins, which have colliders at the bones, and instances."""
BONES = {"difficult": ["Bone"], "robot": ["Finger"], "floor": ["Base", "Fore", "Upper"]}


@pytest.mark.parametrize("scene", SCENES)
def test_each_mesh_and_each_bone_has_a_body(read_in_godot, scene):
    for task in IMPORTED:
        groups = read_in_godot("jolt")[f"{scene}/{task}"]
        meshes = [group for group in groups if group["above"] == "MeshInstance3D"]
        without = {group["name"] for group in meshes if not group["shapes"]}
        assert without == WITHOUT_BODY[scene][task.split("_")[0]], task
        bones = sorted(group["name"] for group in groups if group["above"] == "BoneAttachment3D")
        assert bones == (BONES[scene] if task.startswith("godot") else []), task


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("shape", [*SHAPES, *PARTS])
def test_bodies_of_a_document_are_at_the_meshes_and_bones_of_their_objects(
    read_in_godot, project, scene, shape
):
    """By the vertices there, whose box is that of the object. Bodies are in the order of the document."""
    groups = read_in_godot("jolt")[f"{scene}/added_{shape}"]
    boxes = project / scene / ("aabb.json" if shape in PARTS else "bones_aabb.json")
    objects = json.loads(boxes.read_text("utf-8"))["objects"]
    # The exporter does not write instances of geometry nodes, of which the fence consists.
    entries = [each for each in objects if not each["name"].startswith(("Flattened", "Fence/"))]
    assert len(groups) == len(entries)
    for group, entry in zip(groups, entries, strict=True):
        if entry["name"] == "Dot":
            assert group["above"] == "Node3D"
            continue
        assert group["above"] == ("BoneAttachment3D" if "bone" in entry else "MeshInstance3D"), entry["name"]
        points, box = np.array(group["points"]), entry["world"]["aabb"]
        slack = 1e-4 * group["size"] + 1e-6 * group["distance"]
        assert points.min(axis=0) == pytest.approx(np.array(box["min"]), abs=slack), entry["name"]
        assert points.max(axis=0) == pytest.approx(np.array(box["max"]), abs=slack), entry["name"]
