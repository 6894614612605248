#!/usr/bin/env python3
"""The one command for working on Collision Bounds: checks, tests, the demo, the build and the timings.

Needs Python 3.11 or newer and nothing else: what a task needs is installed into build/.
"""

import sys

# This file has to parse on an older Python too, or nobody would read this sentence.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("scripts/dev.py needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031

import argparse
import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import environments
from environments import BLENDERS, ROOT, Environment, MissingProgramError, UnavailableError

TEST_FOLDERS = {
    "core": ("tests/core", "tests/formats", "tests/scripts"),
    "scene": ("tests/scene", "tests/ui", "tests/javascript"),
    "package": ("tests/package",),
    "engines": ("tests/engines",),
    "window": ("tests/window",),
}
PYTEST_FOUND_NO_TESTS = 5
PASSED, FAILED, NOT_RUN = "Passed", "Failed", "Not run"


@dataclass(frozen=True)
class Task:
    """Arguments for an environment's Python, or for the one that runs this file."""

    name: str
    environment: Environment | None
    arguments: Sequence[str]
    variables: dict[str, str] = field(default_factory=dict)


def perform(task: Task, *, at_the_end: bool = False) -> tuple[str, str]:
    """Run a task in the checkout and print what it prints, or all of it in one piece when it has ended.

    Returns its name and its state.
    """
    try:
        python = task.environment.ready() if task.environment else sys.executable
    except UnavailableError as problem:
        print(f"\nNot run: {task.name}. {problem}", flush=True)
        return task.name, NOT_RUN if isinstance(problem, MissingProgramError) else FAILED
    command = [str(python), *task.arguments]
    variables = environments.child_variables() | task.variables
    print(f"\n--- {task.name}{': started' if at_the_end else ''} ---", flush=True)
    if at_the_end:
        ended = environments.captured(command, variables)
        code = ended.returncode
        # One call, so that no other task's output gets in between.
        print(f"\n--- {task.name} ---\n{ended.stdout}", end="", flush=True)
    else:
        code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if code == PYTEST_FOUND_NO_TESTS and "-k" in command:
        return f"{task.name} (no such tests)", NOT_RUN
    return f"{task.name}{f' (exit code {code})' if code else ''}", FAILED if code else PASSED


def one_by_one(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Perform tasks that need each other, up to the first one that fails."""
    outcomes = []
    for task in tasks:
        outcomes.append(perform(task))
        if outcomes[-1][1] != PASSED:
            break
    return outcomes


def side_by_side(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Perform tasks in lanes: one for each processor, and one for each window, which mostly waits."""
    windows = sum("BLENDER" in task.variables for task in tasks)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 4) + windows) as pool:
        return list(pool.map(lambda task: perform(task, at_the_end=True), tasks))


def check_tasks() -> list[Task]:
    """Lint, format, and types of the oldest and of the newest Blender."""
    tasks = [
        Task(f"types of Blender {version}", each, ("-m", "mypy", "--cache-dir", f"build/mypy-{version}"))
        for version, each in environments.TYPES.items()
    ]
    newest = environments.TYPES["5.2"]
    lint = Task("lint", newest, ("-m", "ruff", "check", "."))
    return [*tasks, lint, Task("format", newest, ("-m", "ruff", "format", "--check", "."))]


