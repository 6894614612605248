"""Environments of the development tasks, in build/environments.

`uv` creates those for Python from the lock files in scripts/requirements, which `dev.py lock` writes from the
dependency groups in pyproject.toml. npm creates the one for Node. Uses the standard library only.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
ENVIRONMENTS = BUILD / "environments"
REQUIREMENTS = ROOT / "scripts" / "requirements"
REPORT_LIBRARIES = ROOT / "scripts" / "html_report" / "vendor"

_PROGRAMS, _SUFFIX = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
# Variables that make Python or uv use modules of other environments, or compile all modules at every start.
_REMOVED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PYTHONDONTWRITEBYTECODE")
# Parallel tasks can share an environment. One lock per environment, so that downloads can overlap.
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class UnavailableError(Exception):
    """An environment cannot be created. The message has the reason and the packages to install."""


class MissingProgramError(UnavailableError):
    """This machine has no Python of a suitable version, or no Node."""


@dataclass(frozen=True)
class Environment:
    """A dependency group with its lock file and folder, and the Python versions that can run it."""

    name: str
    pythons: tuple[str, ...]

    def ready(self) -> Path:
        """Create or update the environment if needed, and return its interpreter.

        Raises MissingProgramError without a suitable Python, UnavailableError if any other step fails.
        """
        if self in (*BLENDERS, BENCH, FARM) and (packages := missing_packages()):
            raise UnavailableError(
                "Blender needs system libraries that are not installed. On Debian or Ubuntu:"
                f" apt-get install {' '.join(packages)}"
            )
        folder = ENVIRONMENTS / self.name
        python = folder / _PROGRAMS / f"python{_SUFFIX}"
        locked, installed = REQUIREMENTS / f"{self.name}.txt", folder / "installed.txt"
        hashes = ("--require-hashes", "--require-build-hashes", "--build-constraints", locked)
        with _locks[self.name]:
            if not python.is_file():
                base = find_python(self.pythons)
                print(f"Creating environment {self.name} ...", file=sys.stderr, flush=True)
                _uv("venv", "--clear", "--python", base, folder)
            # uv reinstalls some of Blender's wheels at every sync, which would break running tests.
            if not installed.is_file() or installed.read_bytes() != locked.read_bytes():
                installed.unlink(missing_ok=True)
                _uv("pip", "sync", *hashes, "--python", python, locked)
                shutil.copy(locked, installed)
        return python


# Newest first: every supported LTS, and the first release of the 5 series, which uses the older Python.
BLENDERS = (
    Environment("blender-5.2", ("3.13",)),
    *(Environment(f"blender-{version}", ("3.11",)) for version in ("5.0", "4.5", "4.2")),
)
# The math without Blender.
NUMPY_NEWEST = Environment("numpy-newest", ("3.13", "3.14", "3.12", "3.11"))
NUMPY_OLDEST = Environment("numpy-oldest", ("3.11",))
# The linter, and the type checker with the type stubs of the oldest and of the newest Blender.
TYPES = {v: Environment(f"types-{v}", ("3.11", "3.13", "3.12", "3.14")) for v in ("4.2", "5.2")}
# Tests of the tests. The newest versions of Python report executed lines fast.
MUTANTS = Environment("mutants", ("3.13", "3.14", "3.12"))
ENGINES = Environment("engines", ("3.11", "3.13", "3.12", "3.14"))
BENCH = Environment("bench", ("3.13",))
FARM = Environment("farm", ("3.13",))
GPL_COMPATIBLE_LICENSES = ("MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Apache-2.0")
REPORT = Environment("report", ("3.13", "3.11", "3.12", "3.14"))


def child_variables() -> dict[str, str]:
    """Return the variables of this process without those that affect the Python of an environment."""
    return {name: value for name, value in os.environ.items() if name.upper() not in _REMOVED}


def run_captured(
    command: Sequence[str | Path], variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout without input. `stdout` of the result has all its output."""
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=child_variables() if variables is None else variables,
        check=False,
    )


@functools.cache
def find_python(versions: tuple[str, ...]) -> str:
    """Return the path of a Python on this machine, of the first installed version in `versions`."""
    find = (_uv_program(), "python", "find", "--system", "--no-python-downloads")
    for version in versions:
        search = run_captured([*find, version], _uv_variables())
        if search.returncode == 0:
            return search.stdout.strip().splitlines()[-1]
    raise MissingProgramError(
        f"Python {' or '.join(versions)} was not found: install it from python.org, with the package manager"
        f" of the system or with `{_uv_program().relative_to(ROOT)} python install {versions[0]}`."
    )


def newest_blender() -> Environment:
    """Return the newest Blender whose Python is installed, or the newest of all if there is none."""
    for environment in BLENDERS:
        try:
            find_python(environment.pythons)
        except MissingProgramError:
            continue
        return environment
    return BLENDERS[0]


def missing_packages() -> list[str]:
    """Return the Debian packages with libraries that Blender needs and that are missing here."""
    missing = []
    for row in (REQUIREMENTS / "debian.txt").read_text("utf-8").splitlines():
        library, package = row.split()
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing if sys.platform == "linux" else []


