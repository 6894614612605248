#!/usr/bin/env python3
"""The tasks of working on Collision Bounds; each installs what it needs into build/."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    # Written so that an older Python can read it.
    sys.exit("scripts/dev.py needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031

import argparse
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import environments
from environments import BLENDERS, NUMPY_NEWEST, ROOT, Environment, MissingProgramError, UnavailableError

TEST_FOLDERS = {
    "core": ("tests/core",),
    "formats": ("tests/formats", "tests/scripts"),
    "scene": ("tests/scene", "tests/cli", "tests/ui", "tests/javascript"),
    "package": ("tests/package",),
    "engines": ("tests/engines",),
    "window": ("tests/window",),
}
PYTEST_FOUND_NO_TESTS = 5
FIRST_DISPLAY = 77
PASSED, FAILED, NOT_RUN = "Passed", "Failed", "Not run"


@dataclass(frozen=True)
class Task:
    """Arguments for an environment's Python, or for the one that runs this file."""

    name: str
    environment: Environment | None
    arguments: Sequence[str]
    variables: dict[str, str] = field(default_factory=dict)


def perform(task: Task, *, at_the_end: bool = False) -> tuple[str, str]:
    """Run a task and print what it prints, maybe in one piece at the end; return its name and its state."""
    try:
        python = task.environment.ready() if task.environment else sys.executable
    except UnavailableError as problem:
        print(f"\nNot run: {task.name}. {problem}", flush=True)
        return task.name, NOT_RUN if isinstance(problem, MissingProgramError) else FAILED
    command = [str(python), *task.arguments]
    variables = environments.child_variables() | task.variables
    title = f"{task.name}: python {' '.join(task.arguments)}"
    if at_the_end:
        print(f"Started: {task.name}", flush=True)
        ended = environments.captured(command, variables)
        code = ended.returncode
        # One call, so that no other task's output gets in between.
        print(f"\n--- {title} ---\n{ended.stdout}", end="", flush=True)
    else:
        print(f"\n--- {title} ---", flush=True)
        code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if code == PYTEST_FOUND_NO_TESTS and "-k" in command:
        return f"{task.name} (no such tests)", NOT_RUN
    return f"{task.name}{f' (exit code {code})' if code else ''}", FAILED if code else PASSED


def one_by_one(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Perform tasks that need each other, up to the first one that fails."""
    outcomes: list[tuple[str, str]] = []
    while len(outcomes) < len(tasks) and all(state == PASSED for _, state in outcomes):
        outcomes.append(perform(tasks[len(outcomes)]))
    return outcomes


def side_by_side(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Perform tasks in lanes: one for each processor, and one for each window, which mostly waits."""
    windows = sum("BLENDER" in task.variables for task in tasks)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 4) + windows) as pool:
        return list(pool.map(lambda task: perform(task, at_the_end=True), tasks))


def check_tasks() -> list[Task]:
    """Types of the oldest and of the newest Blender, lint and format."""
    # The stubs of 4.2 lack many return values, and do not need the ignores for defects of those of 5.2.
    lenient = ("--disable-error-code", "func-returns-value", "--no-warn-unused-ignores")
    tasks = []
    for version, environment in environments.TYPES.items():
        mypy = ("-m", "mypy", "--cache-dir", f"build/mypy-{version}", *(lenient if version == "4.2" else ()))
        tasks.append(Task(f"types of Blender {version}", environment, mypy))
    for name, words in {"lint": ("check",), "format": ("format", "--check")}.items():
        tasks.append(Task(name, environments.TYPES["5.2"], ("-m", "ruff", *words, ".")))
    return tasks


