"""Tests of the measurement of branches: it counts what a small project's tests take, and fails below 95 %."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import TOP

pytest.importorskip("coverage")

MODULE = "def sign(number):\n    if number < 0:\n        return -1\n    return 1\n"


def measured(folder: Path, *numbers: int) -> subprocess.CompletedProcess[str]:
    """Measure a module with one condition, tested with these numbers."""
    source, tests = folder / "source", folder / "tests"
    source.mkdir()
    tests.mkdir()
    (source / "sign.py").write_text(MODULE)
    calls = "\n".join(f"    assert sign({number}) == {1 if number >= 0 else -1}" for number in numbers)
    (tests / "test_sign.py").write_text(f"from sign import sign\n\ndef test_sign():\n{calls}\n")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = source\n")
    command = (sys.executable, TOP / "scripts" / "branch_coverage.py", "source", "tests", "-q")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Measure runs that take one branch of two, and both."""
    make = tmp_path_factory.mktemp
    return {"one": measured(make("one"), 1), "both": measured(make("both"), 1, -1)}


def test_branch_that_no_test_takes_is_listed_and_fails_the_run(runs):
    assert "1 of 2 taken, missing 2-3" in runs["one"].stdout
    assert "source: 50.00 % of 2 branches taken, at least 95 % needed" in runs["one"].stdout
    assert runs["one"].returncode == 1


def test_run_that_takes_all_branches_succeeds(runs):
    assert "100.00 % of 2 branches" in runs["both"].stdout
    assert runs["both"].returncode == 0