def write_locks() -> None:
    """Resolve the dependency groups of pyproject.toml into the lock files, for all platforms, with hashes."""
    options = ("--universal", "--generate-hashes", "--no-header", "--no-annotate", "--upgrade")
    uv = Environment("uv", ("3.11",))
    numpys = (NUMPY_NEWEST, NUMPY_OLDEST)
    for each in (uv, *BLENDERS, *numpys, *TYPES.values(), MUTANTS, ENGINES, BENCH, FARM, REPORT):
        target, version = REQUIREMENTS / f"{each.name}.txt", min(each.pythons)
        _uv("pip", "compile", *options, "--python-version", version, "--group", each.name, "-o", target)


def node_packages() -> tuple[Path, Path]:
    """Return Node, and the folder with `node_modules` as locked in tests/node/package-lock.json."""
    return _npm_environment(ROOT / "tests" / "node", "node")


def update_report_libraries() -> None:
    """Copy the JavaScript libraries of the HTML report from npm, and lock their versions and hashes.

    `copied` of scripts/html_report/vendor/package.json lists what is copied. npm checks each package against
    the hash in package-lock.json. Raises UnavailableError if a license is not GPL-compatible.
    """
    packages = _npm_environment(REPORT_LIBRARIES, "report-libraries")[1] / "node_modules"
    lock: dict[str, dict[str, object]] = {}
    for name, files in json.loads((REPORT_LIBRARIES / "package.json").read_text("utf-8"))["copied"].items():
        about = json.loads((packages / name / "package.json").read_text("utf-8"))
        if about["license"] not in GPL_COMPATIBLE_LICENSES:
            raise UnavailableError(f"{name}: license {about['license']} is not known to be GPL-compatible")
        shutil.rmtree(REPORT_LIBRARIES / name, ignore_errors=True)
        (REPORT_LIBRARIES / name).mkdir()
        hashes = {}
        for file in files:
            target = REPORT_LIBRARIES / name / Path(file).name
            shutil.copyfile(packages / name / file, target)
            hashes[target.name] = hashlib.sha256(target.read_bytes()).hexdigest()
        lock[name] = {"version": about["version"], "license": about["license"], "sha256": hashes}
    (REPORT_LIBRARIES / "lock.json").write_text(json.dumps(lock, indent=1) + "\n", "utf-8")


def _npm_environment(source: Path, name: str) -> tuple[Path, Path]:
    """Return Node, and the folder of that name with the packages that a folder's lock file lists."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise MissingProgramError(
            "Node with npm was not found: install it from nodejs.org, version 20 or newer."
        )
    folder = ENVIRONMENTS / name
    locked, installed = source / "package-lock.json", folder / "installed.json"
    if not installed.is_file() or installed.read_bytes() != locked.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        for each in (locked, source / "package.json"):
            shutil.copy(each, folder)
        # If the folder is a link, npm treats it as a package of that name.
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder.resolve())
        ended = run_captured([npm, "ci", *options])
        if ended.returncode:
            raise UnavailableError(f"The Node packages could not be installed: {ended.stdout[:2000]}")
        shutil.copy(locked, installed)
    return Path(node), folder


def _uv_program() -> Path:
    """Return the path of uv. Install it into build/ if it is missing."""
    locked = REQUIREMENTS / "uv.txt"
    folder = BUILD / locked.read_text("utf-8").split()[0].replace("==", "-")
    program = folder / _PROGRAMS / f"uv{_SUFFIX}"
    with _locks["uv"]:
        if not program.is_file():
            if run_captured([sys.executable, "-m", "venv", "--clear", folder]).returncode:
                packages = [f"python{sys.version_info[0]}.{sys.version_info[1]}-venv", *missing_packages()]
                raise UnavailableError(
                    f"{sys.executable} lacks the modules venv and ensurepip."
                    f" On Debian or Ubuntu: apt-get install {' '.join(packages)}"
                )
            pip = (folder / _PROGRAMS / f"python{_SUFFIX}", "-m", "pip", "install", "--no-user")
            ended = run_captured([*pip, "--require-hashes", "-r", locked])
            if ended.returncode:
                raise UnavailableError(f"pip could not install uv:\n{ended.stdout.strip()}")
    return program


def _uv(*arguments: str | Path) -> None:
    ended = run_captured([_uv_program(), *arguments], _uv_variables())
    if ended.returncode:
        raise UnavailableError(f"`uv {' '.join(map(str, arguments))}` failed:\n{ended.stdout.strip()}")


def _uv_variables() -> dict[str, str]:
    """Return variables for uv, with the interpreters of pyenv first: its shims fail for other versions."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [str(folder) for folder in sorted(pyenv.glob("versions/*/bin"), reverse=True)]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    defaults = {"UV_HTTP_TIMEOUT": "300", "UV_NO_PROGRESS": "1"}  # Blender's wheels are large
    return {**defaults, **child_variables(), "PATH": path}
