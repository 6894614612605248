"""Fixtures with what Godot reads in the files of three scenes, with each of its physics engines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from addon.formats.export.gltf import gltf
from tests.engines.checks import convert_vertices
from tests.engines.from_blender import in_blender, read_exported
from tests.engines.godot.program import run_godot
from tests.engines.godot.scenes import EXPORT_SCENES, PARTS, SCENES, SHAPES
from tests.paths import TOP

LOADER = TOP / "docs" / "loaders" / "collision_bounds.gd"

ENGINES = {
    "jolt": {"3d/physics_engine": "Jolt Physics"},
    "jolt_without_margin": {
        "3d/physics_engine": "Jolt Physics",
        "jolt_physics_3d/collisions/collision_margin_fraction": 0.0,
    },
    "godot": {"3d/physics_engine": "GodotPhysics3D"},
}
"""Settings of the project for physics, of which Jolt is the default."""

Results = dict[str, list[dict[str, Any]]]
"""By task, the groups of vertices and bodies that `probe.gd` found."""


@pytest.fixture(scope="session")
def project(godot: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the files of all scenes, imported."""
    folder = tmp_path_factory.mktemp("godot")
    in_blender(EXPORT_SCENES, folder)
    (folder / "script.py").unlink()
    shutil.copy(LOADER, folder)
    shutil.copy(Path(__file__).parent / "probe.gd", folder)
    tasks = [task for scene in SCENES for task in _tasks(folder, scene)]
    (folder / "tasks.json").write_text(json.dumps(tasks), "utf-8")
    _write_settings(folder, ENGINES["jolt"])
    run_godot(godot, folder, "--import")
    return folder


def _tasks(folder: Path, scene: str) -> list[dict[str, str]]:
    """Write the files of colliders alone, and the vertices of each object; return the tasks of a scene."""
    exported = read_exported(folder / scene)
    names = [path.stem for path in sorted((folder / scene).glob("*.glb"))]
    tasks = [{"name": f"{scene}/{name}", "scene": f"{scene}/{name}.glb"} for name in names]
    for shape in (*SHAPES, *PARTS):
        document = exported.document(f"{shape}.json")
        points = {
            entry["id"]: convert_vertices("gltf", exported.vertices_of(entry)).tolist()
            for entry in document["objects"]
        }
        (folder / scene / "points.json").write_text(json.dumps(points), "utf-8")
        given = {"points": f"{scene}/points.json"}
        tasks.append(
            {"name": f"{scene}/placed_{shape}", "document": f"{scene}/{shape}.json", **given},
        )
        if shape != "spheres":
            (folder / scene / f"alone_{shape}.gltf").write_text(json.dumps(gltf(document)), "utf-8")
            tasks.append({"name": f"{scene}/alone_{shape}", "scene": f"{scene}/alone_{shape}.gltf", **given})
        added = f"{scene}/{shape if shape in PARTS else f'bones_{shape}'}.json"
        tasks.append({"name": f"{scene}/added_{shape}", "scene": f"{scene}/model.glb", "document": added})
    return tasks


def _write_settings(folder: Path, settings: dict[str, Any]) -> None:
    lines = [
        "config_version=5",
        "[physics]",
        *(f"{key}={json.dumps(value)}" for key, value in settings.items()),
    ]
    (folder / "project.godot").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="session")
def read_in_godot(godot: str, project: Path) -> Callable[[str], Results]:
    """Return a function that returns the results of a physics engine of ENGINES. Each runs once."""
    read: dict[str, Results] = {}

    def results(engine: str) -> Results:
        if engine not in read:
            _write_settings(project, ENGINES[engine])
            path = project / "results.json"
            path.unlink(missing_ok=True)
            run_godot(godot, project, "--script", "probe.gd")
            read[engine] = json.loads(path.read_text("utf-8"))
        return read[engine]

    return results
