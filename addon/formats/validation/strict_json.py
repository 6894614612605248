"""JSON from files that anyone can have written: limited in size, without duplicate keys, NaN and infinity.

With a validator for the part of JSON Schema 2020-12 that the document's schema uses. Blender ships no schema
library, and the extension has no dependencies. A keyword that is not implemented here raises
NotImplementedError, so that nothing stays unchecked.
"""

from __future__ import annotations

import json
import math
import operator
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import CollisionBoundsError
from ...core.messages import message
from ...core.numeric.arguments import as_number, require_type
from ..wording import pluralized, quoted

MAX_MEGABYTES = 128.0
"""Larger files are refused by default. A document takes up to 25 times its size in memory."""


class DocumentError(CollisionBoundsError):
    """A file cannot be read as a document, or a document is wrong; the message has the problem's path."""


class DocumentSizeError(DocumentError):
    """A file is larger than the limit."""


def read_text(path: Path, max_megabytes: float = MAX_MEGABYTES) -> str:
    """Read a text file in UTF-8, with or without a byte order mark.

    path : Of a regular file, or of the pipe that is the standard input. Devices, other pipes and folders
        are refused, because they can have no end.
    max_megabytes : Limit of the size, in units of 1,000,000 bytes.
    Raises DocumentSizeError: for a larger file. At most the limit is read.
    Raises DocumentError: for anything else that cannot be read. The message does not name the file.
    """
    require_type(path, Path, "path")
    megabytes = as_number(max_megabytes, "max_megabytes", 0.0)
    limit = int(min(megabytes * 1e6, sys.maxsize - 1))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not _is_standard_input(status):
            raise DocumentError(message("is not a regular file"))
        if status.st_size > limit:
            raise DocumentSizeError(message("is larger than {size:g} MB", size=max_megabytes))
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise DocumentError(message("cannot be read ({reason})", reason=error.strerror)) from None
    if len(content) > limit:
        raise DocumentSizeError(message("is larger than {size:g} MB", size=max_megabytes))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentError(message("is not a UTF-8 text file")) from None


def parse_json(text: str) -> Any:
    """Parse JSON, without duplicate keys, NaN and infinity.

    Returns value : Any. Integers that Python does not convert are infinite floats.
    Raises DocumentError
    """
    if not isinstance(text, str):
        raise DocumentError(f"text: JSON is needed, not {type(text).__name__}")
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            # Python does not convert very long integers; infinity is reported as too large later.
            parse_int=lambda digits: int(digits) if len(digits) < 400 else float(digits),
            object_pairs_hook=_with_unique_keys,
        )
    except json.JSONDecodeError as error:
        text = "not JSON (line {line}: {reason})"
        raise DocumentError(message(text, line=error.lineno, reason=error.msg)) from None
    except RecursionError:
        raise DocumentError(message("not a document (nested too deeply)")) from None


def _is_standard_input(status: os.stat_result) -> bool:
    try:
        return stat.S_ISFIFO(status.st_mode) and os.path.samestat(status, os.fstat(0))
    except OSError:  # closed
        return False


