"""All texts of the interface: those of registered classes and properties, and literals in the source."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bpy

from addon import registration
from addon.scene.blender import object_properties
from addon.translations import CONTEXT
from tests.paths import TOP

ADDON = TOP / "addon"

TRANSLATORS = {
    "iface_": (0,),
    "tip_": (0,),
    "rpt_": (0,),
    "n_": (0,),
    "meaning_": (0,),
    "message": (0,),
    "refusal": (0,),
    "draw_line": (1,),
    "template": (0,),
    "iface_count": (1, 2),
    "rpt_count": (1, 2),
}
"""Functions whose arguments at these positions are texts to translate."""

LAYOUT_CALLS = {"label", "operator", "prop", "prop_search", "menu", "popover", "progress"}
"""Functions of a layout with the parameters `text` and `translate`."""

NAMES = {
    "3D Tiles...",
    "A",
    "B",
    "Blender",
    "CSV...",
    "Collision Bounds",
    "Godot",
    "KHR (Draft)",
    "OMI (Godot)",
    "USD Physics...",
    "Unity",
    "Unity...",
    "Unreal",
    "Unreal...",
    "glTF",
    "glTF...",
    "MuJoCo (MJCF)...",
    *(f"{sign}{axis}" for sign in "+-" for axis in "XYZ"),
}
"""Names that are the same in all languages."""

GLUE = {" m³", " ft³", "Python: ", "Contacts of |.json", " and | more"}
"""Constant parts of formatted strings that are no sentences: units, a traceback, and names of data."""


class Text(NamedTuple):
    """A text, the context of its translation, and where it is from."""

    context: str
    text: str
    source: str


class Fault(NamedTuple):
    """A text that cannot be translated as it is, and what to do."""

    source: str
    remedy: str


def is_translated(text: str) -> bool:
    """Return whether a text has words: numbers, symbols and names are the same in all languages."""
    return any(character.isalpha() for character in text) and text not in NAMES


def classes() -> Iterator[type]:
    yield from registration._CLASSES
    yield from object_properties._CLASSES


def texts_of_classes() -> Iterator[Text]:
    """Tooltips, names, descriptions and items of everything that is registered."""
    for cls in classes():
        source = f"{cls.__module__}.{cls.__name__}"
        is_operator = issubclass(cls, bpy.types.Operator)
        definition = _operator_type(cls.bl_idname) if is_operator else cls.bl_rna
        if is_operator or issubclass(cls, bpy.types.Menu) or getattr(cls, "bl_region_type", "") == "HEADER":
            # Other panels have no tooltips.
            yield Text("*", definition.description, source)
        declared = {
            name
            for base in cls.__mro__
            if base.__module__.startswith("addon")
            for name in vars(base).get("__annotations__", ())
        }
        for prop in definition.properties:
            if prop.identifier in declared and not prop.identifier.startswith("bl_"):
                yield from _texts_of_property(prop, f"{source}.{prop.identifier}")


def _operator_type(name: str):
    group, function = name.split(".")
    return getattr(getattr(bpy.ops, group), function).get_rna_type()


def _texts_of_property(prop, source: str) -> Iterator[Text]:
    context = CONTEXT if prop.translation_context == CONTEXT else "*"
    if prop.name != prop.identifier:  # which is the name of a property that has none
        yield Text(context, prop.name, source)
    yield Text("*", prop.description, source)
    for item in getattr(prop, "enum_items_static", None) or getattr(prop, "enum_items", ()):
        yield Text(context, item.name, source)
        yield Text("*", item.description, source)


@cache
def source_files() -> dict[Path, ast.Module]:
    """Return the syntax trees of the interface, and of other modules that make messages."""
    sources = {file: file.read_text("utf-8") for file in sorted(ADDON.rglob("*.py"))}
    return {
        file: ast.parse(source)
        for file, source in sources.items()
        if file.is_relative_to(ADDON / "ui") or "core.messages import" in source
    }


def texts_of_source() -> Iterator[Text]:
    """Literals that are arguments of a function that translates, or of a layout, and labels of classes."""
    for file, tree in source_files().items():
        values = _values_of_names(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and file.name != "gizmos.py":
                # Not from the class, because Blender renames a menu of presets after the last preset.
                for label in _labels(node):
                    yield Text("*", label, f"{file.relative_to(TOP)}:{node.lineno}")
            if isinstance(node, ast.Call):
                name, source = _called(node), f"{file.relative_to(TOP)}:{node.lineno}"
                context = CONTEXT if name == "meaning_" else "*"
                for text in _literals_of_call(node, name, file, values):
                    yield Text(context, text, source)


def _labels(node: ast.ClassDef) -> Iterator[str]:
    """Yield the label that a class of Blender's interface has; those of gizmos are not shown."""
    for part in node.body:
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "bl_label":
            yield from literals(part.value, {})


