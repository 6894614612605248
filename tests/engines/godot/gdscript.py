"""Runs the loader for Godot in Python, translated line by line, with substitutes for Godot's classes.

GDScript has the expressions and the control flow of Python. Declarations and types of variables differ, and
so do the classes, which `classes.py` replaces.
"""

from __future__ import annotations

import ast
import re
from types import SimpleNamespace

from tests.engines.godot import classes
from tests.paths import TOP

LOADER = TOP / "docs" / "loaders" / "collision_bounds.gd"

_REPLACEMENTS = (
    (r"^(class_name|extends) .*$", ""),
    (r"^(\t*)var (\w+): Vector3$", r"\1\2 = Vector3()"),
    (r"^(\t*)var (\w+): \w+$", r"\1\2 = None"),
    (r"^(\t*)(?:var|const) (\w+)(?:: [\w\[\]]+ | :)= ", r"\1\2 = "),
    (r"^(\t*)(?:var|const) (\w+) := ", r"\1\2 = "),
    (r"^(\t*)for (\w+): \w+ in ", r"\1for \2 in "),
    (r'^(\t*)("\w+"|_):$', r"\1case \2:"),
)


def load_script(text: str | None = None) -> SimpleNamespace:
    """Translate a script, by default the loader, and return its functions, and `errors` and `warnings`."""
    lines = (text or LOADER.read_text("utf-8")).split("\n")
    tree = _Translator().visit(ast.parse("\n".join(map(_python_line, lines))))
    reports = SimpleNamespace(errors=[], warnings=[])
    names = {**vars(classes), "push_error": reports.errors.append, "push_warning": reports.warnings.append}
    exec(compile(ast.fix_missing_locations(tree), "collision_bounds.gd", "exec"), names)
    functions = {name: value for name, value in names.items() if callable(value)}
    return SimpleNamespace(**vars(reports), **{**functions, "push_error": None, "push_warning": None})


def _python_line(line: str) -> str:
    """Translate a line: types and declarations are removed."""
    function = re.match(r"^static func (\w+)\((.*)\) -> [\w\[\]]+:$", line)
    if function:
        arguments = [re.sub(r"^(\w+): [\w\[\]]+", r"\1", each) for each in function[2].split(", ") if each]
        return f"def {function[1]}({', '.join(each.replace(' := ', '=') for each in arguments)}):"
    for pattern, replacement in _REPLACEMENTS:
        line = re.sub(pattern, replacement, line)
    return line


class _Translator(ast.NodeTransformer):
    """Translates what means something else in Python: lists, dictionaries, texts, `is`, % and loops."""

    def visit_List(self, node: ast.List) -> ast.AST:
        return _call("Array", self.generic_visit(node))

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        return _call("Dictionary", self.generic_visit(node))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _call("String", node) if isinstance(node.value, str) else node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        is_format = isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Call)
        if is_format and getattr(node.right.func, "id", "") == "Array":
            node.right = _call("tuple", node.right)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.Is):
            return _call("is_of_type", node.left, node.comparators[0])
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("items_of", node.iter)
        return node


def _call(name: str, *arguments: ast.AST) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
