#!/usr/bin/env python3
"""Run the command line on all scene files of a folder, and check its documents by code of their own.

    python3 scripts/corpus.py FOLDER [--blender 4.2] [--jobs N] [--limit N] [--seconds N]

For each file: the time to load it, exit codes and times of `bounds` with all shapes and of `contacts` over
a few frames, whether `validate` accepts the documents, and whether each vertex that Blender evaluates is in
each shape. Exit code 1: a file failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import environments
from corpus_check.files import SUFFIXES, Checker, FileResult

PROGRAM = environments.ROOT / "scripts" / "collision_bounds.py"


def corpus_files(folder: Path, limit: int | None) -> list[Path]:
    """Return the scene files in a folder and its subfolders, sorted; at most `limit`."""
    found = [path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()]
    return sorted(found)[:limit]


def summary(results: Sequence[FileResult]) -> str:
    """Return the summary of all files."""
    found = [result.found for result in results if result.found]
    failed = sum(bool(result.problems) for result in results)
    unreadable = sum(not result.is_readable for result in results)
    times = {
        name: sum(step.seconds for result in results for step in result.steps if step.name == name)
        for name in ("load", "bounds", "contacts")
    }
    objects, vertices = (sum(each[name] for each in found) for name in ("objects", "vertices"))
    return (
        f"{len(results)} files, {failed} failed, {unreadable} unreadable;"
        f" {objects} objects, {vertices} vertices,"
        f" {sum(len(each['outside']) for each in found)} shapes with vertices outside,"
        f" {sum(len(each['missing']) for each in found)} objects not in documents; "
        + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())
    )


def run(files: Sequence[Path], checker: Checker, jobs: int) -> int:
    """Check all files, print a line for each and a summary, and return the exit code."""
    results = []
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(checker.check, files):
            print(result, flush=True)
            results.append(result)
    print(summary(results))
    return int(any(result.problems for result in results))


def main() -> int:
    """Parse the arguments and run."""
    versions = {each.name.removeprefix("blender-"): each for each in environments.BLENDERS}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0], allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--blender", choices=[*versions], help="version (default: the newest available)")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time (default: 1)")
    parser.add_argument("--limit", type=int, help="only the first N files")
    parser.add_argument("--seconds", type=float, default=600, help="time limit of a file (default: 600)")
    options = parser.parse_args()
    files = corpus_files(options.folder, options.limit)
    if not files:
        parser.error(f"{options.folder}: contains no scene files")
    environment = versions[options.blender] if options.blender else environments.newest_blender()
    try:
        python = environment.ready()
    except environments.UnavailableError as problem:
        parser.error(str(problem))
    checker = Checker(python, PROGRAM, options.seconds, environments.child_variables())
    return run(files, checker, max(1, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
