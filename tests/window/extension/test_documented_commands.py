"""Commands of the pages for the Blender application, run by it, with the installed extension."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.documented import PAGES, blocks, exit_code
from tests.package.how_to.user import User

pytestmark = pytest.mark.long

SLOW = ("--parts", "spheres")
"""Options of commands that tests/package/test_documented_commands.py alone runs."""

COMMANDS = {
    page: [
        command
        for block in blocks(page)
        for command in block.commands
        if command.startswith("blender ")
        and "collision_bounds " in command
        and not any(word in command for word in ("[options]", "--python", "--addons", "--baseline", *SLOW))
    ]
    for page in PAGES
}


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS[page]])
def test_commands_of_page_run_in_blender(page: str, tmp_path: Path, installed: Path, example: Path, archive):
    # Blender saves its preferences when it ends.
    home = Path(shutil.copytree(installed, tmp_path / "home"))
    (tmp_path / "work").mkdir()
    user = User(tmp_path / "work", home, blender=Path(os.environ["BLENDER"]).absolute())
    user.copy_release(example, archive)
    for command in COMMANDS[page]:
        user.run(command.replace(" -o accepted/", " -o "), exit_code(command))


def test_most_pages_have_such_commands() -> None:
    assert sum(bool(commands) for commands in COMMANDS.values()) >= 10
    assert sum(map(len, COMMANDS.values())) >= 20