def test_tasks(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[Task]:
    """Return what a tier runs of these groups, the longest first.

    The newest Blender and the newest NumPy get the whole tier, the others what differs between versions.
    """
    newest, rest = environments.newest_blender(), "full" if tier == "full" else "smoke"
    programs = [path for path in os.environ.get("BLENDER", "").split(os.pathsep) if path]
    runs = [("window", NUMPY_NEWEST, rest if i else tier, program) for i, program in enumerate(programs)]
    runs += [("scene", newest, tier, ""), ("core", NUMPY_NEWEST, tier, ""), ("package", newest, tier, "")]
    runs += [("formats", NUMPY_NEWEST, tier, ""), ("engines", environments.ENGINES, tier, "")]
    runs += [(group, environments.NUMPY_OLDEST, rest, "") for group in ("core", "formats")]
    runs += [(group, each, rest, "") for each in BLENDERS if each != newest for group in ("scene", "package")]
    tasks: list[Task] = []
    for group, environment, its_tier, program in runs:
        arguments = ["-m", "pytest", *TEST_FOLDERS[group], "--tier", its_tier, *pytest_arguments]
        variables = {}
        if program:
            # Made absolute but not resolved: a launcher may look at the name it was called by.
            path = Path(shutil.which(program) or program).absolute()
            variables = {"BLENDER": str(path), "BLENDER_DISPLAY": str(FIRST_DISPLAY + len(tasks))}
        name = f"{group} ({its_tier}) on {Path(program).name or environment.name}"
        if group in groups:
            tasks.append(Task(name, environment, arguments, variables))
    return tasks


def test(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Run groups of tests side by side, each in a process of its own."""
    tasks = test_tasks(groups, tier, pytest_arguments)
    needed = dict.fromkeys(task.environment for task in tasks if task.environment)
    with ThreadPoolExecutor() as pool:
        # Some tests use other environments than their own, so all of them are made first.
        makers: list[Callable[[], object]] = [environments.node_packages, *(each.ready for each in needed)]
        for problem in [made.exception() for made in map(pool.submit, makers)]:
            if isinstance(problem, MissingProgramError):
                print(f"\nTests that need it are skipped: {problem}", flush=True)
    skipped = "window" in groups and "BLENDER" not in os.environ
    return [*side_by_side(tasks), *([("window ($BLENDER is not set)", NOT_RUN)] if skipped else [])]


def demo_tasks() -> list[Task]:
    """Make the example scene and run the main jobs on it."""
    (ROOT / "build" / "demo").mkdir(parents=True, exist_ok=True)
    tool = "scripts/collision_bounds.py"
    scene, bounds, contacts = (
        f"build/demo/{name}" for name in ("factory_floor.blend", "bounds.json", "contacts.json")
    )
    jobs = {
        "example scene": ("scripts/example_scene.py", scene),
        "bounds": (tool, "bounds", scene, "--shapes", "sphere,aabb", "-o", bounds),
        "contacts": (tool, "contacts", scene, "--shape", "aabb", "-o", contacts),
        "bounds validated": (tool, "validate", bounds),
        "contacts validated": (tool, "validate", contacts),
    }
    blender = environments.newest_blender()
    return [Task(name, blender, command) for name, command in jobs.items()]


def build_task(output: str | None = None) -> Task:
    """Build the extension's zip."""
    # The caller's relative path is from where the caller stands, and the script runs in the checkout.
    arguments = ["-o", str(Path(output).absolute())] if output else []
    return Task("build", None, ["scripts/build_extension.py", *arguments])


def conclude(outcomes: Sequence[tuple[str, str]]) -> int:
    """Print one closing line; return the exit code."""
    states = {state for _, state in outcomes}
    succeeded = PASSED in states and FAILED not in states
    print("\nAll that ran passed." if succeeded else "\nFAILED.")
    for state in sorted(states):
        print(f"{state}: {'; '.join(name for name, ended in outcomes if ended == state)}.", flush=True)
    return 0 if succeeded else 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="dev.py", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("all", help="check, build, demo and test --push, one after the other")
    commands.add_parser("check", help="lint, format, and types of the oldest and the newest Blender")
    tests = commands.add_parser("test", help="run the quick tests; what follows -- goes to pytest")
    tests.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(TEST_FOLDERS)}")
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
    if options.command == "system-packages":
        print(" ".join(environments.missing_packages()))
        return 0
    if options.command == "lock":
        environments.write_locks()
        return 0
    if options.command == "test":
        if not set(options.groups) <= set(TEST_FOLDERS):
            parser().error(f"the groups of tests are {', '.join(TEST_FOLDERS)}")
        groups = options.groups or [each for each in TEST_FOLDERS if each != "engines" or options.tier]
        return conclude(test(groups, options.tier or "quick", arguments[split + 1 :]))
    outcomes = []
    if options.command in ("check", "all"):
        outcomes += side_by_side(check_tasks())
    if options.command in ("build", "all"):
        outcomes += one_by_one([build_task(getattr(options, "output", None))])
    if options.command in ("demo", "all"):
        outcomes += one_by_one(demo_tasks())
    if options.command == "bench":
        flags = ["--no-write"] if options.no_write else []
        command = ["scripts/bench.py", *options.tables, *flags]
        outcomes += one_by_one([Task("bench", environments.BENCH, command)])
    if options.command == "all":
        outcomes += test(list(TEST_FOLDERS), "push", ())
    return conclude(outcomes)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UnavailableError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
