"""Bad input: one line on standard error, exit code 2, and no change of existing files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from addon.cli.main import main
from tests.cli.command_line import Run, run, start


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("bounds", "MISSING"), "gone.blend"),
        (("bounds", "BROKEN"), "broken.blend"),
        (("bounds", "FOLDER"), "is a folder"),
        (("bounds", "9" * 5000), "cannot be read (File name too long)"),
        (("bounds", "HALF.glb"), "half.glb: Blender cannot read it (struct.error: "),
        (("bounds", "HALF.usd"), "half.usd: Blender cannot read it"),
        (("bounds", "SCENE", "--objects", "Missing"), "'Missing'"),
        (("bounds", "SCENE", "--collection", "Nowhere"), "'Nowhere'"),
        (("bounds", "SCENE", "--shapes", "cone"), "'cone'"),
        (("bounds", "SCENE", "--decimals", "2"), "--decimals"),
        (("bounds", "SCENE", "--padding", "nan"), "--padding"),
        (("bounds", "SCENE", "--padding", "-inf"), "'-inf' is not a finite number"),
        (("bounds", "SCENE", "--frames", "1:9"), "--frames"),
        (("bounds", "SCENE", "--envelope", "--frames", "9:1"), "--frames"),
        (("bounds", "SCENE", "--tracks", "--shapes", "obb"), "--shapes obb"),
        (("bounds", "SCENE", "--preset", "custom", "--up", "-Y"), "--forward"),
        (
            (
                "bounds",
                "SCENE",
                *["--preset", "custom", "--up", "+Y", "--forward", "-Y", "--handedness", "left"],
            ),
            "different axes",
        ),
        (("bounds", "SCENE", "--preset", "unity", "--up", "+Z"), "--up"),
        (("bounds", "SCENE", "--format", "3dtiles", "--preset", "gltf"), "--preset"),
        (("contacts", "SCENE", "--format", "3dtiles"), "--format"),
        (("contacts", "SCENE", "--format", "unity"), "--format unity"),
        (("bounds", "SCENE", "--format", "unreal", "--preset", "unity"), "--preset"),
        (("bounds", "SCENE", "--format", "unreal", "--tracks"), "--format unreal"),
        (("bounds", "SCENE", "--format", "unity", "--shapes", "obb"), "--shapes obb"),
        (("bounds", "SCENE", "--format", "gltf", "--shapes", "spheres"), "--shapes spheres"),
        (("bounds", "SCENE", "--format", "csv", "--envelope"), "--format csv"),
        (("bounds", "SCENE", "--format", "csv", "--shapes", "spheres,hull"), "spheres,hull: a table"),
        (("bounds", "SCENE", "--format", "3dtiles", "--tracks"), "--format 3dtiles"),
        (("contacts", "SCENE", "--frames", "9:1"), "--frames"),
        (("contacts", "SCENE", "--frames", "1:nan"), "--frames"),
        (("contacts", "SCENE", "--frames", "-5:"), "--frames"),
        (("contacts", "SCENE", "--frames", "1:9:0.0001"), "1:9:0.0001"),
        (("contacts", "SCENE", "--motion", "curved"), "--motion"),
        (("contacts", "SCENE", "--shape", "cone"), "--shape"),
        (
            ("contacts", "SCENE", "--shape", "obb", "--parts", "4"),
            "--parts: only valid with --shape",
        ),
        (
            ("contacts", "SCENE", "--shape", "sphere", "--parts-tolerance", "1"),
            "--parts-tolerance: only",
        ),
        (("contacts", "SCENE", "--parts", "0"), "--parts"),
        (("contacts", "SCENE", "--parts", "4", "--obstacles", "*"), "need meshes, spheres or sphere trees"),
        (("contacts", "SCENE", "--frames", "1:9:0"), "--frames"),
        (("contacts", "SCENE", "--clearance", "-1"), "--clearance"),
        (("contacts", "SCENE", "--a", "Missing"), "'Missing'"),
        (("contacts", "SCENE", "--b", "collection:Nowhere"), "'collection:Nowhere'"),
        (("contacts", "SCENE", "--ignore", "Dot"), "--ignore"),
        (("contacts", "SCENE", "--ignore", "Dot:Missing"), "'Missing'"),
        (("contacts", "SCENE", "--unheard-of"), "--unheard-of"),
        (("bounds",), "SCENE"),
        ((), "COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_keeps_old_file(scene, tmp_path, arguments, named):
    check_bad_input(run, scene, tmp_path, arguments, named)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "COMMAND"),
        pytest.param(("bounds", "BROKEN"), "broken.blend", marks=pytest.mark.long),
        # Blender's importers print several lines of their own.
        pytest.param(
            ("bounds", "HALF.glb"), "half.glb: Blender cannot read it (struct.error: ", marks=pytest.mark.long
        ),
        pytest.param(("bounds", "HALF.usd"), "half.usd: Blender cannot read it", marks=pytest.mark.long),
    ],
)
def test_bad_input_of_the_program_is_one_line_and_exit_code_2(scene, tmp_path, arguments, named):
    check_bad_input(start, scene, tmp_path, arguments, named)


def check_bad_input(run: Run, scene: Path, tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    (tmp_path / "broken.blend").write_text("not a scene")
    for ending in ("glb", "usd"):
        (tmp_path / f"half.{ending}").write_bytes(b"glTF\0\0")
    places = {"SCENE": scene, "MISSING": tmp_path / "gone.blend", "BROKEN": tmp_path / "broken.blend"}
    places |= {"FOLDER": tmp_path, "HALF.glb": tmp_path / "half.glb", "HALF.usd": tmp_path / "half.usd"}
    target = tmp_path / "old.json"
    target.write_text("old")
    output = ("-o", target) if len(arguments) > 1 else ()
    done = run(*(places.get(argument, argument) for argument in arguments), *output)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("collision_bounds: ")
    assert named in done.stderr
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.blend", "gone.blend: does not exist"),
        ("gone.blend1", "gone.blend1: does not exist"),
        ("--log-file=gone.blend", "SCENE.blend: Blender has no scene file open"),
        ("broken.blend", "broken.blend: Blender has no scene file open"),
        ("9" * 5000 + ".glb", "9.glb: cannot be read (File name too long)"),
        (None, "SCENE.blend: Blender has no scene file open"),
    ],
)
def test_scene_that_blender_has_not_opened_is_named(empty_file, tmp_path, monkeypatch, capsys, name, reason):
    monkeypatch.chdir(tmp_path)
    Path("broken.blend").write_text("not a scene")
    scene = [] if name is None else [name]
    monkeypatch.setattr(sys, "argv", ["blender", "-b", *scene, "-c", "collision_bounds", "contacts"])
    assert main(["contacts"], opens_file=False) == 2
    assert capsys.readouterr().err.endswith(f"{reason}\n")


def test_unsupported_request_names_file_or_format(scene, tmp_path):
    for arguments, message in (
        (
            ("contacts", scene, "-o", tmp_path / "a.gltf"),
            "a.gltf: a glTF file cannot store contacts; write a .json or .csv file instead",
        ),
        (("contacts", scene, "--format", "3dtiles"), "--format 3dtiles: a tileset cannot store contacts"),
        (
            ("bounds", scene, "--tracks", "-o", tmp_path / "a.csv"),
            "a.csv: a table cannot store --tracks; write a .json file instead",
        ),
        (("bounds", scene, "--tracks", "--format", "unity"), "--format unity: a file for Unity cannot store"),
        (("bounds", scene, "-o", ""), "the file name is empty"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1 and message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]
