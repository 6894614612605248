# SPDX-License-Identifier: GPL-3.0-or-later
"""Files: the product's commands on a file, the shipped schema, and opening the file in Blender."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.command_line import run
from tests.paths import TOP

bpy = pytest.importorskip("bpy")


SAMPLES = TOP.parent / "shared" / "samples"
SUFFIXES = {".blend", ".glb", ".gltf", ".fbx"}
AXES = {
    "blender": np.eye(3),
    "gltf": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "unity": np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "unreal": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]),
}
"""Rotation from Blender's axes to those of each space, one row per axis of the space."""
METERS = {"gltf": 1.0, "unity": 1.0, "unreal": 0.01}
"""Meters per unit of each space."""


def run_product(command: str, source: Path, output: Path, *options: str) -> dict:
    """Run one command of the product and return the document that it wrote.

    It runs in this process, because starting Blender takes longer than most commands. The file that it opened
    stays open, so call `load` before reading a scene.
    """
    completed = run(command, source, *options, "-o", output)
    assert completed.returncode == 0, (
        f"{command} {source.name}: {completed.returncode}\n{completed.stderr[-3000:]}"
    )
    return json.loads(output.read_text(encoding="utf-8"))


def schema_errors(document: dict) -> list[str]:
    """Errors of a document against the shipped JSON Schema. Skips the test if jsonschema is absent."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        (TOP / "addon" / "formats" / "validation" / "schema.json").read_text(encoding="utf-8")
    )
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def sample_files() -> list[Path]:
    """Sample files of other authors, or an empty list if their folder is absent."""
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.iterdir() if path.suffix in SUFFIXES)


def load(path: Path) -> None:
    """Open a .blend file, or import a file of another format into an empty scene."""
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".fbx":
        # Blender 4.5 has a new importer in C++. Its vertices differ from those of the old one by 2e-5.
        has_new_importer = "fbx_import" in dir(bpy.ops.wm)
        importer = bpy.ops.wm.fbx_import if has_new_importer else bpy.ops.import_scene.fbx
    else:
        importer = bpy.ops.import_scene.gltf
    importer(filepath=str(path))


def units_per_blender_unit(space: dict) -> float:
    """Document units per Blender unit: the scale of the written matrix."""
    return float(np.abs(space["fromBlender"]).max())
