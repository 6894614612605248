"""Runs a job to its end, or until Ctrl-C or SIGTERM."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

from ..core import Progress
from .progress_line import ProgressLine
from .stop_signals import recorded_stop_request

_Result = TypeVar("_Result")


def run_job(job: Generator[Progress, None, _Result], line: ProgressLine | None) -> _Result:
    """Run a job to its end and return its result; its progress goes to `line`.

    Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once the part of the job that is running has ended.
    """
    from ..scene.blender.private_scene import keeping_open

    place = ""
    results: list[_Result] = []
    # Nobody else looks at the file until the job has ended.
    with keeping_open(), _closed_afterwards(job, line), recorded_stop_request() as request:
        try:
            while not request:
                progress = next(job)
                phase = "" if progress.phase in ("frames", "meshes") else progress.phase
                place = f" while {phase}" if phase else f" at frame {progress.time:g}"
                if line and not request:
                    line.show(progress.share, 1.0, progress.time, phase=phase)
        except StopIteration as stop:
            results.append(stop.value)
    # Checked after the block, because the handlers record signals until its end.
    if request:
        raise KeyboardInterrupt(f"stopped by {request}{place}, nothing was written")
    return results[0]


@contextlib.contextmanager
def _closed_afterwards(job: Generator[Progress, None, Any], line: ProgressLine | None) -> Iterator[None]:
    try:
        yield
    finally:
        job.close()
        if line:
            line.clear()
