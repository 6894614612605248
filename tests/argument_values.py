"""Ninety kinds of values for any argument, valid and invalid."""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from addon import core


class _Subclass(np.ndarray):
    """A subclass of arrays without its own behavior."""


class _Float(float):
    """A subclass of a number."""


def _with(value: object, dtype: Any = np.float64) -> np.ndarray:
    """Return an array (4, 3) whose last element is `value`."""
    array = np.ones((4, 3), dtype)
    array[-1, -1] = value
    return array


def _read_only() -> np.ndarray:
    array = np.arange(12.0).reshape(4, 3)
    array.flags.writeable = False
    return array


def _nested_in_itself() -> list[object]:
    values: list[object] = []
    values.append(values)
    return values


def _triangles() -> core.Triangle:
    corners = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1], [0, 1, 1.0]]])
    return core.Triangle(corners[:, 0], corners[:, 1], corners[:, 2])


VALUES: dict[str, Callable[[], Any]] = {
    # Numbers
    "none": lambda: None,
    "true": lambda: True,
    "false": lambda: False,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "large int": lambda: 2**63,
    "int of 400 digits": lambda: 10**400,
    "negative int of 400 digits": lambda: -(10**400),
    "minus zero": lambda: -0.0,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "minus inf": lambda: float("-inf"),
    "largest float": lambda: 1.7976931348623157e308,
    "huge float": lambda: 1e200,
    "denormal": lambda: 5e-324,
    "complex": lambda: 1 + 2j,
    "decimal": lambda: decimal.Decimal("1.5"),
    "decimal nan": lambda: decimal.Decimal("sNaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "float subclass": lambda: _Float(0.5),
    "numpy float": lambda: np.float64(0.5),
    "numpy float16": lambda: np.float16(0.5),
    "numpy long double": lambda: np.longdouble("1e400"),
    "numpy int": lambda: np.int64(2),
    "numpy bool": lambda: np.bool_(True),
    "not a time": lambda: np.datetime64("NaT", "s"),
    # Texts
    "empty text": lambda: "",
    "text": lambda: "text",
    "text of a number": lambda: "1.5",
    "lone surrogate": lambda: "\udcff",
    "null character": lambda: "a\x00b",
    "line break": lambda: "two\nlines",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"abc",
    "empty bytes": lambda: b"",
    "bytearray": lambda: bytearray(b"abc"),
    "memoryview": lambda: memoryview(b"abc"),
    # Containers
    "empty list": list,
    "empty tuple": tuple,
    "list of none": lambda: [None, None, None],
    "list of texts": lambda: ["a", "b", "c"],
    "list of texts of numbers": lambda: ["1", "2", "3"],
    "list of huge ints": lambda: [10**400] * 3,
    "list of nan": lambda: [float("nan")] * 3,
    "ragged list": lambda: [[0.0, 0.0, 0.0], [1.0, 1.0]],
    "rows with an empty one": lambda: [[], [1.0, 2.0, 3.0]],
    "list of complex": lambda: [1j, 2j, 3j],
    "list of lists of none": lambda: [[None] * 3] * 3,
    "list in itself": _nested_in_itself,
    "three numbers": lambda: [1.0, 2.0, 3.0],
    "rows of three": lambda: [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
    "dict": lambda: {"a": 1},
    "empty dict": dict,
    "ordered dict": lambda: OrderedDict(x=1.0, y=2.0, z=3.0),
    "set": lambda: {1.0, 2.0, 3.0},
    "frozenset": lambda: frozenset(("a",)),
    "deque": lambda: deque([1.0, 2.0, 3.0]),
    "range": lambda: range(3),
    "generator": lambda: (float(i) for i in range(3)),
    "iterator": lambda: iter([1.0, 2.0, 3.0]),
    # Objects
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "lambda": lambda: lambda *_: None,
    "module": lambda: np,
    "exception": lambda: ValueError("value"),
    "not implemented": lambda: NotImplemented,
    "ellipsis": lambda: Ellipsis,
    "slice": lambda: slice(None),
    "date": lambda: datetime.date(2020, 1, 1),
    "datetime": lambda: datetime.datetime(2020, 1, 1),
    "duration": lambda: datetime.timedelta(seconds=1),
    "path": lambda: pathlib.PurePosixPath("/nowhere/file"),
    # Arrays
    "array without axes": lambda: np.array(1.5),
    "array of one": lambda: np.array([1.0]),
    "empty array": lambda: np.empty(0),
    "empty rows": lambda: np.empty((0, 3)),
    "rows without columns": lambda: np.empty((3, 0)),
    "empty array of huge size": lambda: np.empty((0, 2**40, 3)),
    "array (7, 3)": lambda: np.arange(21.0).reshape(7, 3),
    "array (2, 5, 3)": lambda: np.arange(30.0).reshape(2, 5, 3),
    "array (4, 4)": lambda: np.eye(4),
    "singular matrix": lambda: np.zeros((4, 4)),
    "array of 20 axes": lambda: np.ones((1,) * 20),
    "nan in an array": lambda: _with(np.nan),
    "inf in an array": lambda: _with(-np.inf),
    "huge numbers": lambda: _with(1e308),
    "denormals": lambda: _with(5e-324) * 5e-324,
    "float32 with nan": lambda: _with(np.nan, np.float32),
    "float16 array": lambda: _with(1.0, np.float16),
    "long double array": lambda: _with(np.longdouble("1e400"), np.longdouble),
    "int8 array": lambda: _with(-1, np.int8),
    "uint64 array": lambda: _with(2**64 - 1, np.uint64),
    "bool array": lambda: _with(False, np.bool_),
    "complex array": lambda: _with(1j, np.complex128),
    "date array": lambda: np.array(["2020-01-01"] * 3, "datetime64[D]"),
    "duration array": lambda: np.array([1, 2, 3], "timedelta64[s]"),
    "text array": lambda: np.array(["1", "2", "3"]),
    "bytes array": lambda: np.array([b"1", b"2", b"3"]),
    "object array": lambda: np.array([1.0, None, "x"], dtype=object),
    "object array of numbers": lambda: np.array([1.0, 2, 3], dtype=object),
    "structured array": lambda: np.zeros(3, [("x", "f8"), ("y", "f8")]),
    "record array": lambda: np.rec.array(np.zeros(3, [("x", "f8")])),
    "masked array": lambda: np.ma.masked_array(np.ones((4, 3)), mask=[[True, False, False]] * 4),
    "masked constant": lambda: np.ma.masked,
    "matrix": lambda: np.asmatrix(np.eye(3)),
    "array subclass": lambda: np.arange(12.0).reshape(4, 3).view(_Subclass),
    "every second row": lambda: np.arange(24.0).reshape(8, 3)[::2],
    "column order": lambda: np.asfortranarray(np.arange(12.0).reshape(4, 3)),
    "reversed array": lambda: np.arange(12.0).reshape(4, 3)[::-1, ::-1],
    "big-endian array": lambda: np.arange(12.0).reshape(4, 3).astype(">f8"),
    "read-only array": _read_only,
    "repeated row": lambda: np.broadcast_to(np.array([1.0, 2.0, 3.0]), (5, 3)),
    # Of this package
    "sphere": lambda: core.Sphere([0, 0, 0], 1),
    "empty spheres": lambda: core.Sphere(np.empty((0, 3)), np.empty(0)),
    "seven spheres": lambda: core.Sphere(np.zeros((7, 3)), 1),
    "box": lambda: core.Aabb([0, 0, 0], [1, 1, 1]),
    "five boxes": lambda: core.Aabb(np.zeros((5, 3)), np.ones((5, 3))),
    "oriented box": lambda: core.Obb([0, 0, 0], [1, 2, 3], np.eye(3)),
    "segment": lambda: core.Segment([0, 0, 0], [1, 1, 1]),
    "triangles": _triangles,
    "mesh": lambda: core.TriangleMesh(_triangles()),
    "tree": lambda: core.sphere_tree_from_triangles(_triangles()),
    "capsule": lambda: core.capsule_from_points([[0, 0, 0], [0, 0, 1]]),
    "class of shapes": lambda: core.Sphere,
}
"""Functions that make a value, by what the value is."""
