"""The part of JSON Schema 2020-12 that the shipped schema uses.

Blender ships no schema library, and the extension brings none along. A schema with a keyword that is not
known here is refused, so that nothing goes unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def schema_problems(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with parsed JSON `value`, each as "path: problem", in document order."""
    return _problems(value, schema, schema, "")


def _problems(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> Iterator[str]:
    where = path or "document"
    if "type" in schema and not _is_of_type(value, schema["type"]):
        wanted = schema["type"] if isinstance(schema["type"], str) else " or ".join(schema["type"])
        yield f"{where}: must be of type {wanted}"
        return
    for keyword, rule in schema.items():
        if keyword in _ANNOTATIONS or keyword == "type":
            continue
        if keyword == "$ref":
            yield from _problems(value, _resolved(rule, root), root, path)
        elif keyword == "const":
            if value != rule:
                yield f"{where}: must be {rule!r}"
        elif keyword == "enum":
            if value not in rule:
                yield f"{where}: must be one of {', '.join(map(repr, rule))}"
        elif keyword == "required":
            yield from (f"{where}: {name!r} is missing" for name in rule if name not in value)
        elif keyword == "properties":
            for name, part in rule.items():
                if name in value:
                    yield from _problems(value[name], part, root, f"{path}.{name}" if path else name)
        elif keyword == "additionalProperties" and rule is False:
            known = schema.get("properties", {})
            yield from (f"{where}: unknown key {name!r}" for name in value if name not in known)
        elif keyword == "items":
            for index, item in enumerate(value):
                yield from _problems(item, rule, root, f"{path}[{index}]")
        elif keyword in _LIMITS:
            if not _LIMITS[keyword](value, rule):
                yield f"{where}: breaks {keyword} {rule}"
        else:
            raise NotImplementedError(f"schema keyword {keyword!r}")


_LIMITS: Mapping[str, Any] = {
    "minimum": lambda value, limit: value >= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "minItems": lambda value, limit: len(value) >= limit,
    "maxItems": lambda value, limit: len(value) <= limit,
    "minLength": lambda value, limit: len(value) >= limit,
    "pattern": lambda value, pattern: re.search(pattern, value) is not None,
}


def _is_of_type(value: Any, wanted: str | list[str]) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True  # JSON has one kind of number: 1.0 is an integer
    return any(isinstance(value, _TYPES[name]) for name in names)


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    for key in reference.removeprefix("#/").split("/"):
        part = part[key]
    found: Mapping[str, Any] = part
    return found
