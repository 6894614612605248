"""Sizes in documents and files with each unit setting, compared with the files of Blender's own exporters."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from tests.engines.from_blender import EMPTY_ANIMATION, SETUP, in_blender

trimesh = pytest.importorskip("trimesh")
Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")

# The second number is the unit scale. Without a unit system, it has no effect in Blender's window.
UNITS = [
    ("METRIC", 1.0),
    ("METRIC", 0.01),
    ("METRIC", 100.0),
    ("NONE", 1.0),
    ("NONE", 0.01),
    ("IMPERIAL", 1.0),
    ("IMPERIAL", 0.3048),
]
PRESETS = ("blender", "gltf", "unity", "unreal")
FORMATS = ("gltf", "3dtiles", "unity", "unreal", "urdf", "mjcf", "usd", "curobo", "csv")

_EXPORT = (
    EMPTY_ANIMATION
    + SETUP
    + """
import os
put(mesh("Crate", (1, 1.5, 2)), (20, 3, 1))
for system, scale in UNITS:
    scene.unit_settings.system, scene.unit_settings.scale_length = system, scale
    name = f"{system}_{scale:g}"
    os.mkdir(folder + "/" + name)
    path = folder + "/" + name + "/blender."
    bpy.ops.export_scene.gltf(filepath=path + "glb")
    bpy.ops.export_scene.fbx(filepath=path + "fbx")
    bpy.ops.wm.usd_export(filepath=path + "usda")
    bpy.ops.wm.obj_export(filepath=path + "obj")
    bpy.ops.wm.ply_export(filepath=path + "ply")
    bpy.ops.wm.stl_export(filepath=path + "stl")
    bpy.ops.wm.alembic_export(filepath=path + "abc", as_background_job=False)
    bpy.ops.wm.stl_export(filepath=path + "scene_unit.stl", use_scene_unit=True)
    for preset in PRESETS:
        export_document(f"{name}/{preset}.json", "bounds", "--preset", preset, "--decimals", "9")
    custom = ("--up", "+Z", "--forward", "-Y", "--handedness", "right", "--scale", "1")
    export_document(name + "/custom.json", "bounds", "--preset", "custom", *custom)
    for each in FORMATS:
        more = ["--shapes", "obb"] if each in ("gltf", "urdf", "mjcf", "usd") else []
        more += ["--shapes", "spheres"] if each == "curobo" else []
        export_document(f"{name}/{each}.file" + ".usda" * (each == "usd"), "bounds", "--format", each, *more)
# FBX and Alembic files are read into a scene of meters.
scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", 1
for system, scale in UNITS:
    name = f"{system}_{scale:g}"
    for suffix, read in (("fbx", bpy.ops.import_scene.fbx), ("abc", bpy.ops.wm.alembic_import)):
        before = set(bpy.data.objects)
        path = folder + "/" + name + "/blender." + suffix
        read(filepath=path, **({"as_background_job": False} if suffix == "abc" else {}))
        bpy.context.view_layer.update()
        (item,) = [item for item in set(bpy.data.objects) - before if item.type == "MESH"]
        points = [list(item.matrix_world @ vertex.co) for vertex in item.data.vertices]
        with open(folder + "/" + name + f"/{suffix}.json", "w") as stream:
            json.dump(points, stream)
"""
)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Folder with a folder of files for each unit setting."""
    folder = tmp_path_factory.mktemp("units")
    in_blender(f"UNITS, PRESETS, FORMATS = {UNITS!r}, {PRESETS!r}, {FORMATS!r}\n" + _EXPORT, folder)
    return folder


@pytest.fixture(params=UNITS, ids=lambda units: f"{units[0].lower()} {units[1]:g}")
def folder(request, files) -> Path:
    """Folder of one unit setting."""
    return files / f"{request.param[0]}_{request.param[1]:g}"


def mesh_bounds(path: Path) -> np.ndarray:
    """Lowest and highest corner (2, 3) of a file, as trimesh reads it."""
    return np.asarray(trimesh.load(path, force="scene", process=False).bounds)


