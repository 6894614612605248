"""Random changes of JSON: of the values, of the text and of the bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 1.0, 2.0, -0.0, 0.5, -0.5, 1.5, 1e-3, 1e-6, 1e-9, 100, -100),
    *(1e15, 1e16, 1e20, 1e30, -1e30, 1e38, 4e38, 1e100, 1e154, 1e155, 1e200, 1e300, 1e307, -1.7e308, 1e308),
    *(1e-30, 1e-100, 1e-154, 1e-200, 1e-300, 5e-324, 2**31, 2**32, 2**53, 2**63, 2**64, 10**18, 10**30),
    *(
        10**300,
        10**400,
        "",
        " ",
        "a",
        "b",
        "Cube",
        "0",
        "1",
        "1.0.0",
        "1.9.9",
        "2.0.0",
        "+X",
        "-Y",
        "+Z",
        "m",
    ),
    *(
        "cm",
        "mm",
        "unit",
        "blender",
        "gltf",
        "unreal",
        "custom",
        "left",
        "right",
        "box",
        "sphere",
        "aabb",
        "obb",
    ),
    *(
        "spheres",
        "world",
        "sampled",
        "linear",
        "\0",
        "\n",
        "\x1b[31m",
        "\ud800",
        "\udfff\ud800",
        "\U0001f600",
    ),
    *("\u202e", "x" * 5000, [], [[]], [0], [0, 0, 0], [1, 2, 3], [1.0, 0.0, 2.0], [0, 0, 0, 1], [1e308] * 3),
    *([0] * 9, [1, 0, 0, 0, 1, 0, 0, 0, 1], {}, {"a": 1}, {"center": [0, 0, 0], "radius": 1}),
    *({"min": [0, 0, 0], "max": [1, 1, 1]}, {"start": 1, "end": 2}, {"touch": False}, [None], [[1e30, 0, 0]]),
)
"""Values that replace others."""

_TEXTS = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000, "01", "1.", ".5", "+1", "0x10", "'a'"),
    *("[" * 200 + "]" * 200, "[" * 50_000, '{"a":' * 3000 + "1" + "}" * 3000, '"\\ud83d"', '"\\u0000"', "//"),
    *('{"a": 1, "a": 2}', "", ",", "nul", "tru", '"', "\\", "\t", "\u2028", "1e-400", "-0", "1E400", "/**/"),
)
"""Texts that replace numbers."""


def mutated_json(random: random.Random, text: str) -> bytes:
    """Return the bytes of a document after one to three changes of one kind.

    Parameters
    ----------
    random : random.Random
        Generator of the changes.
    text : str
        JSON with an object at the top.

    Returns
    -------
    content : bytes
        Often no JSON any more.
    """
    kind = random.random()
    if kind < 0.75:
        document = json.loads(text)
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            _change_value(random, document)
        changed = json.dumps(document, ensure_ascii=random.random() < 0.5)
        return changed.encode("utf-8", "surrogatepass")
    if kind < 0.85:
        return _with_other_text(random, text).encode("utf-8", "surrogatepass")
    if kind < 0.88:
        encoding = random.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252", "utf-7"))
        return text.encode(encoding, "replace")
    content = bytearray(text.encode())
    for _ in range(random.choice((1, 1, 2, 5))):
        _change_bytes(random, content)
    return bytes(content)


def _change_value(random: random.Random, document: Any) -> None:
    """Change a random item of a random list or object in the document."""
    parent, key, value = None, None, document
    while isinstance(value, (dict, list)) and value and (parent is None or random.random() < 0.85):
        parent = value
        key = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
        value = parent[key]
    if parent is None:
        return
    random.choice(_CHANGES)(random, parent, key)


def _replace(random: random.Random, parent: Any, key: Any) -> None:
    parent[key] = random.choice(VALUES)


def _delete(random: random.Random, parent: Any, key: Any) -> None:
    del parent[key]


def _duplicate(random: random.Random, parent: Any, key: Any) -> None:
    if isinstance(parent, list):
        parent.insert(random.randrange(len(parent) + 1), json.loads(json.dumps(parent[key])))
    else:
        parent[random.choice((f"{key}2", "extra", "aabb", "hull", "envelope", ""))] = parent[key]


def _swap(random: random.Random, parent: Any, key: Any) -> None:
    """Exchange two values of the same list or object."""
    other = random.choice(list(parent)) if isinstance(parent, dict) else random.randrange(len(parent))
    parent[key], parent[other] = parent[other], parent[key]


def _scale(random: random.Random, parent: Any, key: Any) -> None:
    """Multiply all numbers at or below a place, or write integers as floats."""
    factor = random.choice((1.0, 1.0, 1 + 1e-7, -1.0, 2.0, 0.5, 10.0, 100.0, 1e10, 1e150, 1e-10, 1e-200, 0.0))

    def scaled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: scaled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [scaled(item) for item in value]
        return value * factor if type(value) in (int, float) and abs(value) < 1e308 else value

    parent[key] = scaled(parent[key])


def _nest(random: random.Random, parent: Any, key: Any) -> None:
    for _ in range(random.choice((1, 2, 90, 100, 400))):
        parent[key] = random.choice(([parent[key]], {"x": parent[key]}))


_CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    *(_replace,) * 8,
    *(_scale,) * 6,
    *(_swap,) * 3,
    *(_delete,) * 2,
    *(_duplicate,) * 2,
    _nest,
)


def _with_other_text(random: random.Random, text: str) -> str:
    """Replace a random stretch, mostly a number, by a text that may be no JSON."""
    start = random.randrange(len(text))
    while start < len(text) and not text[start].isdigit():
        start += 1
    end = start
    while end < len(text) and (text[end].isdigit() or text[end] in ".e-"):
        end += 1
    return text[:start] + random.choice(_TEXTS) + text[end:]


def _change_bytes(random: random.Random, content: bytearray) -> None:
    place = random.randrange(len(content) + 1)
    change = random.randrange(5)
    if change == 0:
        del content[place:]
    elif change == 1:
        del content[place : place + random.randrange(1, 50)]
    elif change == 2:
        content[place:place] = random.choice(
            (
                b"\0",
                b"\xff",
                b"\xef\xbb\xbf",
                b"\xed\xa0\x80",
                b"\xc0\x80",
                b"\x80",
                b"\r",
                b'"',
                b"}",
                b"]",
                b"-",
            )
        )
    elif change == 3:
        content[place:place] = content[place : place + random.randrange(1, 200)]
    elif place < len(content):
        content[place] ^= 1 << random.randrange(8)
