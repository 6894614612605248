"""Runs of the tests on mutants: a pytest plugin that collects once, and forks a process for each mutant."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from tests import tiers

from .mutations import Mutant, code_objects, functions_by_code

KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"

# Since Python 3.12, but types are checked for 3.11.
_MONITORING: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
_MEMORY = 6 << 30
"""Address space of a process in bytes, because a mutant can ask for an array of any size."""
_MIN_SECONDS, _SLOWDOWN = 5.0, 20.0
"""Processor time that a test may take on a mutant: this many seconds, and this many times the usual time."""


class MutantRuns:
    """Plugin that runs the tests on each mutant until one fails.

    Attributes
    ----------
    failed : list of str
        Tests that fail without a mutant. If there are any, no mutant is tested.
    states : list of str
        KILLED, TIMED_OUT or SURVIVED, for each mutant.
    """

    def __init__(self, mutants: Sequence[Mutant], report: Callable[[Mutant, str, str], None]) -> None:
        self.mutants = mutants
        self.report = report
        self.failed: list[str] = []
        self.states: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Stop hypothesis at the first failure, and lift the time limit of the quick tier."""
        settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")
        tiers.QUICK_SECONDS = float("inf")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests without a mutant, then for each mutant those that execute the changed statement."""
        items, functions = session.items, functions_by_code()
        gc.freeze()
        measured, _ = in_child(lambda send: _measure(items, self.mutants, send))
        self.failed = [items[i].nodeid for i, failed, *_ in measured if failed]
        seconds = [spent for _, _, spent, _ in measured]
        tests_by_line: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for i, _, _, lines in measured:
            for function, line in lines:
                tests_by_line[function, line].add(i)
        kills: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for mutant in () if self.failed else self.mutants:
            # Defaults of parameters are in no statement.
            lines = mutant.lines or {line for name, line in tests_by_line if name == mutant.function}
            covering = set().union(*(tests_by_line[mutant.function, line] for line in lines))
            # Tests that killed other mutants of the function are the most likely to kill this one.
            killers = kills[mutant.function]
            order = sorted(covering, key=lambda i: (-killers[i], seconds[i]))
            tests = [(items[i], max(_MIN_SECONDS, _SLOWDOWN * seconds[i])) for i in order]
            started, status = in_child(partial(_test, mutant, functions, tests))
            killer = ""
            if status and started:
                killers[order[started[-1]]] += 1
                killer = tests[started[-1]][0].nodeid
            self.states.append(TIMED_OUT if status == signal.SIGPROF else KILLED if status else SURVIVED)
            self.report(mutant, self.states[-1], killer)
        return True


def in_child(run: Callable[[Callable[[Any], None]], int]) -> tuple[list[Any], int]:
    """Run a function in a forked process; return what it sent, and its exit code or signal."""
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)

            def send(message: Any) -> None:
                os.write(write, json.dumps(message).encode() + b"\n")

            code = run(send)
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        sent = [json.loads(line) for line in stream.read().splitlines()]
    return sent, abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _measure(items: Sequence[pytest.Item], mutants: Sequence[Mutant], send: Callable[[Any], None]) -> int:
    """Send the index of each test, whether it fails, its processor time, and the lines that it executes."""
    _silence()
    functions = {mutant.function: mutant.original().__code__ for mutant in mutants}
    names = {code: name for name, whole in functions.items() for code in code_objects(whole)}
    lines: set[tuple[str, int]] = set()

    def record(code: CodeType, line: int) -> object:
        lines.add((names[code], line))
        return _MONITORING.DISABLE

    tool = _MONITORING.COVERAGE_ID
    _MONITORING.use_tool_id(tool, "mutants")
    _MONITORING.register_callback(tool, _MONITORING.events.LINE, record)
    for code in names:
        _MONITORING.set_local_events(tool, code, _MONITORING.events.LINE)
    for i, item in enumerate(items):
        lines.clear()
        _MONITORING.restart_events()
        begin = tiers.processor_time()
        failed = _fails(item, items[i + 1] if i + 1 < len(items) else None)
        send((i, failed, tiers.processor_time() - begin, sorted(lines)))
    return 0


def _test(
    mutant: Mutant,
    functions: dict[CodeType, list[Any]],
    tests: Sequence[tuple[pytest.Item, float]],
    send: Callable[[Any], None],
) -> int:
    """Run tests on a mutant until one fails, and send the position of each; return 1 if one fails."""
    _silence()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    mutant.activate(functions)
    for i, (item, limit) in enumerate(tests):
        send(i)
        # Without a handler, the signal ends the process.
        signal.setitimer(signal.ITIMER_PROF, limit)
        if _fails(item, tests[i + 1][0] if i + 1 < len(tests) else None):
            return 1
    return 0


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _silence() -> None:
    """Discard the output of this process, and give it no input."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
