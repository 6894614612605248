"""Scene files, and the script as a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.batch.scene_files import make_scenes
from tests.paths import TOP

SCRIPT = TOP / "scripts" / "batch.py"


@pytest.fixture(scope="session")
def scenes(tmp_path_factory) -> Path:
    """Folder with ten scene files that open without a problem; tests must not change it."""
    return make_scenes(tmp_path_factory.mktemp("scenes") / "in", 10)


@pytest.fixture
def batch() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs the script to its end."""

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)

    return run


def documents(folder: Path) -> dict[str, bytes]:
    """Return the content of the documents below a folder, without summaries."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.json"))
        if not path.name.startswith("summary")
    }
