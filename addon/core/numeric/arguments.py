"""Checked conversion of arguments that are not arrays of floats: numbers, indices, masks, records.

All take an argument and its name, and raise InvalidShapeError with that name; `as_times` also
NonFiniteGeometryError.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from .arrays import Bools, Floats, Ints, as_array, as_floats

LARGEST_LENGTH = 1e150
"""Greater lengths cannot be squared."""


def as_number(
    value: Any, name: str, least: float = -math.inf, is_open: bool = False, most: float = math.inf
) -> float:
    """Convert a number, or an array () of one, to a finite float from `least` to `most`.

    is_open : Whether `least` itself is not allowed.
    """
    if type(value) is float:
        number = value
    else:
        array = as_array(value, name)
        if array.ndim:
            raise InvalidShapeError(f"{name}: one number is needed, not an array of shape {array.shape}")
        try:
            with np.errstate(over="ignore"):
                number = float(array.astype(np.float64))
        except (TypeError, ValueError, ArithmeticError):
            raise InvalidShapeError(f"{name}: one number is needed, not {type(value).__name__}") from None
    if not math.isfinite(number):
        raise InvalidShapeError(f"{name}: {number} is not a finite number")
    if number < least or (is_open and number == least):
        raise InvalidShapeError(f"{name}: {number:g} is not {'>' if is_open else '>='} {least:g}")
    if number > most:
        raise InvalidShapeError(f"{name}: {number:g} is more than {most:g}")
    return number


def as_whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Convert an argument to an int from `least` to `most`."""
    try:
        # NumPy 1 converts its bool with a warning, NumPy 2 refuses it.
        number = operator.index(bool(value) if isinstance(value, np.bool_) else value)
    except TypeError:
        raise InvalidShapeError(f"{name}: a whole number is needed, not {type(value).__name__}") from None
    if number < least or (most is not None and number > most):
        given = str(number) if abs(number) < 10**18 else "an int of many digits"
        limits = f">= {least}" if most is None else f"from {least} to {most}"
        raise InvalidShapeError(f"{name}: {given} is not {limits}")
    return number


def as_indices(values: ArrayLike, name: str) -> Ints:
    """Convert whole numbers of any shape, which may be empty, to int64."""
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidShapeError(f"{name}: whole numbers are needed, not {array.dtype}")
    return array.astype(np.int64)


def as_mask(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Bools:
    """Convert booleans of this shape to a mask."""
    array = as_array(values, name)
    if array.shape != shape or (array.size and array.dtype.kind != "b"):
        raise InvalidShapeError(f"{name}: a mask of shape {shape} is needed, not {array.dtype} {array.shape}")
    return array.astype(np.bool_, copy=False)


def as_flag(value: Any, name: str) -> bool:
    """Convert a bool, 0 or 1 to a bool."""
    if isinstance(value, bool | np.bool_ | int) and value in (0, 1):
        return bool(value)
    raise InvalidShapeError(f"{name}: True or False is needed, not {type(value).__name__}")


def as_times(frames: ArrayLike) -> Floats:
    """Convert the argument `frames` to sample times (k,) float64, k >= 1, which must increase."""
    times = as_floats(frames, "frames")
    if times.ndim != 1 or not len(times) or (times[1:] <= times[:-1]).any():
        raise InvalidShapeError("frames: one or more growing times are needed")
    return times


def require_type(value: object, kinds: type | tuple[type, ...], name: str) -> None:
    """Require that an argument is of one of some types."""
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise InvalidShapeError(f"{name}: {names} is needed, not {type(value).__name__}")


def require_methods(value: object, methods: Sequence[str], name: str) -> None:
    """Require that an argument has methods or attributes with these names."""
    missing = [method for method in methods if not hasattr(value, method)]
    if missing or isinstance(value, type):
        wanted = " and ".join(missing or methods)
        raise InvalidShapeError(f"{name}: an object with {wanted} is needed, not {type(value).__name__}")


def require_texts(values: object, name: str) -> None:
    """Require that an argument is a sequence of texts, not a text."""
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str)
    if not is_sequence or not all(isinstance(value, str) for value in values):  # type: ignore[attr-defined]
        raise InvalidShapeError(f"{name}: a sequence of texts is needed, not {type(values).__name__}")


def require_choice(value: object, choices: Sequence[str], name: str) -> None:
    """Require that an argument is one of some texts."""
    if not isinstance(value, str) or value not in choices:
        given = repr(value)[:40] if isinstance(value, str) else type(value).__name__
        raise InvalidShapeError(f"{name} {given}: choose from {', '.join(choices)}")
