"""Runs commands of scripts/collision_bounds.py in one process, because starting Blender takes longest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.paths import TOP

_SCRIPT = """
import json, os, sys
sys.path.insert(0, "scripts")
import collision_bounds
commands = json.loads(sys.argv[1])
codes = []
for command in commands:
    sys.argv[1:] = command
    codes.append(collision_bounds.main())
sys.stderr.flush()
# Blender as a module can wait forever when it exits.
os._exit(max(codes))
"""


def run_commands(python: str | Path, commands: Sequence[Sequence[str | Path]]) -> None:
    """Run commands, which contain their output paths, with a Python interpreter that has bpy."""
    listed = json.dumps([[str(part) for part in command] for command in commands])
    call = [python, "-c", _SCRIPT, listed]
    done = subprocess.run(call, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
