#!/usr/bin/env python3
"""Times the math beside its peers and rewrites the tables of docs/performance.md.

Started by `python3 scripts/dev.py bench`, which brings the peers. Every table is measured in a process of its
own, all its columns in turns.
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

DOCUMENT = ROOT / "docs" / "performance.md"
PACKAGES = ("numpy", "cyminiball", "trimesh", "python-fcl", "coal", "scipy", "rtree", "bpy")

# Processor time is what counts, and a second thread would count twice.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measured_in_a_process(name: str) -> str | None:
    """One table in Markdown; None when its process failed."""
    with tempfile.TemporaryDirectory() as folder:
        # Peers write warnings to standard output, so the table comes by file.
        result = Path(folder, "table.md")
        command = [sys.executable, __file__, name, "--into", str(result)]
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD}, check=False
        )
        return result.read_text(encoding="utf-8") if done.returncode == 0 else None


def machine() -> str:
    """One sentence: what it was measured on."""
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


def with_tables(text: str, found: Mapping[str, str]) -> str:
    """A document with what stands between `<!-- table: NAME -->` and `<!-- end -->` replaced.

    Raises ValueError for a table without such a place, or with two of them.
    """
    for name, table in found.items():
        place = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        text, count = place.subn(lambda match, table=table: match[1] + table + match[2], text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"{count} places for the table {name!r}, not 1")
    return text


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    top.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all if none is named")
    top.add_argument("--no-write", action="store_true", help="print the tables only")
    top.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    return top


def main(arguments: Sequence[str]) -> int:
    """Measure the tables that are asked for; the exit code is 1 when one of them failed."""
    options = parser().parse_args(arguments)
    unknown = [name for name in options.tables if name not in TABLES]
    if unknown:
        parser().error(f"no table {', '.join(unknown)}: choose from {', '.join(TABLES)}")
    if options.into:
        chosen = TABLES[options.tables[0]]
        options.into.write_text(tables.written(chosen, *tables.measure(chosen)), encoding="utf-8")
        if "bpy" in sys.modules:
            # As a module Blender may wait for its own threads at the exit.
            os._exit(0)
        return 0
    found, failed = {}, []
    where = machine()
    print(where, flush=True)
    for name in options.tables or TABLES:
        table = measured_in_a_process(name)
        if table is None:
            failed.append(name)
            continue
        found[name] = f"{table}\nMeasured on {where}\n"
        print(f"\n{name}\n\n{table}", flush=True)
    if not options.no_write:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(with_tables(text, found), encoding="utf-8", newline="\n")
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
