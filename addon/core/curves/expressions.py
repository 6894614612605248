"""Driver expressions of the frame number: values at times, and distances from the chord over intervals.

Blender computes simple expressions in double precision and rounds the result. What it knows of them here:
numbers, `pi`, `frame`, the four operations, `sin`, `cos`, `abs`, `radians` and `degrees`, with nothing but a
number as a divisor. Such expressions have no jumps.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..numeric.arrays import Floats, Ints, Singles
from .keyframes import NEAR_KEY, Chords, Curves

Program: TypeAlias = tuple[str, ...]
"""Operations in postfix order. Expressions of one program differ in their numbers alone."""

_LARGEST = 1e9
"""Numbers up to which no result overflows."""
_KINK = 1e30
"""Second derivative of what has a kink; finite, so that no product with zero is undefined."""
_ROUNDING = 2.0**-22
"""Part of a number that single precision may change, twice."""
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_UNARY = {"negative": np.negative, "sin": np.sin, "cos": np.cos, "abs": np.abs}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    **_UNARY,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_FUNCTIONS = {"sin": "sin", "cos": "cos", "abs": "abs", "fabs": "abs"}
_ANGLES = {"radians": (math.pi, 180.0), "degrees": (180.0, math.pi)}


class Expression(NamedTuple):
    """An expression of the frame number: its program, and the numbers of this in the order of their use."""

    program: Program
    numbers: tuple[float, ...]


@lru_cache(maxsize=4096)
def expression_of(text: str) -> Expression | None:
    """Parse a driver expression; None if it has anything that is not known here."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return _compiled(body)


def _compiled(node: ast.expr) -> Expression | None:
    """Compile a part of an expression, with constant parts as one number."""
    found = _compiled_parts(node)
    if found is None or "frame" in found.program:
        return found
    with np.errstate(all="ignore"):
        value = float(_values(found.program, np.array(found.numbers), np.float64(0)))
    return _number(value)


