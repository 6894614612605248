#!/usr/bin/env python3
"""The one command for working on Collision Bounds: checks, tests, the demo, the build and the timings.

Needs Python 3.11 or newer and nothing else: what a task needs is installed into build/environments.
"""

import sys

# This file has to parse on an older Python too, or nobody would read this sentence.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("scripts/dev.py needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031

import argparse
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import environments
import node_environment
from environments import ROOT, Environment, MissingInterpreterError, UnusableEnvironmentError

TEST_FOLDERS = {
    "core": ("tests/core", "tests/formats", "tests/scripts"),
    "scene": ("tests/scene", "tests/ui", "tests/javascript"),
    "package": ("tests/package",),
    "engines": ("tests/engines",),
    "window": ("tests/window",),
}
PYTEST_FOUND_NO_TESTS = 5

PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"

NO_PRODUCT = ("", "")

_T = TypeVar("_T")


@dataclass(frozen=True)
class Outcome:
    """How one task ended on one version of a product; `product` is empty where that does not matter."""

    state: str
    task: str
    product: str = ""
    version: str = ""
    reason: str = ""
    problem: UnusableEnvironmentError | None = None


def run(title: str, command: Sequence[str | Path], **variables: str) -> int:
    """Print a header, run `command` in the checkout with its output going straight through; its exit code."""
    print(f"\n--- {title} ---", flush=True)
    variables = {**environments.child_variables(), **variables}
    return subprocess.run([str(part) for part in command], cwd=ROOT, env=variables, check=False).returncode


def run_aside(title: str, command: Sequence[str | Path]) -> int:
    """The same beside other runs: what it prints is shown when it has ended, as one piece."""
    print(f"\nBegun: {title}", flush=True)
    ended = environments.captured(command, folder=ROOT)
    # One call, so that no other run gets in between.
    print(f"\n--- {title} ---\n{ended.stdout}", end="", flush=True)
    return ended.returncode


def outcome_of(code: int, task: str, product: str = "", version: str = "") -> Outcome:
    """A passed outcome for exit code 0, else a failed one that tells the code."""
    if code == 0:
        return Outcome(PASSED, task, product, version)
    return Outcome(
        FAILED, task, product, version, f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    )


def product_of(environment: Environment) -> tuple[str, str]:
    """What a run in this environment is a test of, and its version."""
    if environment.has_bpy:
        return "Blender", environment.version_of("bpy")
    return "NumPy", environment.version_of("numpy")


def in_environment(
    tasks: Sequence[str],
    product: tuple[str, str],
    alternatives: Sequence[Environment],
    run_tasks: Callable[[Environment, Path], Iterable[_T]],
) -> Iterator[_T | Outcome]:
    """What `run_tasks` yields in the first of these environments that can be had.

    When none can, this prints why and yields an outcome for each of `tasks`: not run if only a Python is
    missing, failed if something is wrong with what is there.
    """
    what = f"{' and '.join(tasks)}{f' on {product[0]} {product[1]}' if product[0] else ''}"
    try:
        environment, python = environments.ready(alternatives)
    except MissingInterpreterError as missing:
        print(f"\nNot run: {what}. {missing}", flush=True)
        for task in tasks:
            yield Outcome(NOT_RUN, task, *product, f"no Python {alternatives[0].python}")
    except UnusableEnvironmentError as problem:
        print(f"\nCannot run: {what}. {problem}", flush=True)
        for task in tasks:
            yield Outcome(FAILED, task, *product, "could not start", problem)
    else:
        yield from run_tasks(environment, python)


def check() -> Iterator[Outcome]:
    """Lint, format and types, all of them even when one fails."""

    def run_checks(_: Environment, python: Path) -> Iterator[Outcome]:
        for task, command in (
            ("lint", ("ruff", "check", ".")),
            ("format", ("ruff", "format", "--check", ".")),
            ("types", ("mypy",)),
        ):
            yield outcome_of(run(" ".join(command), [python, "-m", *command]), task)

    yield from in_environment(("lint", "format", "types"), NO_PRODUCT, environments.CHECK, run_checks)


def test(groups: Iterable[str], pytest_arguments: Sequence[str]) -> Iterator[Outcome]:
    """Every wanted group on everything it is tested on. Groups without a folder are not run."""
    wanted = []
    for group in groups:
        if any((ROOT / folder).is_dir() for folder in TEST_FOLDERS[group]):
            wanted.append(group)
        else:
            yield Outcome(NOT_RUN, group, reason=f"{' and '.join(TEST_FOLDERS[group])} not there")
    runs: list[tuple[Sequence[Environment], list[str]]] = []
    in_blender = [group for group in wanted if group in ("scene", "package")]
    if in_blender:
        runs += [((environment,), in_blender) for environment in environments.BLENDERS]
    if "core" in wanted:
        runs += [(environments.CORE_OLDEST, ["core"]), (environments.CORE_NEWEST, ["core"])]
    if "engines" in wanted:
        runs += [(environments.ENGINES, ["engines"])]
    if runs:
        prepare_node()
    yield from test_side_by_side(runs, pytest_arguments)
    if "window" in wanted:
        yield from test_window(pytest_arguments)


