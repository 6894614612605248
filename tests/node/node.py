"""Runs the Node programs of this folder, which check exported files in engines and validators."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import environments

PROGRAMS = Path(__file__).parent


def run_program(program: str, *arguments: str | Path, modules: Iterable[Path] = ()) -> Any:
    """Run a program of this folder and parse its output as JSON. Skips the test without Node.

    Parameters
    ----------
    program : str
        Name of the file.
    *arguments : str or Path
        Command-line arguments of the program.
    modules : iterable of Path
        Files that the program imports. They are copied to the folder of the program.

    Returns
    -------
    output : object
    """
    try:
        node, packages = environments.node_packages()
    except environments.MissingProgramError as missing:
        pytest.skip(str(missing))
    with TemporaryDirectory() as name:
        # Node searches for packages in the folder of the program.
        folder = Path(name)
        (folder / "node_modules").symlink_to(packages / "node_modules", target_is_directory=True)
        copy = shutil.copy(PROGRAMS / program, folder)
        for imported in modules:
            shutil.copy(imported, folder)
        done = subprocess.run(
            [node, copy, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def errors_in(path: Path) -> list[str]:
    """Errors that Khronos's validator finds in a .gltf or .glb, each as "code at pointer"."""
    report = run_program("validate_gltf.mjs", path)
    return [
        f"{m['code']} at {m.get('pointer')}: {m['message']}" for m in report["messages"] if not m["severity"]
    ]
