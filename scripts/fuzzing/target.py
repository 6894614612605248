"""Interface of a target of the fuzzer."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A program or function that is tried with random and broken input.

    Attributes
    ----------
    name : str
        As in `--target NAME`.
    make : callable
        Makes the input of one case from a random number generator.
    check : callable
        Tries an input. Returns a description of what is wrong, or None.
    suffix : str
        Of the files with inputs, such as ".json".
    max_seconds : float
        A case that takes more processor time is wrong.
    max_growth : float
        Megabytes by which the peak memory may grow after the first tenth of the time.
    prepare : callable
        Is called once before the first case, to start what all cases need.
    """

    name: str
    make: Callable[[random.Random], bytes]
    check: Callable[[bytes], str | None]
    suffix: str
    max_seconds: float = 2.0
    max_growth: float = 100.0
    prepare: Callable[[], object] = lambda: None
