"""Options and hooks of all tests: the tier, the limit of processor time, temporary files, Blender's exit."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import strategies as st

from tests import tiers

_exit_code = 0

# Shells let a command in the background ignore Ctrl-C, and child processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Blender as a module leaves its temporary folder if the process ends by `os._exit` or is killed. This folder
# is set before other modules import bpy, and the processes that tests start inherit it. Folders of `tmp_path`
# are elsewhere, because pytest keeps those of the last three runs.
_temporary_files = tempfile.TemporaryDirectory(prefix="collision_bounds_tests_")
os.environ.update(dict.fromkeys(("TMPDIR", "TEMP"), _temporary_files.name))

# Groups run at the same time, one per processor, and threads of NumPy's matrix library repeat a loop while
# they wait for each other: with one thread, tests take down to half the processor time. The full tier of
# `dev.py` sets as many as by default. The number has an effect before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=tiers.TIERS,
        default="push",
        help="the tests to run: see tests/tiers.py (default: push, which runs all tests)",
    )


@pytest.hookimpl(trylast=True)  # after the terminal reporter is registered
def pytest_configure(config: pytest.Config) -> None:
    tiers.select(config.getoption("tier"))
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(terminal, pytest.TerminalReporter):
        config.pluginmanager.register(ImmediateFailures(terminal))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests of other tiers."""
    selected, deselected = [], []
    for item in items:
        is_selected = tiers.is_selected({marker.name for marker in item.iter_markers()})
        (selected if is_selected else deselected).append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = selected


@pytest.fixture(scope="session", autouse=True)
def characters() -> None:
    """Let Hypothesis store the properties of all characters, which takes seconds on a new machine.

    Otherwise the first test of texts does it, and is over the limit.
    """
    st.text().validate()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a slow test of the quick tier, so that the tier stays quick."""
    before = tiers.processor_time()
    result = yield
    spent = tiers.processor_time() - before
    if tiers.is_over_limit(spent):
        pytest.fail(
            f"took {spent:.1f} s of processor time, more than the {tiers.QUICK_SECONDS:g} s of a quick test:"
            " make it faster, or mark it long",
            pytrace=False,
        )
    return result


class ImmediateFailures:
    """Print each failure immediately, because there is no summary after a crash of Blender."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.terminal.write_line(f"\n{report.nodeid}: {crash.message if crash else report.longrepr}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    global _exit_code
    _exit_code = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Exit without Blender's clean-up: as a module, 4.5 can wait forever for one of its threads."""
    _temporary_files.cleanup()
    if "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_exit_code)
