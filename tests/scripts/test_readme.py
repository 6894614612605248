"""The README names versions that are tested, commands that exist, and pages in their order."""

from __future__ import annotations

import json
import re
import tomllib

import dev
from tests.paths import TOP

README = (TOP / "README.md").read_text("utf-8")
GROUPS = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
PACKAGES = json.loads((TOP / "tests" / "node" / "package.json").read_text("utf-8"))["dependencies"]


def section(heading: str) -> str:
    return re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)[1]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the rows of a table, without its header."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def locked(group: str, package: str) -> str:
    """Return the version of a package in a dependency group."""
    (found,) = (each for each in GROUPS[group] if isinstance(each, str) and each.startswith(f"{package}=="))
    return found.split("==")[1].split(";")[0].strip()


def test_tested_versions_are_those_of_the_environments():
    listed = dict(rows("Supported versions"))
    newest, *older = [each.name.removeprefix("blender-") for each in dev.BLENDERS]
    assert listed["Blender, all tests"] == newest
    assert listed["Blender, tests of what differs between versions"].split(", ") == sorted(older)
    assert listed["MuJoCo"] == locked("engines", "mujoco-core")
    assert listed["Bullet"] == locked("engines", "pybullet")
    assert listed["OpenUSD"] == locked("engines", "usd-core")
    assert listed["three.js"] == PACKAGES["three"]
    assert listed["Babylon.js"] == PACKAGES["@babylonjs/core"]
    assert listed["Rapier"] == PACKAGES["@dimforge/rapier3d-compat"]
    assert listed["Unity, Unreal"].startswith("**not run**")


def test_oldest_tested_blender_is_the_oldest_of_the_manifest():
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    assert manifest["blender_version_min"] == f"{dev.BLENDERS[-1].name.removeprefix('blender-')}.0"


def test_commands_to_run_and_to_test_follow_the_installation():
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)
    assert headings[:2] == ["Install", "Run and test the source"]
    block = re.search(r"```\n(.*?)```", section("Run and test the source"), re.DOTALL)[1]
    assert [line.split()[:3] for line in block.splitlines()] == [
        ["python3", "scripts/dev.py", "demo"],
        ["python3", "scripts/dev.py", "test"],
    ]
    assert README.index("scripts/dev.py test") < 2500


def test_named_tasks_exist():
    named = set(re.findall(r"scripts/dev\.py (\w+)", README))
    assert named >= {"demo", "test", "build", "release"}
    for name in named:
        assert dev.parser().parse_args([name]).command == name


def test_comparison_has_eight_rows_and_admits_limits():
    table = [row for row in rows("Features") if len(row) == 4]
    assert len(table) == 8
    assert sum("**no" in row[1] for row in table) >= 3


def test_command_to_install_is_that_of_the_page():
    page = (TOP / "docs" / "install.md").read_text("utf-8")
    commands = re.findall(r"^blender --command extension .+$", section("Install"), re.MULTILINE)
    assert commands and all(command in page.splitlines() for command in commands)
