"""The commands of docs/pipelines.md run as they are written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import TOP

PAGE = (TOP / "docs" / "pipelines.md").read_text("utf-8")


def commands(start: str) -> list[str]:
    """Return the lines of the page, in code blocks and in lists of steps, that begin with a word."""
    lines = [line.strip().removeprefix("- run: ") for line in PAGE.splitlines()]
    lines = [line.replace("python collision-bounds/", "python ") for line in lines]
    return [line.partition("  #")[0].rstrip() for line in lines if line.startswith(f"{start} ")]


@pytest.fixture
def checkout(tmp_path, scenes, monkeypatch) -> Path:
    """Folder with the scripts and some assets, and the tools of the environment on the path."""
    (tmp_path / "scripts").symlink_to(TOP / "scripts")
    (tmp_path / "addon").symlink_to(TOP / "addon")
    (tmp_path / "assets").symlink_to(scenes)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python", "python3"):
        (tools / name).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.long
def test_local_commands_and_check_of_contacts_run_as_written(checkout):
    excluded = ("--dask", "report", "--split")
    every = commands("python scripts/batch.py")
    local = [each for each in every if not any(word in each for word in excluded)]
    assert len(local) == 3
    for command in local[:2]:
        ran = run(command, checkout)
        assert ran.returncode == 0, ran.stderr
        assert json.loads((checkout / "results/summary.json").read_text())["counts"]["done"] > 0
    compared = "--baseline accepted --fail-on-new --contact-exit-code 10"
    assert compared in local[2]
    run(local[2].replace(compared, "").replace("results", "accepted"), checkout)
    assert run(local[2], checkout).returncode == 0
    (checkout / "accepted/show1/shot001.blend.json").unlink()
    assert run(local[2], checkout).returncode == 10


@pytest.mark.long
def test_commands_of_the_html_report_run_as_written(checkout):
    pages = [each for each in commands("python scripts/batch.py") if "report" in each]
    assert len(pages) == 2
    for command in pages:
        ran = run(command, checkout)
        assert ran.returncode == 0, ran.stderr
    for name, heading in (("results/report.html", "results"), ("shot001.html", "shot001.blend")):
        page = (checkout / name).read_text("utf-8")
        assert f"<h1><bdi>{heading}</bdi></h1>" in page
        # Only the links of a run lead out of the page: to its documents, which JavaScript adds.
        assert not re.search(r'(?:src|href)="(?!#)', page)


@pytest.mark.long
def test_commands_of_one_long_animation_run_as_written_and_write_the_same_bytes(checkout):
    (split,) = [each for each in commands("python scripts/batch.py") if "--split" in each]
    shares = [each for each in commands("python scripts/collision_bounds.py") if "share" in each]
    assert len(shares) == 3
    for command in (split, *shares):
        ran = run(command, checkout)
        assert ran.returncode == 0, ran.stderr
    whole = run(split.replace("--split 2", "").replace("results", "whole"), checkout)
    assert whole.returncode == 0, whole.stderr
    written = [checkout / name for name in ("results/shot001.blend.json", "shot.json")]
    expected = (checkout / "whole/shot001.blend.json").read_bytes()
    assert [path.read_bytes() for path in written] == [expected, expected]
    assert (checkout / "shot.json.1-of-2").exists()
    (scanned,) = json.loads((checkout / "results/summary.json").read_text())["files"]
    assert scanned["state"] == "contacts" or scanned["counts"]["contacts"]


@pytest.mark.long
def test_job_for_farms_runs_as_written(checkout):
    (command,) = commands("openjd run")
    ran = run(command, checkout)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads((checkout / "results/summary.json").read_text())["counts"]["files"] == 10


def test_page_has_every_option_of_the_script():
    ran = subprocess.run(
        [sys.executable, TOP / "scripts" / "batch.py", "--help"], capture_output=True, text=True, check=True
    )
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", ran.stdout, flags=re.MULTILINE)) - {"--help"}
    assert options >= {"--jobs", "--share"}
    missing = {name for name in options if f"`{name}" not in PAGE} - {"--output", "--quiet"}
    assert not missing
