"""The steps of docs/how-to/godot.md in Godot itself."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.documented import blocks, by_language
from tests.engines.godot.program import new_project, run_godot
from tests.package.how_to.user import User

pytestmark = pytest.mark.long

PAGE = "docs/how-to/godot.md"
HULL = [["StaticBody3D", ["ConvexPolygonShape3D"]]]
SKINNED = "Arm"
"""The mesh of the example that bones deform."""
EXPORT = """
import bpy
MORE = {{"export_current_frame": True, "export_apply": True}}
{before}
bpy.context.scene.collision_bounds.gltf.omi = {omi}
bpy.context.scene.collision_bounds.gltf.shape = "hull"
bpy.ops.export_scene.gltf(filepath="level.glb", use_visible=True, **MORE)
"""
BONES = """
arm = bpy.data.objects["Arm"].collision_bounds
arm.use_object_settings, arm.bounds_for = True, "bones"
bpy.ops.collision_bounds.create_colliders(scope="VISIBLE", kind="hull", naming="godot")
"""
TRIGGER = 'bpy.data.objects["Crate"].collision_bounds.response = "trigger"'


class Reader:
    """A reader of the page, with a project of Godot."""

    def __init__(self, user: User, godot: str, folder: Path) -> None:
        self._user, self._godot = user, godot
        self.project = new_project(folder)
        shutil.copyfile(user.folder / "collision_bounds.gd", self.project / "collision_bounds.gd")
        shutil.copyfile(Path(__file__).parent / "page.gd", self.project / "page.gd")

    def export(self, omi: bool, before: str = "") -> None:
        """Export the scene as the page says, after a script in Blender."""
        self._user.write("export.py", EXPORT.format(omi=omi, before=before))
        self.run("blender -b level.blend --python-exit-code 3 --python export.py", "level.glb")

    def run(self, commands: str, name: str) -> None:
        """Run commands of the page, and copy a file into the project."""
        self._user.run(commands)
        shutil.copyfile(self._user.folder / name, self.project / name)

    def open(self, script: str = "") -> tuple[dict[str, tuple[str, list]], str]:
        """Open the scene in Godot, below a node with a script.

        Returns
        -------
        bodies : dict
            Class of each mesh and attachment to a bone by its name, and classes of the bodies below it with
            those of their shapes.
        printed : str
        """
        arguments = ["--script", "page.gd", "--", "level.glb"]
        if script:
            (self.project / "script.gd").write_text(script, "utf-8")
            arguments.append("script.gd")
        run_godot(self._godot, self.project, "--import")
        printed = run_godot(self._godot, self.project, *arguments)
        lines = [line.split("\t")[1:] for line in printed.splitlines() if line.startswith("above\t")]
        return {name: (kind, json.loads(found)) for name, kind, found in lines}, printed


@pytest.fixture
def reader(user: User, godot: str, tmp_path: Path) -> Reader:
    return Reader(user, godot, tmp_path)


def test_file_of_the_script_has_a_body_below_each_mesh_and_bounds_add_none(user: User, reader: Reader):
    user.write("colliders.py", by_language(PAGE, "python")[0].text)
    (export,) = [block for block in blocks(PAGE) if "colliders.py" in block.text]
    reader.run(export.text, "level.glb")
    (document,) = [block for block in blocks(PAGE) if "--preset" in block.text]
    reader.run(document.text, "level.json")
    (script,) = [each.text for each in by_language(PAGE, "gdscript") if "to_aabb" in each.text]
    bodies, printed = reader.open(script)
    assert len(bodies) > 15
    assert bodies.pop(SKINNED) == ("MeshInstance3D", [])
    assert all(found == ("MeshInstance3D", HULL) for found in bodies.values()), bodies
    (position, size) = re.findall(r"\[P: \((.*?)\), S: \((.*?)\)\]", printed)[0]
    objects = json.loads((reader.project / "level.json").read_text("utf-8"))["objects"]
    (box,) = [entry["world"]["aabb"] for entry in objects if entry["id"] == "Plate"]
    low, size = ([float(number) for number in text.split(", ")] for text in (position, size))
    assert low == pytest.approx(box["min"], abs=1e-5)
    assert size == pytest.approx([b - a for a, b in zip(box["min"], box["max"], strict=True)], abs=1e-5)


def test_triggers_are_areas_and_bones_have_bodies_after_create_colliders(reader: Reader):
    reader.export(True, TRIGGER + BONES)
    bodies, _ = reader.open()
    assert bodies.pop("Crate") == ("MeshInstance3D", [["Area3D", ["ConvexPolygonShape3D"]]])
    assert bodies.pop(SKINNED) == ("MeshInstance3D", [])
    bones = {name for name, (kind, _) in bodies.items() if kind == "BoneAttachment3D"}
    assert bones == {"Base", "Upper", "Fore"}
    # So other collider objects are not in the file: they would be second bodies.
    assert all(found == HULL for _, found in bodies.values()), bodies


def test_bodies_of_the_document_are_the_only_ones_of_a_file_without_colliders(reader: Reader):
    reader.export(False)
    (document,) = [block for block in blocks(PAGE) if "--preset" in block.text]
    reader.run(document.text, "level.json")
    (script,) = [each.text for each in by_language(PAGE, "gdscript") if "add_to" in each.text]
    bodies, printed = reader.open(script)
    assert len(bodies) > 15
    assert all(len(found) == 1 and found[0][0] == "StaticBody3D" for _, found in bodies.values()), bodies
    missing = re.findall(r"Collision Bounds: (.*?) has no node", printed)
    assert missing and all(name.startswith("Fence/Post.") for name in missing)
    assert printed.count("Collision Bounds:") == len(missing)


def test_second_bodies_are_reported(reader: Reader):
    reader.export(True)
    (document,) = [block for block in blocks(PAGE) if "--preset" in block.text]
    reader.run(document.text, "level.json")
    (script,) = [each.text for each in by_language(PAGE, "gdscript") if "add_to" in each.text]
    bodies, printed = reader.open(script)
    two = [name for name, (_, found) in bodies.items() if len(found) == 2]
    assert len(two) == len(bodies) - 1
    assert f"nodes in Level with a body of the file too: {len(two)}: export it without colliders" in printed
