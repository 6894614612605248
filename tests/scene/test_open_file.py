"""Opening files of every supported format, and errors for those that cannot be opened."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from addon import registration
from addon.scene.errors import SceneError
from addon.scene.open_file import activate_scene, open_scene
from tests.scene.building import add_vertices

pytestmark = pytest.mark.usefixtures("empty_file")


def write_triangle(path: Path) -> Path:
    """Write a file with one triangle, in the format of its suffix."""
    if path.suffix == ".obj":
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        return path
    mesh = bpy.data.meshes.new("Triangle")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Triangle", mesh))
    if path.suffix == ".blend":
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    elif path.suffix in (".glb", ".gltf"):
        import addon_utils

        addon_utils.enable("io_scene_gltf2")
        bpy.ops.export_scene.gltf(
            filepath=str(path), export_format="GLB" if path.suffix == ".glb" else "GLTF_SEPARATE"
        )
    elif path.suffix == ".fbx":
        import addon_utils

        addon_utils.enable("io_scene_fbx")
        bpy.ops.export_scene.fbx(filepath=str(path))
    else:
        bpy.ops.wm.usd_export(filepath=str(path))
    return path


@pytest.mark.smoke
@pytest.mark.parametrize("suffix", [".blend", ".glb", ".gltf", ".fbx", ".obj", ".usda", ".usdc", ".USD"])
def test_opened_file_of_every_format_has_only_its_objects(tmp_path, suffix):
    path = write_triangle(tmp_path / f"triangle{suffix.lower()}")
    path = path.rename(tmp_path / f"triangle{suffix}")
    bpy.ops.wm.read_factory_settings(use_empty=False)  # has a cube, a light and a camera
    open_scene(path)
    meshes = [item for item in bpy.context.scene.objects if item.type == "MESH"]
    assert [len(item.data.vertices) for item in meshes] == [3]
    assert "Cube" not in bpy.data.objects


def test_copy_that_blender_keeps_of_a_file_is_opened(tmp_path):
    path = write_triangle(tmp_path / "triangle.blend")
    path = path.rename(tmp_path / "triangle.blend1")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    open_scene(path)
    assert list(bpy.data.objects.keys()) == ["Triangle"]


@pytest.mark.parametrize("suffix", [".blend", ".blender1", ".glb", ".fbx", ".txt", ".usdc"])
def test_broken_file_is_reported_in_one_line(tmp_path, suffix):
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(b"not a scene at all")
    with pytest.raises(SceneError, match=f"broken{suffix}") as error:
        open_scene(path)
    assert "\n" not in str(error.value)


@pytest.mark.smoke
def test_file_that_blender_opens_with_an_error_report_is_opened(tmp_path):
    """Blender 4.2 to 5.2 have 128 channels of video strips, and report an error for a strip beyond them."""
    contents = []
    for channel in (125, 126):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        editor = bpy.context.scene.sequence_editor_create()
        strips = editor.strips if hasattr(editor, "strips") else editor.sequences
        length = {"length": 20} if bpy.app.version >= (5, 0, 0) else {"frame_end": 20}
        strips.new_effect(name="Strip", type="COLOR", channel=channel, frame_start=1, **length)
        add_vertices("Triangle", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
        path = tmp_path / f"{channel}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
        contents.append(bytearray(path.read_bytes()))
    first, second = contents
    for at in range(min(map(len, contents)) - 4):
        if (first[at], second[at]) == (125, 126) and not any(first[at + 1 : at + 4]):
            first[at : at + 4] = (200).to_bytes(4, "little")
    path = tmp_path / "channels.blend"
    path.write_bytes(first)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    (problem,) = open_scene(path)
    assert problem.startswith(f"{path}: Blender reports: ")
    assert "128" in problem
    assert list(bpy.data.objects.keys()) == ["Triangle"]


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(SceneError, match=r"gone\.blend"):
        open_scene(tmp_path / "gone.blend")


@pytest.mark.parametrize("suffix", [".glb", ".obj"])
def test_files_open_if_standard_error_is_none(tmp_path, monkeypatch, suffix):
    path = write_triangle(tmp_path / f"triangle{suffix}")
    monkeypatch.setattr("sys.stderr", None)
    open_scene(path)
    assert any(item.type == "MESH" for item in bpy.context.scene.objects)


@pytest.mark.smoke
@pytest.mark.parametrize("has_window", [True, False])
def test_scene_becomes_active_with_and_without_a_current_window(has_window):
    """Blender's --command has no current window."""
    second = bpy.data.scenes.new("Second")
    window = bpy.context.window if has_window else None
    with bpy.context.temp_override(window=window):
        assert (bpy.context.window is not None) == has_window
        activate_scene("Second")
        assert bpy.context.scene == second
        assert bpy.context.evaluated_depsgraph_get().scene.original == second
    with pytest.raises(
        SceneError, match=r"scene 'Third': the file has no scene of this name \(it has .*'Second'"
    ):
        activate_scene("Third")


@pytest.mark.smoke
@pytest.mark.parametrize("view_layer", ["ViewLayer", "Second"])
def test_view_layer_that_was_saved_is_active_in_all_ways_to_open_a_file(tmp_path, monkeypatch, view_layer):
    """Blender's --command has no current window, and would take the first one that is not rendered."""
    layers, path = bpy.context.scene.view_layers, tmp_path / "layers.blend"
    add_vertices("Crate")
    layers.new("Second")
    layers.new("Not rendered").use = False
    bpy.context.window.view_layer = layers[view_layer]
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=True)
    open_scene(path)
    assert bpy.context.evaluated_depsgraph_get().view_layer.name == view_layer
    seen: list[str] = []

    def run_process(*_unused: object, **_options: object) -> int:
        seen.append(bpy.context.evaluated_depsgraph_get().view_layer.name)
        return 0

    monkeypatch.setattr(registration, "run_process", run_process)
    with bpy.context.temp_override(window=None):
        assert registration._run_command(["bounds"]) == 0
    assert seen == [view_layer]
