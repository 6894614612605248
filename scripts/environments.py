"""The environments that scripts/dev.py runs things in: what is pinned, where Pythons are, how one is made.

Standard library only. An environment lives in build/environments/NAME and is reused as long as its stamp, the
last file to be written, names the same packages and the same Python.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "build" / "environments"


@dataclass(frozen=True)
class Environment:
    """A Python version and the exact packages to install into it.

    Each tuple of `optional` is a package and all that it needs besides `packages`, and options of pip; it is
    left out where it cannot be installed.
    """

    name: str
    python: str
    packages: tuple[str, ...]
    optional: tuple[tuple[str, ...], ...] = ()

    @property
    def has_bpy(self) -> bool:
        """Whether Blender as a Python module is part of it."""
        return any(pin.startswith("bpy==") for pin in self.packages)

    def version_of(self, package: str) -> str:
        """The pinned version of `package`; KeyError when it is not pinned here."""
        return dict(pin.split("==") for pin in self.packages)[package]


# Every pinned version of the project's tools is in this table and nowhere else.
_PYTEST = ("pytest==9.2.0", "hypothesis==6.170.15", "jsonschema==4.26.0")
# NumPy 2.3 is what Blender 5.2 ships, and the last whose types mypy can read as Python 3.11.
_CHECK = ("ruff==0.17.5", "mypy==2.4.1", "numpy==2.3.5", "fake-bpy-module-5-2==20260730")

CORE_OLDEST = (Environment("core-oldest", "3.11", ("numpy==1.24.4", *_PYTEST)),)
"""The oldest NumPy that a supported Blender ships. No Blender in it."""

CORE_NEWEST = (
    Environment("core-newest", "3.13", ("numpy==2.5.5", *_PYTEST)),
    Environment("core-newest-py314", "3.14", ("numpy==2.5.5", *_PYTEST)),
    Environment("core-newest-py312", "3.12", ("numpy==2.5.5", *_PYTEST)),
    Environment("core-newest-py311", "3.11", ("numpy==2.4.6", *_PYTEST)),
)
"""The newest NumPy of the first Python that is there. No Blender in it."""

BLENDERS = (
    Environment("blender-4.2", "3.11", ("bpy==4.2.23", "numpy==1.24.4", *_PYTEST)),
    Environment("blender-4.5", "3.11", ("bpy==4.5.15", "numpy==1.26.4", *_PYTEST)),
    Environment("blender-5.2", "3.13", ("bpy==5.2.3", "numpy==2.3.5", *_PYTEST)),
)
"""Every supported LTS as a Python module, oldest first, with the Python and NumPy that Blender has."""

DEMO = (BLENDERS[2], BLENDERS[1])
"""The Blenders to show the project on, the best first."""

CHECK = tuple(
    Environment(f"check-py{v.replace('.', '')}", v, _CHECK) for v in ("3.11", "3.13", "3.12", "3.14")
)
"""The linter and the type checker; they do not care which Python runs them."""

BENCH = tuple(
    Environment(
        f"bench-py{v.replace('.', '')}",
        v,
        # SciPy is a need of trimesh too. The other three build cyminiball, which comes as source.
        ("numpy==2.3.5", "scipy==1.17.1", "setuptools==80.9.0", "wheel==0.45.1", "Cython==3.3.1"),
        (
            ("cyminiball==2.1.2",),
            ("trimesh==5.2.0",),
            ("python-fcl==0.7.0.11",),
            (
                *("coal==3.0.3", "libcoal==3.0.3", "eigenpy==3.13.0", "cmeel==0.62.0", "cmeel-assimp==6.0.5"),
                *(
                    "cmeel-boost==1.90.0",
                    "cmeel-octomap==1.10.0",
                    "cmeel-qhull==8.0.2.1",
                    "cmeel-zlib==1.3.2",
                ),
            ),
            ("rtree==1.4.1",),
            ("bpy==5.2.3",),
        ),
    )
    for v in ("3.13", "3.11")
)
"""The NumPy of Blender 5.2, Blender itself, and the programs that ours is timed against."""

_ENGINES = (
    ("mujoco-core==4.0.1",),
    ("usd-core==26.11",),
    ("trimesh==5.2.0",),
    ("gdtoolkit==4.5.0", "lark==1.3.1", "regex==2026.11.15"),
    # One module of 25 MB, of which only names are read.
    ("unreal-stub==0.3", "--no-compile"),
)
ENGINES = (
    # Bullet has no wheels for later Pythons, and takes half an hour to build.
    Environment(
        "engines-py311",
        "3.11",
        ("numpy==2.3.5", *_PYTEST),
        (*_ENGINES, ("pybullet==3.2.7", "--only-binary=pybullet")),
    ),
    *(
        Environment(f"engines-py{v.replace('.', '')}", v, ("numpy==2.3.5", *_PYTEST), _ENGINES)
        for v in ("3.13", "3.12", "3.14")
    ),
)
"""Engines and readers of engines' languages, that are asked about our files. Blender runs beside it."""