def _refuse_constant(name: str) -> float:
    raise DocumentError(f"{name} is not a valid JSON number")


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values. Other programs read either value of a duplicate key."""
    value = dict(pairs)
    if len(value) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise DocumentError(f"the key {quoted(key)} is used twice in one object")
    return value


_OTHER_KEYWORDS = frozenset({"$schema", "$comment", "$id", "$defs", "title", "description", "examples"}) | {
    *("type", "minItems", "maxItems")
}
"""Annotations, and keywords that are tested before the others."""
_RULES: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "const": (operator.eq, "must be {rule}, not {value}"),
    "enum": (lambda value, rule: value in rule, "must be one of {choices}, not {value}"),
    "minimum": (operator.ge, "must be {rule} or more, not {value}"),
    "maximum": (operator.le, "must be {rule} or less, not {value}"),
    "exclusiveMinimum": (operator.gt, "must be more than {rule}, not {value}"),
    "minLength": (lambda value, rule: len(value) >= rule, "has {size}, but must have {rule} or more"),
    "minProperties": (lambda value, rule: len(value) >= rule, "has {size}, but must have {rule} or more"),
    "maxProperties": (lambda value, rule: len(value) <= rule, "has {size}, but must have {rule} or fewer"),
}
"""Tests of a value by a keyword, and their problems."""
_ITEM_NAMES: Mapping[type, str] = {dict: "key", list: "item", str: "character"}
_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "object": ("an object", (dict,)),
    "array": ("a list", (list,)),
    "string": ("a text", (str,)),
    "number": ("a number", (int, float)),
    "integer": ("a whole number", (int,)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
}
"""Types with their names in messages."""
_LONGEST = 60


def schema_problems(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, path: str = ""
) -> Iterator[str]:
    """Yield the problems of a JSON value, each as "path: problem", in document order.

    A problem with a pattern quotes the description of its schema, if there is one.

    value : Parsed JSON.
    schema : Parsed JSON Schema.
    root : The schema that references of this one are to; itself by default.
    path : Of the value in its document.
    Raises NotImplementedError: for a keyword that is not implemented.
    """
    root, where = schema if root is None else root, path or "document"
    wanted = schema.get("type", ())
    names = [wanted] if isinstance(wanted, str) else wanted
    if names and not _is_of_type(value, names):
        kinds = " or ".join(_TYPES[name][0] for name in names)
        yield f"{where}: must be {kinds}, not {_value_text(value)}"
        return
    if value is None and names:
        return  # limits of lists and numbers do not apply to null
    if "minItems" in schema or "maxItems" in schema:
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        if not least <= len(value) <= most:
            limits = f"{least} or more" if most == math.inf else f"{least} to {most}"
            limits = str(least) if least == most else limits
            yield f"{where}: has {_size_text(value)}, but must have {limits}"
    for keyword, rule in schema.items():
        if keyword in _RULES:
            holds, text = _RULES[keyword]
            if not holds(value, rule):
                choices = ", ".join(map(_value_text, rule)) if isinstance(rule, list) else ""
                texts = {"rule": _value_text(rule), "value": _value_text(value), "size": _size_text(value)}
                yield f"{where}: {text.format(choices=choices, **texts)}"
        elif keyword == "$ref":
            referred: Any = root
            for key in rule.removeprefix("#/").split("/"):
                referred = referred[key]
            yield from schema_problems(value, referred, root, path)
        elif keyword == "required":
            yield from (f"{where}: {name!r} is missing" for name in rule if name not in value)
        elif keyword == "properties":
            for name, part in rule.items():
                if name in value:
                    yield from schema_problems(value[name], part, root, f"{path}.{name}" if path else name)
        elif keyword == "additionalProperties" and rule is False:
            known = schema.get("properties", {})
            yield from (f"{where}: unknown key {quoted(name)}" for name in value if name not in known)
        elif keyword == "items":
            for index, item in enumerate(value):
                yield from schema_problems(item, rule, root, f"{path}[{index}]")
        elif keyword == "pattern":
            if re.search(rule, value) is None:
                wanted = schema.get("description", f"a text like {rule}")
                yield f"{where}: must be {wanted}, not {_value_text(value)}"
        elif keyword not in _OTHER_KEYWORDS:
            raise NotImplementedError(f"schema keyword {keyword!r}")


def _size_text(value: Any) -> str:
    """Text of the number of items of a list, keys of an object or characters of a text; else empty."""
    name = _ITEM_NAMES.get(type(value))
    return pluralized(len(value), name) if name else ""


def _value_text(value: Any) -> str:
    """Text of a value for a message, shortened if it is long."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {_size_text(value)}"
    if isinstance(value, str):
        return quoted(value)
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _is_of_type(value: Any, names: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True  # JSON has one kind of number: 1.0 is an integer
    return any(isinstance(value, _TYPES[name][1]) for name in names)
