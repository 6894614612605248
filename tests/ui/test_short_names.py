"""Names in narrow columns: what differs stays visible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.ui.texts import common_prefix, shared_prefixes, shortened, shortened_pair


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


def test_names_lose_the_words_that_some_others_begin_with():
    prefixes = shared_prefixes(
        [
            "Warehouse_North_Belt_Left_Upper_001",
            "Warehouse_North_Belt_Right_Upper_01",
            "Warehouse_Gripper",
            "Cart",
        ]
    )
    assert prefixes == {
        "Warehouse_North_Belt_Left_Upper_001": "Warehouse_North_Belt_",
        "Warehouse_North_Belt_Right_Upper_01": "Warehouse_North_Belt_",
        "Warehouse_Gripper": "Warehouse_",
        "Cart": "",
    }


def test_names_keep_words_without_which_others_would_look_the_same():
    names = ["North_Gate_Left", "North_Wall", "South_Gate_Left", "South_Arm"]
    assert shared_prefixes(names) == {
        "North_Gate_Left": "", "North_Wall": "North_", "South_Gate_Left": "", "South_Arm": "South_"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["Crate.001", "Crate.002", "Hatch.001", "Hatch.002"], ""),
        (["Crate.001", "Crate.002"], "Crate."),
        (["Cart"], ""),
        (["7", "12"], ""),
    ],
)
def test_numbers_alone_are_kept_only_where_all_names_have_the_same_words(names, prefix):
    assert shared_prefixes(names) == dict.fromkeys(names, prefix)


@given(st.lists(st.text("ab_."), min_size=1))
def test_prefix_is_the_longest_that_all_names_begin_with(names):
    prefixes = {name[:end] for name in names for end in range(1, len(name)) if name[end - 1] in "_."}
    shared = [prefix for prefix in prefixes if all(n.startswith(prefix) and n != prefix for n in names)]
    assert common_prefix(names) == max(shared, key=len, default="")


@given(st.lists(st.text("ab_1.", min_size=1, max_size=8), unique=True, max_size=8))
def test_names_differ_without_their_prefixes(names):
    prefixes = shared_prefixes(names)
    rests = {name.removeprefix(prefixes[name]) for name in names}
    assert len(rests) == len(names) and "" not in rests


def test_name_without_common_prefix_is_shortened_in_the_middle():
    name = shortened("Paddle Left Upper.012", "", up_to(12))
    assert len(name) == 12 and name.startswith("Pad") and name.endswith("er.012")


@pytest.mark.parametrize("room", range(1, 30))
def test_shortened_name_fits_wherever_one_character_does(room):
    name = shortened("K\u00e4fig \u7bb1 mit Griff.0815", "K\u00e4fig ", up_to(room))
    assert len(name) <= max(room, 2)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (
            "Warehouse Conveyor Belt Left Segment",
            "Warehouse Conveyor Belt Right Segment",
            ("\u2026Left S\u2026", "\u2026Right \u2026"),
        ),
        (
            "Left Warehouse Segment Upper",
            "Right Warehouse Segment Upper",
            ("Le\u2026Upper", "Ri\u2026Upper"),
        ),
        ("Floor", "Wall", ("Floor", "Wall")),
    ],
)
def test_names_of_a_pair_that_would_look_the_same_are_shortened_to_where_they_differ(a, b, expected):
    assert shortened_pair(a, b, {}, len, 16)[:2] == expected


@given(st.text("ab ", min_size=1, max_size=12), st.text("ab ", min_size=1, max_size=12), st.integers(4, 12))
def test_shortened_names_of_a_pair_fit(a, b, room):
    first, second, left = shortened_pair(a, b, {}, len, 2 * room)
    assert len(first) <= left and len(second) <= 2 * room - left


def test_short_name_leaves_the_long_one_of_its_pair_what_it_does_not_need():
    prefixes = {"Warehouse_Shelf_Crate.0448": "Warehouse_Shelf_"}
    crate, table = "Warehouse_Shelf_Crate.0448", "Table"
    assert shortened_pair(crate, table, prefixes, len, 18)[:2] == ("\u2026Crate.0448", "Table")
    assert shortened_pair(table, crate, prefixes, len, 31) == (table, crate, 5)
    # Where both fit into half of the room, all second names begin in one column.
    assert shortened_pair(table, "Floor_01", {}, len, 20) == (table, "Floor_01", 10)