# What bpy loads from the system, and the Debian package that has it.
_DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libICE.so.6": "libice6",
    "libSM.so.6": "libsm6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXrender.so.1": "libxrender1",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libgomp.so.1": "libgomp1",
    "libxkbcommon.so.0": "libxkbcommon0",
}

# What Blender 5.2 opens when drawing without a window; where it is missing, the whole process aborts.
_OPENED_LATER = ("libEGL.so.1",)

# What would point a child's Python at other modules than those of its own environment.
_PYTHON_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "PYENV_VERSION", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
# What would make pip install something else or elsewhere. Where it finds packages stays the user's choice.
_PIP_VARIABLES = tuple(
    f"PIP_{name}"
    for name in (
        *("TARGET", "PREFIX", "ROOT", "USER", "PYTHON", "DRY_RUN", "NO_DEPS", "NO_DEPENDENCIES", "PRE"),
        *(
            "CONSTRAINT",
            "REQUIREMENT",
            "EDITABLE",
            "IGNORE_INSTALLED",
            "REQUIRE_VIRTUALENV",
            "REQUIRE_HASHES",
        ),
    )
)

# cyminiball's own C++ was made by Cython for NumPy 1: have it made anew.
_BUILD_VARIABLES = {"CYMINIBALL_CYTHONIZE": "1"}


class MissingInterpreterError(Exception):
    """No Python of a wanted version is on this machine. The message says what to install."""


