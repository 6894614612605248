"""The zip that users install: complete, reproducible, and accepted by Blender's extension tool."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.paths import TOP


def load_builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_extension", TOP / "scripts" / "build_extension.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("build") / "extension.zip"
    load_builder().build(target)
    return target


def test_builds_are_identical_even_after_touching_sources(built, tmp_path):
    (TOP / "addon" / "cli" / "main.py").touch()
    load_builder().build(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == built.read_bytes()


def test_zip_has_exactly_the_source_files(built):
    names = zipfile.ZipFile(built).namelist()
    assert names == sorted(names)
    tracked = subprocess.run(
        ["git", "ls-files", "addon"], cwd=TOP, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not tracked:
        pytest.skip("not a git checkout")
    expected = {path.removeprefix("addon/") for path in tracked} | {
        "blender_manifest.toml",
        "LICENSE",
        "manual.html",
    }
    assert set(names) == expected


@pytest.mark.smoke
def test_blenders_extension_tool_accepts_zip(in_blender, built):
    folder = Path(in_blender('answer(bpy.utils.resource_path("LOCAL"))'))
    tool = folder / "scripts/addons_core/bl_pkg/cli/blender_ext.py"
    done = subprocess.run(
        [sys.executable, str(tool), "validate", str(built)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rror" not in done.stdout
