"""Every command and program of the pages is run by a test, or listed with a reason."""

from __future__ import annotations

import functools
import math
import re
import subprocess
import tomllib

import pytest

import dev
import environments
from tests import documented
from tests.core import test_rooms
from tests.documented import PAGES, blocks
from tests.paths import TOP
from tests.scripts import test_page_lines

RUN_ALONE = {
    "scripts/plant_faults.py": "it runs all tests, once for each of twenty faults",
    "scripts/fuzz.py": "tests/scripts/test_fuzz_targets.py runs its targets",
    "scripts/math_figures.py": "tests/scripts/test_pictures.py draws the same figures",
}
"""Scripts that a test has no need to start, with reasons."""

EVERY = [block for page in PAGES for block in blocks(page)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_each_block_is_run_by_a_test_that_names_its_page(page):
    for block in blocks(page):
        runner = documented.runner_of(block)
        if runner == documented.DEFAULT_RUNNER:
            # Text without a language is run if it has commands, and is output or a formula otherwise.
            assert not block.language, f"{page}: no test runs {block.start!r}"
        elif runner not in documented.NOT_RUN.values():
            source = (TOP / runner).read_text("utf-8")
            name = page.rpartition("/")[2]
            assert f'"{name}"' in source or f"/{name}" in source, f"{runner} does not name {page}"


def test_tables_name_blocks_that_exist():
    for page, begin in [*documented.RUN_BY, *documented.NOT_RUN]:
        assert any(block.page == page and block.text.startswith(begin) for block in EVERY), (page, begin)
    assert {block.language for block in EVERY} >= {"", "python", "js", "csharp", "gdscript", "yaml", "json"}


def test_commands_are_recognized():
    texts = {
        "blender a.blend -b": True,
        "$ blender level.blend": True,
        "BLENDER=/x python3 scripts/dev.py test": True,
        "python -m x": True,
        "blenders are": False,
        "r = max": False,
    }
    for text, is_command in texts.items():
        assert bool(documented.Block("page", "", text).commands) == is_command, text


def test_tasks_of_the_page_for_contributors_exist():
    (block,) = [
        each for each in blocks("CONTRIBUTING.md") if each.start.startswith("python3 scripts/dev.py demo")
    ]
    tasks = re.findall(r"^python3 scripts/dev\.py (\S+)", block.text, re.MULTILINE)
    assert len(tasks) == block.text.count("\n")
    for task in tasks:
        assert dev.parser().parse_args([task]).command == task
    called = (TOP / ".ci" / "run").read_text("utf-8")
    assert {"check", "demo", "test"} <= set(re.findall(r"scripts/dev\.py (\S+)", called))


def test_without_a_task_all_tasks_are_listed(capsys):
    assert dev.main([]) == 2
    listed = re.findall(r"^    (\S+)  ", capsys.readouterr().err, re.MULTILINE)
    assert {"all", "check", "demo", "format", "site", "test"} <= set(listed)


def rows_of_table(name: str, heading: str) -> list[list[str]]:
    """Return the cells of a table of a page for contributors."""
    page = (TOP / name).read_text("utf-8")
    lines = page.split(f"{heading}\n|---")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_table_of_groups_has_their_folders():
    rows = rows_of_table("docs/development/testing.md", "| group | folders | needs, and also tests |")
    listed = {name.strip("`"): tuple(re.findall("`(.+?)`", folders)) for name, folders, _ in rows}
    assert listed == dev.TEST_FOLDERS


def test_table_of_limits_has_their_numbers():
    settings = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    limits = [test_rooms.MAX_FILES, test_rooms.MAX_LINES, test_rooms.MAX_PARAMETERS]
    limits += [settings["tool"]["ruff"]["lint"]["pylint"]["max-locals"], 1]
    limits += [settings["tool"]["ruff"]["line-length"], test_page_lines.MAX_CHARACTERS]
    assert [int(limit) for _, limit in rows_of_table("CONTRIBUTING.md", "| rule | limit |")] == limits


def test_named_environments_and_folders_of_tests_exist():
    page = (TOP / "docs" / "development" / "testing.md").read_text("utf-8")
    commands = re.findall(r"^build/environments/(\S+)/bin/python -m pytest (\S+)", page, re.MULTILINE)
    known = {each.name for each in vars(environments).values() if isinstance(each, environments.Environment)}
    known |= {each.name for each in dev.BLENDERS}
    assert len(commands) > 2
    for environment, folder in commands:
        assert environment in known and (TOP / folder).exists()


def test_format_mends_what_check_refuses(tmp_path):
    """The arguments of both tasks, on one file with an unused import and wrong spaces."""
    (tmp_path / "wrong.py").write_text("import os\nx  =  1\n", "utf-8")
    python = next(task.environment for task in dev.format_tasks())
    if not (interpreter := TOP / "build" / "environments" / python.name / "bin" / "python").exists():
        pytest.skip("needs the environment of dev.py check")
    for task in dev.format_tasks():
        subprocess.run([interpreter, *task.arguments], cwd=tmp_path, check=True)
    assert (tmp_path / "wrong.py").read_text("utf-8") == "x = 1\n"


def test_inline_commands_name_scripts_that_exist_and_are_used():
    """Commands inside of sentences: the script exists, and a test or .ci/run starts it."""
    tests = "".join(path.read_text("utf-8") for path in (TOP / "tests").rglob("*.py"))
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", (TOP / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for script, task in re.findall(
            r"`(?:python3? (?=scripts)|(?=[^`\s]+ ))(scripts/[\w/]+\.py) ?(\w*)[^`]*`", text
        ):
            assert (TOP / script).is_file(), f"{page}: {script}"
            if script == "scripts/dev.py" and task:
                assert dev.parser().parse_args([task]).command == task
            names = script.removesuffix(".py").removeprefix("scripts/").split("/")
            assert script in RUN_ALONE or re.search(rf"\b{names[-1]}\b", tests), f"{page}: {script}"


