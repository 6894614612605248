"""The environment of Node packages that the tests ask about files we write, in build/environments.

What is in it is told by tests/engines/package.json and its lock. It is named after their content, so that it
is made anew when they change, and several tests that find none may make it at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from environments import ENVIRONMENTS, ROOT, UnusableEnvironmentError, captured

_PACKAGES = ROOT / "tests" / "engines"
_TOLD_BY = ("package.json", "package-lock.json")


class MissingNodeError(Exception):
    """There is no Node on this machine, or no npm."""


def ready() -> tuple[Path, Path]:
    """Node itself, and the folder that has `node_modules`, made if need be.

    Raises MissingNodeError, or UnusableEnvironmentError where npm cannot install what is asked for.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise MissingNodeError("Node with npm was not found: install it from nodejs.org, version 20 or newer")
    content = b"".join((_PACKAGES / name).read_bytes() for name in _TOLD_BY)
    folder = ENVIRONMENTS / f"node-{hashlib.sha256(content).hexdigest()[:12]}"
    if not folder.is_dir():
        _make(folder, npm)
    return Path(node), folder


def _make(folder: Path, npm: str) -> None:
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="node-", dir=ENVIRONMENTS) as name:
        made = Path(name) / folder.name
        made.mkdir()
        for told in _TOLD_BY:
            shutil.copy(_PACKAGES / told, made)
        # npm takes a folder that is behind a link for a package of that name.
        command = (npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", made.resolve())
        done = captured(command, variables=os.environ)
        if done.returncode:
            raise UnusableEnvironmentError(f"The Node packages could not be installed: {done.stdout[:2000]}")
        try:
            made.rename(folder)
        except OSError:
            # Another test was quicker.
            if not folder.is_dir():
                raise
