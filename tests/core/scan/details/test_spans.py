"""Unions of spans, and cut lines, compared with sets and counts of whole numbers."""

import numpy as np
import pytest

from addon.core.scan.rounds import CutLines, Spans
from tests.tiers import times


def random_spans(generator, count):
    line = generator.integers(0, 4, count)
    start = generator.integers(0, 20, count).astype(float)
    return Spans(line, start, start + generator.integers(0, 5, count))


def halves_of(spans):
    """Points at all halves that spans contain, with their lines."""
    return {
        (line, half / 2)
        for line, start, end in zip(*(values.tolist() for values in spans), strict=True)
        for half in range(int(2 * start), int(2 * end) + 1)
    }


@pytest.mark.parametrize("seed", range(times(80, 20, full=200)))
def test_joined_spans_hold_the_same_points_and_cover_what_lies_within_one(seed):
    generator = np.random.default_rng(seed)
    first, second = (random_spans(generator, generator.integers(0, 12)) for _ in range(2))
    joined = Spans.concatenate([first, second]).union()
    assert halves_of(joined) == halves_of(first) | halves_of(second)
    for line in range(4):
        rows = np.flatnonzero(joined.line == line)
        assert (joined.start[rows][1:] > joined.end[rows][:-1]).all()
    assert (np.diff(joined.line) >= 0).all()
    wanted = random_spans(generator, 30)
    points = halves_of(joined)
    for row, is_covered in enumerate(joined.cover(wanted).tolist()):
        alone = Spans(*(values[row : row + 1] for values in wanted))
        assert is_covered == (halves_of(alone) <= points)


def test_spans_of_no_line_cover_nothing():
    none = Spans(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
    assert none.union().line.tolist() == []
    assert none.cover(Spans(np.array([0]), np.array([1.0]), np.array([2.0]))).tolist() == [False]


@pytest.mark.parametrize("seed", range(times(40, 10, full=100)))
def test_positions_have_the_same_number_if_no_cut_is_between_them(seed):
    generator = np.random.default_rng(seed)
    cut, before, after = CutLines(), [], []
    for _ in range(generator.integers(0, 4)):
        for is_before, known in ((True, before), (False, after)):
            count = generator.integers(0, 5)
            lines, positions = generator.integers(0, 3, count), generator.integers(0, 8, count).astype(float)
            cut.cut(lines, positions, is_before)
            known += zip(lines.tolist(), positions.tolist(), strict=True)
    lines, positions = generator.integers(0, 3, 30), generator.integers(0, 16, 30) / 2
    found = cut.pieces(lines, positions)
    for a in range(30):
        for b in np.flatnonzero(lines == lines[a]).tolist():
            low, high = sorted((positions[a], positions[b]))
            is_cut = any(line == lines[a] and low < at <= high for line, at in before)
            is_cut |= any(line == lines[a] and low <= at < high for line, at in after)
            assert (found[a] != found[b]) == is_cut
