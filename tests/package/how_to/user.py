"""A reader of the pages: a folder with the files of a release, in which the commands of a page run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.paths import TOP

PROGRAM = TOP / "tests" / "package" / "blender_program.py"
EXAMPLES = ("level.blend", "scene.blend", "factory_floor.blend", "assets/level.blend")
"""Names that the pages give to the scene of their reader."""


class User:
    """A reader with the extension, who runs the commands of a page in a new folder.

    Parameters
    ----------
    folder : Path
        Gets the example scene by all its names, the loaders, and the zip.
    home : Path
        Preferences and extensions of Blender.
    python : str or Path, optional
        A Python with bpy.
    blender : str or Path, optional
        A Blender, which runs the commands instead of that Python.
    """

    def __init__(
        self, folder: Path, home: Path, python: str | Path = sys.executable, blender: str | Path = ""
    ) -> None:
        self.folder = folder
        self.variables = {**os.environ, "BLENDER_USER_RESOURCES": str(home), "PYTHONIOENCODING": "utf-8"}
        if not blender:
            self.variables["PYTHONPATH"] = str(TOP)
        program = f'"{blender}"' if blender else f'"{python}" "{PROGRAM}"'
        # Packages are installed already, and Node finds its packages by a link.
        lines = [f'{name}() {{ echo "not run: {name} $*"; }}' for name in ("pip", "npm", "sudo")]
        lines += [f'blender() {{ {program} "$@"; }}']
        lines += [f'python() {{ "{sys.executable}" "$@"; }}', "set -e"]
        self._functions = "\n".join(lines)

    def copy_release(self, scene: Path, archive: Path) -> None:
        """Copy the files of a release to the folder."""
        for name in EXAMPLES:
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(scene, self.folder / name)
        for loader in (TOP / "docs" / "loaders").iterdir():
            shutil.copyfile(loader, self.folder / loader.name)
        (self.folder / "tools").mkdir()
        shutil.copyfile(archive, self.folder / "tools" / "collision_bounds-0.1.0.zip")

    def run(self, commands: str, exit_code: int = 0) -> str:
        """Run lines of Bash, and return what they print. Fails if they end with another code."""
        ended = subprocess.run(
            ["bash", "-c", f"{self._functions}\n{commands}"],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        assert ended.returncode == exit_code, f"{commands}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        return ended.stdout

    def write(self, name: str, text: str) -> Path:
        """Save a block of a page as a file."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path
