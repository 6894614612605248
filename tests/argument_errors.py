"""Check of one argument: every value gives a valid result, or an error that names the argument."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from addon.core import CollisionBoundsError, UnsupportedPairError

from .argument_values import VALUES

_LARGE = 100_000
"""Results with more elements are not looked through."""


@dataclass(frozen=True)
class Row:
    """One public function with valid arguments.

    Attributes
    ----------
    call : function
        Called with the arguments by name. A generator is run to its end.
    arguments : mapping of str to function
        Makes a valid value for each argument.
    words : mapping of str to sequence of str
        What an error may call an argument, if not by its name.
    callbacks : set of str
        Arguments that are called. A function may raise its own errors, so these get no functions.
    may_be_nan, may_be_infinite : bool
        Whether the docstring says that results can be.
    """

    call: Callable[..., Any]
    arguments: Mapping[str, Callable[[], Any]]
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    callbacks: frozenset[str] = frozenset()
    may_be_nan: bool = False
    may_be_infinite: bool = False


def valid(**values: Any) -> dict[str, Callable[[], Any]]:
    """Return functions that return these values."""
    return {name: lambda value=value: value for name, value in values.items()}


def failures(row: Row, argument: str) -> list[str]:
    """Return what is wrong for each value of an argument."""
    found = []
    for name, make in VALUES.items():
        value = make()
        if argument in row.callbacks and callable(value):
            continue
        if problem := _problem(row, argument, value):
            found.append(f"{argument} = {name}: {problem}")
    return found


def result_of_valid_arguments(row: Row) -> Any:
    """Call with the valid arguments of a row. Raises what the function raises, and errors for warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return run(row.call(**{name: make() for name, make in row.arguments.items()}))


def run(result: Any) -> Any:
    """Return a result; of a generator its return value, or else the list of what it yields."""
    if not inspect.isgenerator(result):
        return list(result) if isinstance(result, Iterator) else result
    yielded = []
    while True:
        try:
            yielded.append(next(result))
        except StopIteration as end:
            return yielded if end.value is None else end.value


def _problem(row: Row, argument: str, value: Any) -> str:
    """Call with one argument replaced; return what is wrong, or an empty text."""
    before = _snapshot(value)
    arguments = {name: value if name == argument else make() for name, make in row.arguments.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = run(row.call(**arguments))
        except CollisionBoundsError as error:
            problem = _problem_of_message(str(error), error, row, argument, value)
        except Exception as error:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else ""
            problem = f"{type(error).__name__}: {str(error)[:200]} ({place})"
        else:
            problem = _problem_of_numbers(row, result)
    return problem or ("" if _snapshot(value) == before else "the value was changed")


def _problem_of_message(
    message: str, error: CollisionBoundsError, row: Row, argument: str, value: Any
) -> str:
    named = (argument, argument.replace("_", " "), *row.words.get(argument, ()))
    if isinstance(error, UnsupportedPairError):
        named = (*named, type(value).__name__)
    if not any(re.search(rf"\b{re.escape(name)}\b", message) for name in named):
        return f"the message does not name it: {message[:200]!r}"
    if "\n" in message or len(message) > 500:
        return f"the message is not one line: {message[:200]!r}"
    return "" if message.isprintable() else f"the message cannot be printed: {message[:200]!r}"


def _problem_of_numbers(row: Row, result: Any) -> str:
    for numbers in _arrays(result, set()):
        if not row.may_be_nan and np.isnan(numbers).any():
            return f"the result has NaN: {str(result)[:200]}"
        if not row.may_be_infinite and np.isinf(numbers).any():
            return f"the result is infinite: {str(result)[:200]}"
    return ""


def _arrays(value: Any, seen: set[int]) -> Iterator[np.ndarray]:
    """All arrays and numbers in a result, which may be records of records."""
    if id(value) in seen or isinstance(value, str | bytes | types.ModuleType | type):
        return
    seen.add(id(value))
    if isinstance(value, float | np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "f" and array.size < _LARGE:
            yield array
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _arrays(item, seen)
    elif isinstance(value, Sequence | set | frozenset) and not isinstance(value, range | memoryview):
        for item in value:
            yield from _arrays(item, seen)
    elif dataclasses.is_dataclass(value) or hasattr(value, "field_shapes"):
        yield from _arrays(dict(vars(value)) if hasattr(value, "__dict__") else _slots(value), seen)


def _slots(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def _snapshot(value: Any) -> object:
    """Contents of a value that a function could change by mistake."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        plain = np.asarray(value)
        return plain.shape, plain.dtype, plain.flags.writeable, plain.tobytes()
    if isinstance(value, list | dict | set | bytearray | np.ndarray):
        return repr(value)
    return None


def missing_rows(module: types.ModuleType, rows: Mapping[str, Row], records: Sequence[type]) -> list[str]:
    """Return the public functions, constructors and methods without a row that has all their parameters."""
    missing = []
    # Without a list, the public names of a package are those that it imports.
    for name in getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"]):
        value = getattr(module, name)
        if inspect.isfunction(value):
            missing += _missing(rows, name, value)
        elif inspect.isclass(value) and not issubclass(value, BaseException):
            if value not in records:
                missing += _missing(rows, name, value)
            for member, function in _public_methods(value):
                missing += _missing(rows, f"{name}.{member}", function)
    return missing


def _public_methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Methods with parameters that a class or its bases in this package define; no abstract ones."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("addon.")]
    if getattr(kind, "_is_protocol", False):
        return
    for member in dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_")):
        function = getattr(kind, member)
        is_abstract = getattr(function, "__isabstractmethod__", False)
        if callable(function) and not inspect.isclass(function) and member != "unchecked" and not is_abstract:
            yield member, function


def _missing(rows: Mapping[str, Row], name: str, function: Callable[..., Any]) -> list[str]:
    parameters = {parameter for parameter in inspect.signature(function).parameters if parameter != "self"}
    if not parameters:
        return []
    if name not in rows:
        return [name]
    return [f"{name}({each})" for each in sorted(parameters - set(rows[name].arguments))]
