"""Arrays as JSON text, compared with Python's json."""

from __future__ import annotations

import json

import numpy as np
import pytest

from addon.formats.document.json_writer import lists_of_numbers
from addon.formats.spaces import rounded_up
from tests.tiers import is_full

COUNTS = np.array([0, 5, 0, 11_000, 1, 8994, 0])
SCALES = [1e-9, 1e-5, 1e-3, 1.0, 1e4, 1e8, 1e12, 1e20, 1e290]


def expected(values, counts):
    ends = np.cumsum(counts)
    return [json.dumps(values[end - count : end].tolist()) for count, end in zip(counts, ends, strict=True)]


def mixed(scale, decimals, count):
    rng = np.random.default_rng(7)
    values = rounded_up(rng.normal(size=(count, 3)) * scale, decimals)
    values[rng.random(values.shape) < 0.1] = 0.0
    whole = rng.random(values.shape) < 0.1
    values[whole] = np.trunc(values[whole])
    values[7] = 100 / 3, -1e-7, 5e-324  # not rounded
    return values + 0.0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_text_matches_python_json(scale, decimals):
    # Arrays larger than one block are slow: in the tiers below full, only one scale has them.
    counts = COUNTS // 10 if not is_full() and scale != 1.0 else COUNTS
    values = mixed(scale, decimals, counts.sum())
    assert lists_of_numbers(values, decimals, counts) == expected(values, counts)
    assert lists_of_numbers(values[:, 1], decimals, counts) == expected(values[:, 1], counts)


@pytest.mark.smoke
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_numbers_at_limits_of_notation(decimals):
    step = 10.0**-decimals
    edges = np.array([1e-4, 1e-3, 0.1, 1.0, 10.0, 2**32, 1e15 * step, 1e15, 1e16, 2**53, 2**63, 1e22])
    near = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, np.inf)])
    rounded = [np.around(near + offset, decimals) for offset in (-step, step)]
    values = np.concatenate([near, *rounded])
    values = np.concatenate([values, -values]) + 0.0
    counts = np.ones(len(values), dtype=int)
    assert lists_of_numbers(values, decimals, counts) == expected(values, counts)


def test_minus_zero_is_written_as_zero():
    assert lists_of_numbers(np.array([-0.0, 0.0]), 6, np.array([2])) == ["[0.0, 0.0]"]


def test_empty_arrays_become_empty_lists():
    assert lists_of_numbers(np.zeros((0, 3)), 6, np.array([0, 0])) == ["[]", "[]"]
    assert lists_of_numbers(np.zeros(0), 6, np.zeros(0, dtype=int)) == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        lists_of_numbers(np.array([1.0, value]), 6, np.array([2]))
