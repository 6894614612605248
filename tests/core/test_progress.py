"""Computations that run in steps: results, errors, pauses, and their end where nobody wants the result."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest

from addon.core import TriangleMesh
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.progress import in_steps, pause, pausing, run_to_end
from addon.core.shapes.primitives import triangles_from_corners
from tests.core.mesh.solids import icosphere


@pytest.fixture
def window() -> Iterator[None]:
    with pausing():
        yield


def sum_slowly(count: int, log: list[int]) -> int:
    for number in range(count):
        pause()
        log.append(number)
        time.sleep(0.03)
    return sum(range(count))


def test_computation_returns_its_result_and_yields_at_its_pauses(window):
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


def test_computation_never_runs_at_the_same_time_as_what_waits_for_it(window):
    log: list[int] = []
    steps = in_steps(lambda: sum_slowly(3, log), 0.0)
    next(steps)
    before = list(log)
    time.sleep(0.1)
    assert log == before
    assert run_to_end(steps) == 3
    assert log == [0, 1, 2]


@pytest.mark.parametrize("is_in_window", [False, True])
def test_error_of_a_computation_is_raised_where_its_result_is_wanted(is_in_window):
    def fail() -> None:
        sum_slowly(2, [])
        raise ValueError("a message")

    with pausing() if is_in_window else nullcontext(), pytest.raises(ValueError, match="a message"):
        run_to_end(in_steps(fail, 0.0))


def test_closed_computation_ends_at_its_next_pause(window):
    log: list[int] = []
    threads = threading.active_count()
    steps = in_steps(lambda: sum_slowly(100, log), 0.0)
    next(steps)
    steps.close()
    assert len(log) < 3
    assert threading.active_count() == threads


def test_closed_computation_that_pauses_while_it_cleans_up_ends_too(window):
    def compute() -> None:
        try:
            sum_slowly(100, [])
        finally:
            time.sleep(0.03)
            pause()

    threads = threading.active_count()
    steps = in_steps(compute, 0.0)
    next(steps)
    steps.close()
    assert threading.active_count() == threads


def test_attribute_of_another_mesh_is_free_while_that_of_one_pauses(window):
    def mesh() -> MeshBvh:
        return TriangleMesh(triangles_from_corners(icosphere(5))).nodes

    first, second = mesh(), mesh()
    steps = in_steps(lambda: first.tree, 0.0)
    next(steps)
    assert "tree" not in vars(first), "no pause while the tree was built"
    other = threading.Thread(target=lambda: second.tree, daemon=True)
    other.start()
    other.join(60)
    assert not other.is_alive()
    np.testing.assert_array_equal(run_to_end(steps).order, second.tree.order)


def test_blocks_of_pauses_within_each_other_end_with_the_outer_one():
    with pausing():
        with pausing():
            pass
        steps = in_steps(lambda: sum_slowly(3, []), 1.0)
        assert next(steps) == 1.0
        run_to_end(steps)


def test_computation_within_another_one_pauses_that_one(window):
    steps = in_steps(lambda: run_to_end(in_steps(lambda: sum_slowly(3, []), 0.0)), 1.0)
    assert next(steps) == 1.0
    assert run_to_end(steps) == 3


def test_computation_without_a_window_runs_in_one_piece_and_needs_no_thread():
    threads = []
    steps = in_steps(lambda: threads.append(threading.current_thread()) or sum_slowly(3, []), 0.0)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == 3
    assert threads == [threading.main_thread()]
