"""The line on a terminal, with a clock that goes as the test wants."""

from __future__ import annotations

import io

from addon.progress_line import ProgressLine


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_percent_and_frame_at_once_and_the_time_left_after_a_second():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    line.show(1, 250, -3.5)
    clock.now += 50
    line.show(100, 250, 96)
    # 50 seconds for 100 of them: 75 for the rest.
    assert stream.getvalue() == "\r  0%  frame -3.5\r 40%  frame 96  1:15 left"


def test_hours_are_told():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    clock.now += 60
    line.show(1, 100, 1)
    assert stream.getvalue().endswith("1:39:00 left")


def test_what_comes_a_moment_later_is_not_written():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    for frame in range(1, 100):
        line.show(frame, 100, frame)
        clock.now += 0.02
    assert stream.getvalue().count("frame") < 25


def test_shorter_text_leaves_nothing_of_a_longer_one_and_clearing_leaves_an_empty_line():
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    line.show(1, 10, 123456.5)
    clock.now += 0.5
    line.show(2, 10, 1)
    line.clear()
    first, second, blank, rest = stream.getvalue().split("\r")[1:]
    assert len(second) == len(first) and not blank.strip() and rest == ""
    assert len(blank) >= len(second.rstrip())


def test_nothing_shown_leaves_nothing_to_clear():
    stream = io.StringIO()
    ProgressLine(stream).clear()
    assert stream.getvalue() == ""
