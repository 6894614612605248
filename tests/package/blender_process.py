"""Runs scripts in one separate Blender process, because starting Blender takes longest.

Run as a program, this file is that process: it reads one task per line from standard input, and writes one
reply per line to standard output. Both are JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

NAME = "bl_ext.user_default.collision_bounds"


class Blender:
    """A Blender process with separate preferences, started by the first script and after each failure.

    Parameters
    ----------
    home : Path
        Folder of its preferences and extensions. Several processes can share it.
    log : Path
        File for the output of the process.
    zip_path : Path
        Zip of the extension.
    enabled : bool, optional
        Whether to enable the extension at the start, and install it if it is not in the home yet. Scripts can
        call `install`.
    """

    def __init__(self, home: Path, log: Path, zip_path: Path, *, enabled: bool = True) -> None:
        self._command = [sys.executable, __file__, str(zip_path), *(["enabled"] if enabled else [])]
        self._environment = {
            **os.environ,
            "BLENDER_USER_RESOURCES": str(home),
            "PYTHONIOENCODING": "utf-8",
        }
        self._log = log
        self.seconds = 0.0
        """Processor time of the last script."""
        self._process: subprocess.Popen[str] | None = None

    def _started(self) -> subprocess.Popen[str]:
        """Return the process. Start it if it is not running."""
        if self._process is None:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    self._command,
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    encoding="utf-8",
                )
        return self._process

    def run(self, script: str, **values: str) -> Any:
        """Run a script in an empty scene, and return the value that it passes to `answer`.

        Parameters
        ----------
        script : str
            Source code.
        **values : str
            Variables of the script.

        Returns
        -------
        answer : object

        Raises
        ------
        AssertionError
            If the script failed or printed a traceback, or Blender crashed. The next script gets a new
            process, because the state of this one is unknown.
        """
        process = self._started()
        before = self._log.stat().st_size
        try:
            process.stdin.write(json.dumps([script, values]) + "\n")
            process.stdin.flush()
            reply = process.stdout.readline()
        except BrokenPipeError:
            reply = ""
        printed = self._log.read_bytes()[before:].decode("utf-8", "replace")
        answers, self.seconds = json.loads(reply) if reply else (None, 0.0)
        if not answers or len(answers) != 1 or "Traceback" in printed:
            code = self.stop()
            reason = f"Blender ended with exit code {code}" if answers is None else f"answers: {answers}"
            raise AssertionError(f"{reason}\n{printed[-4000:]}")
        return answers[0]

    def stop(self) -> int:
        """End the process without saving anything, and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return process.returncode


def _serve(zip_path: str, enabled: str = "") -> None:
    """Run scripts until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Blender also prints to standard output, which would mix with the replies. Redirect it to the log.
    os.dup2(2, 1)
    import bpy

    def install() -> None:
        bpy.ops.extensions.package_install_files(
            filepath=zip_path, repo="user_default", enable_on_install=True, overwrite=True
        )

    _empty_scene()
    if enabled and Path(bpy.utils.user_resource("EXTENSIONS"), *NAME.split(".")[1:]).is_dir():
        import addon_utils

        addon_utils.enable(NAME, default_set=True)
    elif enabled:
        install()
    for line in sys.stdin:
        script, values = json.loads(line)
        answers: list[Any] = []
        before = time.process_time()
        _empty_scene()
        try:
            names = {"bpy": bpy, "NAME": NAME, "package": sys.modules.get(NAME), "install": install}
            exec(compile(script, "<script>", "exec"), {**names, **values, "answer": answers.append})
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        print(json.dumps([answers, time.process_time() - before]), file=replies, flush=True)


def _empty_scene() -> None:
    import bpy

    bpy.ops.wm.read_homefile(app_template="", use_empty=True)


if __name__ == "__main__":
    exit_code = 1
    try:
        _serve(*sys.argv[1:])
        exit_code = 0
    except BaseException:
        traceback.print_exc()
    # As a module, Blender can crash in its own cleanup, or wait forever for one of its threads.
    sys.stdout.flush()
    os._exit(exit_code)
