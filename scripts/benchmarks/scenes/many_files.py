"""Many files in one run: workers in parallel, and what a run adds to loading the files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from ..tables import Call, Competitor, Row, Table, Target

_SCRIPTS = Path(__file__).resolve().parents[2]
_LOAD = """
import os, sys
import bpy
for path in sys.argv[1:]:
    bpy.ops.wm.open_mainfile(filepath=path)
os._exit(0)
"""
_LOAD_AND_RUN = """
import io, os, sys
sys.path.insert(0, sys.argv[1])
from addon.cli.main import main
for path in sys.argv[3:]:
    words = ["contacts", path, "-o", sys.argv[2], "--quiet", "--shape", "aabb", "--frames", "1:30"]
    main(words, opens_file=True, out=io.StringIO())
os._exit(0)
"""


def _scenes(count: int) -> Path:
    """Save copies of the example scene in a new folder."""
    folder = Path(tempfile.mkdtemp(prefix="collision_bounds_"))
    first = folder / "scene000.blend"
    _run(str(_SCRIPTS / "example_scene.py"), str(first))
    for number in range(1, count):
        shutil.copy(first, folder / f"scene{number:03}.blend")
    return folder


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def batch(jobs: int, words_of: Callable[[Any], Sequence[str]]) -> Competitor:
    """Find contacts with as many workers; return the bytes of all documents.

    words_of : returns the path and the options for an input of the table
    """

    def prepare(case: Any) -> Call:
        words = (
            str(_SCRIPTS / "batch.py"),
            "contacts",
            "--shape",
            "aabb",
            *words_of(case),
            "--jobs",
            str(jobs),
        )

        def run() -> bytes:
            with tempfile.TemporaryDirectory() as out:
                _run(*words, "-o", out)
                return b"".join(path.read_bytes() for path in sorted(Path(out).glob("*.blend.json")))

        return run

    return Competitor(f"batch.py, {jobs} {'job' if jobs == 1 else 'jobs'}", prepare)


def _words(folder: Path) -> tuple[str, ...]:
    return str(folder), "--frames", "1:30"


def _in_one_process(folder: Path) -> Call:
    files = [str(path) for path in sorted(folder.glob("*.blend"))]
    output = str(folder / "result.json")
    return lambda: _run("-c", _LOAD_AND_RUN, str(_SCRIPTS.parent), output, *files)


def _loads(folder: Path) -> Call:
    files = [str(path) for path in sorted(folder.glob("*.blend"))]
    return lambda: _run("-c", _LOAD, *files)


FILES = 60
MANY_FILES = Table(
    "many-files",
    "files, start-up included",
    (
        *(batch(jobs, _words) for jobs in (2, 1)),
        Competitor("the commands alone, in one process", _in_one_process),
        Competitor("loading alone, in one process", _loads),
    ),
    [
        Row(
            f"contacts of {FILES} files",
            lambda: _scenes(FILES),
            FILES,
            FILES,
            [Target(1.7, "batch.py, 1 job", faster=True)],
        )
    ],
    clock=perf_counter,
    seconds_each=0.0,
)
