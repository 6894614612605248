"""Computations that run in steps: results, errors, pauses, and their end where nobody wants the result."""

from __future__ import annotations

import threading
import time

import pytest

from addon.core.progress import in_steps, pause, run_to_end


def sum_slowly(count: int, log: list[int]) -> int:
    for number in range(count):
        pause()
        log.append(number)
        time.sleep(0.03)
    return sum(range(count))


def test_computation_returns_its_result_and_yields_at_its_pauses():
    steps = in_steps(lambda: sum_slowly(4, []), 0.5)
    parts = []
    while True:
        try:
            parts.append(next(steps))
        except StopIteration as stop:
            assert stop.value == 6
            break
    assert set(parts) == {0.5}
    assert len(parts) in (3, 4)  # pauses before the first number too if the machine is slow


def test_computation_never_runs_at_the_same_time_as_what_waits_for_it():
    log: list[int] = []
    steps = in_steps(lambda: sum_slowly(3, log), 0.0)
    next(steps)
    before = list(log)
    time.sleep(0.1)
    assert log == before
    assert run_to_end(steps) == 3
    assert log == [0, 1, 2]


def test_error_of_a_computation_is_raised_where_its_result_is_wanted():
    def fail() -> None:
        sum_slowly(2, [])
        raise ValueError("a message")

    with pytest.raises(ValueError, match="a message"):
        run_to_end(in_steps(fail, 0.0))


def test_closed_computation_ends_at_its_next_pause():
    log: list[int] = []
    threads = threading.active_count()
    steps = in_steps(lambda: sum_slowly(100, log), 0.0)
    next(steps)
    steps.close()
    assert len(log) < 3
    assert threading.active_count() == threads


def test_computation_within_another_one_pauses_that_one():
    steps = in_steps(lambda: run_to_end(in_steps(lambda: sum_slowly(3, []), 0.0)), 1.0)
    assert next(steps) == 1.0
    assert run_to_end(steps) == 3


def test_pause_of_what_runs_by_itself_does_nothing():
    assert sum_slowly(1, []) == 0
