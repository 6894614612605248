"""Contacts compared with those of an earlier document."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.formats import DocumentError, compare_contacts


def contact(
    a: str, b: str, *spans: tuple[float, float], uncertainty: float = 0.0, **more: Any
) -> dict[str, Any]:
    return {
        "a": a,
        "b": b,
        "shape": "aabb",
        "first": {"uncertainty": uncertainty},
        "intervals": [{"start": start, "end": end} for start, end in spans],
        **more,
    }


def document(*contacts: dict[str, Any], frames: tuple[float, float] = (1, 100)) -> dict[str, Any]:
    """Return the parts of a document that a comparison reads."""
    return {
        "format": "collision-bounds",
        "version": "1.1.0",
        "time": {"frameStart": frames[0], "frameEnd": frames[1]},
        "contacts": list(contacts),
    }


SPANS = st.tuples(st.floats(1, 90), st.floats(0, 10)).map(lambda span: (span[0], span[0] + span[1]))
CONTACTS = st.builds(
    lambda pair, spans, uncertainty: contact(*pair, *spans, uncertainty=uncertainty),
    st.sampled_from([("A", "B"), ("B", "A"), ("A", "C")]),
    st.lists(SPANS, min_size=1, max_size=3),
    st.floats(0, 1),
)
DOCUMENTS = st.lists(CONTACTS, max_size=4).map(lambda contacts: document(*contacts))


@given(DOCUMENTS)
def test_document_has_nothing_new_or_gone_compared_with_itself(one):
    comparison = compare_contacts(one, one)
    assert not comparison.new and not comparison.gone
    assert comparison.unchanged == sum(len(entry["intervals"]) for entry in one["contacts"])


@given(DOCUMENTS, DOCUMENTS)
def test_what_is_new_is_gone_the_other_way_round(one, two):
    there, back = compare_contacts(one, two), compare_contacts(two, one)
    assert there.new == back.gone and there.gone == back.new
    assert there.unchanged + len(there.new) == sum(len(entry["intervals"]) for entry in one["contacts"])


@given(DOCUMENTS)
def test_everything_is_new_without_contacts_in_the_baseline(one):
    comparison = compare_contacts(one, document())
    assert comparison.unchanged == 0 and not comparison.gone
    assert len(comparison.new) == sum(len(entry["intervals"]) for entry in one["contacts"])


@pytest.mark.parametrize(
    ("now", "uncertainty", "is_new"),
    [
        ((10, 12), 0.0, False),
        ((8, 30), 0.0, False),
        ((20, 25), 0.0, False),
        ((20.5, 25), 0.0, True),
        ((20.5, 25), 0.6, False),
        ((3, 4), 0.0, True),
    ],
)
def test_contact_is_known_if_it_overlaps_one_of_its_pair_within_the_uncertainty(now, uncertainty, is_new):
    known = document(contact("B", "A", (10, 20)))
    comparison = compare_contacts(document(contact("A", "B", now, uncertainty=uncertainty)), known)
    assert bool(comparison.new) == is_new and bool(comparison.gone) == is_new


def test_second_contact_of_a_known_pair_is_new():
    known, now = document(contact("A", "B", (10, 20))), document(contact("A", "B", (10, 20), (40, 41)))
    (new,) = compare_contacts(now, known).new
    assert (new.start, new.end) == (40, 41)


def test_contact_outside_the_frames_of_a_scan_is_not_gone():
    known = document(contact("A", "B", (10, 20)), contact("A", "C", (60, 70)))
    comparison = compare_contacts(document(frames=(50, 100)), known)
    assert [(entry.a, entry.b) for entry in comparison.gone] == [("A", "C")]


def test_contacts_of_different_shapes_are_not_compared():
    spheres = document(contact("A", "B", (1, 2)) | {"shape": "sphere"})
    with pytest.raises(DocumentError, match="of the shape sphere, those of this scan of aabb"):
        compare_contacts(document(contact("A", "B", (1, 2))), spheres)


def test_accepted_contacts_are_not_new():
    before = document(contact("A", "B", (10, 20)))
    now = document(contact("A", "B", (10, 20), (30, 40), accepted="hinge"), contact("A", "C", (5, 6)))
    comparison = compare_contacts(now, before)
    assert [(entry.a, entry.b) for entry in comparison.new] == [("A", "C")]
    assert comparison.unchanged == 1 and comparison.accepted == 1
    assert comparison.counts_text() == "1 new, 0 gone, 1 unchanged, 1 accepted"
    assert comparison.as_json()["accepted"] == 1