def imported_bounds(folder: Path, suffix: str) -> np.ndarray:
    """Lowest and highest corner (2, 3) of the FBX or Alembic file in meters, in Blender's axes."""
    points = np.array(json.loads((folder / f"{suffix}.json").read_text("utf-8")))
    return np.stack([points.min(axis=0), points.max(axis=0)])


def usd_bounds(path: Path) -> np.ndarray:
    """Lowest and highest corner (2, 3) of a stage in meters, as USD computes them."""
    stage = Usd.Stage.Open(str(path))
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_, UsdGeom.Tokens.guide])
    box = cache.ComputeWorldBound(stage.GetPseudoRoot()).ComputeAlignedRange()
    return np.array([box.GetMin(), box.GetMax()]) * UsdGeom.GetStageMetersPerUnit(stage)


def in_axes(bounds: np.ndarray, matrix: list[list[float]]) -> np.ndarray:
    """Lowest and highest corner (2, 3) after a signed permutation of the axes."""
    corners = bounds @ np.array(matrix).T
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def document_bounds(path: Path) -> np.ndarray:
    """Lowest and highest corner (2, 3) of the box of a document's only object."""
    (entry,) = json.loads(path.read_text("utf-8"))["objects"]
    return np.array([entry["world"]["aabb"][end] for end in ("min", "max")])


def urdf_size(folder: Path) -> list[float]:
    """Size (3,) of the only box of the URDF file."""
    robot = ElementTree.parse(folder / "urdf.file").getroot()
    return [float(number) for number in robot.find(".//collision/geometry/box").get("size").split()]


TO_UNITY = [[-1, 0, 0], [0, 0, 1], [0, -1, 0]]
TO_UNREAL = [[1, 0, 0], [0, -1, 0], [0, 0, 1]]
GLTF_TO_TILES = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]


def test_document_for_gltf_matches_mesh_of_gltf_exporter(folder):
    expected = mesh_bounds(folder / "blender.glb")
    np.testing.assert_allclose(document_bounds(folder / "gltf.json"), expected, rtol=1e-5)


def test_collider_file_for_gltf_matches_mesh_of_gltf_exporter(folder):
    written = json.loads((folder / "gltf.file").read_text("utf-8"))
    (shape,) = written["extensions"]["OMI_physics_shape"]["shapes"]
    low, high = mesh_bounds(folder / "blender.glb")
    np.testing.assert_allclose(sorted(shape["box"]["size"]), sorted(high - low), rtol=1e-5)
    (node,) = [node for node in written["nodes"] if "translation" in node]
    np.testing.assert_allclose(node["translation"], (low + high) / 2, rtol=1e-5)


def test_tileset_matches_mesh_of_gltf_exporter(folder):
    """Contents of tiles are glTF files; tilesets have Z up."""
    tiles = json.loads((folder / "3dtiles.file").read_text("utf-8"))["root"]["children"]
    (box,) = [np.array(tile["boundingVolume"]["box"]) for tile in tiles]
    half = np.abs(box[3:].reshape(3, 3)).sum(axis=0)
    expected = in_axes(mesh_bounds(folder / "blender.glb"), GLTF_TO_TILES)
    np.testing.assert_allclose([box[:3] - half, box[:3] + half], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("engine", "axes", "per_meter"), [("unity", TO_UNITY, 1), ("unreal", TO_UNREAL, 100)]
)
def test_documents_and_bounds_of_unity_and_unreal_match_mesh_of_fbx_exporter(folder, engine, axes, per_meter):
    expected = in_axes(imported_bounds(folder, "fbx"), axes) * per_meter
    np.testing.assert_allclose(document_bounds(folder / f"{engine}.json"), expected, rtol=1e-5)
    (entry,) = json.loads((folder / f"{engine}.file").read_text("utf-8"))["bounds"]
    names = ("m_Center", "m_Extent") if engine == "unity" else ("Origin", "BoxExtent")
    center, half = (np.array(list(entry["world"][name].values())) for name in names)
    np.testing.assert_allclose([center - half, center + half], expected, rtol=1e-4)


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "abc"])
def test_document_in_blender_units_matches_mesh_without_unit(folder, suffix):
    is_alembic = suffix == "abc"
    bounds = imported_bounds(folder, suffix) if is_alembic else mesh_bounds(folder / f"blender.{suffix}")
    if suffix == "obj":
        bounds = in_axes(bounds, GLTF_TO_TILES)
    np.testing.assert_allclose(document_bounds(folder / "blender.json"), bounds, rtol=1e-5)
    (row,) = csv.DictReader((folder / "csv.file").read_text("utf-8").splitlines())
    np.testing.assert_allclose([float(row[f"min_{axis}"]) for axis in "xyz"], bounds[0], rtol=1e-5)