def test_example_of_the_readme_gives_the_smallest_sphere_and_the_time():
    (block,) = [each for each in blocks("README.md") if each.language == "python"]
    names = {}
    exec(block.text, names)
    # The two points farthest from each other are 2 apart. A unit sphere that moves by 10 reaches another one,
    # 5 away, after 3.
    assert (names["ball"].center.tolist(), float(names["ball"].radius)) == ([1.0, 0.0, 0.0], 1.0)
    assert "center (1, 0, 0), radius 1" in block.text and "# 0.3:" in block.text
    assert float(names["t"]) == pytest.approx(0.3, abs=1e-15)


def test_examples_of_meshes_give_the_times_and_depths_of_cubes_and_walls(capsys):
    names = {}
    for block in blocks("docs/python.md"):
        if block.start == "import numpy as np":
            exec(block.text, names)
    # Sides meet at a distance of 4 along x, of 16 and 8 that the first two cubes move.
    approx = functools.partial(pytest.approx, abs=1e-12, nan_ok=True)
    assert names["impact"].time.tolist() == approx([0.25, 0.5, math.nan])
    assert names["enter"].tolist() == approx([0.25, 0.5, math.nan])
    assert names["leave"].tolist() == approx([0.75, 1.0, math.nan])
    # The foremost sides are at x = 2.2, of the wall's 3; that of the third is 10 above it, at y = 19.
    assert names["depth"].tolist() == approx([0.8, 0.8, -10.0])
    assert names["witness"].normal[2].tolist() == [0, -1, 0]
    # The cube is at 16 - t, and touches what is within 2 of its middle. Corners reach the middle of a wall.
    lines = [[float(text) for text in line.split()] for line in capsys.readouterr().out.splitlines()]
    assert lines == [pytest.approx(line, abs=2e-3) for line in ([6, 10, 1], [22, 26, 1])]
