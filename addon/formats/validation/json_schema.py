"""Validator for the part of JSON Schema 2020-12 that the document's schema uses.

Blender ships no schema library, and the extension has no dependencies. A keyword that is not implemented here
raises NotImplementedError, so that nothing stays unchecked.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..wording import pluralized, quoted

_OTHER_KEYWORDS = frozenset({"$schema", "$comment", "$id", "$defs", "title", "description", "examples"}) | {
    *("type", "minItems", "maxItems"),
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


def schema_problems(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of a JSON value, each as "path: problem", in document order.

    A problem with a pattern quotes the description of its schema, if there is one.

    value : Parsed JSON.
    schema : Parsed JSON Schema.
    Raises NotImplementedError: for a keyword that is not implemented.
    """
    return _problems(value, schema, schema, "")


def _problems(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> Iterator[str]:
    where = path or "document"
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
            yield f"{where}: has {_size_text(value)}, but must have {_limits_text(least, most)}"
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
            yield from _problems(value, referred, root, path)
        elif keyword == "required":
            yield from (f"{where}: {name!r} is missing" for name in rule if name not in value)
        elif keyword == "properties":
            for name, part in rule.items():
                if name in value:
                    yield from _problems(value[name], part, root, f"{path}.{name}" if path else name)
        elif keyword == "additionalProperties" and rule is False:
            known = schema.get("properties", {})
            yield from (f"{where}: unknown key {quoted(name)}" for name in value if name not in known)
        elif keyword == "items":
            for index, item in enumerate(value):
                yield from _problems(item, rule, root, f"{path}[{index}]")
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


def _limits_text(least: int, most: float) -> str:
    if least == most:
        return str(least)
    return f"{least} or more" if most == math.inf else f"{least} to {most}"


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
