"""The loader in Godot itself, with instances: each body is on the node of its object, and holds it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.engines.checks import convert_vertices
from tests.engines.from_blender import SETUP, in_blender
from tests.engines.godot.instanced_scene import CHARACTERS, INSTANCED
from tests.engines.godot.program import new_project, run_godot
from tests.paths import TOP

pytestmark = pytest.mark.long

_EXPORT = (
    SETUP
    + """
shown = []
for item in bpy.context.evaluated_depsgraph_get().object_instances:
    if item.object.type == "MESH" and len(item.object.data.vertices):
        data = item.object.data
        points = [[*(item.matrix_world @ vertex.co)] for vertex in data.vertices]
        owner = item.parent.name if item.is_instance else ""
        name = f"{owner}/{item.object.name}" if owner else item.object.name
        shown.append((name, points, {
            group.name: [v.index for v in data.vertices if any(g.group == group.index for g in v.groups)]
            for group in item.object.vertex_groups
        }))
options = ("--preset", "gltf", "--shapes", "aabb", "--decimals", "9")
export_document("objects.json", "bounds", *options)
export_document("bones.json", "bounds", *options, "--bones")
options = {"export_rest_position_armature": False, "export_gn_mesh": True}
export(folder + "/level.glb", export_current_frame=True, **options)
export(folder + "/another_frame.glb", **options)
with open(folder + "/shown.json", "w") as stream:
    json.dump(shown, stream)
"""
)


class Attached(NamedTuple):
    """A body in Godot: the path of the node above, vertices there (n, 3), and boxes."""

    path: str
    points: np.ndarray
    boxes: list[dict[str, Any]]


class Level(NamedTuple):
    """Objects and instances that Blender shows, and bodies that Godot has, by task.

    shown : name, vertices (n, 3) in glTF's axes, and rows by vertex group of each object and instance
    bodies : by task, the body of each id of the document
    missing : by task, the problem of each name without a body
    larger : by task, the number of meshes that are larger than in the document
    """

    shown: list[tuple[str, np.ndarray, dict[str, list[int]]]]
    bodies: dict[str, dict[str, Attached]]
    missing: dict[str, dict[str, str]]
    larger: dict[str, int]


TASKS = [
    {"name": f"{document} {scene} {how}", "document": document, "scene": scene, "imported": how == "imported"}
    for document, scene, how in (
        ("objects.json", "level.glb", "imported"),
        ("objects.json", "level.glb", "loaded"),
        ("bones.json", "level.glb", "imported"),
        ("objects.json", "another_frame.glb", "imported"),
        ("objects.json", "scaled.glb", "imported"),
    )
]


@pytest.fixture(scope="module")
def level(godot: str, tmp_path_factory) -> Level:
    folder = tmp_path_factory.mktemp("godot")
    in_blender(INSTANCED + CHARACTERS + "scene.frame_set(6)\n" + _EXPORT, folder)
    project = new_project(folder)
    for source in (TOP / "docs/loaders/collision_bounds.gd", Path(__file__).parent / "attached.gd"):
        shutil.copyfile(source, project / source.name)
    shutil.copyfile(folder / "level.glb", folder / "scaled.glb")
    for name in {task[key] for task in TASKS for key in ("document", "scene")}:
        shutil.move(folder / name, project / name)
    settings = '[remap]\n\nimporter="scene"\ntype="PackedScene"\n\n[params]\n\nnodes/root_scale=2.0\n'
    (project / "scaled.glb.import").write_text(settings, "utf-8")
    (project / "tasks.json").write_text(json.dumps(TASKS), "utf-8")
    run_godot(godot, project, "--import")
    printed = run_godot(godot, project, "--script", "attached.gd")
    shown = [
        (name, convert_vertices("gltf", np.array(points)), groups)
        for name, points, groups in json.loads((folder / "shown.json").read_text("utf-8"))
    ]
    attached = json.loads((project / "attached.json").read_text("utf-8"))
    bodies, missing, larger = {}, {}, {}
    for task, output in zip(TASKS, printed.split("task ")[1:], strict=True):
        name = task["name"]
        missing[name] = dict(re.findall(r"Collision Bounds: (.*?) (has .*)", output))
        larger[name] = sum(map(int, re.findall(r"larger than in the document: (\d+):", output)))
        document = json.loads((project / task["document"]).read_text("utf-8"))
        ids = [entry["id"] for entry in document["objects"] if entry["name"] not in missing[name]]
        bodies[name] = {
            id: Attached(each["path"], np.array(each["points"]), each["boxes"])
            for id, each in zip(ids, attached[name], strict=True)
        }
    return Level(shown, bodies, missing, larger)


def size_of(points: np.ndarray) -> float:
    return float(np.abs(points).max())


def are_equal(points: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether two sets of points (n, 3) and (m, 3) have the same points."""
    distances = np.linalg.norm(points[:, None] - expected[None], axis=2)
    return max(distances.min(axis=1).max(), distances.min(axis=0).max()) < 1e-5 * size_of(expected)


