"""Names in narrow columns: what differs stays visible."""

from __future__ import annotations

import pytest

from addon.ui.short_names import common_prefix, shortened


def up_to(count: int):
    """Return a function that accepts texts of at most so many characters."""
    return lambda text: len(text) <= count


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Warehouse_Crate.001", "Warehouse_Crate.002"], "Warehouse_Crate."),
        (["Warehouse_Crate", "Warehouse_Cart"], "Warehouse_"),
        (["Crate.001", "Crate.001.002"], "Crate."),
        (["Crate", "Crate.001"], ""),
        (["Floor", "Wall"], ""),
        (["Same.001"], "Same."),
        ([], ""),
        (["", "A.b"], ""),
    ],
)
def test_prefix_ends_with_a_separator_and_leaves_a_part_of_each_name(names, expected):
    assert common_prefix(names) == expected


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (30, "Warehouse_Shelf_Crate.0448"),
        (18, "\u2026Shelf_Crate.0448"),
        (12, "\u2026Crate.0448"),
        (6, "\u20260448"),
        (4, "\u202648"),
        (1, "\u20268"),
    ],
)
def test_name_loses_words_that_all_names_have_before_anything_else(room, expected):
    name = shortened("Warehouse_Shelf_Crate.0448", "Warehouse_Shelf_Crate.", up_to(room))
    if room < 5:
        assert name.endswith("8") and "\u2026" in name and len(name) <= max(room, 2)
    else:
        assert name == expected


def test_name_without_common_prefix_is_shortened_in_the_middle():
    name = shortened("Paddle Left Upper.012", "", up_to(12))
    assert len(name) == 12 and name.startswith("Pad") and name.endswith("er.012")


@pytest.mark.parametrize("room", range(1, 30))
def test_shortened_name_fits_wherever_one_character_does(room):
    name = shortened("K\u00e4fig \u7bb1 mit Griff.0815", "K\u00e4fig ", up_to(room))
    assert len(name) <= max(room, 2)
