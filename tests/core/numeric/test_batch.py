"""Batched: indexing, broadcasting, reshaping."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from addon.core import Aabb, InvalidShapeError, Obb, Segment, Sphere, Triangle
from addon.core.numeric.arrays import first_index
from addon.core.numeric.batch import (
    assigned,
    common_batch,
    differences,
    where_shapes,
)
from tests.core.scenes import random_shapes

KINDS = [Sphere, Aabb, Obb, Segment, Triangle]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def batch_of(kind, *shape: int):
    count = int(np.prod(shape))
    # All values differ, so that no element can be confused with another.
    return random_shapes(kind, np.random.default_rng(1), count, one_sided=True).reshaped(shape)


def fields(shapes) -> dict[str, np.ndarray]:
    return {name: getattr(shapes, name) for name in shapes.field_shapes}


@every_kind
@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        np.int64(1),
        slice(1, None),
        slice(None, None, -1),
        slice(2, 2),
        ...,
        None,
        (),
        (1, 2),
        (slice(None), 0),
        (..., 0),
        (..., 0, slice(None)),
        (1, ...),
        (1, 2, ...),
        (..., None),
        (None, 1),
        [0, 0, 2],
        ([0, 1], [3, 2]),
        (slice(None), [True, False, True, True]),
        (slice(None), [2, 0, 1]),
        np.array([True, False, True]),
        np.arange(12).reshape(3, 4) % 3 == 0,
        (np.arange(12).reshape(3, 4) % 3 == 0, ...),
        np.zeros((2, 5), dtype=int),
    ],
    ids=str,
)
def test_index_selects_from_batch_axes_of_all_fields(kind, index):
    batch = batch_of(kind, 3, 4)
    # The same index of an array of serial numbers gives the expected shapes.
    serial = np.arange(12).reshape(3, 4)[index]
    selected = batch[index]
    assert type(selected) is kind
    assert selected.shape == np.shape(serial)
    flat = batch.reshaped((12,))
    for name, values in fields(selected).items():
        np.testing.assert_array_equal(values, getattr(flat, name)[serial])
    if kind is Triangle:
        assert selected.one_sided


@every_kind
@pytest.mark.parametrize(
    "index",
    [
        (0, 0),
        # These select three values of three, but on the axes of the fields.
        (0, slice(None)),
        (0, slice(None, None, -1)),
        (0, [2, 1, 0]),
        (..., 0, 0),
        (slice(None), slice(0, 3)),
        np.ones((4, 3), dtype=bool),
        4,
        -5,
        [0, 4],
        [True, False],
        "center",
        1.5,
    ],
    ids=str,
)
def test_index_beyond_batch_axes_raises_index_error(kind, index):
    with pytest.raises(IndexError):
        batch_of(kind, 4)[index]


@every_kind
def test_single_shape_has_no_batch_axes_to_index(kind):
    single = batch_of(kind, 4)[2]
    assert single.shape == ()
    assert single[...].shape == ()
    assert single[None].shape == (1,)
    for index in (0, slice(None), (..., 0)):
        with pytest.raises(IndexError):
            single[index]


@pytest.mark.smoke
@every_kind
def test_shapes_from_every_source_have_read_only_arrays(kind):
    batch = batch_of(kind, 2, 3)
    made = [
        batch,
        batch[0],
        batch[[0, 1]],
        batch[np.ones((2, 3), dtype=bool)],
        batch.broadcast_to((4, 2, 3)),
        batch.reshaped((6,)),
        kind.unchecked(*(np.array(values) for values in fields(batch).values())),
        batch.transformed(np.eye(4)),
        batch.aabb(),
    ]
    if kind in (Sphere, Aabb, Obb):
        made += [batch.padded(1), batch.merged(batch)]
    for shapes in made:
        for name, values in fields(shapes).items():
            assert values.dtype == np.float64
            with pytest.raises(ValueError, match="read-only"):
                values[...] = 0
            with pytest.raises(FrozenInstanceError):
                setattr(shapes, name, values)


@every_kind
def test_broadcast_and_reshaped_batches_hold_the_same_shapes(kind):
    batch = batch_of(kind, 3, 1)
    wide = batch.broadcast_to((2, 3, 4))
    assert wide.shape == (2, 3, 4)
    for name, values in fields(wide[1, 2, 3]).items():
        np.testing.assert_array_equal(values, getattr(batch[2, 0], name))
    flat = wide.reshaped((24,))
    assert flat.shape == (24,)
    assert flat.reshaped((4, -1)).shape == (4, 6)
    for name, values in fields(flat[5]).items():
        np.testing.assert_array_equal(values, getattr(batch[1, 0], name))
    if kind is Triangle:
        assert wide.one_sided
        assert flat.one_sided
    with pytest.raises(ValueError, match="broadcast"):
        batch.broadcast_to((2, 4))
    with pytest.raises(ValueError, match="reshape"):
        batch.reshaped((2,))


@every_kind
def test_empty_batches_stay_empty(kind):
    none = batch_of(kind, 0)
    assert none.shape == (0,)
    assert none.reshaped((0, 5)).shape == (0, 5)
    assert none.broadcast_to((3, 0)).shape == (3, 0)
    assert none.transformed(np.eye(4)).shape == (0,)
    assert none.aabb().shape == (0,)


def test_fields_broadcast_to_common_batch():
    spheres = Sphere(np.zeros((4, 1, 3)), np.zeros((5,)))
    assert spheres.center.shape == (4, 5, 3)
    assert spheres.radius.shape == (4, 5)
    with pytest.raises(InvalidShapeError, match=r"sphere: batches \(4,\) and \(5,\) do not broadcast"):
        Sphere(np.zeros((4, 3)), np.zeros((5,)))


@every_kind
def test_to_list_returns_shape_at_each_index(kind):
    batch = batch_of(kind, 4)
    shapes = batch.to_list()
    assert len(shapes) == 4
    for index, shape in enumerate(shapes):
        assert type(shape) is kind and shape.shape == ()
        assert getattr(shape, "one_sided", None) == getattr(batch, "one_sided", None)
        for name in kind.field_shapes:
            assert getattr(shape, name).tolist() == getattr(batch[index], name).tolist()
            assert not getattr(shape, name).flags.writeable


@pytest.mark.smoke
def test_common_batch_follows_numpy_broadcasting():
    assert common_batch("pair", (5, 1), (1, 4), ()) == (5, 4)
    assert common_batch("pair", (0,), (1,)) == (0,)
    with pytest.raises(InvalidShapeError, match=r"pair: batches \(0,\) and \(2,\) do not broadcast"):
        common_batch("pair", (0,), (2,))


def test_first_index_is_first_true_element_in_row_major_order():
    assert first_index([[False, False], [True, True]]) == (1, 0)
    assert first_index(True) == ()


@every_kind
def test_shapes_of_another_batch_replace_those_at_some_rows(kind):
    shapes, replacements = batch_of(kind, 2, 3), batch_of(kind, 4, 3)[2:]
    rows = np.array([1, 0, 1]), np.array([0, 2, 2])
    chosen = np.array([[False, False, True], [True, False, True]])
    by_rows, by_mask = assigned(shapes, rows, replacements[rows]), where_shapes(chosen, replacements, shapes)
    np.testing.assert_array_equal(differences(by_rows, shapes), chosen)
    np.testing.assert_array_equal(differences(by_mask, replacements), ~chosen)
    assert not differences(by_rows, by_mask).any()


@every_kind
def test_shapes_that_differ_in_one_number_are_found(kind):
    shapes = batch_of(kind, 2, 3)
    for name, values in fields(shapes).items():
        changed = values.copy()
        last = (1, 2, *(-1,) * (values.ndim - 2))
        changed[last] = np.nextafter(changed[last], np.inf)
        other = type(shapes).unchecked(*(fields(shapes) | {name: changed}).values())
        np.testing.assert_array_equal(np.argwhere(differences(shapes, other)), [[1, 2]])
