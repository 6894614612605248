"""Code blocks of the pages, and what runs them: every command of the documentation is run by a test.

`tests/package/test_documented_commands.py` runs all blocks of commands, except those that `RUN_BY` and
`NOT_RUN` name. `tests/scripts/test_documentation_is_run.py` demands that these tables also name the blocks of
other languages.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tests.paths import TOP

PAGES = sorted(
    path.relative_to(TOP).as_posix() for path in (*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md"))
)
_COMMAND = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )?"
    r"(?:blender|python3?|pip|node|npm|npx|cp|mkdir|export|dask|openjd|mcs|mono|g\+\+|uv|git|sudo) "
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code on a page.

    Attributes
    ----------
    page : str
        Path of the page in the checkout.
    language : str
        Empty for commands and for other text.
    text : str
    """

    page: str
    language: str
    text: str

    @property
    def start(self) -> str:
        """First line."""
        return self.text.partition("\n")[0]

    @property
    def commands(self) -> list[str]:
        """Lines that are commands, in a block without a language."""
        lines = [] if self.language else self.text.splitlines()
        return [line.removeprefix("$ ") for line in lines if _COMMAND.match(line)]


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """Return all blocks of a page, in order."""
    found = _FENCE.findall((TOP / page).read_text("utf-8"))
    return tuple(Block(page, language, text) for language, text in found)


def by_language(page: str, language: str) -> list[Block]:
    """Return the blocks of a page in a language, in order."""
    return [block for block in blocks(page) if block.language == language]


def exit_code(command: str) -> int:
    """Return the exit code of a command on the example scene, which has contacts, none of them new."""
    if "--fail-on-new" in command:
        return 0
    chosen = re.search(r"--contact-exit-code (\d+)", command)
    if chosen:
        return int(chosen[1])
    return 1 if "--fail-on-contact" in command else 0


DEFAULT_RUNNER = "tests.package.test_documented_commands"
"""Module that runs all blocks of commands that the tables below do not name."""

RUN_BY = {
    ("CONTRIBUTING.md", "python3 scripts/dev.py demo"): "tests/scripts/test_documentation_is_run.py",
    ("README.md", "from addon.core import"): "tests/scripts/test_documentation_is_run.py",
    ("docs/install.md", "blender"): "tests/window/extension/test_repository.py",
    ("docs/install.md", "python3 -m zipfile"): "tests/window/extension/test_repository.py",
    ("docs/format.md", "{"): "tests/scene/test_format_page.py",
    ("docs/pipelines.md", ""): "tests/batch/test_pipelines_page.py",
    ("docs/python.md", "import bpy"): "tests/package/test_api.py",
    ("docs/python.md", "import numpy"): "tests/scripts/test_documentation_is_run.py",
    ("docs/engines.md", "bpy.ops"): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "settings = bpy"): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "hero ="): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "zone ="): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "scene.collision_bounds"): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "collision_spheres:"): "tests/package/how_to/test_engines_page.py",
    ("docs/engines.md", "import collision_bounds_unreal"): "tests/engines/how_to/test_unreal.py",
    ("docs/engines.md", "var level"): "tests/engines/how_to/test_robots.py",
    ("docs/engines.md", "const bounds"): "tests/package/how_to/test_web.py",
    ("docs/engines.md", "const { position"): "tests/javascript/test_culling.py",
    ("docs/engines.md", "gltf.scene.traverse"): "tests/javascript/test_bones.py",
    ("docs/engines.md", "model = mujoco"): "tests/engines/how_to/test_robots.py",
    ("docs/how-to/ci.md", ""): "tests/package/how_to/test_ci.py",
    ("docs/how-to/godot.md", "extends"): "tests/engines/how_to/test_godot.py",
    ("docs/how-to/godot.md", ""): "tests/package/how_to/test_game_engines.py",
    ("docs/how-to/robots.md", ""): "tests/engines/how_to/test_robots.py",
    ("docs/how-to/unity.md", ""): "tests/package/how_to/test_game_engines.py",
    ("docs/how-to/unreal.md", "import collision_bounds_unreal"): "tests/engines/how_to/test_unreal.py",
    ("docs/how-to/unreal.md", ""): "tests/package/how_to/test_game_engines.py",
    ("docs/how-to/web.md", ""): "tests/package/how_to/test_web.py",
}
"""Test files by page and begin of a block, the first that fits. Each names the page, and runs the block."""

_RUNS_THIS = "a program of the tests cannot run all tests; .ci/run runs the tasks of dev.py"
NOT_RUN = {
    ("docs/development/testing.md", "BLENDER=/path"): _RUNS_THIS,
    ("docs/development/testing.md", "python3 scripts/dev.py test"): _RUNS_THIS,
    ("README.md", "python3 scripts/dev.py demo"): _RUNS_THIS,
    ("docs/install.md", "python3 scripts/dev.py build"): _RUNS_THIS,
    ("docs/command-line.md", "blender scene.blend --command collision_bounds COMMAND"): (
        "a synopsis of three forms, which tests/window/extension/test_exit_codes.py and "
        "tests/cli/test_exit_codes.py run with many commands"
    ),
}
"""Reasons why no test runs a block, by page and begin of the block."""


def runner_of(block: Block) -> str:
    """Return the test file that runs a block, `DEFAULT_RUNNER`, or the reason why none does."""
    for table in (NOT_RUN, RUN_BY):
        for (page, begin), entry in table.items():
            if page == block.page and block.text.startswith(begin):
                return entry
    return DEFAULT_RUNNER
