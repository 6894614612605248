#!/usr/bin/env python3
"""Try the program with random and broken input, and report every exception, wrong result and slow case.

    python3 scripts/fuzz.py --seconds 600                      all targets, one after another
    python3 scripts/fuzz.py --seconds 60 --target documents    one target
    python3 scripts/fuzz.py --target documents FILE            the input of a case again

Runs in the environment of the newest Blender, which it creates if needed. The input of each wrong case is
written to build/fuzz. The exit code is 1 if a case is wrong, else 0.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import environments
from blender_exit import exit_process

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "fuzz"

# With more threads, times differ from run to run.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="fuzz.py", description=__doc__.splitlines()[0])
    top.add_argument("--seconds", type=float, default=60.0, metavar="N", help="time for all targets together")
    top.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the cases (default: 0)")
    top.add_argument("--target", action="append", metavar="NAME", help="only this target (repeatable)")
    top.add_argument("file", nargs="?", type=Path, metavar="FILE", help="try only this input, of one target")
    return top


def run_in_environment(arguments: Sequence[str]) -> int:
    """Run this script in the environment of the newest Blender; return the exit code."""
    parser().parse_args(arguments)
    python = environments.newest_blender().ready()
    if Path(sys.prefix).resolve() == python.parent.parent.resolve():
        return main(arguments)
    variables = {**environments.child_variables(), **ONE_THREAD}
    return subprocess.run([python, __file__, *arguments], env=variables, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Run the targets; return the exit code."""
    sys.path.insert(0, str(ROOT))
    from fuzzing import TARGETS
    from fuzzing.runner import run_cases, try_case

    options = parser().parse_args(arguments)
    names = options.target or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        parser().error(f"unknown target {unknown[0]}: choose from {', '.join(TARGETS)}")
    if options.file is not None:
        if len(names) != 1:
            parser().error("FILE: needs the --target that it is the input of")
        TARGETS[names[0]].prepare()
        problem, taken = try_case(TARGETS[names[0]], options.file.read_bytes())
        print(f"{names[0]}: {problem or 'nothing wrong'} ({taken:.3f} s)")
        return 1 if problem else 0
    is_wrong = False
    for name in names:
        outcome = run_cases(TARGETS[name], options.seed, options.seconds / len(names), FOLDER)
        is_wrong |= bool(outcome.found)
        print(
            f"{name}: {outcome.cases} cases with seed {options.seed}, {len(outcome.found)} wrong,"
            f" longest {outcome.longest:.3f} s, peak memory grew by {outcome.growth:.0f} MB",
            flush=True,
        )
    return 1 if is_wrong else 0


if __name__ == "__main__":
    try:
        code = run_in_environment(sys.argv[1:])
    except environments.UnavailableError as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        code = 130
    exit_process(code)
