"""Programs for Node that tests ask about the files we write; they are in this folder."""

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


def asked(program: str, *arguments: str | Path, beside: Iterable[Path] = ()) -> Any:
    """What a program of this folder answers, as JSON. Skips the test without Node.

    beside : files that the program imports
    """
    try:
        node, packages = environments.node_packages()
    except environments.MissingProgramError as missing:
        pytest.skip(str(missing))
    with TemporaryDirectory() as name:
        # Node looks for packages beside the program.
        folder = Path(name)
        (folder / "node_modules").symlink_to(packages / "node_modules", target_is_directory=True)
        place = shutil.copy(PROGRAMS / program, folder)
        for imported in beside:
            shutil.copy(imported, folder)
        done = subprocess.run(
            [node, place, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def errors_in(path: Path) -> list[str]:
    """What Khronos's validator has to say of a .gltf or .glb that is an error, each as "code at pointer"."""
    report = asked("validate.mjs", path)
    return [
        f"{m['code']} at {m.get('pointer')}: {m['message']}" for m in report["messages"] if not m["severity"]
    ]
