"""Scenes with blocked drivers, missing libraries and missing files: refused, or listed in the document.

The expected positions are those that Blender shows when nothing is missing or blocked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.cli.command_line import Completed, run
from tests.scene.building import CUBE, CUBE_FACES, Nodes, add_vertices, key_location, open_empty_file

pytestmark = pytest.mark.smoke

ALLOWED = ("--allow-missing", "--allow-blocked-drivers")
NEEDS_SCRIPTS = "len(bpy.data.scenes) * 20 + frame"


def drive(owner: Any, path: str, expression: str, *index: int) -> None:
    owner.driver_add(path, *index).driver.expression = expression


def save(path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def driven(tmp_path: Path) -> Path:
    """Save a wall at x = 25, and a cube that a driver with a script moves through it."""
    open_empty_file()
    add_vertices("Wall", CUBE * 0.5, CUBE_FACES, location=(25, 0, 0))
    drive(add_vertices("Driven", CUBE * 0.5, CUBE_FACES), "location", NEEDS_SCRIPTS, 0)
    bpy.context.scene.frame_end = 10
    return save(tmp_path / "driven.blend")


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Save a shot that links an object, a mesh and a collection from a library, and remove the library."""
    open_empty_file()
    bpy.data.collections.new("Props").objects.link(add_vertices("Crate", CUBE))
    bpy.data.collections["Props"].use_fake_user = True
    save(tmp_path / "library.blend")
    open_empty_file()
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True, relative=True) as (_, chosen):
        chosen.objects, chosen.collections, chosen.meshes = ["Crate"], ["Props"], ["Crate"]
    objects = bpy.context.scene.collection.objects
    objects.link(chosen.objects[0])
    objects.link(bpy.data.objects.new("Local", bpy.data.meshes["Crate"]))
    props = bpy.data.objects.new("Instancer", None)
    props.instance_type, props.instance_collection = "COLLECTION", bpy.data.collections["Props"]
    objects.link(props)
    add_vertices("Wall", CUBE)
    save(tmp_path / "shot.blend")
    (tmp_path / "library.blend").unlink()
    return tmp_path / "shot.blend"


def document_of(scene: Path, *options: object, command: str = "bounds") -> tuple[Completed, dict[str, Any]]:
    """Run a command that writes a document, check that it ends with 0, and return both."""
    target = scene.with_suffix(".json")
    ended = run(command, scene, "-q", "-o", target, *options)
    assert ended.returncode == 0, ended.stderr
    return ended, json.loads(target.read_text("utf-8"))


def warnings_of(document: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["kind"] for entry in document["warnings"]}


def minimum(document: dict[str, Any], name: str) -> list[float]:
    (entry,) = (entry for entry in document["objects"] if entry["name"] == name)
    minimum: list[float] = entry["world"]["aabb"]["min"]
    return minimum


@pytest.mark.parametrize("command", ["bounds", "contacts"])
def test_blocked_driver_is_refused_and_file_is_unchanged(driven: Path, command: str) -> None:
    target = driven.with_suffix(".json")
    target.write_text("old")
    ended = run(command, driven, "-o", target)
    assert ended.returncode == 2
    assert "warning: Driven: 1 driver was not run, because scripts are blocked\n" in ended.stderr
    assert ended.stderr.endswith("--allow-blocked-drivers accepts the drivers as they are)\n")
    assert target.read_text() == "old"


def test_blocked_driver_that_is_accepted_is_in_document(driven: Path) -> None:
    ended, document = document_of(driven, "--allow-blocked-drivers")
    assert warnings_of(document) == {"Driven": "blockedDriver"}
    assert "warning: Driven" in ended.stderr
    valid = run("validate", driven.with_suffix(".json"))
    assert (valid.returncode, valid.stdout) == (
        0,
        f"{driven.with_suffix('.json')}: valid (2 objects, 0 contacts, 1 warning)\n",
    )


def test_scripts_that_are_allowed_move_object_to_contact(driven: Path) -> None:
    # At frame 4 the driven cube is at x = 24, one unit from the wall: they touch.
    ended, document = document_of(driven, "--enable-autoexec", command="contacts")
    assert document["warnings"] == []
    assert "warning" not in ended.stderr
    assert [contact["first"]["frame"] for contact in document["contacts"]] == [4]


def test_scripts_are_not_allowed_by_preferences_alone(driven: Path) -> None:
    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    assert run("bounds", driven).returncode == 2


def test_simple_drivers_need_no_scripts(tmp_path: Path) -> None:
    open_empty_file()
    drive(add_vertices("Simple", CUBE * 0.5), "location", "10 + frame", 0)
    drive(add_vertices("Listed", CUBE * 0.5), "location", "max([1, frame])", 0)
    _, document = document_of(save(tmp_path / "simple.blend"), "--frame", 3)
    assert document["warnings"] == []
    assert minimum(document, "Simple") == [12.5, -0.5, -0.5]
    assert minimum(document, "Listed") == [2.5, -0.5, -0.5]


