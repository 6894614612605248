"""Commands of the pages run as they are written, in a folder with the files that the pages name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documented import PAGES, Block, blocks, exit_code, runner_of
from tests.package.how_to.user import User
from tests.paths import TOP

pytestmark = pytest.mark.long

BLOCKS = [
    block for page in PAGES for block in blocks(page) if block.commands and runner_of(block) == __name__
]


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
def test_commands_of_page_run_as_written(checkout: User, block: Block):
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