def prepare_node() -> None:
    """Install what tests ask of Node, once, before they run side by side."""
    try:
        node_environment.ready()
    except node_environment.MissingNodeError as missing:
        print(f"\nLeft out: tests that ask game engines and other validators. {missing}", flush=True)
    except UnusableEnvironmentError as problem:
        # Those tests fail and say so.
        print(f"\n{problem}", flush=True)


def test_side_by_side(
    runs: Iterable[tuple[Sequence[Environment], Sequence[str]]], pytest_arguments: Sequence[str]
) -> Iterator[Outcome]:
    """Groups in environments, as many at a time as there are processors.

    Each is in a process of its own: they share no Blender session.
    """
    # Nearly all of a run is one thread of Python. More than a few at a time would want a lot of memory.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        begun: list[Outcome | Future[Outcome]] = []
        for alternatives, groups in runs:
            begin = partial(_begun, pool, groups, pytest_arguments)
            begun += in_environment(groups, product_of(alternatives[0]), alternatives, begin)
        for each in begun:
            yield each.result() if isinstance(each, Future) else each


def _begun(
    pool: ThreadPoolExecutor,
    groups: Sequence[str],
    pytest_arguments: Sequence[str],
    environment: Environment,
    python: Path,
) -> Iterator[Future[Outcome]]:
    for group in groups:
        yield pool.submit(run_pytest, group, product_of(environment), python, pytest_arguments, run_aside)


def test_window(pytest_arguments: Sequence[str]) -> Iterator[Outcome]:
    """The tests that start the Blender that $BLENDER names; they run outside it, without bpy."""
    named = os.environ.get("BLENDER")
    if not named:
        yield Outcome(NOT_RUN, "window", reason="$BLENDER is not set")
        return
    program = shutil.which(named)
    # Made absolute but not resolved: a launcher may look at the name it was called by.
    blender = str(Path(program).absolute()) if program else ""
    answer = environments.captured([blender, "--version"]).stdout if blender else ""
    version = re.search(r"^Blender (\d+\.\d+(?:\.\d+)?)", answer, flags=re.MULTILINE)
    if not version:
        yield Outcome(FAILED, "window", reason=f"$BLENDER is {named}, which does not answer like Blender")
        return
    product = ("Blender", version[1])

    def run_window(_: Environment, python: Path) -> Iterator[Outcome]:
        yield run_pytest("window", product, python, pytest_arguments, partial(run, BLENDER=blender))

    yield from in_environment(("window",), product, environments.CORE_NEWEST, run_window)


def run_pytest(
    group: str,
    product: tuple[str, str],
    python: Path,
    pytest_arguments: Sequence[str],
    run_it: Callable[[str, Sequence[str | Path]], int],
) -> Outcome:
    """Run one group, by `run` or `run_aside`.

    Finding no tests is a failure, unless the caller's own arguments may have left none.
    """
    folders = [folder for folder in TEST_FOLDERS[group] if (ROOT / folder).is_dir()]
    title = f"{group} tests on {' '.join(product)}"
    code = run_it(title, [python, "-m", "pytest", *folders, *pytest_arguments])
    if code == PYTEST_FOUND_NO_TESTS:
        state = NOT_RUN if pytest_arguments else FAILED
        return Outcome(state, group, *product, reason="pytest found no tests")
    return outcome_of(code, group, *product)


def demo() -> Iterator[Outcome]:
    """Make the example scene and run the main jobs on it, up to the first one that fails."""
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

    def run_demo(environment: Environment, python: Path) -> Iterator[Outcome]:
        (ROOT / "build" / "demo").mkdir(parents=True, exist_ok=True)
        for command in commands:
            code = run(f"python {' '.join(command)}", [python, *command])
            if code:
                yield outcome_of(code, "demo", *product_of(environment))
                return
        print("\nMade, as seen from the top of the checkout:")
        print(f"  {scene}  the example scene, to open in Blender")
        print(f"  {bounds}          a sphere and a box for every object")
        print(f"  {contacts}        which objects touch, and when")
        yield Outcome(PASSED, "demo", *product_of(environment))

    yield from in_environment(("demo",), product_of(environments.DEMO[0]), environments.DEMO, run_demo)


def build(output: str | None) -> Iterator[Outcome]:
    """Build the extension's zip."""
    # The caller's relative path is from where the caller stands, and the script runs in the checkout.
    arguments = ["-o", str(Path(output).absolute())] if output else []
    code = run("build", [sys.executable, "scripts/build_extension.py", *arguments])
    yield outcome_of(code, "build")


