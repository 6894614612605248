"""The program, and the check of its document, on one file. Each step is a process with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIXES = {".blend", ".glb", ".gltf", ".fbx", ".obj", ".usd", ".usda", ".usdc", ".usdz"}
SHAPES = "sphere,aabb,obb,spheres,hull"
FRAMES = 4
"""Intervals between frames over which contacts are looked for."""
TIME_LIMIT = -9999
"""Exit code of a step that was ended at the time limit."""

_ALLOWED = ("--allow-missing", "--allow-blocked-drivers")
_CHECK = Path(__file__).resolve().parent / "scene_check.py"


@dataclass(frozen=True)
class Step:
    """A process that has ended: its name, exit code, duration in seconds, and output."""

    name: str
    code: int
    seconds: float
    output: str
    errors: str

    def __str__(self) -> str:
        """Return the name, exit code and duration."""
        code = "time limit" if self.code == TIME_LIMIT else self.code
        return f"{self.name} {code} {self.seconds:.1f} s"

    @property
    def last_error(self) -> str:
        """The last line of standard error."""
        return "".join(self.errors.strip().splitlines()[-1:])[:200]


@dataclass
class FileResult:
    """Result of one file.

    Attributes
    ----------
    path : Path
    steps : list of Step
        Those that ran, in order.
    found : dict
        What `scene_check` printed; empty if it did not run.
    problems : list of str
        Empty for a file that passes, or that Blender cannot read and the program refuses.
    """

    path: Path
    steps: list[Step] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def is_readable(self) -> bool:
        """True if Blender reads the file."""
        return self.steps[0].code != 2

    def __str__(self) -> str:
        """Return one line."""
        state = "FAILED" if self.problems else "ok" if self.is_readable else "unreadable"
        parts = [f"{state:10} {self.path.name}", *map(str, self.steps)]
        if self.found:
            outside = max(self.found["worst"], 0.0)
            parts.append(f"{self.found['objects']} objects, {self.found['vertices']} vertices")
            parts.append(f"outside {outside:.3g}")
        warnings = [f"warning: {each['name']}: {each['message']}" for each in self.found.get("warnings", [])]
        return "; ".join([*parts, *warnings, *self.problems])


@dataclass(frozen=True)
class Checker:
    """Checks files with one environment.

    Attributes
    ----------
    python : Path
        A Python with bpy.
    program : Path
        The script of the command line.
    seconds : float
        Time limit of a file.
    variables : Mapping
        Environment variables of the processes.
    """

    python: Path
    program: Path
    seconds: float
    variables: Mapping[str, str]

    def check(self, path: Path) -> FileResult:
        """Run all steps on a file."""
        result = FileResult(path)
        end = time.monotonic() + self.seconds
        with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
            self._check(result, Path(folder), end)
        return result

    def _check(self, result: FileResult, folder: Path, end: float) -> None:
        def run(name: str, *arguments: str | Path) -> Step:
            step = self._run(name, arguments, end)
            result.steps.append(step)
            return step

        def run_command(command: str, *arguments: str | Path) -> bool:
            """Run a command of the program, validate its document, and return whether there is one."""
            steps = [run(command, self.program, command, result.path, "-q", *_ALLOWED, *arguments)]
            if steps[0].code == 0:
                steps.append(run("validate", self.program, "validate", "-q", arguments[-1]))
            result.problems += [f"{step.name}: {step.last_error}" for step in steps if step.code]
            return steps[0].code == 0

        load = run("load", _CHECK, result.path)
        document = folder / "bounds.json"
        if load.code == 2:
            step = run("bounds", self.program, "bounds", result.path, "-q", "-o", document)
            if step.code != 2:
                result.problems.append(f"bounds: exit code {step.code} for an unreadable file")
            return
        if load.code:
            result.problems.append(f"load: {load.last_error}")
            return
        if not run_command("bounds", "--shapes", SHAPES, "-o", document):
            return
        check = run("check", _CHECK, result.path, document)
        if check.code:
            result.problems.append(f"check: {check.last_error}")
        else:
            result.found = json.loads(check.output.splitlines()[-1])
            result.problems += [f"outside: {text}" for text in result.found["outside"]]
            result.problems += [f"not in the document: {text}" for text in result.found["missing"]]
        start = json.loads(document.read_text(encoding="utf-8"))["time"]["frameStart"]
        frames = f"--frames={start}:{start + FRAMES}"
        run_command("contacts", "--shape", "aabb", frames, "-o", folder / "contacts.json")

    def _run(self, name: str, arguments: Sequence[str | Path], end: float) -> Step:
        """Run a Python program until the time `end`; then it is ended with all its children."""
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(self.python), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=dict(self.variables) | {"PYTHONPATH": str(_CHECK.parents[1])},
            start_new_session=os.name == "posix",
        )
        try:
            output, errors = process.communicate(timeout=max(end - begin, 0.1))
            code = process.returncode
        except subprocess.TimeoutExpired:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            output, errors = process.communicate()
            code, errors = TIME_LIMIT, "time limit"
        return Step(name, code, time.monotonic() - begin, output, errors)
