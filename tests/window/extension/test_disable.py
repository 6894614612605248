"""Disabling leaves nothing behind, and enabling again works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.window.harness import FREE, PACKAGE, Told, blender, count

DISABLE = f"import bpy; bpy.ops.preferences.addon_disable(module={PACKAGE!r})"


@pytest.mark.smoke
def test_there_is_something_to_leave_behind(disable: Told) -> None:
    """Else the next test would prove nothing."""
    assert all(disable.notes["enabled"]["traces"].values())
    assert count(disable.viewport("enabled"), FREE) > 3000


@pytest.mark.smoke
def test_nothing_is_left(disable: Told) -> None:
    assert not any(disable.notes["disabled"]["traces"].values())
    assert disable.notes["disabled"]["tab"] != "Collision Bounds"


@pytest.mark.smoke
def test_nothing_is_drawn_any_more(disable: Told) -> None:
    assert count(disable.viewport("disabled"), FREE) == 0


@pytest.mark.smoke
def test_enabling_again_brings_the_same_back(disable: Told) -> None:
    assert disable.notes["enabled again"]["traces"] == disable.notes["enabled"]["traces"]
    assert disable.notes["shown again"]["has_results"]
    assert count(disable.viewport("shown again"), FREE) == count(disable.viewport("enabled"), FREE)


@pytest.mark.long
def test_the_command_is_gone_too(installed: Path, example: Path, tmp_path: Path) -> None:
    command = ("--command", "collision_bounds", "bounds", "-o", tmp_path / "bounds.json")
    assert blender(installed, "-b", example, *command).returncode == 0
    assert (tmp_path / "bounds.json").is_file()
    (tmp_path / "bounds.json").unlink()
    ended = blender(installed, "-b", example, "--python-expr", DISABLE, *command)
    assert ended.returncode != 0
    assert not (tmp_path / "bounds.json").exists()