def assert_holds(attached: Attached) -> None:
    """Assert that the box of a body is not scaled, and holds all vertices, one at each side."""
    (box,) = attached.boxes
    axes, half = np.array(box["axes"]), np.array(box["size"]) / 2
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-5), attached.path
    beyond = np.abs((attached.points - box["center"]) @ axes.T) - half
    size = size_of(attached.points)
    assert beyond.max() <= 2e-6 * size, attached.path
    assert (beyond.max(axis=0) >= -2e-5 * size).all(), attached.path


def without_number(id: str) -> str:
    return re.sub(r"\.\d+$", "", id) if "/" in id else id


@pytest.mark.parametrize("how", ["imported", "loaded"])
def test_each_object_and_each_instance_has_a_body_at_its_own_node(level, how):
    task = f"objects.json level.glb {how}"
    # Blender's exporter writes the instances, not the object that is instanced.
    assert level.missing[task] == {"Leaf": "has no node in Level2 that can have a body"}
    bodies = level.bodies[task]
    assert len({each.path for each in bodies.values()}) == len(bodies) == len(level.shown) - 1 > 60
    left = list(level.shown)
    for id, attached in bodies.items():
        assert_holds(attached)
        found = [
            number
            for number, (name, points, _) in enumerate(left)
            if name in (id, without_number(id)) and are_equal(attached.points, points)
        ]
        assert found, (id, attached.path)
        del left[found[0]]
    assert [name for name, *_ in left] == ["Leaf"]


def test_names_that_the_importer_gave_to_others_are_not_mixed_up(level):
    bodies = level.bodies["objects.json level.glb imported"]
    names = ("Post", "Post2", "Crate.001", "Crate_001", "Wheel", "Wheel2")
    assert {name: bodies[name].path for name in names} == {
        "Post": "Post7",
        "Post2": "Post22",
        "Crate.001": "Crate_001",
        "Crate_001": "Crate_0012",
        "Wheel": "Wheel",
        "Wheel2": "Wheel2",
    }


def test_bones_of_each_instance_of_a_character_have_a_body_at_their_joints(level):
    """Godot names the bone Upper "Upper_2", because an object is named Upper, and Upper_2 "Upper_2_2"."""
    task = "bones.json level.glb imported"
    assert [*level.missing[task]] == ["Leaf"]
    bones = {id: each for id, each in level.bodies[task].items() if "/bone." in id}
    assert len({each.path for each in bones.values()}) == len(bones) == 18
    for id, attached in bones.items():
        assert_holds(attached)
        whole, _, bone = id.partition("/bone.")
        skins = [
            points[groups[bone]] for name, points, groups in level.shown if name == without_number(whole)
        ]
        assert any(are_equal(attached.points, points) for points in skins), (id, attached.path)


def test_nodes_that_have_moved_are_found_by_their_names(level):
    task = "objects.json another_frame.glb imported"
    bodies = level.bodies[task]
    assert [*level.missing[task]] == ["Leaf"]
    assert {id: bodies[id].path for id in bodies if id.startswith("Moving")} == {
        "Moving/Post.0": "Moving/Post6",
        "Moving/Rail.0": "Moving/Post6/Rail6",
    }
    assert bodies["Post"].path == "Post7"
    for attached in bodies.values():
        assert_holds(attached)


def test_meshes_that_the_importer_scales_are_reported(level):
    """With *Root Scale* 2, vertices are doubled, and nodes have no scale. Skins are not measured."""
    scaled = "objects.json scaled.glb imported"
    names = level.bodies[scaled].keys() - {"Free", "Single/Hero.0"}
    assert level.larger[scaled] == len(names) > 20
    assert {count for task, count in level.larger.items() if task != scaled} == {0}
