"""The core, the formats and the command line can be imported without Blender."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import TOP

WITHOUT_BLENDER = """
import importlib, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"bpy", "bpy_extras", "mathutils", "gpu", "gpu_extras", "bmesh", "blf"}:
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Blocker())
for name in sys.argv[1:]:
    importlib.import_module(name)
print(sorted(name for name in sys.modules if name.startswith("addon")))
"""


def run_without_blender(*modules: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_BLENDER, *modules],
        cwd=TOP,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def modules_of(package: str) -> list[str]:
    folder = TOP / "addon" / package
    files = sorted(path.relative_to(TOP).with_suffix("") for path in folder.rglob("*.py"))
    assert len(files) >= 7
    return [".".join(path.parts).removesuffix(".__init__") for path in files]


@pytest.mark.smoke
@pytest.mark.parametrize("package", ["core", "formats"])
def test_package_and_each_of_its_modules_load_without_blender(package):
    done = run_without_blender(*modules_of(package))
    assert done.returncode == 0, done.stderr


def test_command_line_loads_without_blender_and_without_the_scene():
    done = run_without_blender("addon.cli.main", "addon.scene.settings", "addon")
    assert done.returncode == 0, done.stderr
    # Modules that need Blender are imported only by the commands that need them.
    assert "'addon.scene.jobs" not in done.stdout
    assert "'addon.scene.blender" not in done.stdout
    assert "addon.ui" not in done.stdout
    assert "addon.registration" not in done.stdout


def test_core_does_not_import_layers_above():
    done = run_without_blender(*modules_of("core"))
    assert "addon.formats" not in done.stdout
    assert "addon.cli" not in done.stdout


def test_the_blocker_blocks():
    done = run_without_blender("addon.registration")
    assert done.returncode != 0
    assert "blocked: bpy" in done.stderr
