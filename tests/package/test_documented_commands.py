"""Commands of the pages run as they are written, in a folder with the files that the pages name."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documented import PAGES, Block, blocks, exit_code, runner_of
from tests.package.how_to.user import EXAMPLES, User
from tests.paths import TOP

pytestmark = pytest.mark.long

BLOCKS = [
    block for page in PAGES for block in blocks(page) if block.commands and runner_of(block) == __name__
]


_KEEP_SOME = """
import sys, bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
for item in list(bpy.data.objects):
    if item.name not in ("Crate", "Pallet", "Plate", "Projectile"):
        bpy.data.objects.remove(item)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
"""


@pytest.fixture(scope="session")
def few_objects_path(scene_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of the example scene with four of its objects, for commands that take seconds for each object."""
    path = tmp_path_factory.mktemp("few") / "few.blend"
    subprocess.run([sys.executable, "-c", _KEEP_SOME, scene_path, path], check=True, capture_output=True)
    return path


@pytest.fixture
def checkout(tmp_path: Path, scene_path: Path, zip_path: Path, user_home: Path) -> User:
    """Return a reader with the extension, the example scene, and links to the folders of the checkout."""
    reader = User(tmp_path, user_home)
    reader.copy_release(scene_path, zip_path)
    (TOP / "build").mkdir(exist_ok=True)
    for name in ("scripts", "addon", "build"):
        (tmp_path / name).symlink_to(TOP / name)
    return reader


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page} {block.start[:60]}")
def test_commands_of_page_run_as_written(checkout: User, block: Block, few_objects_path: Path):
    if any("--parts" in command for command in block.commands):
        for name in EXAMPLES:
            shutil.copyfile(few_objects_path, checkout.folder / name)
    if any("--baseline accepted.json" in command for command in block.commands):
        checkout.run("blender level.blend --command collision_bounds contacts -q -o accepted.json")
    for command in block.commands:
        checkout.run(command, exit_code(command))
        output = re.search(r" -o (\S+)", command)
        if output:
            assert (checkout.folder / output[1]).stat().st_size > 100, command


def test_pages_have_commands_to_run():
    assert {block.page for block in BLOCKS} >= {"README.md", "docs/guide.md", "docs/command-line.md"}
    assert sum(len(block.commands) for block in BLOCKS) >= 15
