"""Steps of the pages for Unreal, Unity and Godot that need no engine: files, and scripts that compile."""

from __future__ import annotations

import json
import shutil

import bpy
import numpy as np
import pytest

from tests.documented import blocks, by_language
from tests.engines.exact_hulls import read_file
from tests.package.how_to.user import User
from tests.paths import TOP

pytestmark = pytest.mark.long


def imported_meshes(path: str) -> dict[str, tuple[np.ndarray, str | None]]:
    """Import an FBX; return the vertices (n, 3) of each mesh in the world, and the name of its parent."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=path)
    bpy.context.view_layer.update()
    found = {}
    for item in bpy.context.scene.objects:
        points = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
        found[item.name] = (points, item.parent.name if item.parent else None)
    return found


def random_directions(count: int = 400) -> np.ndarray:
    """Return unit vectors (count, 3)."""
    directions = np.random.default_rng(3).normal(size=(count, 3))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("page", "prefix", "suffix"),
    [("docs/how-to/unreal.md", "UCX_", "_00"), ("docs/how-to/unity.md", "", "_BoxCollider_00")],
)
def test_fbx_has_a_collider_below_each_mesh_that_reaches_around_it(user: User, page, prefix, suffix):
    user.write("colliders.py", by_language(page, "python")[0].text)
    (export,) = [block for block in blocks(page) if "colliders.py" in block.text]
    user.run(export.text)
    meshes = imported_meshes(str(user.folder / "level.fbx"))
    directions = random_directions()
    names = [name for name in meshes if not (name.startswith(prefix) and name.endswith(suffix))]
    # Instances have no collider: the page of colliders says so.
    assert {"Plate", "Projectile", "Floor", "Crate"} <= set(names)
    for name in names:
        collider = f"{prefix}{name}{suffix}"
        if collider not in meshes:
            continue
        points, parent = meshes[collider]
        assert parent == name
        size = np.ptp(meshes[name][0], axis=0).max()
        reach = (points @ directions.T).max(axis=0) - (meshes[name][0] @ directions.T).max(axis=0)
        # FBX and the importer compute in single precision.
        assert reach.min() >= -1e-5 * size, name
    assert sum(f"{prefix}{name}{suffix}" in meshes for name in names) >= 10


def test_check_of_unreal_page_finds_no_problem_of_created_colliders(user: User):
    page = "docs/how-to/unreal.md"
    create, _ = by_language(page, "python")
    (check,) = [block for block in blocks(page) if "check-colliders" in block.text]
    save = "\nbpy.ops.wm.save_mainfile()\n"
    user.write("colliders.py", create.text + save)
    user.run("blender -b level.blend --python-exit-code 3 --python colliders.py")
    assert "15 colliders, no problems" in user.run(check.text)


@pytest.mark.parametrize(("page", "preset"), [("unreal", "unreal"), ("unity", "unity"), ("godot", "gltf")])
def test_documents_for_loaders_are_written(user: User, page, preset):
    (export,) = [block for block in blocks(f"docs/how-to/{page}.md") if "--preset" in block.text]
    user.run(export.text)
    document = json.loads((user.folder / "level.json").read_text("utf-8"))
    assert document["space"]["preset"] == preset
    assert "Plate" in {entry["id"] for entry in document["objects"]}


SUBSTITUTES = """
using System;
using System.Reflection;
namespace UnityEngine
{
    public class MonoBehaviour : Component
    {
        public Transform transform { get { return gameObject.transform; } }
    }
    public static class Application { public static string streamingAssetsPath = "."; }
}
public static class Program
{
    public static void Main()
    {
        var level = new UnityEngine.GameObject("Level");
        var start = typeof(LevelBounds).GetMethod("Start", BindingFlags.Instance | BindingFlags.NonPublic);
        start.Invoke(level.AddComponent<LevelBounds>(), null);
        Console.WriteLine(level.transform.children.Count);
    }
}
"""
"""Classes that the component of the page needs beyond those of the loaders, and a program that starts it."""


def test_component_of_unity_page_runs(user: User):
    if shutil.which("mcs") is None:
        pytest.skip("mcs is not installed")
    page = "docs/how-to/unity.md"
    (component,) = by_language(page, "csharp")
    (export,) = [block for block in blocks(page) if "--preset" in block.text]
    user.run(export.text)
    count = len(json.loads((user.folder / "level.json").read_text("utf-8"))["objects"])
    files = [user.write("LevelBounds.cs", component.text), user.write("Substitutes.cs", SUBSTITUTES)]
    files += [user.folder / "CollisionBounds.cs", TOP / "tests" / "engines" / "native" / "unity_stub.cs"]
    names = " ".join(f'"{path}"' for path in files)
    center, children = user.run(
        f"mcs -langversion:7 -r:System.Core {names} -out:level.exe\nmono level.exe"
    ).splitlines()
    x, half = map(float, center.split())
    # In Unity, X has the opposite direction. The plate is 1/64 m thick.
    assert (x, half) == (pytest.approx(2.8125, abs=2e-6), pytest.approx(1 / 128, abs=2e-6))
    assert int(children) == count > 20


def test_godot_page_exports_bodies_with_hulls(user: User):
    page = "docs/how-to/godot.md"
    user.write("colliders.py", by_language(page, "python")[0].text)
    (export,) = [block for block in blocks(page) if "colliders.py" in block.text]
    user.run(export.text)
    document, _ = read_file(user.folder / "level.glb")
    shapes = document["extensions"]["OMI_physics_shape"]["shapes"]
    bodies = [node for node in document["nodes"] if "OMI_physics_body" in node.get("extensions", {})]
    assert {shape["type"] for shape in shapes} == {"convex"}
    assert len(bodies) >= 15
    assert all(set(node["extensions"]["OMI_physics_body"]) == {"collider"} for node in bodies)
