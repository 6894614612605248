#!/usr/bin/env python3
"""Run a command of Collision Bounds on thousands of scene files, on one machine or on a cluster.

    python scripts/batch.py bounds|contacts FILE|FOLDER|PATTERN... -o FOLDER [--jobs N] [options]
    python scripts/batch.py report DOCUMENT.json|FOLDER -o FILE.html

It needs numpy, psutil and tqdm, and a Blender: pip's bpy in the same Python, or one that --blender names.
`report` and `--report` need numpy and jinja2. docs/pipelines.md has examples.
"""

import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End on Ctrl-C. An exception would become another one where a module is being imported."""
    os._exit(130)


def main() -> int:
    """Run, and return the exit code."""
    signal.signal(signal.SIGINT, end_at_once)
    is_report = sys.argv[1:2] == ["report"]
    try:
        from addon.core import CollisionBoundsError

        if is_report:
            from html_report.command import run_report
        else:
            from batching.options import parse_options
            from batching.runs import run_batch
    except ModuleNotFoundError as error:
        packages = "numpy jinja2" if is_report else "numpy psutil tqdm"
        print(f"batch: this Python has no {error.name}: pip install {packages}", file=sys.stderr)
        return 2
    try:
        if is_report:
            return run_report(sys.argv[2:])
        return run_batch(parse_options(sys.argv[1:]))
    except CollisionBoundsError as error:
        print(f"batch: {error}", file=sys.stderr)
        return 2
    except Exception:
        # Python would exit with 1, the code of contacts.
        traceback.print_exc()
        return 3


if __name__ == "__main__":
    sys.exit(main())
