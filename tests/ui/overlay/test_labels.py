"""Labels: next to their boxes, never over each other, the most important first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon.ui.overlay.flat import place_labels, screen_rectangles

VIEWPORT = (800, 600)
FREE = (0, 0, *VIEWPORT)
PIXELS = st.floats(0, 800)


@given(st.lists(st.tuples(PIXELS, PIXELS, st.floats(0, 300), st.floats(10, 200)), max_size=150))
def test_labels_are_inside_the_view_and_never_over_each_other(boxes):
    rectangles = np.array([(x, y, x + size, y + size) for x, y, size, _ in boxes]).reshape(-1, 4)
    widths = np.array([width for *_, width in boxes])
    placed = place_labels(rectangles, widths, 20.0, FREE)
    assert len(placed) == len(boxes)
    shown = [box for box in placed if len(box)]
    for number, a in enumerate(shown):
        assert (a[:2] >= 0).all() and a[2] <= 800 and a[3] <= 600
        for b in shown[:number]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]


def test_label_is_next_to_its_box_and_the_first_of_two_gets_the_place():
    rectangles = np.array([(100.0, 100, 200, 200), (100, 100, 200, 200)])
    first, second = place_labels(rectangles, np.array([50.0, 50.0]), 20.0, FREE)
    assert first[0] > 200 and first[1] == 140
    assert len(second) and second[2] < 100


def test_label_without_room_is_dropped():
    rectangles = np.tile([300.0, 300.0, 340.0, 340.0], (5, 1))
    placed = place_labels(rectangles, np.full(5, 100.0), 20.0, FREE)
    assert [len(box) > 0 for box in placed] == [True] * 4 + [False]


@given(st.lists(st.tuples(PIXELS, PIXELS, st.floats(0, 900), st.floats(10, 200)), max_size=60))
def test_no_label_covers_the_middle_of_a_labeled_box(boxes):
    rectangles = np.array([(x - size, y - size, x + size, y + size) for x, y, size, _ in boxes])
    placed = place_labels(rectangles.reshape(-1, 4), np.array([width for *_, width in boxes]), 20.0, FREE)
    middles = [(x, y) for (x, y, *_), box in zip(boxes, placed, strict=True) if len(box)]
    for x, y in middles:
        assert not [b for b in placed if len(b) and b[0] < x < b[2] and b[1] < y < b[3]]


def test_box_larger_than_the_view_has_a_label_inside_the_view():
    (label,) = place_labels(np.array([[-900.0, -900, 2000, 2000]]), np.array([80.0]), 20.0, FREE)
    assert label.tolist() == [720, 540, 800, 560]


def test_labels_leave_what_a_toolbar_covers():
    (label,) = place_labels(np.array([[10.0, 290, 30, 310]]), np.array([80.0]), 20.0, (100, 0, 800, 600))
    assert label.tolist() == [100, 290, 180, 310]


def test_rectangles_are_those_of_all_corners():
    # An orthographic view of 8 by 6 units.
    matrix = np.diag([1 / 4, 1 / 3, 0.1, 1.0])
    positions = np.array([[1, 1, 2], [9, 0, 0], [0, 0, -1]], dtype=np.float32)
    sizes = np.array([[0.5, 1, 0.1], [1, 1, 1], [1, 1, 1]], dtype=np.float32)
    rectangles, depths, indices = screen_rectangles(positions, sizes, matrix, VIEWPORT)
    assert indices.tolist() == [0, 2] and depths[1] < depths[0]
    np.testing.assert_allclose(rectangles[0], (450, 300, 550, 500), atol=1e-3)


def test_label_goes_where_it_covers_no_other_box():
    # The second box has no label: it is where the label of the first would be, if it were to the right.
    rectangles = np.array([(100.0, 100, 200, 200), (210, 100, 310, 200)])
    first, _ = place_labels(rectangles, np.array([90.0, 9000.0]), 20.0, FREE)
    assert first[2] < 100
