"""Validator for the part of JSON Schema 2020-12 that the document's schema uses.

Blender ships no schema library, and the extension has no dependencies. A keyword that is not implemented here
raises NotImplementedError, so that nothing stays unchecked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..wording import pluralized, quoted

_LIST_KEYWORDS = frozenset({"minItems", "maxItems"})
_ANNOTATIONS = frozenset({"$schema", "$comment", "$id", "$defs", "title", "description", "examples"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_TYPE_NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
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
    if "type" in schema and not _is_of_type(value, schema["type"]):
        kinds = " or ".join(_TYPE_NAMES[name] for name in _type_names(schema["type"]))
        yield f"{where}: must be {kinds}, not {_value_text(value)}"
        return
    if value is None and "type" in schema:
        return  # limits of lists and numbers do not apply to null
    if (limits := _item_limits(schema)) and not limits[0] <= len(value) <= limits[1]:
        yield f"{where}: has {pluralized(len(value), 'item')}, but must have {_limits_text(*limits)}"
    for keyword, rule in schema.items():
        if keyword in _ANNOTATIONS or keyword == "type":
            continue
        if keyword == "$ref":
            yield from _problems(value, _resolved(rule, root), root, path)
        elif keyword == "const":
            if value != rule:
                yield f"{where}: must be {_value_text(rule)}, not {_value_text(value)}"
        elif keyword == "enum":
            if value not in rule:
                yield f"{where}: must be one of {', '.join(map(_value_text, rule))}, not {_value_text(value)}"
        elif keyword == "required":
            yield from (f"{where}: {name!r} is missing" for name in rule if name not in value)
        elif keyword == "properties":
            for name, part in rule.items():
                if name in value:
                    yield from _problems(value[name], part, root, f"{path}.{name}" if path else name)
        elif keyword == "additionalProperties" and rule is False:
            known = schema.get("properties", {})
            yield from (f"{where}: unknown key {quoted(name)}" for name in value if name not in known)
        elif keyword == "minProperties":
            if len(value) < rule:
                yield f"{where}: has {pluralized(len(value), 'key')}, but must have {rule} or more"
        elif keyword == "maxProperties":
            if len(value) > rule:
                yield f"{where}: has {pluralized(len(value), 'key')}, but must have {rule} or fewer"
        elif keyword == "items":
            for index, item in enumerate(value):
                yield from _problems(item, rule, root, f"{path}[{index}]")
        elif keyword == "minimum":
            if not value >= rule:
                yield f"{where}: must be {rule} or more, not {_value_text(value)}"
        elif keyword == "maximum":
            if not value <= rule:
                yield f"{where}: must be {rule} or less, not {_value_text(value)}"
        elif keyword == "exclusiveMinimum":
            if not value > rule:
                yield f"{where}: must be more than {rule}, not {_value_text(value)}"
        elif keyword == "minLength":
            if not len(value) >= rule:
                yield f"{where}: has {pluralized(len(value), 'character')}, but must have {rule} or more"
        elif keyword == "pattern":
            if re.search(rule, value) is None:
                wanted = schema.get("description", f"a text like {rule}")
                yield f"{where}: must be {wanted}, not {_value_text(value)}"
        elif keyword not in _LIST_KEYWORDS:
            raise NotImplementedError(f"schema keyword {keyword!r}")


def _item_limits(schema: Mapping[str, Any]) -> tuple[int, float] | None:
    """Least and greatest number of items of a list; None without limits."""
    if _LIST_KEYWORDS.isdisjoint(schema):
        return None
    return schema.get("minItems", 0), schema.get("maxItems", math.inf)


def _limits_text(least: int, most: float) -> str:
    if least == most:
        return str(least)
    return f"{least} or more" if most == math.inf else f"{least} to {most}"


def _value_text(value: Any) -> str:
    """Text of a value for a message, shortened if it is long."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {pluralized(len(value), 'item')}"
    if isinstance(value, str):
        return quoted(value)
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _type_names(wanted: str | list[str]) -> list[str]:
    return [wanted] if isinstance(wanted, str) else wanted


def _is_of_type(value: Any, wanted: str | list[str]) -> bool:
    names = _type_names(wanted)
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True  # JSON has one kind of number: 1.0 is an integer
    return any(isinstance(value, _TYPES[name]) for name in names)


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    for key in reference.removeprefix("#/").split("/"):
        part = part[key]
    resolved: Mapping[str, Any] = part
    return resolved
