"""Progress line of a terminal, with a clock that the test controls."""

from __future__ import annotations

import io

from addon.cli.process import ProgressLine


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_percentage_and_frame_at_once_and_time_left_after_a_second():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    line.show(1 / 250, -3.5)
    clock.now += 50
    line.show(100 / 250, 96)
    # 100 of 250 frames took 50 seconds, so the other 150 take 75.
    assert stream.getvalue() == "\r  0%  frame -3.5\r 40%  frame 96  1:15 left"


def test_time_left_includes_hours():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    clock.now += 60
    line.show(1 / 100, 1)
    assert stream.getvalue().endswith("1:39:00 left")


def test_update_a_moment_later_is_not_written():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    for frame in range(1, 100):
        line.show(frame / 100, frame)
        clock.now += 0.02
    assert stream.getvalue().count("frame") < 25


def test_shorter_text_overwrites_longer_text_and_clear_leaves_empty_line():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    line.show(1 / 10, 123456.5)
    clock.now += 0.5
    line.show(2 / 10, 1)
    line.clear()
    first, second, blank, rest = stream.getvalue().split("\r")[1:]
    assert len(second) == len(first) and not blank.strip() and rest == ""
    assert len(blank) >= len(second.rstrip())


def test_clear_without_text_writes_nothing():
    stream = io.StringIO()
    ProgressLine(stream).clear()
    assert stream.getvalue() == ""
