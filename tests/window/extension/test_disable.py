"""Disabling the extension removes all of its registrations, and enabling it restores them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.window.harness import FREE_COLOR, PACKAGE, Recording, count_pixels, run_blender

DISABLE = f"import bpy; bpy.ops.preferences.addon_disable(module={PACKAGE!r})"


@pytest.mark.smoke
def test_enabled_extension_has_registrations_and_an_overlay(recording: Recording) -> None:
    """Make sure that the next test does not pass because there was nothing to remove."""
    assert all(recording.notes["enabled"]["registrations"].values())
    assert count_pixels(recording.viewport("enabled"), FREE_COLOR) > 2000


@pytest.mark.smoke
def test_disabling_removes_all_registrations(recording: Recording) -> None:
    assert not any(recording.notes["disabled"]["registrations"].values())
    assert recording.notes["disabled"]["tab"] != "Collision Bounds"


@pytest.mark.smoke
def test_disabling_removes_the_overlay(recording: Recording) -> None:
    assert count_pixels(recording.viewport("disabled"), FREE_COLOR) == 0


@pytest.mark.smoke
def test_enabling_again_restores_registrations_and_overlay(recording: Recording) -> None:
    assert recording.notes["enabled again"]["registrations"] == recording.notes["enabled"]["registrations"]
    assert recording.notes["computed again"]["has_results"]
    pixels = [count_pixels(recording.viewport(name), FREE_COLOR) for name in ("computed again", "enabled")]
    assert pixels[0] == pixels[1]


@pytest.mark.long
def test_disabling_removes_the_command(installed: Path, example: Path, tmp_path: Path) -> None:
    command = ("--command", "collision_bounds", "bounds", "-o", tmp_path / "bounds.json")
    assert run_blender(installed, "-b", example, *command).returncode == 0
    assert (tmp_path / "bounds.json").is_file()
    (tmp_path / "bounds.json").unlink()
    ended = run_blender(installed, "-b", example, "--python-expr", DISABLE, *command)
    assert ended.returncode != 0
    assert not (tmp_path / "bounds.json").exists()
