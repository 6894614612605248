#!/usr/bin/env python3
"""Run development tasks of Collision Bounds. Each task installs its dependencies into build/."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    # This line is also valid syntax in older versions of Python.
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
    "scene": ("tests/scene",),
    "cli": ("tests/cli", "tests/ui", "tests/javascript"),
    "package": ("tests/package",),
    "engines": ("tests/engines",),
    "window": ("tests/window",),
    "batch": ("tests/batch",),
    "report": ("tests/report",),
}
MEASURED = {"core": "addon/core", "formats": "addon/formats"}
"""Folders of which the full tier measures the branches that the tests of a group take."""
PYTEST_FOUND_NO_TESTS = 5
FIRST_DISPLAY = int(os.environ.get("BLENDER_DISPLAY", "77"))
PASSED, FAILED, NOT_RUN = "Passed", "Failed", "Not run"


@dataclass(frozen=True)
class Task:
    """Arguments for the Python of an environment. Without environment, for the Python that runs this file."""

    name: str
    environment: Environment | None
    arguments: Sequence[str]
    variables: dict[str, str] = field(default_factory=dict)


def run_task(task: Task, *, collect_output: bool = False) -> tuple[str, str]:
    """Run a task and print its output, with `collect_output` only at the end; return its name and state."""
    try:
        python = task.environment.ready() if task.environment else sys.executable
    except UnavailableError as problem:
        print(f"\nNot run: {task.name}. {problem}", flush=True)
        return task.name, NOT_RUN if isinstance(problem, MissingProgramError) else FAILED
    command = [str(python), *task.arguments]
    variables = environments.child_variables() | task.variables
    title = f"{task.name}: python {' '.join(task.arguments)}"
    if collect_output:
        print(f"Started: {task.name}", flush=True)
        ended = environments.run_captured(command, variables)
        code = ended.returncode
        # One call, so that the output of other tasks is not printed in between.
        print(f"\n--- {title} ---\n{ended.stdout}", end="", flush=True)
    else:
        print(f"\n--- {title} ---", flush=True)
        code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if code == PYTEST_FOUND_NO_TESTS and "-k" in command:
        return f"{task.name} (no tests match)", NOT_RUN
    return f"{task.name}{f' (exit code {code})' if code else ''}", FAILED if code else PASSED


def run_in_sequence(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Run tasks one after another, up to the first one that fails."""
    outcomes: list[tuple[str, str]] = []
    while len(outcomes) < len(tasks) and all(state == PASSED for _, state in outcomes):
        outcomes.append(run_task(tasks[len(outcomes)]))
    return outcomes


def run_in_parallel(tasks: Sequence[Task]) -> list[tuple[str, str]]:
    """Run up to four tasks at a time, at most one per processor, plus all window tasks, which mostly wait."""
    windows = sum("BLENDER" in task.variables for task in tasks)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 4) + windows) as pool:
        return list(pool.map(lambda task: run_task(task, collect_output=True), tasks))


def check_tasks() -> list[Task]:
    """Return tasks that check types for the oldest and the newest Blender, lint and format."""
    # The stubs of 4.2 lack many return types. Some ignores are for defects of the stubs of 5.2 only.
    lenient = ("--disable-error-code", "func-returns-value", "--no-warn-unused-ignores")
    tasks = []
    for version, environment in environments.TYPES.items():
        mypy = ("-m", "mypy", "--cache-dir", f"build/mypy-{version}", *(lenient if version == "4.2" else ()))
        tasks.append(Task(f"types for Blender {version}", environment, mypy))
    for name, options in {"lint": ("check",), "format": ("format", "--check")}.items():
        tasks.append(Task(name, environments.TYPES["5.2"], ("-m", "ruff", *options, ".")))
    return tasks


def format_tasks() -> list[Task]:
    """Return tasks that format the code; other findings of the linter are left to `check`."""
    ruff = ("-m", "ruff")
    return [
        Task("fixes", environments.TYPES["5.2"], (*ruff, "check", "--fix", "--exit-zero", "--quiet", ".")),
        Task("format", environments.TYPES["5.2"], (*ruff, "format", ".")),
    ]


def site_task() -> Task:
    """Return the task that builds the documentation as a site; a broken link is an error."""
    # Without this variable, the theme prints a notice about its end in 2027.
    return Task("site", environments.TYPES["5.2"], ("-m", "mkdocs", "build"), {"NO_MKDOCS_2_WARNING": "1"})