def _compiled_parts(node: ast.expr) -> Expression | None:
    """Compile the parts of an expression, and join them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return _number(float(node.value))
    if isinstance(node, ast.Name):
        return {"frame": Expression(("frame",), ()), "pi": _number(math.pi)}.get(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        operand = _compiled(node.operand)
        return operand if isinstance(node.op, ast.UAdd) else _applied("negative", operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _compiled(node.left), _compiled(node.right)
        is_number = right is not None and right.program == ("number",) and right.numbers[0] != 0
        if isinstance(node.op, ast.Div) and not is_number:
            return None
        return _applied(_OPERATORS[type(node.op)], left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        operand = _compiled(node.args[0])
        if node.keywords:
            return None
        if node.func.id in _ANGLES:
            factor, divisor = (_number(value) for value in _ANGLES[node.func.id])
            return _applied("/", _applied("*", operand, factor), divisor)
        return _applied(_FUNCTIONS.get(node.func.id), operand)
    return None


def _number(value: float) -> Expression | None:
    return Expression(("number",), (value,)) if abs(value) <= _LARGEST else None


def _applied(operation: str | None, *operands: Expression | None) -> Expression | None:
    """Append an operation to its operands; None if any is unknown."""
    known = [operand for operand in operands if operand is not None]
    if operation is None or len(known) < len(operands):
        return None
    program = sum((operand.program for operand in known), ())
    return Expression((*program, operation), sum((operand.numbers for operand in known), ()))


class Expressions:
    """Expressions (e,) of the frame number. Those of one program are computed together.

    count : Number of expressions.
    """

    def __init__(self, expressions: Sequence[Expression], map_of: Ints, maps: Curves | None = None) -> None:
        """Group the expressions by program.

        expressions : In the order of their numbers.
        map_of : (e,) int64. Map of each expression; -1 for none.
        maps : Curves over results instead of times: since Blender 5.0 a driver has one. They change no
            result but those near their keys, which are at 0 and 1.
        """
        self._maps, self._map_of, self.count = maps, map_of, len(expressions)
        self._programs = list(dict.fromkeys(each.program for each in expressions))
        places = {program: place for place, program in enumerate(self._programs)}
        self._program_of = np.array([places[each.program] for each in expressions], dtype=np.int64)
        # In columns; those of short programs are followed by zeros.
        self._numbers = np.zeros((max((len(each.numbers) for each in expressions), default=0), self.count))
        for column, each in enumerate(expressions):
            self._numbers[: len(each.numbers), column] = each.numbers

    def values_of(self, which: Ints, times: Floats) -> Singles:
        """Compute the values (m,) of expressions (m,), each at its own time (m,) in frames."""
        frames = times.astype(np.float32).astype(np.float64)
        exact = np.zeros(len(which))
        for program, numbers, rows in self._by_program(which):
            exact[rows] = _values(program, numbers, frames[rows])
        with np.errstate(over="ignore"):
            result: Singles = exact.astype(np.float32)
        rows = np.flatnonzero(self._map_of[which] >= 0)
        if self._maps is not None and len(rows):
            result[rows] = self._maps.values_of(self._map_of[which[rows]], result[rows].astype(np.float64))
        return result

    def chords(self, which: Ints, begin: Floats, end: Floats) -> Chords:
        """Compute the ends of expressions (m,) over intervals (m,), and their deviation from the chord.

        The bound is conservative up to rounding: that of float64, and of Blender's result.
        """
        bounds = _Bounds(*np.zeros((4, len(which))))
        first, last = np.zeros((2, len(which)))
        for program, numbers, rows in self._by_program(which):
            first[rows] = _values(program, numbers, begin[rows])
            last[rows] = _values(program, numbers, end[rows])
            for values, found in zip(bounds, _bounds(program, numbers, begin[rows], end[rows]), strict=True):
                values[rows] = found
        span = end - begin
        chords = Chords(first, last, np.fmin(span**2 / 8 * bounds.curvature, span / 2 * bounds.slope))
        mapped = np.flatnonzero(self._map_of[which] >= 0)
        if len(mapped):
            rounding = _ROUNDING * (1 + bounds.slope * np.maximum(np.abs(begin), np.abs(end)))[mapped]
            chords.assign(mapped, _mapped(chords.take(mapped), bounds.largest[mapped], rounding))
        return chords

    def _by_program(self, which: Ints) -> Iterator[tuple[Program, Floats, Ints]]:
        """Iterate over programs, with the numbers and rows of their expressions among those wanted (m,)."""
        for place, program in enumerate(self._programs):
            rows = np.flatnonzero(self._program_of[which] == place)
            if len(rows):
                yield program, self._numbers[:, which[rows]], rows


class DrivenCurves(Curves):
    """Curves (c,), and expressions (e,) numbered after them."""

    def __init__(self, curves: Curves, expressions: Expressions) -> None:
        vars(self).update(vars(curves))
        self._expressions = expressions

    def values_at(self, times: Floats) -> Singles:
        """Compute all values (c + e, t) at increasing times (t,) in frames."""
        count = self._expressions.count
        driven = self._expressions.values_of(np.repeat(np.arange(count), len(times)), np.tile(times, count))
        return np.concatenate([super().values_at(times), driven.reshape(count, -1)])

    def values_of(self, which: Ints, times: Floats) -> Singles:
        """Compute values (m,), each at its own time (m,) in frames."""
        is_driven, result = which >= self.count, np.empty(len(which), dtype=np.float32)
        result[~is_driven] = super().values_of(which[~is_driven], times[~is_driven])
        result[is_driven] = self._expressions.values_of(which[is_driven] - self.count, times[is_driven])
        return result

    def chords(self, which: Ints, begin: Floats, end: Floats) -> Chords:
        """Compute the ends of values (m,) over intervals (m,), and bound their deviation from the chord."""
        is_driven, result = which >= self.count, Chords(*np.empty((3, len(which))))
        rows = np.flatnonzero(~is_driven)
        result.assign(rows, super().chords(which[rows], begin[rows], end[rows]))
        rows = np.flatnonzero(is_driven)
        result.assign(rows, self._expressions.chords(which[rows] - self.count, begin[rows], end[rows]))
        return result


def _run(program: Program, numbers: Iterable[Any], frames: Any, apply: Callable[..., Any]) -> Any:
    """Run a program: `apply` an operation, by its name, to one or two operands."""
    stack: list[Any] = []
    upcoming = iter(numbers)
    for operation in program:
        if operation in ("frame", "number"):
            stack.append(frames if operation == "frame" else next(upcoming))
        else:
            count = 1 if operation in _UNARY else 2
            stack[-count:] = [apply(operation, *stack[-count:])]
    return stack[0]


def _values(program: Program, numbers: Floats, frames: Any) -> Any:
    """Values (m,) of a program with numbers (k, m) at frames (m,)."""
    return _run(program, numbers, frames, lambda operation, *operands: _OPERATIONS[operation](*operands))


def _mapped(chords: Chords, largest: Floats, rounding: Floats) -> Chords:
    """Apply a map to results: those between its keys and near one of them become the value of that key.

    chords : (m,) of the results; all other results stay
    largest : (m,) bound of the results' absolute values
    rounding : (m,) by which results in single precision, at times in single precision, may differ
    """
    low = np.minimum(chords.begin, chords.end) - chords.deviation - rounding
    high = np.maximum(chords.begin, chords.end) + chords.deviation + rounding
    begin, end, deviation = (values.copy() for values in chords)
    # A result may become the value of a key, or stay; so may both ends of the chord.
    is_near = ((high >= 0) & (low <= NEAR_KEY)) | ((high >= 1 - NEAR_KEY) & (low <= 1))
    deviation[is_near] += 2 * NEAR_KEY
    for values in (begin, end):
        values[(values >= rounding) & (values <= NEAR_KEY - rounding)] = 0
        is_below = (values <= 1 - rounding) | (largest <= 1)
        values[(values >= 1 - NEAR_KEY + rounding) & is_below] = 1
    for key, is_all_near, beyond in (
        (0.0, (high >= 0) & (high < NEAR_KEY), -low),
        (1.0, (low <= 1) & (low > 1 - NEAR_KEY), np.where(largest <= 1, 0.0, high - 1)),
    ):
        # All become the value of the key, but those that are not between the keys. Ends may be among these.
        rows = np.flatnonzero(is_all_near & (beyond < NEAR_KEY))
        begin[rows] = end[rows] = key
        deviation[rows] = 2 * np.maximum(beyond[rows], 0.0)
    return Chords(begin, end, deviation)


class _Bounds(NamedTuple):
    """Value (m,) at the begin of intervals, and bounds (m,) of value, slope and second derivative in them."""

    begin: Floats
    largest: Floats
    slope: Floats
    curvature: Floats


def _bounds(program: Program, numbers: Floats, begin: Floats, end: Floats) -> _Bounds:
    """Bound a program with numbers (k, m) over intervals (m,)."""
    zero = np.zeros(len(begin))
    frames = _Bounds(begin, np.maximum(np.abs(begin), np.abs(end)), zero + 1, zero)
    constants = (_Bounds(number, np.abs(number), zero, zero) for number in numbers)

    def apply(operation: str, operand: _Bounds, *second: _Bounds) -> _Bounds:
        if second:
            return _binary_bounds(operation, operand, *second)
        return _unary_bounds(operation, operand, end - begin)

    result: _Bounds = _run(program, constants, frames, apply)
    return result


def _unary_bounds(operation: str, operand: _Bounds, span: Floats) -> _Bounds:
    begin = _UNARY[operation](operand.begin)
    if operation == "negative":
        return operand._replace(begin=begin)
    if operation == "abs":
        has_kink = begin <= operand.slope * span
        return operand._replace(begin=begin, curvature=np.where(has_kink, _KINK, operand.curvature))
    return _Bounds(begin, np.ones_like(begin), operand.slope, operand.slope**2 + operand.curvature)


def _binary_bounds(operation: str, left: _Bounds, right: _Bounds) -> _Bounds:
    begin = _OPERATIONS[operation](left.begin, right.begin)
    if operation in "+-":
        return _Bounds(begin, *(a + b for a, b in zip(left[1:], right[1:], strict=True)))
    if operation == "/":
        # By a number.
        return _Bounds(begin, *(value / right.largest for value in left[1:]))
    slope = left.slope * right.largest + left.largest * right.slope
    curvature = left.curvature * right.largest + 2 * left.slope * right.slope + left.largest * right.curvature
    return _Bounds(begin, left.largest * right.largest, slope, curvature)