def test_tasks(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[Task]:
    """Return what a tier runs of these groups, the longest first.

    The newest Blender and the newest NumPy get the whole tier, the others what differs between versions.
    """
    newest, rest = environments.newest_blender(), "full" if tier == "full" else "smoke"
    programs = [path for path in os.environ.get("BLENDER", "").split(os.pathsep) if path]
    # Made absolute but not resolved: a launcher may look at the name it was called by.
    paths = [str(Path(shutil.which(path) or path).absolute()) for path in programs]
    runs = [("window", environments.NUMPY_NEWEST, rest if i else tier, i) for i in range(len(paths))]
    runs += [("scene", newest, tier, 0), ("core", environments.NUMPY_NEWEST, tier, 0)]
    runs += [("package", newest, tier, 0)]
    runs += [("engines", environments.ENGINES, tier, 0)] if tier != "quick" else []
    runs += [(group, each, rest, 0) for each in BLENDERS if each != newest for group in ("scene", "package")]
    runs += [("core", environments.NUMPY_OLDEST, rest, 0)]
    tasks = []
    for group, environment, its_tier, number in runs:
        arguments = ["-m", "pytest", *TEST_FOLDERS[group], "--tier", its_tier, *pytest_arguments]
        name, variables = environment.name, {}
        if group == "window":
            name = Path(paths[number]).name
            variables = {"BLENDER": paths[number], "BLENDER_DISPLAY": str(77 + number)}
        if group in groups:
            tasks.append(Task(f"{group} ({its_tier}) on {name}", environment, arguments, variables))
    return tasks


def test(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Run groups of tests side by side, each in a process of its own."""
    tasks = test_tasks(groups, tier, pytest_arguments)
    needed = list(dict.fromkeys(task.environment for task in tasks if task.environment))
    with ThreadPoolExecutor() as pool:
        # Some tests use other environments than their own, so all of them are made first.
        for made in [pool.submit(environments.node_packages), *(pool.submit(each.ready) for each in needed)]:
            if isinstance(problem := made.exception(), MissingProgramError):
                print(f"\nTests that need it are skipped: {problem}", flush=True)
    skipped = "window" in groups and "BLENDER" not in os.environ
    return [*side_by_side(tasks), *([("window ($BLENDER is not set)", NOT_RUN)] if skipped else [])]


def demo_tasks() -> list[Task]:
    """Make the example scene and run the main jobs on it."""
    folder = ROOT / "build" / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    scene, bounds, contacts = (
        f"build/demo/{name}" for name in ("factory_floor.blend", "bounds.json", "contacts.json")
    )
    tool = "scripts/collision_bounds.py"
    commands = (
        ("scripts/example_scene.py", scene),
        (tool, "bounds", scene, "--shapes", "sphere,aabb", "-o", bounds),
        (tool, "contacts", scene, "--shape", "aabb", "-o", contacts),
        (tool, "validate", bounds),
        (tool, "validate", contacts),
    )
    return [
        Task(f"python {' '.join(command)}", environments.newest_blender(), command) for command in commands
    ]


def build_tasks(output: str | None = None) -> list[Task]:
    """Build the extension's zip."""
    # The caller's relative path is from where the caller stands, and the script runs in the checkout.
    arguments = ["-o", str(Path(output).absolute())] if output else []
    return [Task("build", None, ["scripts/build_extension.py", *arguments])]


def conclude(outcomes: Sequence[tuple[str, str]]) -> int:
    """Print one closing line; return the exit code."""
    listed = {
        state: [name for name, ended in outcomes if ended == state] for state in (FAILED, PASSED, NOT_RUN)
    }
    succeeded = bool(listed[PASSED]) and not listed[FAILED]
    parts = [f"{state}: {'; '.join(names)}." for state, names in listed.items() if names]
    print(f"\n{'All that ran passed.' if succeeded else 'FAILED.'} {' '.join(parts)}", flush=True)
    return 0 if succeeded else 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="dev.py", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("all", help="check, build, demo and test --push, one after the other")
    commands.add_parser("check", help="lint, format, and types of the oldest and the newest Blender")
    tests = commands.add_parser("test", help="run the quick tests; what follows -- goes to pytest")
    tests.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(TEST_FOLDERS)}; default: all")
    tiers = tests.add_mutually_exclusive_group()
    for tier, where in (
        ("push", "as they run for each push"),
        ("full", "on every Blender, before a release"),
    ):
        tiers.add_argument(
            f"--{tier}", dest="tier", action="store_const", const=tier, help=f"all tests, {where}"
        )
    commands.add_parser("demo", help="make the example scene and find its contacts, in build/demo")
    builder = commands.add_parser("build", help="build the extension's zip")
    builder.add_argument("-o", dest="output", metavar="FILE.zip", help="where to write it")
    benches = commands.add_parser("bench", help="time the math beside its peers, into docs/performance.md")
    benches.add_argument("tables", nargs="*", metavar="TABLE", help="default: all tables")
    benches.add_argument("--no-write", action="store_true", help="print the tables only")
    commands.add_parser("lock", help="resolve the versions in pyproject.toml into scripts/requirements")
    commands.add_parser("system-packages", help="print the Debian packages that Blender still needs")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser().parse_args(arguments[:split])
    match options.command:
        case "system-packages":
            print(" ".join(environments.missing_packages()))
        case "lock":
            environments.write_locks()
        case "check":
            return conclude(side_by_side(check_tasks()))
        case "test":
            if unknown := set(options.groups) - set(TEST_FOLDERS):
                parser().error(f"there is no group {unknown.pop()!r}, but {', '.join(TEST_FOLDERS)}")
            groups = options.groups or list(TEST_FOLDERS)
            return conclude(test(groups, options.tier or "quick", arguments[split + 1 :]))
        case "demo":
            code = conclude(one_by_one(demo_tasks()))
            print("" if code else "The scene, its bounds and its contacts are in build/demo.")
            return code
        case "build":
            return conclude(one_by_one(build_tasks(options.output)))
        case "bench":
            flags = ["--no-write"] if options.no_write else []
            task = Task("bench", environments.BENCH, ["scripts/bench.py", *options.tables, *flags])
            return conclude(one_by_one([task]))
        case "all":
            checked = [*side_by_side(check_tasks()), *one_by_one([*build_tasks(), *demo_tasks()])]
            return conclude([*checked, *test(list(TEST_FOLDERS), "push", ())])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UnavailableError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