def test_tasks(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[Task]:
    """Return the test runs of a tier for these groups, the longest first.

    The newest Blender and the newest NumPy run the tier, older versions run the smoke or the full tier.
    """
    newest, older = environments.newest_blender(), "full" if tier == "full" else "smoke"
    programs = [path for path in os.environ.get("BLENDER", "").split(os.pathsep) if path]
    runs = [("window", NUMPY_NEWEST, older if i else tier, program) for i, program in enumerate(programs)]
    runs += [("scene", newest, tier, ""), ("core", NUMPY_NEWEST, tier, ""), ("cli", newest, tier, "")]
    runs += [("package", newest, tier, ""), ("formats", NUMPY_NEWEST, tier, "")]
    runs += [("engines", environments.ENGINES, tier, "")]
    runs += [("batch", environments.FARM, tier, ""), ("report", environments.REPORT, tier, "")]
    runs += [(group, environments.NUMPY_OLDEST, older, "") for group in ("core", "formats")]
    of_blender = ("scene", "cli", "package")
    runs += [(group, each, older, "") for each in BLENDERS if each != newest for group in of_blender]
    tasks: list[Task] = []
    for group, environment, run_tier, program in runs:
        arguments = ["-m", "pytest", *TEST_FOLDERS[group], "--tier", run_tier, *pytest_arguments]
        if run_tier == "full" and environment == NUMPY_NEWEST and group in MEASURED and not pytest_arguments:
            arguments[:2] = ["scripts/branch_coverage.py", MEASURED[group]]
        # As many threads as NumPy has by default. `tests/conftest.py` sets one.
        variables = {"OPENBLAS_NUM_THREADS": str(os.cpu_count() or 1)} if tier == "full" else {}
        if program:
            # Absolute but not resolved, because a launcher can depend on the name of its link.
            path = Path(shutil.which(program) or program).absolute()
            variables |= {"BLENDER": str(path), "BLENDER_DISPLAY": str(FIRST_DISPLAY + len(tasks))}
        name = f"{group} ({run_tier}) on {Path(program).name or environment.name}"
        if group in groups:
            tasks.append(Task(name, environment, arguments, variables))
    return tasks


def test(groups: Sequence[str], tier: str, pytest_arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Run groups of tests in parallel, each in its own process."""
    tasks = test_tasks(groups, tier, pytest_arguments)
    required = dict.fromkeys(task.environment for task in tasks if task.environment)
    with ThreadPoolExecutor() as pool:
        # Some tests use the environments of other tests, so all environments are created first.
        setups: list[Callable[[], object]] = [environments.node_packages, *(each.ready for each in required)]
        for problem in [future.exception() for future in map(pool.submit, setups)]:
            if isinstance(problem, MissingProgramError):
                print(f"\n{problem} Tests that need it are skipped.", flush=True)
    skipped = "window" in groups and "BLENDER" not in os.environ
    return [*run_in_parallel(tasks), *([("window ($BLENDER is not set)", NOT_RUN)] if skipped else [])]


def demo_tasks() -> list[Task]:
    """Return tasks that build the example scene and run the main commands on it."""
    (ROOT / "build" / "demo").mkdir(parents=True, exist_ok=True)
    tool = "scripts/collision_bounds.py"
    scene, bounds, contacts = (
        f"build/demo/{name}" for name in ("factory_floor.blend", "bounds.json", "contacts.json")
    )
    commands = {
        "example scene": ("scripts/example_scene.py", scene),
        "bounds": (tool, "bounds", scene, "--shapes", "sphere,aabb", "-o", bounds),
        "contacts": (tool, "contacts", scene, "-o", contacts),
        "validation of the bounds": (tool, "validate", bounds),
        "validation of the contacts": (tool, "validate", contacts),
    }
    blender = environments.newest_blender()
    return [Task(name, blender, command) for name, command in commands.items()]


def build_task(output: str | None = None) -> Task:
    """Return the task that builds the extension's zip."""
    # A relative path refers to the caller's folder, but the script runs in the checkout.
    arguments = ["-o", str(Path(output).absolute())] if output else []
    return Task("build", None, ["scripts/build_extension.py", *arguments])


def release_tasks() -> list[Task]:
    """Return tasks that write all files of a release to build/release."""
    (ROOT / "build").mkdir(exist_ok=True)
    # All Blenders open the files of the oldest one.
    scene = "build/release_scene.blend"
    make = ("scripts/releasing/make.py", scene, "-o", "build/release")
    return [
        Task("example scene", BLENDERS[-1], ("scripts/example_scene.py", scene, "--uncompressed")),
        Task("release", environments.newest_blender(), make),
    ]


def print_summary(outcomes: Sequence[tuple[str, str]]) -> int:
    """Print the tasks by state; return the exit code."""
    states = {state for _, state in outcomes}
    succeeded = PASSED in states and FAILED not in states
    print("\nAll tasks that ran passed." if succeeded else "\nFAILED.")
    for state in sorted(states):
        print(f"{state}: {'; '.join(name for name, outcome in outcomes if outcome == state)}.", flush=True)
    return 0 if succeeded else 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="dev.py", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("site", help="build the documentation as a site, in build/site")
    commands.add_parser("all", help="run check, build, demo and test --push")
    commands.add_parser("format", help="format the code, and mend what the linter can mend by itself")
    commands.add_parser(
        "check",
        help="check lint, format, types for the oldest and the newest Blender, and the links of the docs",
    )
    tests = commands.add_parser("test", help="run the quick tests; arguments after -- are passed to pytest")
    groups = f"{', '.join(TEST_FOLDERS)} (default: all groups; engines only with --push or --full)"
    tests.add_argument("groups", nargs="*", metavar="GROUP", help=groups)
    tiers = tests.add_mutually_exclusive_group()
    for tier, description in (
        ("push", "run all tests, as for each push"),
        ("full", "run all tests on every Blender, as before a release"),
    ):
        tiers.add_argument(f"--{tier}", dest="tier", action="store_const", const=tier, help=description)
    commands.add_parser("demo", help="build the example scene and find its contacts, in build/demo")
    builder = commands.add_parser("build", help="build the extension's zip")
    builder.add_argument("-o", dest="output", metavar="FILE.zip", help="path of the zip (default: in build/)")
    commands.add_parser(
        "release", help="write the repository, example scene, schema and loaders to build/release"
    )
    benches = commands.add_parser("bench", help="time the math and its peer libraries for docs/development")
    benches.add_argument("tables", nargs="*", metavar="TABLE", help="default: all tables")
    benches.add_argument("--no-write", action="store_true", help="print the tables without writing them")
    mutants = commands.add_parser("mutants", help="find changes to distance and sweep that no test notices")
    mutants.add_argument("names", nargs="*", metavar="NAME", help="such as sweep/aabb (default: all)")
    mutants.add_argument("--explained", action="store_true", help="test the explained mutants instead")
    commands.add_parser("lock", help="lock the versions from pyproject.toml in scripts/requirements")
    commands.add_parser("libraries", help="copy the JavaScript libraries of the HTML report from npm")
    commands.add_parser("system-packages", help="print the missing Debian packages that Blender needs")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    if not arguments:
        parser().print_help(sys.stderr)
        return 2
    options = parser().parse_args(arguments[:split])
    if options.command == "system-packages":
        print(" ".join(environments.missing_packages()))
        return 0
    if options.command == "lock":
        environments.write_locks()
        return 0
    if options.command == "libraries":
        environments.update_report_libraries()
        return 0
    if options.command == "test":
        if not set(options.groups) <= set(TEST_FOLDERS):
            parser().error(f"unknown group: choose from {', '.join(TEST_FOLDERS)}")
        groups = options.groups or [each for each in TEST_FOLDERS if each != "engines" or options.tier]
        return print_summary(test(groups, options.tier or "quick", arguments[split + 1 :]))
    outcomes = []
    if options.command in ("check", "all"):
        outcomes += run_in_parallel([*check_tasks(), site_task()])
    if options.command == "format":
        outcomes += run_in_sequence(format_tasks())
    if options.command == "site":
        outcomes += run_in_sequence([site_task()])
    if options.command in ("build", "all"):
        outcomes += run_in_sequence([build_task(getattr(options, "output", None))])
    if options.command in ("demo", "all"):
        outcomes += run_in_sequence(demo_tasks())
    if options.command == "release":
        outcomes += run_in_sequence(release_tasks())
    if options.command == "bench":
        flags = ["--no-write"] if options.no_write else []
        command = ["scripts/bench.py", *options.tables, *flags]
        outcomes += run_in_sequence([Task("bench", environments.BENCH, command)])
    if options.command == "mutants":
        flags = ["--explained"] if options.explained else []
        command = ["scripts/mutants.py", *options.names, *flags]
        outcomes += run_in_sequence([Task("mutants", environments.MUTANTS, command)])
    if options.command == "all":
        outcomes += test(list(TEST_FOLDERS), "push", ())
    return print_summary(outcomes)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UnavailableError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
