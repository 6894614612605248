"""Keys that a modal job receives, with simulated events; the tests of the window press real keys."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.ui import job_state
from addon.ui.job_state import RunningJob
from addon.ui.operators.modal_job import ModalJob

pytestmark = pytest.mark.usefixtures("settings")


class Endless(ModalJob):
    """A job without an end, whose operator records its reports."""

    def __init__(self):
        self._job = (None for _ in iter(int, 1))
        self.reports = []

    def report(self, kind, text):
        self.reports.append(text)

    def escape(self, is_repeat):
        event = SimpleNamespace(type="ESC", value="PRESS", is_repeat=is_repeat)
        return self.modal(bpy.context, event)


@pytest.fixture
def seconds(monkeypatch):
    """Return the clock of a running job, in seconds."""
    now = [0.0]
    monkeypatch.setattr(job_state._state, "job", RunningJob(lambda: now[0]))
    return now


def test_held_esc_stops_once_and_second_press_aborts(seconds):
    job = Endless()
    assert job.escape(is_repeat=False) == {"RUNNING_MODAL"}
    scan = job_state.running()
    assert scan.is_stopping
    for seconds[0] in (0.5, 1.5, 3.0):
        assert job.escape(is_repeat=True) == {"RUNNING_MODAL"}
    assert job_state.running() is scan and not job.reports
    assert job.escape(is_repeat=False) == {"CANCELLED"}
    assert job_state.running() is None and "no results of this scan were kept" in job.reports[0]
