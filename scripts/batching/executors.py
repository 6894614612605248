"""Where files run: in threads of this process, each with a Blender, or on the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from addon.cli.parser import UsageError

from . import tasks
from .tasks import Task

_WAITING = 4
"""Tasks that wait for each worker, so that none has to wait for this process."""


@dataclass(frozen=True)
class Workers:
    """Workers that run tasks.

    Attributes
    ----------
    submit : callable
        Calls a function of `tasks` with a task; returns the future of its result.
    window : callable
        Returns how many tasks to submit at a time.
    """

    submit: Callable[[str, Task], Future[Any]]
    window: Callable[[], int]


@contextlib.contextmanager
def local_workers(jobs: int) -> Iterator[Workers]:
    """Run tasks in threads, each of which keeps a Blender."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield Workers(lambda function, task: pool.submit(getattr(tasks, function), task), lambda: 2 * jobs)
    finally:
        # Killed first, because a thread waits for its Blender.
        tasks.kill_blenders()
        pool.shutdown(cancel_futures=True)
        tasks.end_blenders()


@contextlib.contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """Run tasks on the workers of a Dask scheduler.

    The workers must see the checkout, the files and the results at the same paths. A worker that ends loses
    nothing: the scheduler gives its tasks to another one.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(f"--dask needs the package {error.name}: pip install distributed") from None
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"--dask {address}: no scheduler answers ({error})") from None
    with client:
        if not client.nthreads():
            raise UsageError(
                f"--dask {address}: the scheduler has no workers; start one: dask worker {address}"
            )
        pool = client.get_executor(pure=False, retries=2)
        call = _sent_function(str(Path(__file__).resolve().parents[2]))
        yield Workers(
            lambda function, task: pool.submit(call, function, asdict(task)),
            lambda: _WAITING * sum(client.nthreads().values()),
        )


def _sent_function(root: str) -> Callable[[str, dict[str, Any]], Any]:
    """Return a function for workers and scheduler that do not have the checkout on their path.

    Dask sends a function within a function as code, not by its name. Its values are built-in types, because
    the scheduler reads them too.
    """

    def call(function: str, fields: dict[str, Any]) -> Any:
        import sys
        from dataclasses import asdict

        sys.path[:0] = [folder for folder in (root, f"{root}/scripts") if folder not in sys.path]
        from batching import tasks

        known = fields["known"]
        task = tasks.Task(**fields | {"known": known and tasks.Outcome(**known)})
        result = getattr(tasks, function)(task)
        return asdict(result) if isinstance(result, tasks.Outcome) else result

    return call


def threads_per_blender(jobs: int) -> int:
    """Return how many threads each of the Blenders on this machine may have; 0 for no limit."""
    if jobs == 1:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // jobs)


def default_blender() -> str:
    """Return this Python, if it has bpy. Raises UsageError if it has not."""
    import importlib.util

    if importlib.util.find_spec("bpy") is None:
        raise UsageError(
            f"this Python has no bpy: run {sys.executable} -m pip install bpy, or use --blender PROGRAM"
        )
    return os.fspath(sys.executable)
