"""Blenders at the same time share the processor cores."""

from __future__ import annotations

import os
import sys

import psutil
import pytest

from tests.paths import TOP

sys.path.insert(0, str(TOP / "scripts"))

from batching import executors
from batching.blender_process import BlenderProcess

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@pytest.mark.long
@pytest.mark.skipif(CORES < 2, reason="needs two cores on Linux")
def test_limited_blender_has_fewer_threads_and_may_use_all_cores():
    counts = []
    for limit in (0, 1):
        blender = BlenderProcess(sys.executable, limit)
        try:
            process = psutil.Process(blender._process.pid)
            counts.append(process.num_threads())
            assert process.cpu_affinity() == sorted(os.sched_getaffinity(0))
        finally:
            blender.end()
    assert counts[1] < counts[0]


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_matrix_library_of_numpy_has_one_thread_unless_the_user_wants_more(monkeypatch, given, expected):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if given:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    blender = BlenderProcess(sys.executable)
    try:
        assert psutil.Process(blender._process.pid).environ()["OPENBLAS_NUM_THREADS"] == expected
    finally:
        blender.end()


@pytest.mark.parametrize(("cores", "jobs", "expected"), [(8, 1, 0), (8, 2, 4), (8, 3, 2), (2, 4, 1)])
def test_cores_are_divided_among_blenders(monkeypatch, cores, jobs, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert executors.threads_per_blender(jobs) == expected
