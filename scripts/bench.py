#!/usr/bin/env python3
"""Time the math, compare it with peer libraries, and write its ratios to docs/development/performance.md.

Run it with `python3 scripts/dev.py bench`, which installs the peer libraries. Every table is measured in a
separate process. Its columns take turns.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import TABLES, tables  # noqa: E402  # it imports the package at the top of the checkout
from blender_exit import exit_process  # noqa: E402

_BETWEEN = "\f"
"""Separates the times of a table from its ratios in the file of a process."""

DOCUMENT = ROOT / "docs" / "development" / "performance.md"
PACKAGES = ("numpy", "cyminiball", "trimesh", "python-fcl", "coal", "scipy", "rtree", "bpy")

# Tables show processor time, and a second thread would be counted twice.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure_in_process(name: str) -> tuple[str, str] | None:
    """Measure a table in a separate process. Return its times and its ratios, None if the process failed."""
    with tempfile.TemporaryDirectory() as folder:
        # Peers write warnings to standard output, so the table is passed in a file.
        result = Path(folder, "table.md")
        command = [sys.executable, __file__, name, "--into", str(result)]
        ended = subprocess.run(
            command, stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD}, check=False
        )
        if ended.returncode:
            return None
        times, _, ratios = result.read_text(encoding="utf-8").partition(_BETWEEN)
        return times, ratios


def machine() -> str:
    """Describe the system, and the versions of Python and of the packages."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}, {', '.join(versions)}."
    )


def with_tables(text: str, new_tables: Mapping[str, str]) -> str:
    """Replace the text between `<!-- table: NAME -->` and `<!-- end -->`, for each table by name.

    Raises ValueError if the document does not have exactly one place for a table.
    """
    for name, table in new_tables.items():
        place = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        text, count = place.subn(lambda match, table=table: match[1] + table + match[2], text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"{count} places for the table {name!r}, not 1")
    return text


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    top.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} (default: all tables)")
    top.add_argument("--no-write", action="store_true", help="print the times without writing the ratios")
    top.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    return top


def main(arguments: Sequence[str]) -> int:
    """Measure the requested tables. Return the exit code: 1 if a table failed or timed a wrong result."""
    options = parser().parse_args(arguments)
    unknown = [name for name in options.tables if name not in TABLES]
    if unknown:
        parser().error(f"unknown table {', '.join(unknown)}: choose from {', '.join(TABLES)}")
    if options.into:
        selected = TABLES[options.tables[0]]
        try:
            measured, skipped = tables.measure(selected)
            text = tables.to_markdown(selected, measured, skipped)
        except tables.WrongResultError as error:
            print(error, file=sys.stderr)
            return 1
        options.into.write_text(text + _BETWEEN + tables.to_ratios(selected, measured), encoding="utf-8")
        return 0
    ratios, failed = {}, []
    system = machine()
    print(system, flush=True)
    for name in options.tables or TABLES:
        table = measure_in_process(name)
        if table is None:
            failed.append(name)
            continue
        times, ratios[name] = table
        print(f"\n{name}\n\n{times}", flush=True)
    if not options.no_write:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(
            with_tables(text, {**ratios, "machine": f"{system}\n"}), encoding="utf-8", newline="\n"
        )
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    exit_process(main(sys.argv[1:]))