def test_robots_are_in_meters_as_meshes_with_scene_unit(folder):
    low, high = mesh_bounds(folder / "blender.scene_unit.stl")
    size = high - low
    np.testing.assert_allclose(sorted(urdf_size(folder)), sorted(size), rtol=1e-4)
    geom = ElementTree.parse(folder / "mjcf.file").getroot().find(".//geom[@type='box']")
    np.testing.assert_allclose(sorted(map(float, geom.get("size").split())), sorted(size / 2), rtol=1e-4)
    np.testing.assert_allclose(imported_bounds(folder, "fbx"), [low, high], rtol=1e-4)
    centers = re.findall(r"center: \[(.*)\]", (folder / "curobo.file").read_text("utf-8"))
    spread = np.ptp([[float(number) for number in center.split(",")] for center in centers], axis=0)
    assert (spread > 0.3 * size).all() and (spread <= 1.01 * size).all()


def test_robots_in_usd_match_stage_of_usd_exporter(folder):
    expected = usd_bounds(folder / "blender.usda")
    np.testing.assert_allclose(usd_bounds(folder / "usd.file.usda"), expected, rtol=1e-5)


# Rows of the table in docs/engines.md: lengths along X in the unit of the file.
EDGES = {
    "Blender's glTF": lambda folder: mesh_bounds(folder / "blender.glb"),
    "`--preset gltf`": lambda folder: document_bounds(folder / "gltf.json"),
    "Blender's FBX": lambda folder: imported_bounds(folder, "fbx") * 100,
    "`--preset unreal`": lambda folder: document_bounds(folder / "unreal.json"),
    "`--preset unity`": lambda folder: document_bounds(folder / "unity.json"),
    "`--preset custom`": lambda folder: document_bounds(folder / "custom.json"),
    "Blender's USD": lambda folder: usd_bounds(folder / "blender.usda"),
    "`--format usd`": lambda folder: usd_bounds(folder / "usd.file.usda"),
    "Blender's STL with": lambda folder: mesh_bounds(folder / "blender.scene_unit.stl"),
    "`--format urdf`": lambda folder: np.array([[0, 0, 0], sorted(urdf_size(folder))]),
    "Blender's OBJ": lambda folder: mesh_bounds(folder / "blender.obj"),
    "`--preset blender`": lambda folder: document_bounds(folder / "blender.json"),
}


def test_table_in_documentation_has_measured_lengths(files):
    text = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text("utf-8")
    section = text.split("## Units\n")[1].split("\n## ")[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    assert len(rows) == len(EDGES)
    for label, *cells in rows:
        (measured,) = [function for start, function in EDGES.items() if label.startswith(start)]
        for units, cell in zip(head[1:], cells, strict=True):
            system, scale = units.replace("*", "").split(", ")
            for used in [1.0, 0.01] if scale == "any" else [float(scale)]:
                edge = np.ptp(measured(files / f"{system.upper()}_{used:g}")[:, 0])
                assert edge == pytest.approx(float(cell.split()[0]), rel=1e-4), (label, units)