def bench(arguments: Sequence[str]) -> Iterator[Outcome]:
    """Time the math beside its peers, as scripts/bench.py does it. A missing peer is named and left out."""

    def run_bench(environment: Environment, python: Path) -> Iterator[Outcome]:
        missing = environments.missing_from(environment)
        for package, reason in missing.items():
            print(f"\nWithout {package.replace('==', ' ')}, which could not be installed: {reason}")
        if missing:
            print(f"To try again, delete build/environments/{environment.name}.", flush=True)
        yield outcome_of(run("bench", [python, "scripts/bench.py", *arguments]), "bench")

    yield from in_environment(("bench",), NO_PRODUCT, environments.BENCH, run_bench)


def print_missing_packages() -> int:
    """Print one line: the Debian packages that the tests on Blender still need; empty when they can run."""
    packages: set[str] = set()
    for environment in environments.BLENDERS:
        try:
            environments.ready((environment,))
        except MissingInterpreterError as missing:
            print(missing, file=sys.stderr)
        except UnusableEnvironmentError as problem:
            print(problem, file=sys.stderr)
            packages.update(problem.packages)
            if not problem.packages:
                return 1
    print(" ".join(sorted(packages)))
    return 0


def told(outcomes: Iterable[Outcome]) -> str:
    """The outcomes in words, those that differ only in the version taken together."""
    versions: dict[tuple[str, str, str], list[str]] = {}
    for outcome in outcomes:
        versions.setdefault((outcome.task, outcome.product, outcome.reason), []).append(outcome.version)
    parts = []
    for (task, product, reason), listed in versions.items():
        where = f" on {product} {', '.join(listed)}" if product else ""
        parts.append(f"{task}{where}{f' ({reason})' if reason else ''}")
    return "; ".join(parts)


def conclude(outcomes: Sequence[Outcome], noun: str) -> int:
    """Print what could be installed to run more, then one closing line; the exit code."""
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    packages = sorted({package for problem in problems for package in problem.packages})
    libraries = sorted({library for problem in problems for library in problem.libraries})
    if packages:
        print(f"\nOn Debian or Ubuntu, install what is missing with:\n  apt-get install {' '.join(packages)}")
    if libraries:
        print(f"On other systems, install the packages that hold: {', '.join(libraries)}")
    passed, failed, not_run = (
        [o for o in outcomes if o.state == state] for state in (PASSED, FAILED, NOT_RUN)
    )
    if failed:
        line = f"FAILED: {told(failed)}."
    elif not passed:
        line = "FAILED: nothing could be run."
    else:
        line = f"All {noun}{' that ran' if not_run else ''} passed: {told(passed)}."
    if failed and passed:
        line += f" Passed: {told(passed)}."
    if not_run:
        line += f" Not run: {told(not_run)}."
    print(f"\n{line}", flush=True)
    return 0 if passed and not failed else 1


def group_name(text: str) -> str:
    """An argparse type: `choices` would refuse an empty list on Python 3.11."""
    if text not in TEST_FOLDERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(TEST_FOLDERS)}")
    return text


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="dev.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("all", help="check, build, demo and test, one after the other")
    commands.add_parser("check", help="lint, format and types")
    tests = commands.add_parser("test", help="run the tests on every supported Blender and NumPy")
    tests.add_argument(
        "groups",
        nargs="*",
        type=group_name,
        metavar="GROUP",
        help=f"{', '.join(TEST_FOLDERS)}; all of them if none is named. What follows -- goes to pytest",
    )
    commands.add_parser("demo", help="make the example scene and find its contacts, in build/demo")
    builder = commands.add_parser("build", help="build the extension's zip")
    builder.add_argument("-o", dest="output", metavar="FILE.zip", help="where to write it")
    benches = commands.add_parser("bench", help="time the math beside its peers, into docs/performance.md")
    benches.add_argument(
        "tables", nargs="*", metavar="TABLE", help="some of the tables; all if none is named"
    )
    benches.add_argument("--no-write", action="store_true", help="print the tables only")
    commands.add_parser(
        "system-packages", help="print the Debian packages that are missing for the tests on Blender"
    )
    return top


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser().parse_args(arguments[:split])
    pytest_arguments = arguments[split + 1 :]
    if options.command == "system-packages":
        return print_missing_packages()
    if options.command == "check":
        return conclude(list(check()), "checks")
    if options.command == "test":
        return conclude(list(test(options.groups or TEST_FOLDERS, pytest_arguments)), "tests")
    if options.command == "demo":
        return conclude(list(demo()), "steps")
    if options.command == "build":
        return conclude(list(build(options.output)), "steps")
    if options.command == "bench":
        flags = ("--no-write",) if options.no_write else ()
        return conclude(list(bench((*options.tables, *flags))), "timings")
    return conclude(
        [*check(), *build(None), *demo(), *test(TEST_FOLDERS, pytest_arguments)], "checks and tests"
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
