"""Batches and invalid input of the queries for moving shapes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    InvalidShapeError,
    Obb,
    Segment,
    Sphere,
    Triangle,
    TriangleMesh,
    UnsupportedPairError,
    closest_time,
    first_impact,
    overlap_span,
    time_of_impact,
)
from tests.core.motions import BATCHES, WITH_CLOSEST, take_rows
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


# --- batches ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BATCHES)
def test_broadcast_batches_match_single_pairs(kind):
    # One start with many ends, one shape against many: (), (5,), (3, 1) broadcast to (3, 5). The counts
    # include 6 and 3, because a batch of that size must not be confused with six gaps or three axes.
    for count in (6, 3, 5, 1)[: times(2, 1, full=4)]:
        a0, a1, b0, b1 = BATCHES[kind](np.random.default_rng(18), 3 * count)
        at_rest = isinstance(b0, Triangle)
        motion = [a0[0], a1[:count], b1[:3].reshaped((3, 1)) if at_rest else b0[0], b1[:3].reshaped((3, 1))]
        found = first_impact(*motion)
        assert found.time.shape == found.status.shape == (3, count)
        assert found.point.shape == found.normal.shape == (3, count, 3)
        spans = overlap_span(*motion)
        near = overlap_span(*motion, clearance=0.5)
        closest = closest_time(*motion) if kind in WITH_CLOSEST else None
        for i in range(3):
            for j in range(count):
                alone = a0[0], a1[j], b1[i] if at_rest else b0[0], b1[i]
                one = first_impact(*alone)
                assert one.time.shape == one.status.shape == ()
                for part, whole in zip(one, found, strict=True):
                    np.testing.assert_allclose(whole[i, j], part, rtol=0, atol=1e-12)
                for whole, clearance in ((spans, 0.0), (near, 0.5)):
                    expected = overlap_span(*alone, clearance=clearance)
                    np.testing.assert_allclose([t[i, j] for t in whole], expected, rtol=0, atol=1e-12)
                if closest is not None:
                    assert closest[i, j] == pytest.approx(closest_time(*alone), abs=1e-12)


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("batch", [(0,), (0, 4), (4, 0)])
def test_empty_batches_have_empty_results(kind, batch):
    motion = [shape[:0].reshaped(batch) for shape in BATCHES[kind](np.random.default_rng(19), 3)]
    found = first_impact(*motion)
    assert found.time.shape == found.status.shape == batch
    assert found.point.shape == found.normal.shape == (*batch, 3)
    assert time_of_impact(*motion).shape == batch
    for clearance in (0.0, 1.0):
        assert [bound.shape for bound in overlap_span(*motion, clearance=clearance)] == [batch, batch]
    if kind in WITH_CLOSEST:
        assert closest_time(*motion).shape == batch


@pytest.mark.smoke
def test_chunked_batches_match_subsets():
    # Larger than the chunks into which batches are cut.
    for kind, count in (("spheres", 20_000), ("oriented boxes", 5000)):
        motion = BATCHES[kind](np.random.default_rng(20), count)
        found = time_of_impact(*motion)
        subset = np.arange(0, count, 97)
        np.testing.assert_allclose(
            found[subset], time_of_impact(*take_rows(motion, subset)), rtol=0, atol=1e-12
        )


# --- invalid input ---------------------------------------------------------------------------------------

QUERIES = {
    time_of_impact: "sweep",
    first_impact: "sweep",
    overlap_span: "overlap span",
    closest_time: "closest time",
}
BALL, BOX, OBB = Sphere([0, 0, 0], 1), Aabb([0, 0, 0], [1, 1, 1]), Obb([0, 0, 0], [1, 1, 1], np.eye(3))
SEGMENT, TRIANGLE = Segment([0, 0, 0], [1, 0, 0]), Triangle([0, 0, 0], [1, 0, 0], [0, 1, 0])
MESH = TriangleMesh(Triangle([[0, 0, 0]], [[1, 0, 0]], [[0, 1, 0]]))


@pytest.mark.parametrize("query", QUERIES)
def test_unsupported_pair_is_rejected_with_kinds_in_message(query):
    with pytest.raises(InvalidShapeError, match=f"^no {QUERIES[query]} of Segment and Aabb$"):
        query(SEGMENT, SEGMENT, BOX, BOX)
    with pytest.raises(InvalidShapeError, match=f"^no {QUERIES[query]} of Sphere and Segment$"):
        query(BALL, BALL, SEGMENT, SEGMENT)
    with pytest.raises(InvalidShapeError, match=f"^no {QUERIES[query]} of Aabb and Triangle$"):
        query(BOX, BOX, TRIANGLE, TRIANGLE)
    with pytest.raises(InvalidShapeError, match=f"^no {QUERIES[query]} of TriangleMesh and TriangleMesh$"):
        query(MESH, MESH, MESH, MESH)


@pytest.mark.parametrize(("a", "b"), [(OBB, OBB), (BALL, OBB), (OBB, BALL), (BOX, OBB)])
def test_closest_times_of_oriented_boxes_are_rejected(a, b):
    with pytest.raises(InvalidShapeError, match=f"of {type(a).__name__} and {type(b).__name__}"):
        closest_time(a, a, b, b)


@pytest.mark.parametrize("query", QUERIES)
def test_samples_of_different_kinds_are_rejected(query):
    with pytest.raises(InvalidShapeError, match="motion of Sphere and Aabb"):
        query(BALL, BOX, BALL, BALL)
    with pytest.raises(InvalidShapeError, match="motion of Aabb and Obb"):
        query(BALL, BALL, BOX, OBB)
    with pytest.raises(InvalidShapeError, match=r"^no motion of Aabb and Obb$"):
        query(BOX, OBB, BALL, BALL)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(("first", "second"), [(BALL, BALL), (BOX, BOX), (TRIANGLE, BALL)])
def test_incompatible_batches_are_rejected_with_shapes_in_message(query, first, second):
    two, three = first.broadcast_to((2,)), second.broadcast_to((3,))
    with pytest.raises(InvalidShapeError, match=r"\(2,\) and \(2,\) and \(3,\) and \(3,\) do not broadcast"):
        query(two, two, three, three)
    with pytest.raises(InvalidShapeError, match=r"\(2,\) and \(3,\) and \(3,\) and \(3,\) do not broadcast"):
        query(two, first.broadcast_to((3,)), three, three)


@pytest.mark.parametrize("clearance", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [BALL, BOX])
def test_negative_or_infinite_clearance_is_rejected(shape, clearance):
    with pytest.raises(InvalidShapeError, match=r"^clearance: "):
        overlap_span(shape, shape, shape, shape, clearance=clearance)


def test_clearance_of_a_span_is_zero_by_default():
    # The gap shrinks from 3 to 1: the shapes are never within 0 of each other.
    far, near = Sphere([5, 0, 0], 1), Sphere([3, 0, 0], 1)
    assert np.isnan(overlap_span(BALL, BALL, far, near)).all()


@pytest.mark.parametrize("query", [time_of_impact, closest_time, overlap_span])
@pytest.mark.parametrize("place", range(4))
def test_argument_that_is_no_shape_is_named(query, place):
    shapes = [Sphere([k, 0, 0], 1) for k in range(4)]
    shapes[place] = "sphere"
    name = ("a_start", "a_end", "b_start", "b_end")[place]
    with pytest.raises(UnsupportedPairError, match=f"^{name}: is not a shape"):
        query(*shapes)


@pytest.mark.parametrize("query", [time_of_impact, closest_time, overlap_span])
def test_both_samples_that_are_no_shapes_are_named(query):
    sphere = Sphere([0, 0, 0], 1)
    with pytest.raises(UnsupportedPairError, match=r"^a_start: is not a shape"):
        query("a", "a", sphere, sphere)
    with pytest.raises(UnsupportedPairError, match=r"^b_start: is not a shape"):
        query(sphere, sphere, "b", "b")
