"""Imported files: the frame range and rate of the file, not of the start-up scene, and missing layers.

Expected times are those of the keyframes in the scene that Blender's exporters wrote.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import random
import sys
import zipfile
from pathlib import Path

import bpy
import pytest

from addon.scene.blender.missing_inputs import input_warnings
from addon.scene.imported_scene import set_time_of_import
from addon.scene.open_file import open_scene
from tests.scene.building import CUBE, add_vertices
from tests.tiers import times

with contextlib.suppress(AttributeError):
    bpy.utils.expose_bundled_modules()
needs_usd = pytest.mark.skipif(
    importlib.util.find_spec("pxr") is None, reason="this Blender has no Python module of USD"
)

pytestmark = [pytest.mark.smoke, pytest.mark.usefixtures("empty_file")]

TRIANGLE = [(0, 1, 2)]


def write_moving(path: Path, first: int, last: int, rate: int = 24, base: float = 1.0) -> Path:
    """Write a cube that moves from x = 20 to x = 0 between two frames, in a scene that begins at frame 0."""
    import addon_utils

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base = 0, last, rate, base
    moving = add_vertices("Moving", CUBE, faces=TRIANGLE)
    for frame, x in ((0, 20), (first, 20), (last, 0)):
        moving.location.x = x
        moving.keyframe_insert("location", frame=frame)
    if path.suffix == ".glb":
        addon_utils.enable("io_scene_gltf2")
        bpy.ops.export_scene.gltf(filepath=str(path), export_frame_range=False)
    elif path.suffix == ".fbx":
        addon_utils.enable("io_scene_fbx")
        bpy.ops.export_scene.fbx(filepath=str(path))
    else:
        bpy.ops.wm.usd_export(filepath=str(path), export_animation=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def open_and_read_time(path: Path) -> tuple[int, int, int]:
    open_scene(path)
    scene = bpy.context.scene
    return scene.frame_start, scene.frame_end, scene.frame_current


def x_of_moving(frame: float) -> float:
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
    evaluated = bpy.context.evaluated_depsgraph_get()
    (moving,) = (item for item in evaluated.objects if item.name.startswith("Moving"))
    return moving.matrix_world.translation.x


@pytest.mark.parametrize(("suffix", "start"), [(".glb", 0), (".fbx", 1), (".usdc", 0), (".usda", 0)])
def test_range_has_all_keyframes_of_an_animation_longer_than_the_start_up_scene(tmp_path, suffix, start):
    """FBX files are imported one frame later: Blender's importer puts their start at frame 1."""
    path = write_moving(tmp_path / f"level{suffix}", 400, 480)
    assert open_and_read_time(path) == (start, start + 480, start)
    assert x_of_moving(start) == pytest.approx(20, abs=1e-4)
    assert x_of_moving(start + 480) == pytest.approx(0, abs=1e-4)


def test_range_of_gltf_begins_at_time_0_though_its_keyframes_begin_later(tmp_path):
    scene = bpy.context.scene
    moving = add_vertices("Moving", CUBE, faces=TRIANGLE)
    scene.frame_end = 20
    for frame in (10, 20):
        moving.location.x = frame
        moving.keyframe_insert("location", frame=frame)
    import addon_utils

    addon_utils.enable("io_scene_gltf2")
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "late.glb"), export_frame_range=False)
    assert open_and_read_time(tmp_path / "late.glb") == (0, 20, 0)


def test_range_has_the_part_of_a_frame_in_which_an_animation_ends(tmp_path):
    """50 frames at 60 frames per second are 20 frames at 24, 51 are 20.4."""
    path = write_moving(tmp_path / "short.glb", 10, 51, rate=60)
    assert open_and_read_time(path) == (0, 21, 0)


@needs_usd
@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
@pytest.mark.parametrize(("rate", "base"), [(60, 1.0), (30, 1.001)])
def test_rate_of_usd_is_that_of_the_file(tmp_path, suffix, rate, base):
    open_scene(write_moving(tmp_path / f"level{suffix}", 10, 20, rate, base))
    render = bpy.context.scene.render
    assert render.fps / render.fps_base == pytest.approx(rate / base, abs=1e-5)


def test_rate_of_fbx_is_that_of_the_file(tmp_path):
    open_scene(write_moving(tmp_path / "level.fbx", 10, 20, 60))
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(60)


def test_still_file_has_one_frame(tmp_path):
    path = tmp_path / "triangle.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    first, last, current = open_and_read_time(path)
    assert first == last == current


USD_MESH = """
    def Mesh "Moving" {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }
"""


def write_usd(path: Path, metadata: str, more: str = "") -> Path:
    """Write a mesh whose parent moves from time code 5 to 90.5."""
    path.write_text(
        f"""#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 1
    {metadata}
)
def Xform "Moving_parent" {{
    double3 xformOp:translate.timeSamples = {{ 5: (0, 0, 0), 90.5: (3, 0, 0) }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
{USD_MESH}}}
{more}
"""
    )
    return path


@needs_usd
def test_time_codes_of_usd_may_begin_and_end_within_a_frame(tmp_path):
    """Blender's importer cuts them to whole frames, so the last half frame would not be scanned."""
    path = write_usd(tmp_path / "shot.usda", "startTimeCode = 4.5\nendTimeCode = 90.5")
    assert open_and_read_time(path) == (4, 91, 4)


