"""Fixtures with the scenes that all engines check, each exported once, and compiled programs with loaders."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engines.from_blender import (
    AnimatedExport,
    Exported,
    TrackedExport,
    export_animation,
    export_difficult_scene,
    export_tracks,
)
from tests.engines.godot.program import godot_program
from tests.paths import TOP

LOADERS, NATIVE = TOP / "docs" / "loaders", TOP / "tests" / "engines" / "native"

_DIFFICULT = """
for preset in ("blender", "gltf", "unity", "unreal"):
    shapes = "sphere,aabb,obb,capsule,cylinder,hull"
    options = ("--preset", preset, "--shapes", shapes, "--decimals", "9")
    export_document(preset + ".json", "bounds", *options)
parts = ("--preset", "unity", "--parts", "3", "--part-shape", "box", "--decimals", "9")
split = [part for name in ("Turned", "Sheared", "Arrayed", "Curve") for part in ("--objects", name)]
export_document("unity_parts.json", "bounds", *parts, *split)
for shape in ("aabb", "obb", "sphere", "capsule"):
    options = ("--shape", shape, "--frames", "1:1", "--no-ignore-parents", "--decimals", "9")
    export_document(shape + "_contacts.json", "contacts", *options)
export(folder + "/scene.glb")
bpy.ops.wm.usd_export(filepath=folder + "/scene.usda", export_shapekeys=False, export_armatures=False)
"""


@pytest.fixture(scope="session")
def difficult(tmp_path_factory) -> Exported:
    """Bounds in `blender.json` etc., pairs in `aabb_contacts.json` etc., scene.glb and scene.usda."""
    return export_difficult_scene(_DIFFICULT, tmp_path_factory.mktemp("difficult"))


@pytest.fixture(scope="session")
def godot() -> str:
    """Return the path of Godot, or skip the test."""
    return godot_program()


@pytest.fixture
def bullet() -> Any:
    """Return a physics client of Bullet for one test."""
    pybullet = pytest.importorskip("pybullet")
    return pytest.importorskip("pybullet_utils.bullet_client").BulletClient(pybullet.DIRECT)


CONTACT_SHAPES = ("obb", "sphere", "capsule", "aabb")
STEP = 0.01
"""Frames before and after each first contact at which engines are tested."""

_AROUND_CONTACTS = """
for shape in SHAPES:
    for number, contact in enumerate(documents[shape]["contacts"]):
        for side in (-1, 1):
            for preset in ("blender", "gltf", "unity"):
                options = ("--frame", repr(contact["first"]["frame"] + side * STEP), "--preset", preset)
                name = f"{shape}_{preset}_{number}_{side}.json"
                export_document(name, "bounds", *options, "--shapes", shape, "--decimals", "9")
"""


@pytest.fixture(scope="session")
def animated(tmp_path_factory) -> AnimatedExport:
    """Bounds, contacts of all shapes with one volume, and poses of all objects at many times.

    `obb_gltf_0_1.json` etc. have the shapes of all objects STEP after the first contact of a shape, by
    space and number of the contact, and `obb_gltf_0_-1.json` those as much before it.
    """
    more = f"STEP = {STEP}\n" + _AROUND_CONTACTS
    return export_animation(tmp_path_factory.mktemp("animated"), shapes=CONTACT_SHAPES, more=more)


@pytest.fixture(scope="session")
def tracked(tmp_path_factory) -> TrackedExport:
    """Tracks in `blender.json` etc., and the positions of all vertices at each of their frames."""
    return export_tracks(tmp_path_factory.mktemp("tracked"))


UNITY_COMPILER = ("mcs", "-warn:4", "-warnaserror", "-langversion:7", "-r:System.Core")
UNITY_LOADERS = tuple(sorted(LOADERS.glob("*.cs")))


def compile_program(command: list[str | Path]) -> None:
    """Compile with warnings as errors. Skips the test if the compiler is not installed."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def cpp_program(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("cpp") / "print_loaded"
    flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    compile_program(["g++", *flags, "-I", LOADERS, NATIVE / "print_loaded.cpp", "-o", program])
    return program


@pytest.fixture(scope="session")
def unity_program(tmp_path_factory) -> list[str | Path]:
    program = tmp_path_factory.mktemp("unity") / "print_loaded.exe"
    files = (*UNITY_LOADERS, NATIVE / "unity_stub.cs", NATIVE / "print_loaded.cs")
    compile_program([*UNITY_COMPILER, "-define:UNITY_2022_2_OR_NEWER", *files, f"-out:{program}"])
    return ["mono", program]
