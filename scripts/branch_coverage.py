#!/usr/bin/env python3
"""Run tests, and fail if they take fewer than 95 % of the branches of a folder; list the files below 100 %.

    python scripts/branch_coverage.py addon/core tests/core --tier full

The first argument is the folder, all others are passed to pytest.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

LEAST_PERCENT = 95.0


def main(arguments: Sequence[str]) -> int:
    """Run pytest under measurement; return its exit code, or 1 if too few branches were taken."""
    folder, *pytest_arguments = arguments
    measured = coverage.Coverage(branch=True, source=[folder], data_file=None)
    measured.start()
    code = int(pytest.main(pytest_arguments))
    measured.stop()
    if code:
        return code
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "coverage.json"
        measured.json_report(outfile=str(report))
        return print_branches(folder, json.loads(report.read_text("utf-8")))


def print_branches(folder: str, report: dict[str, Any]) -> int:
    """Print the files of a JSON report with branches that were not taken; return 1 for too many of these."""
    print(f"\nBranches of {folder} that no test takes:")
    for name, file in sorted(report["files"].items()):
        summary, missing = file["summary"], file["missing_branches"]
        if missing:
            listed = ", ".join(f"{start}-{end}" if end > 0 else f"{start}-exit" for start, end in missing)
            taken, count = summary["covered_branches"], summary["num_branches"]
            print(f"{name}: {taken} of {count} taken, missing {listed}")
    taken, count = report["totals"]["covered_branches"], report["totals"]["num_branches"]
    percent = 100 * taken / max(count, 1)
    print(f"{folder}: {percent:.2f} % of {count} branches taken, at least {LEAST_PERCENT:g} % needed")
    return 0 if percent >= LEAST_PERCENT else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    sys.exit(main(sys.argv[1:]))
