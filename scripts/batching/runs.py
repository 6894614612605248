"""A run over many files: hands them out, keeps their outcomes, and stops at a signal."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from addon.cli.parser import UsageError

from . import tasks
from .blender_process import BlenderEndedError
from .executors import Workers, cluster_workers, default_blender, local_workers, threads_per_blender
from .inputs import count_inputs, find_inputs
from .options import BatchOptions
from .progress_lines import Progress, show_progress
from .records import Records
from .reports import final_remarks, write_reports
from .splits import SplitFiles
from .tasks import Outcome, Task

STOPPED = 130


def run_batch(options: BatchOptions) -> int:
    """Run the command on all files, and write the summaries.

    Returns
    -------
    exit_code : int
        0, or that of contacts or 2 as requested by the options, or 130 after Ctrl-C or SIGTERM.

    Raises
    ------
    UsageError
        If there is nothing to run, or no Blender to run it.
    """
    index, count = options.share
    total = len(range(index - 1, count_inputs(options.inputs, options.output), count))
    options = replace(options, jobs=max(1, min(options.jobs, total * options.split)))
    if options.baseline is not None and not options.baseline.is_dir():
        raise UsageError(f"--baseline {options.baseline}: is no folder")
    blender = options.blender or default_blender()
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{options.output}: cannot be created ({error.strerror})") from None
    with (
        _stop_request() as is_stopped,
        contextlib.closing(Records(options.output, options.share)) as records,
        show_progress(total, options.is_quiet) as progress,
    ):
        with _workers(options) as workers:
            version = _program_version(workers, options, blender)
            splits = SplitFiles(records)
            waiting = _divided(_tasks(options, records, blender, version), splits, options, total)
            _run(waiting, splits, workers, records, progress, is_stopped)
        counts = write_reports(options, records, version, is_complete=not is_stopped())
        remarks = () if is_stopped() else final_remarks(options, records, counts)
        progress.end(counts, remarks)
    if options.report is not None:
        from html_report import write_report  # needs Jinja2, which runs without a page do not

        write_report(options.output, options.report)
    if is_stopped():
        print("batch: stopped; the same command continues", file=sys.stderr)
        return STOPPED
    return _exit_code(options, counts)


def _exit_code(options: BatchOptions, counts: dict[str, int]) -> int:
    if options.fails_on_error and counts[tasks.FAILED]:
        return 2
    counts_contacts = options.fails_on_contact or options.fails_on_new
    return options.contact_exit_code if counts_contacts and counts[tasks.CONTACTS] else 0


def _workers(options: BatchOptions) -> contextlib.AbstractContextManager[Workers]:
    if options.scheduler is not None:
        return cluster_workers(options.scheduler)
    return local_workers(options.jobs)


def _program_version(workers: Workers, options: BatchOptions, blender: str) -> str:
    """Return the version of Blender and the program, and start the other Blenders in the meantime.

    Raises UsageError if Blender does not start.
    """
    task = _task(options, "", Path(), blender, "")
    first = workers.submit("program_version", task)
    if options.scheduler is None:
        for _ in range(1, options.jobs):
            workers.submit("start_blender", task)
    try:
        version: str = first.result()
    except BlenderEndedError as error:
        raise UsageError(f"--blender {error}") from None
    return version


def _task(options: BatchOptions, name: str, path: Path, blender: str, version: str) -> Task:
    # Contacts are compared with those of a document, whatever the format of the result.
    baseline = options.baseline / f"{name}.json" if options.baseline is not None else None
    return Task(
        name=name,
        file=str(path.absolute()),
        output=str((options.output / f"{name}{options.suffix}").absolute()),
        settings=tuple(options.settings),
        version=version,
        baseline=None if baseline is None else str(baseline.absolute()),
        blender=blender,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
        files_per_blender=options.files_per_blender,
        split=options.split,
        threads=0 if options.scheduler is not None else threads_per_blender(options.jobs),
    )


def _tasks(options: BatchOptions, records: Records, blender: str, version: str) -> Iterator[Task]:
    index, count = options.share
    found = find_inputs(options.inputs, options.output)
    for name, path in itertools.islice(found, index - 1, None, count):
        yield replace(_task(options, name, path, blender, version), known=records.known(name))


def _divided(tasks: Iterator[Task], splits: SplitFiles, options: BatchOptions, total: int) -> Iterator[Task]:
    """Divide new files at once if there are workers for all shares, which would wait for the decision else.

    total : number of files
    """
    is_direct = options.scheduler is None and options.split > 1 and options.jobs >= total * options.split
    for task in tasks:
        if is_direct and task.known is None:
            yield from splits.divide(task)
        else:
            yield task


def _run(
    waiting: Iterator[Task],
    splits: SplitFiles,
    workers: Workers,
    records: Records,
    progress: Progress,
    is_stopped: Callable[[], bool],
) -> None:
    """Run tasks, a limited number at a time, so that memory does not grow with the number of files."""
    running: dict[Future[Any], Task] = {}
    while not is_stopped():
        free = max(0, workers.window() - len(running))
        for task in itertools.islice(itertools.chain(splits.tasks(), waiting), free):
            running[workers.submit("run_file", task)] = task
        if not running:
            return
        ended, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in ended:
            task = running.pop(future)
            if is_stopped():
                break
            outcome = splits.take(task, _outcome(future, task.name))
            if outcome is not None:
                records.store(outcome)
                progress.show(outcome)


def _outcome(future: Future[Any], name: str) -> Outcome:
    try:
        result = future.result()
    except Exception as error:  # a full disk, a worker of the cluster that ended again and again
        reason = f"{type(error).__name__}: {error}"
        return Outcome(name, tasks.FAILED, reason, 1, 0.0, {}, {}, "", "")
    return result if isinstance(result, Outcome) else Outcome(**result)


@contextlib.contextmanager
def _stop_request() -> Iterator[Callable[[], bool]]:
    """Record Ctrl-C and SIGTERM instead of raising an exception; the second one ends the process."""
    requested = False

    def record(number: int, frame: FrameType | None) -> None:
        nonlocal requested
        requested = True
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    before = {number: signal.signal(number, record) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
