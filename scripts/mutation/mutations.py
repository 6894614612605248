"""Mutants of the functions of a room, made by mutmut. Their names are stable under line shifts.

Operators, comparisons, conditions, numbers and strings change. Arguments and assigned values are not removed,
because that nearly always raises an error.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators, operator_arg_removal, operator_assignment
from mutmut.mutation.pragma_handling import IgnoredCode

from environments import ROOT

CORE = ROOT / "addon" / "core"
ROOMS = ("distance", "sweep")
OPERATORS = [
    (kind, operator)
    for kind, operator in mutation_operators
    if operator not in (operator_arg_removal, operator_assignment)
]
MIN_LENGTH = 40
"""Length of the description of a change, if its statement is as long."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function.

    Attributes
    ----------
    function : str
        Module and function: `sweep/closed_forms.box_gaps`, with the class for methods.
    change : str
        The smallest expressions that differ, `before -> after`, numbered if the function has several.
    lines : range
        Lines of the statement that changes.
    source : str
        The changed function.
    """

    function: str
    change: str
    lines: range
    source: str

    @property
    def room(self) -> str:
        """Name of the folder in addon/core."""
        return self.function.split("/")[0]

    def original(self) -> FunctionType:
        """Return the function that the mutant changes."""
        module, _, path = self.function.partition(".")
        found: Any = importlib.import_module(f"addon.core.{module.replace('/', '.')}")
        for name in path.split("."):
            found = inspect.getattr_static(found, name)
        found = getattr(found, "__func__", found)
        assert isinstance(found, FunctionType)
        return found

    def activate(self, functions: dict[CodeType, list[FunctionType]]) -> None:
        """Give the function the changed code, wherever it is already referenced; see `functions_by_code`."""
        original = self.original()
        flags = annotations.compiler_flag
        code = compile(self.source, original.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
        names: dict[str, Any] = {}
        exec(code, original.__globals__, names)
        changed = names[original.__name__]
        changed = getattr(changed, "__func__", changed)
        # Functions that the original has returned, as a decorator does, have the code of an inner function.
        inner = {each.co_qualname: each for each in code_objects(changed.__code__)}
        for each in list(code_objects(original.__code__))[1:]:
            for function in functions.get(each, ()):
                replacement = inner.get(each.co_qualname.removeprefix(_class_of(original)))
                if replacement and replacement.co_freevars == function.__code__.co_freevars:
                    function.__code__ = replacement
        original.__code__ = changed.__code__
        original.__defaults__, original.__kwdefaults__ = changed.__defaults__, changed.__kwdefaults__


def _class_of(function: FunctionType) -> str:
    return function.__qualname__.removesuffix(function.__name__)


def functions_by_code() -> dict[CodeType, list[FunctionType]]:
    """Return all functions that exist now, by their code."""
    functions: defaultdict[CodeType, list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            functions[each.__code__].append(each)
    return functions


def mutants_of(room: str) -> list[Mutant]:
    """Return the mutants of all functions in the folder of a room, without those that are the same code."""
    return [mutant for path in sorted((CORE / room).glob("*.py")) for mutant in _mutants_of_file(path)]


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those nested in it, such as generator expressions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


def _mutants_of_file(path: Path) -> Iterator[Mutant]:
    text = path.read_text("utf-8")
    wrapper = MetadataWrapper(libcst.parse_module(text))
    visitor = MutationVisitor(OPERATORS, IgnoredCode(set(), set(), set()))
    module, positions = wrapper.visit(visitor), wrapper.resolve(PositionProvider)
    statements = _lines_of_statements(ast.parse(text))
    qualified = {
        method: f"{each.name.value}.{method.name.value}"
        if isinstance(each, libcst.ClassDef)
        else method.name.value
        for each in module.body
        for method in (each.body.body if isinstance(each, libcst.ClassDef) else [each])
        if isinstance(method, libcst.FunctionDef)
    }
    prefix = path.relative_to(CORE).with_suffix("").as_posix()
    counts: Counter[tuple[str, str]] = Counter()
    for mutation in visitor.mutations:
        function = mutation.contained_by_top_level_function
        if function not in qualified:
            continue
        before = libcst.Module([function.with_changes(leading_lines=[])]).code
        changed = deep_replace(function, mutation.original_node, mutation.mutated_node)
        after = libcst.Module([changed.with_changes(leading_lines=[])]).code
        change = _change(ast.parse(before).body[0], ast.parse(after).body[0])
        if change:
            name = f"{prefix}.{qualified[function]}"
            counts[name, change] += 1
            number = counts[name, change]
            line = positions[mutation.original_node].start.line
            yield Mutant(
                name, change if number == 1 else f"{change} ({number})", statements.get(line, range(0)), after
            )


def _lines_of_statements(module: ast.Module) -> dict[int, range]:
    """Map each line within a function to the lines of its innermost statement, without nested statements."""
    lines = {}
    for node in ast.walk(module):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
            body = getattr(node, "body", None)
            end = (body[0].lineno - 1 if body else node.end_lineno) or node.lineno
            span = range(node.lineno, max(end, node.lineno) + 1)
            lines.update(dict.fromkeys(span, span))
    return lines


def _change(before: ast.AST, after: ast.AST) -> str:
    """Describe the smallest difference of two functions, with enough around it to recognize it."""
    around = [(before, after)]
    while type(before) is type(after):
        first, second = (list(ast.iter_child_nodes(node)) for node in (before, after))
        differing = [pair for pair in zip(first, second, strict=False) if not _is_same(*pair)]
        if len(first) != len(second) or len(differing) != 1:
            break
        before, after = differing[0]
        around.append((before, after))
    if _is_same(before, after):
        return ""
    described = ""
    for before, after in reversed(around):
        if isinstance(before, ast.expr | ast.stmt | ast.arguments):
            if described and isinstance(before, ast.stmt):
                break
            described = f"{ast.unparse(before)} -> {ast.unparse(after)}"
            if len(described) > MIN_LENGTH:
                break
    return described


def _is_same(before: ast.AST, after: ast.AST) -> bool:
    return ast.dump(before) == ast.dump(after)