def _literals_of_call(node: ast.Call, name: str, file: Path, values: dict) -> Iterator[str]:
    for position in TRANSLATORS.get(name, ()):
        if position < len(node.args):
            yield from literals(node.args[position], values)
    if file.is_relative_to(ADDON / "ui"):
        for keyword in node.keywords:
            is_text = keyword.arg in ("text", "heading") and isinstance(node.func, ast.Attribute)
            if is_text or (name == "undo_push" and keyword.arg == "message"):
                yield from literals(keyword.value, {})
        if name == "report" and len(node.args) == 2:
            yield from literals(node.args[1], {})


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _values_of_names(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Expressions that are assigned to each name of a module, in any function."""
    values: dict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    values[target.id].append(node.value)
    return values


def literals(node: ast.expr, values: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Yield the string literals that an expression can be; of a name, those that are assigned to it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body, values)
        yield from literals(node.orelse, values)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for part in node.elts:
            yield from literals(part, values)
    elif isinstance(node, ast.Subscript):
        yield from literals(node.value, values)
    elif isinstance(node, ast.Name):
        for value in values.get(node.id, ()):
            yield from literals(value, {})


@cache
def texts() -> dict[tuple[str, str], str]:
    """Context and text of everything to translate, with the first place where it is."""
    found: dict[tuple[str, str], str] = {}
    for context, text, source in (*texts_of_classes(), *texts_of_source()):
        if is_translated(text):
            found.setdefault((context, text), source)
    return found


@cache
def faults() -> tuple[Fault, ...]:
    """Texts that are glued from pieces, or that Blender would translate although they are data."""
    return tuple(_faults())


def _faults() -> Iterator[Fault]:
    for file, tree in source_files().items():
        if file.is_relative_to(ADDON / "ui") and file.name not in ("translation.py", "shaders.py"):
            allowed = _in_technical_statements(tree)
            for node in ast.walk(tree):
                source = f"{file.relative_to(TOP)}:{getattr(node, 'lineno', 0)}"
                if isinstance(node, ast.Call):
                    yield from _faults_of_call(node, source)
                elif isinstance(node, ast.JoinedStr) and node not in allowed and _is_glue(node):
                    yield Fault(source, "pass a whole sentence with {placeholders} to iface_, tip_ or rpt_")
                elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and node not in allowed:
                    parts = [part.value for part in (node.left, node.right) if isinstance(part, ast.Constant)]
                    if any(isinstance(part, str) and " " in part and is_translated(part) for part in parts):
                        yield Fault(source, "do not add texts: pass a whole sentence to iface_, tip_ or rpt_")


def _faults_of_call(node: ast.Call, source: str) -> Iterator[Fault]:
    name = _called(node)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in LAYOUT_CALLS and isinstance(node.func, ast.Attribute) and "text" in given:
        is_literal = bool([*literals(given["text"], {})]) and not isinstance(given["text"], ast.IfExp)
        switch = given.get("translate")
        if not is_literal and not (isinstance(switch, ast.Constant) and switch.value is False):
            remedy = "add translate=False: a name such as Cube is data, and other texts pass iface_ before"
            yield Fault(source, remedy)
    if name == "poll_message_set" and [*literals(node.args[0], {})]:
        yield Fault(source, "pass the text to tip_: Blender does not translate it")
    if name in TRANSLATORS:
        for position in TRANSLATORS[name]:
            if position < len(node.args) and isinstance(node.args[position], (ast.JoinedStr, ast.BinOp)):
                yield Fault(source, f"pass a literal to {name}, with {{placeholders}}")


def _in_technical_statements(tree: ast.Module) -> set[ast.AST]:
    """Nodes in what nobody sees in the window: assertions, errors of programmers, and printed lines."""
    technical = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assert, ast.Raise))
        or (isinstance(node, ast.Call) and _called(node) == "print")
    ]
    return {inner for node in technical for inner in ast.walk(node)}


def _is_glue(node: ast.JoinedStr) -> bool:
    parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
    text = "|".join(parts)
    return " " in text and is_translated(text) and text not in GLUE
