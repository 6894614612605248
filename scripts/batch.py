#!/usr/bin/env python3
"""Run a command of Collision Bounds on thousands of scene files, on one machine or on a cluster.

    python scripts/batch.py bounds|contacts FILE|FOLDER|PATTERN... -o FOLDER [--jobs N] [options]

It needs numpy, psutil and tqdm, and a Blender: pip's bpy in the same Python, or one that --blender names.
docs/pipelines.md has examples.
"""

import os
import signal
import sys
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End on Ctrl-C. An exception would become another one where a module is being imported."""
    os._exit(130)


def main() -> int:
    """Run, and return the exit code."""
    signal.signal(signal.SIGINT, end_at_once)
    try:
        from addon.core import CollisionBoundsError
        from batching.options import parse_options
        from batching.runs import run_batch
    except ModuleNotFoundError as error:
        print(f"batch: this Python has no {error.name}: pip install numpy psutil tqdm", file=sys.stderr)
        return 2
    try:
        return run_batch(parse_options(sys.argv[1:]))
    except CollisionBoundsError as error:
        print(f"batch: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
