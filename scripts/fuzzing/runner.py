"""Loop over the cases of a target: finds exceptions, wrong results, slow cases and growing memory."""

from __future__ import annotations

import random
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from .target import Target

_PATIENCE = 10
"""A case is interrupted after this many times the time that it may take."""
_MAX_FOUND = 20
"""The search stops after this many wrong cases."""


class TooSlowError(Exception):
    """A case was interrupted."""


@dataclass
class Outcome:
    """Results of the cases of one target.

    Attributes
    ----------
    cases : int
        Number of cases.
    found : list of str
        A description of each wrong case.
    longest : float
        Processor time of the slowest case in seconds.
    growth : float
        Megabytes by which the peak memory grew after the first tenth of the time; 0 where it is unknown.
    """

    cases: int = 0
    found: list[str] = field(default_factory=list)
    longest: float = 0.0
    growth: float = 0.0


def run_cases(target: Target, seed: int, seconds: float, folder: Path) -> Outcome:
    """Try cases for a time, and write the input of each wrong case to a file.

    Parameters
    ----------
    target : Target
        What is tried.
    seed : int
        Of all cases; each has its own generator, so that a case does not depend on those before.
    seconds : float
        Time for all cases. The last case can end later.
    folder : Path
        Of the files.

    Returns
    -------
    outcome : Outcome
    """
    target.prepare()
    folder.mkdir(parents=True, exist_ok=True)
    # The file remains if a case kills the process.
    running = folder / f"{target.name}-running{target.suffix}"
    outcome, begin, peak = Outcome(), time.monotonic(), 0.0
    while (elapsed := time.monotonic() - begin) < seconds and len(outcome.found) < _MAX_FOUND:
        if elapsed < seconds / 10 or not peak:
            peak = peak_memory()
        content = target.make(random.Random(f"{seed} {target.name} {outcome.cases}"))
        running.write_bytes(content)
        problem, taken = try_case(target, content)
        outcome.longest = max(outcome.longest, taken)
        if problem:
            path = folder / f"{target.name}-{seed}-{outcome.cases}{target.suffix}"
            path.write_bytes(content)
            outcome.found.append(f"{problem}\n  input: {path}")
            print(f"{target.name}, seed {seed}, case {outcome.cases}: {outcome.found[-1]}", flush=True)
        outcome.cases += 1
    running.unlink(missing_ok=True)
    outcome.growth = peak_memory() - peak
    if outcome.growth > target.max_growth:
        outcome.found.append(f"the peak memory grew by {outcome.growth:.0f} MB")
        print(f"{target.name}, seed {seed}: {outcome.found[-1]}", flush=True)
    return outcome


def try_case(target: Target, content: bytes) -> tuple[str | None, float]:
    """Try one input. Return what is wrong, or None, and the processor time that it took."""
    begin = time.process_time()
    try:
        with _interrupted_after(_PATIENCE * target.max_seconds):
            problem = target.check(content)
    except Exception:
        problem = traceback.format_exc().strip()
    taken = time.process_time() - begin
    if problem is None and taken > target.max_seconds:
        problem = f"took {taken:.1f} s"
    return problem, taken


def peak_memory() -> float:
    """Return the largest memory of this process so far in MB; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raise TooSlowError in the block after a time, on systems with alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"interrupted after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
