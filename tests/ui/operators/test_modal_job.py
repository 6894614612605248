"""Keys that a modal job receives, with simulated events; the tests of the window press real keys."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.core import Progress
from addon.scene.errors import SceneError
from addon.ui import job_state
from addon.ui.job_state import RunningJob
from addon.ui.operators.command import ModalJob

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
    monkeypatch.setattr(job_state, "_running", [RunningJob(lambda: now[0])])
    return now


def test_job_that_cannot_begin_is_refused_and_blocks_no_other(monkeypatch):
    def refused(self, context):
        raise SceneError("no group of that name")

    monkeypatch.setattr(Endless, "_runs_in_slices", lambda self, context: True)
    monkeypatch.setattr(Endless, "_create_job", refused)
    job = Endless()
    assert job.invoke(bpy.context, None) == {"CANCELLED"}
    assert job.reports == ["no group of that name"] and job_state.running() is None


def test_held_esc_stops_once_and_second_press_aborts(seconds):
    job, scan = Endless(), job_state.running()
    scan.update(Progress(1, 9, 1.0))
    assert job.escape(is_repeat=False) == {"RUNNING_MODAL"}
    assert scan.is_stopping
    for seconds[0] in (0.5, 1.5, 3.0):
        assert job.escape(is_repeat=True) == {"RUNNING_MODAL"}
    assert job_state.running() is scan and not job.reports
    assert job.escape(is_repeat=False) == {"CANCELLED"}
    assert job_state.running() is None and "no results of this scan were kept" in job.reports[0]


def test_esc_before_the_first_frame_ends_the_job_at_once(seconds):
    job, scan = Endless(), job_state.running()
    scan.update(Progress(0, 9, 1.0, part=0.03))
    assert job.escape(is_repeat=False) == {"CANCELLED"}
    assert job_state.running() is None and job.reports == ["Stopped: no results were kept"]


def test_esc_in_a_later_phase_keeps_what_was_found(seconds):
    job, scan = Endless(), job_state.running()
    scan.update(Progress(9, 9, 9.0, part=0.5))
    scan.update(Progress(0, 2, 4.0, "writing", part=0.5))
    assert job.escape(is_repeat=False) == {"RUNNING_MODAL"}
    assert job_state.running() is scan and not job.reports