def test_blocked_driver_of_shape_key_names_object(tmp_path: Path) -> None:
    open_empty_file()
    item = add_vertices("Face", CUBE)
    item.shape_key_add(name="Basis")
    drive(item.shape_key_add(name="Smile"), "value", NEEDS_SCRIPTS)
    _, document = document_of(save(tmp_path / "keys.blend"), *ALLOWED)
    assert warnings_of(document) == {"Face": "blockedDriver"}


def test_blocked_driver_of_object_hidden_at_first_is_found_after_scan(tmp_path: Path) -> None:
    open_empty_file()
    add_vertices("Wall", CUBE, CUBE_FACES)
    item = add_vertices("Late", CUBE, CUBE_FACES)
    drive(item, "location", NEEDS_SCRIPTS, 0)
    for frame, hidden in ((1, True), (5, False)):
        item.hide_viewport = hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_end = 10
    bpy.context.scene.frame_set(1)
    path = save(tmp_path / "late.blend")
    target = tmp_path / "late.json"
    ended = run("contacts", path, "-o", target)
    assert (ended.returncode, target.exists()) == (2, False)
    assert "warning: Late: 1 driver was not run" in ended.stderr
    _, document = document_of(path, "--allow-blocked-drivers", command="contacts")
    assert warnings_of(document) == {"Late": "blockedDriver"}


def test_registered_text_is_a_warning_and_no_error(tmp_path: Path) -> None:
    open_empty_file()
    add_vertices("Rig", CUBE)
    text = bpy.data.texts.new("rig_ui.py")
    text.write("raise SystemExit('it was run')")
    text.use_module = True
    _, document = document_of(save(tmp_path / "rig.blend"))
    assert warnings_of(document) == {"rig_ui.py": "blockedScript"}


def test_missing_library_is_refused(linked: Path) -> None:
    ended = run("bounds", linked, "-o", linked.with_suffix(".json"))
    assert ended.returncode == 2
    assert "warning: //library.blend: library cannot be read: 3 data-blocks missing (Crate)\n" in ended.stderr
    assert ended.stderr.endswith("1 missing input (--allow-missing accepts this)\n")
    assert not linked.with_suffix(".json").exists()


def test_objects_of_missing_library_are_skipped_with_reason(linked: Path) -> None:
    _, document = document_of(linked, "--allow-missing")
    assert warnings_of(document) == {"//library.blend": "missingLibrary"}
    assert {entry["name"]: entry["reason"] for entry in document["skipped"]} == {
        "Crate": "is missing from library //library.blend",
        "Instancer": "its collection 'Props' is missing from library //library.blend",
        "Local": "its mesh 'Crate' is missing from library //library.blend",
    }
    assert [entry["name"] for entry in document["objects"]] == ["Wall"]


def test_request_for_missing_object_names_library(linked: Path) -> None:
    ended = run("bounds", linked, "--objects", "Crate", "--allow-missing")
    assert ended.returncode == 2
    assert ended.stderr.endswith("object 'Crate': is missing from library //library.blend\n")


def test_object_deleted_from_library_is_missing_data(linked: Path) -> None:
    open_empty_file()
    save(linked.with_name("library.blend"))
    _, document = document_of(linked, "--allow-missing")
    assert warnings_of(document) == {"Crate": "missingData", "Props": "missingData"}


def test_missing_reference_of_usd_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.usda"
    path.write_text(
        '#usda 1.0\ndef "Gone" (references = @./gone.usda@) {}\n'
        'def Mesh "Wall" {\n    int[] faceVertexCounts = [3]\n    int[] faceVertexIndices = [0, 1, 2]\n'
        "    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n"
    )
    ended = run("bounds", path)
    assert ended.returncode == 2
    assert "warning: set.usda: needs the file gone.usda, which cannot be read\n" in ended.stderr
    assert ended.stderr.endswith("1 missing input (--allow-missing accepts this)\n")
    _, document = document_of(path, "--allow-missing")
    assert warnings_of(document) == {"set.usda": "missingFile"}