class UnusableEnvironmentError(Exception):
    """An environment cannot be made or used. The message says why in one sentence.

    `packages` are the Debian packages that would help, `libraries` the names of missing shared libraries.
    """

    def __init__(self, message: str, packages: Sequence[str] = (), libraries: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.packages = tuple(packages)
        self.libraries = tuple(libraries)


@dataclass(frozen=True)
class Interpreter:
    """A Python that really ran and told this about itself."""

    path: Path
    version: str
    makes_environments: bool


def child_variables() -> dict[str, str]:
    """This process's environment variables without those that would mislead the Python of an environment."""
    hidden = {*_PYTHON_VARIABLES, *_PIP_VARIABLES}
    return {name: value for name, value in os.environ.items() if name.upper() not in hidden}


def ready(alternatives: Sequence[Environment]) -> tuple[Environment, Path]:
    """The first environment whose Python is on this machine, made if need be, and its interpreter's path.

    Raises MissingInterpreterError when no Python fits any of them, UnusableEnvironmentError when one fits but
    the environment cannot be made, or has bpy in it and bpy cannot be loaded.
    """
    crippled: list[Interpreter] = []
    for environment in alternatives:
        python = _python_of(environment)
        if not _is_complete(environment):
            interpreter = find_interpreter(environment.python)
            if interpreter is None:
                continue
            if not interpreter.makes_environments:
                crippled.append(interpreter)
                continue
            _make(environment, interpreter)
        if environment.has_bpy:
            _load_bpy(environment, python)
        return environment, python
    if crippled:
        raise _without_venv(crippled[0], for_bpy=alternatives[0].has_bpy)
    *others, last = [alternative.python for alternative in alternatives]
    versions = f"{', '.join(others)} or {last}" if others else last
    raise MissingInterpreterError(
        f"Python {versions} was not found: install it from python.org, with the system's package manager"
        f" or with `pyenv install {alternatives[0].python}`."
    )


@functools.cache
def find_interpreter(version: str) -> Interpreter | None:
    """A Python `version` (such as "3.13") on this machine; one that can make environments if there is any."""
    crippled = None
    for command in _candidates(version):
        found = _asked(command)
        if found and found.version.startswith(f"{version}."):
            if found.makes_environments:
                return found
            crippled = crippled or found
    return crippled


def _candidates(version: str) -> Iterator[tuple[str, ...]]:
    """Commands that may start a Python `version`, the likeliest first. Some may not exist or not work."""
    yield (sys.executable,)
    suffix = ".exe" if os.name == "nt" else ""
    for folder in os.get_exec_path():
        for name in (f"python{version}", "python3", "python"):
            path = Path(folder, name + suffix)
            if path.is_file():
                yield (str(path),)
    if os.name == "nt":
        yield ("py", f"-{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for pattern in (f"versions/{version}*/bin/python", f"pyenv-win/versions/{version}*/python.exe"):
        for path in sorted(pyenv.glob(pattern), reverse=True):
            yield (str(path),)


_ABOUT = """
import importlib.util, json, sys, sysconfig
if not sysconfig.get_config_var("Py_GIL_DISABLED") and sys.version_info.releaselevel == "final":
    print(json.dumps({
        "path": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "makes_environments": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    }))
"""


def _asked(command: tuple[str, ...]) -> Interpreter | None:
    """What the Python behind `command` says about itself.

    None when it does not run (a pyenv shim without its version, the Windows store's stand-in) or is of a kind
    that bpy has no wheels for.
    """
    try:
        # A pyenv shim needs the user's PYENV_VERSION; -I keeps the rest from misleading Python.
        answer = captured([*command, "-I", "-c", _ABOUT], variables=os.environ, timeout=30)
        told = json.loads(answer.stdout.strip().rpartition("\n")[2])
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return Interpreter(Path(told["path"]), told["version"], told["makes_environments"])


def captured(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command quietly: nothing to read, everything it prints in `stdout`."""
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=child_variables() if variables is None else variables,
        timeout=timeout,
        check=False,
    )


def _python_of(environment: Environment) -> Path:
    return ENVIRONMENTS / environment.name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _stamp_of(environment: Environment) -> Path:
    return ENVIRONMENTS / environment.name / "stamp.json"


def _is_complete(environment: Environment) -> bool:
    """Whether the environment was made to its end, from these pins, with the Python that it still has."""
    try:
        stamp = json.loads(_stamp_of(environment).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    optional = [list(pins) for pins in environment.optional]
    if stamp.get("packages") != list(environment.packages) or stamp.get("optional", []) != optional:
        return False
    now = _asked((str(_python_of(environment)),))
    return (
        now is not None
        and now.version == stamp.get("python")
        and now.version.startswith(f"{environment.python}.")
    )


def _make(environment: Environment, interpreter: Interpreter) -> None:
    """Make the environment anew. What is left of an earlier try is removed first."""
    folder = ENVIRONMENTS / environment.name
    if folder.exists():
        shutil.rmtree(folder)
    pins = ", ".join(pin.replace("==", " ") for pin in environment.packages)
    print(
        f"Making environment {environment.name} (Python {interpreter.version}, {pins}) ...",
        file=sys.stderr,
        flush=True,
    )
    pip = (
        _python_of(environment),
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--no-user",
    )
    commands: tuple[tuple[str | Path, ...], ...] = (
        (interpreter.path, "-m", "venv", folder),
        (*pip, *environment.packages),
    )
    for command in commands:
        done = captured(command)
        if done.returncode:
            print(done.stdout, file=sys.stderr, flush=True)
            raise UnusableEnvironmentError(
                f"Environment {environment.name} could not be made; what failed is shown above."
            )
    # What comes as source is built with the packages that are there, not with what pip would fetch or kept.
    as_pinned = ("--no-deps", "--no-build-isolation", "--no-cache-dir")
    missing = {}
    for peer in environment.optional:
        done = captured((*pip, *as_pinned, *peer), variables={**child_variables(), **_BUILD_VARIABLES})
        if done.returncode:
            missing[peer[0]] = _reason_in(done.stdout)
    stamp = {
        "python": interpreter.version,
        "packages": environment.packages,
        "optional": environment.optional,
        "missing": missing,
    }
    _stamp_of(environment).write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")


def missing_from(environment: Environment) -> dict[str, str]:
    """The optional packages that could not be installed when the environment was made, and the reasons."""
    stamp = json.loads(_stamp_of(environment).read_text(encoding="utf-8"))
    missing: dict[str, str] = stamp.get("missing", {})
    return missing


def _reason_in(output: str) -> str:
    """The first line of pip's output that says what went wrong."""
    errors = (
        line.strip() for line in output.splitlines() if re.search(r"\berror: ", line, flags=re.IGNORECASE)
    )
    return next((error for error in errors if "subprocess-exited-with-error" not in error), "pip failed")


def _load_bpy(environment: Environment, python: Path) -> None:
    """Raise UnusableEnvironmentError when this environment's bpy cannot be imported or would abort later."""
    done = captured([python, "-c", "import bpy"])
    error = done.stdout if done.returncode else ""
    libraries = _missing_libraries(python, error) if sys.platform == "linux" else ()
    blender = f"Blender {environment.version_of('bpy')}"
    if libraries:
        raise UnusableEnvironmentError(
            f"{blender} needs system libraries that are not installed: {', '.join(libraries)}.",
            packages=[_DEBIAN_PACKAGES[name] for name in libraries if name in _DEBIAN_PACKAGES],
            libraries=libraries,
        )
    if done.returncode:
        reason = (error.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise UnusableEnvironmentError(f"{blender} cannot be loaded as a Python module: {reason}")


def _missing_libraries(python: Path, error: str) -> tuple[str, ...]:
    """Every shared library that bpy needs and the system lacks; `error` is what its failed import printed.

    Such an error names only the first library, so `ldd` is asked about bpy's main module. Not about those in
    the folder beside it: some are only loaded where a graphics card is, and need its drivers.
    """
    missing = {name for name in _OPENED_LATER if not _is_loadable(name)}
    if error:
        missing |= set(re.findall(r"(\S+\.so[.\d]*): cannot open shared object file", error))
        where = "import importlib.util as u; print(u.find_spec('bpy').submodule_search_locations[0])"
        main_modules = list(Path(captured([python, "-c", where]).stdout.strip()).glob("*.so"))
        if main_modules and shutil.which("ldd"):
            variables = {**child_variables(), "LC_ALL": "C"}
            listing = captured(["ldd", *main_modules], variables=variables).stdout
            missing |= set(re.findall(r"^\s*(\S+) => not found", listing, flags=re.MULTILINE))
    return tuple(sorted(missing))


def _without_venv(interpreter: Interpreter, *, for_bpy: bool) -> UnusableEnvironmentError:
    """What to say of a Python that Debian has split up; names what bpy will lack at once, to save a round."""
    message = f"{interpreter.path} (Python {interpreter.version}) lacks the modules venv and ensurepip."
    if sys.platform != "linux":
        return UnusableEnvironmentError(message)
    libraries = [name for name in _DEBIAN_PACKAGES if not _is_loadable(name)] if for_bpy else []
    minor = ".".join(interpreter.version.split(".")[:2])
    packages = [f"python{minor}-venv", *(_DEBIAN_PACKAGES[name] for name in libraries)]
    return UnusableEnvironmentError(message, packages, libraries)


def _is_loadable(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