@needs_usd
def test_usd_without_a_range_of_time_codes_has_that_of_its_samples(tmp_path):
    # A name that is not UTF-8 can be read on Linux.
    name = os.fsdecode(b"shot\xff") if sys.platform == "linux" else "shot"
    path = write_usd(tmp_path / f"{name}.usda", "framesPerSecond = 30")
    assert open_and_read_time(path) == (5, 91, 5)
    assert bpy.context.scene.render.fps == 30  # USD's rate of a layer without timeCodesPerSecond


def test_usd_is_opened_without_a_python_module_of_usd_and_says_that_its_rate_is_unknown(
    tmp_path, monkeypatch
):
    path = write_usd(tmp_path / "shot.usda", "timeCodesPerSecond = 48\nstartTimeCode = 5\nendTimeCode = 90")
    monkeypatch.setitem(sys.modules, "pxr", None)
    (problem,) = open_scene(path)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    assert problem == (
        f"{path}: this Blender has no Python module of USD (`pip install usd-core` into its Python adds it), "
        f"so its frame rate is unknown and seconds are those of {rate:g} frames per second; "
        "frames 5 to 90 are used (--frames names others)"
    )
    assert (scene.frame_start, scene.frame_end) == (5, 90)


@needs_usd
@pytest.mark.parametrize("rate", ["0", "-24", "nan"])
def test_usd_without_a_valid_rate_is_opened_with_its_range_and_says_that_its_rate_is_unknown(tmp_path, rate):
    codes = "startTimeCode = 5\nendTimeCode = 90"
    path = write_usd(tmp_path / "shot.usda", f"timeCodesPerSecond = {rate}\n{codes}")
    (problem,) = open_scene(path)
    assert f"a rate of {rate}, so its frame rate is unknown" in problem
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (5, 90)
    assert f"those of {scene.render.fps / scene.render.fps_base:g} frames per second" in problem


@needs_usd
@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd", ".usdz"])
def test_time_of_usd_is_that_of_its_stage(tmp_path, suffix):
    from pxr import Usd

    for seed in range(times(10, full=100)):
        rng, path = random.Random(seed), tmp_path / f"{seed}{suffix}"
        written = path.with_suffix(".usdc") if suffix == ".usdz" else path
        stage = Usd.Stage.CreateNew(str(written))
        if rng.random() < 0.7:
            stage.SetTimeCodesPerSecond(rng.choice([24, 60, 29.97, 1, 1000, rng.uniform(1, 100)]))
        if rng.random() < 0.5:
            stage.SetFramesPerSecond(rng.choice([24, 30, 12.5]))
        first = last = bpy.context.scene.frame_current
        if rng.random() < 0.8:
            first, last = (
                rng.choice([0, 1, 1001, rng.uniform(0, 9)]),
                rng.choice([1e6, rng.uniform(1002, 9999)]),
            )
            stage.SetStartTimeCode(first)
            stage.SetEndTimeCode(last)
        stage.GetRootLayer().Save()
        if suffix == ".usdz":
            with zipfile.ZipFile(path, "w") as package:
                package.write(written, written.name)
        scene = bpy.context.scene
        assert set_time_of_import(scene, path) == ()
        assert scene.render.fps / scene.render.fps_base == pytest.approx(
            stage.GetTimeCodesPerSecond(), rel=1e-6
        )
        assert (scene.frame_start, scene.frame_end) == (math.floor(first), math.ceil(last))


@needs_usd
def test_range_and_rate_are_kept_if_the_metadata_of_usd_cannot_be_read_or_has_an_infinite_range(tmp_path):
    path, scene = write_moving(tmp_path / "level.usdc", 10, 20), bpy.context.scene
    content = path.read_bytes()
    infinite = write_usd(tmp_path / "shot.usda", "startTimeCode = -inf\nendTimeCode = 9")
    scene.frame_start, scene.frame_end, scene.render.fps = 3, 7, 25
    for size in (8, 60, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        (problem,) = set_time_of_import(scene, path)
        assert "the metadata cannot be read, so its frame rate is unknown" in problem
    (problem,) = set_time_of_import(scene, infinite)
    assert "the metadata has an infinite range, so its frame rate is unknown" in problem
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (3, 7, 25)


@needs_usd
def test_frames_that_a_range_of_blender_cannot_have_are_named(tmp_path):
    path = write_usd(tmp_path / "preroll.usda", "startTimeCode = -10\nendTimeCode = 90")
    (problem,) = open_scene(path)
    assert "is animated from frame -10 to 90" in problem
    assert "--frames -10:90" in problem
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (0, 90, 0)

    path = write_usd(tmp_path / "long.usda", "startTimeCode = 0\nendTimeCode = 1e12")
    (problem,) = open_scene(path)
    assert "only frames 0 to 1048574 are used" in problem


def test_layers_that_a_usd_refers_to_and_that_do_not_exist_are_missing_inputs(tmp_path, capfd):
    more = """
def "A" (references = @./gone_reference.usda@) {}
def "B" (payload = @./sub/gone_payload.usda@) {}
"""
    path = write_usd(tmp_path / "set.usda", "subLayers = [@./gone_layer.usda@]", more)
    open_scene(path)
    warnings = input_warnings(bpy.context.evaluated_depsgraph_get())
    assert {(entry.kind, entry.name) for entry in warnings} == {("missingFile", "set.usda")}
    assert [entry.message for entry in warnings] == [
        f"needs the file {name}, which cannot be read"
        for name in ("gone_layer.usda", "gone_reference.usda", "sub/gone_payload.usda")
    ]
    assert "Could not" not in capfd.readouterr().err  # USD's own lines, which name no remedy

    path = write_usd(tmp_path / "whole.usda", "")
    open_scene(path)
    assert not input_warnings(bpy.context.evaluated_depsgraph_get())