def mesh_cache(item: Any, folder: Path) -> None:
    modifier = item.modifiers.new("Cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(folder / "gone.pc2")


def displacement(item: Any, folder: Path) -> None:
    texture = bpy.data.textures.new("Bumps", "IMAGE")
    texture.image = image(folder)
    item.modifiers.new("Displace", "DISPLACE").texture = texture


def image(folder: Path) -> Any:
    gone = bpy.data.images.new("Bumps", 4, 4)
    gone.source, gone.filepath = "FILE", str(folder / "gone.png")
    return gone


def image_in_node(item: Any, folder: Path) -> None:
    nodes = Nodes(item)
    nodes.end(nodes.mesh)
    nodes.add("GeometryNodeImageTexture", {"Image": image(folder)})


def image_in_modifier(item: Any, folder: Path) -> None:
    nodes = Nodes()
    nodes.end(nodes.mesh)
    socket = nodes.tree.interface.new_socket("Image", in_out="INPUT", socket_type="NodeSocketImage")
    modifier = item.modifiers.new("Nodes", "NODES")
    modifier.node_group = nodes.tree
    if bpy.app.version >= (5, 2, 0):
        getattr(modifier.properties.inputs, socket.identifier).value = image(folder)
    else:
        modifier[socket.identifier] = image(folder)


@pytest.mark.parametrize("add", [mesh_cache, displacement, image_in_node, image_in_modifier])
def test_missing_file_is_refused(tmp_path: Path, add: Callable[[Any, Path], None]) -> None:
    open_empty_file()
    add(add_vertices("Bumps", CUBE), tmp_path)
    path = save(tmp_path / "files.blend")
    ended = run("bounds", path)
    assert ended.returncode == 2, ended.stderr
    assert "warning: Bumps: needs the file " in ended.stderr
    _, document = document_of(path, "--allow-missing")
    assert warnings_of(document) == {"Bumps": "missingFile"}


def test_missing_font_is_refused(tmp_path: Path) -> None:
    open_empty_file()
    curve = bpy.data.curves.new("Sign", "FONT")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Sign", curve))
    source = Path(bpy.utils.resource_path("LOCAL")) / "datafiles" / "fonts" / "DejaVuSansMono.woff2"
    (tmp_path / "sign.woff2").write_bytes(source.read_bytes())
    curve.font = bpy.data.fonts.load(str(tmp_path / "sign.woff2"))
    path = save(tmp_path / "sign.blend")
    assert run("bounds", path).returncode == 0
    (tmp_path / "sign.woff2").unlink()
    assert run("bounds", path).returncode == 2


def test_cache_of_baked_cloth_without_files_is_refused(tmp_path: Path) -> None:
    open_empty_file()
    item = add_vertices("Flag", CUBE, [(0, 1, 3, 2)])
    save(tmp_path / "flag.blend")
    cache = item.modifiers.new("Cloth", "CLOTH").point_cache
    cache.use_disk_cache, cache.frame_end = True, 3
    bpy.ops.ptcache.bake_all(bake=True)
    path = save(tmp_path / "flag.blend")
    assert run("bounds", path).returncode == 0
    for file in (tmp_path / "blendcache_flag").iterdir():
        file.unlink()
    ended = run("bounds", path)
    assert ended.returncode == 2
    assert "warning: Flag: needs the files of the cache of Cloth\n" in ended.stderr


def test_missing_image_of_material_does_not_matter(tmp_path: Path) -> None:
    open_empty_file()
    material = bpy.data.materials.new("Paint")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image(tmp_path)
    add_vertices("Painted", CUBE).data.materials.append(material)
    _, document = document_of(save(tmp_path / "painted.blend"))
    assert document["warnings"] == []


def test_file_of_newer_blender_is_refused(tmp_path: Path) -> None:
    open_empty_file()
    add_vertices("Cube", CUBE)
    path = tmp_path / "future.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    major, minor = bpy.app.version[:2]
    content = path.read_bytes()
    saved, newer = (
        f"v{major:02}{number:02}".encode() if major >= 5 else f"v{major}{number:02}".encode()
        for number in (minor, minor + 1)
    )
    assert content[:20].count(saved) == 1
    path.write_bytes(content.replace(saved, newer, 1))
    ended = run("bounds", path)
    assert ended.returncode == 2
    assert f"warning: future.blend: was saved by Blender {major}.{minor + 1}; " in ended.stderr
    _, document = document_of(path, "--allow-missing")
    assert warnings_of(document) == {"future.blend": "newerFile"}


def test_background_scene_is_an_error_unless_allowed(tmp_path: Path) -> None:
    open_empty_file()
    crate = add_vertices("Crate", CUBE, CUBE_FACES)
    key_location(crate, {1: (-9, 0, 0), 20: (9, 0, 0)})
    background = bpy.data.scenes.new("Set")
    background.collection.objects.link(bpy.data.objects.new("Wall", crate.data))
    bpy.context.scene.background_set = background
    path, output = save(tmp_path / "shot.blend"), tmp_path / "out.json"
    for command in ("bounds", "contacts"):
        ended = run(command, path, "-o", output)
        assert ended.returncode == 2 and not output.exists()
        assert "warning: Set: 1 object of background scenes omitted (Wall)" in ended.stderr
        assert run(command, path, "-o", output, "--allow-missing").returncode == 0
        document = json.loads(output.read_text())
        assert warnings_of(document) == {"Set": "backgroundScene"}
        assert [entry["name"] for entry in document["skipped"]] == ["Wall"]
        output.unlink()
    ended = run("bounds", path, "--objects", "Wall", "--allow-missing")
    assert ended.returncode == 2
    assert ended.stderr.endswith("is in a background scene; link it to this scene to include it\n")
