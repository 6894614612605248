"""Options: how each is named, checked and described, wherever it is given, and the rules between options.

`settings` declares the options of the jobs, each at its field. The command line, `api` and the properties of
the window derive theirs from these, and spell them their way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from ..formats.wording import valid_text
from .errors import SceneError

_Settings = TypeVar("_Settings")


class Kind:
    """Kind of the values of an option. `read` and `check` raise ValueError with the value and the reason.

    metavar : Name of a value in `--help`.
    """

    metavar = "NAME"

    def read(self, text: str) -> Any:
        """Convert a word of the command line."""
        return valid_text(text)

    def check(self, value: Any) -> Any:
        """Convert a value of a script."""
        if not isinstance(value, str):
            raise ValueError(f"{value!r}: must be a name")
        return value


class Name(Kind):
    """A name; bytes that are not UTF-8 are compared as they are shown."""


class Flag(Kind):
    """Yes or no."""

    def check(self, value: Any) -> bool:
        return bool(value)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number within limits.

    soft_least, soft_most : Limits of sliders.
    is_whole, is_length : Whether it is a whole number, or a length in Blender units.
    """

    least: float = -math.inf
    most: float = math.inf
    soft_least: float | None = None
    soft_most: float | None = None
    is_whole: bool = False
    is_length: bool = False
    metavar: str = "N"

    def read(self, text: str) -> float:
        value: float = math.nan
        if not self.is_whole or (text.isascii() and text.isdecimal()):
            with suppress(ValueError):  # no number, or one of too many digits
                value = int(text) if self.is_whole else float(text)
        if not self._is_right(value):
            raise ValueError(f"{text!r} is not {self._expected}")
        return value

    def check(self, value: Any) -> float:
        is_number = type(value) is int if self.is_whole else isinstance(value, Real)
        if not is_number or not self._is_right(value):
            raise ValueError(f"{value!r}: must be {self._expected}")
        return int(value) if self.is_whole else float(value)

    def _is_right(self, value: float) -> bool:
        return math.isfinite(value) and self.least <= value <= self.most

    @property
    def _expected(self) -> str:
        if math.isinf(self.least):
            return "a finite number"
        noun = "a whole number" if self.is_whole else "a number"
        if math.isinf(self.most):
            return f"{noun} of {self.least:g} or more"
        return f"{noun} from {self.least:g} to {self.most:g}"


class Item(NamedTuple):
    """One of the values of a choice, with its label and tooltip in the window."""

    name: str
    label: str = ""
    description: str = ""
    icon: str = ""
    is_in_window_alone: bool = False


@dataclass(frozen=True)
class Choice(Kind):
    """One of several names. Blender files store the position, so append new ones.

    names : Those that the command line and scripts can choose from.
    """

    items: tuple[Item, ...]
    names: tuple[str, ...]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.names:
            raise ValueError(f"{value!r}: choose from {', '.join(self.names)}")
        return value


def choice(*items: Item | str) -> Choice:
    """Return a choice of items, or of names without labels."""
    every = tuple(Item(item) if isinstance(item, str) else item for item in items)
    return Choice(every, tuple(item.name for item in every if not item.is_in_window_alone))


@dataclass(frozen=True)
class Choices(Kind):
    """Several names of a choice, separated by commas."""

    metavar = "LIST"

    names: tuple[str, ...]
    noun: str

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
        for name in found:
            if name not in self.names:
                raise ValueError(f"unknown {self.noun} {name!r} (choose from {', '.join(self.names)})")
        return found

    def check(self, value: Any) -> tuple[str, ...]:
        return tuple(map(choice(*self.names).check, _texts(value)))


@dataclass(frozen=True)
class Patterns(Kind):
    """Any number of patterns of names, or of pairs of them."""

    of_pairs: bool = False
    metavar: str = "PATTERN"

    def read(self, text: str) -> str:
        if self.of_pairs and ":" not in text[1:-1]:
            raise ValueError(f"{text!r}: expected A:B, two names or patterns with a colon between")
        return valid_text(text)

    def check(self, value: Any) -> tuple[str, ...]:
        return tuple(self.read(super(Patterns, self).check(text)) for text in _texts(value))


class FrameSpan(Kind):
    """First frame, last frame and step: START[:END[:STEP]], by default one frame and step 1."""

    metavar = "START[:END[:STEP]]"

    def read(self, text: str) -> tuple[float, float, float]:
        numbers: list[float] = []
        with suppress(ValueError):
            numbers = [float(part) for part in text.split(":")]
        return _span(text, numbers, "expected START, START:END or START:END:STEP, in frames")

    def check(self, value: Any) -> tuple[float, float, float]:
        numbers = value if isinstance(value, tuple | list) else (value,)
        return _span(value, numbers, "must be a frame, first and last, or first, last and step")


def _span(given: Any, numbers: Sequence[Any], expected: str) -> tuple[float, float, float]:
    are_finite = all(isinstance(number, Real) and math.isfinite(number) for number in numbers)
    if len(numbers) not in (1, 2, 3) or not are_finite:
        raise ValueError(f"{given!r}: {expected}")
    defaults: list[Any] = [numbers[0], 1.0]
    start, end, step = list(numbers) + defaults[len(numbers) - 1 :]
    if start > end:
        raise ValueError(f"{given!r}: the end is before the start")
    if step <= 0:
        raise ValueError(f"{given!r}: the step must be greater than 0")
    return start, end, step


@dataclass(frozen=True)
class Parsed(Kind):
    """A value of the command line alone, by a function that raises ValueError."""

    read: Callable[[str], Any]  # type: ignore[assignment]
    metavar: str = "N"


def _texts(values: Any) -> list[Any]:
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise ValueError(f"{values!r}: must be a sequence of names")
    return list(values)


@dataclass(frozen=True)
class Option:
    """An option.

    name : Keyword of scripts; with dashes, the option of the command line.
    help : Line of `--help`; empty if only the window has the option.
    commands : Commands that have it, of those with its settings; all if empty.
    flags : Spellings on the command line, if they are not that of the name.
    label, description : Name and tooltip in the window; empty if the window has no such option.
    property : Name of the property in the window.
    is_of_objects_alone : Whether only single objects have the property, and not the scene.
    is_hidden : Whether `--help` omits it.
    """

    name: str
    kind: Kind
    help: str = ""
    default: Any = None
    commands: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    label: str = ""
    description: str = ""
    property: str = ""
    is_of_objects_alone: bool = False
    is_hidden: bool = False


def declare(default: Any, kind: Kind, help: str = "", *, name: str = "", **more: Any) -> Any:
    """Return the field of a settings class that an option sets, by default one of the same name."""
    return field(default=default, metadata={"options": (Option(name, kind, help, default, **more),)})


def switch(
    help: str, label: str = "", description: str = "", *, default: bool = False, name: str = ""
) -> Any:
    """Return the field of a settings class that an option without a value sets."""
    return declare(default, Flag(), help, name=name, label=label, description=description)


def declare_together(make: Callable[..., Any], *options: Option) -> Any:
    """Return a field that is None, or made from the values of several options if the first one is given."""
    return field(default=None, metadata={"options": options, "make": make})


def options_of(settings: Any, command: str = "") -> dict[str, Option]:
    """Return the options of settings and of the settings in them by name, those of a command alone."""
    found: dict[str, Option] = {}
    for each in fields(settings):
        value = getattr(settings, each.name)
        if is_dataclass(value):
            found |= options_of(value, command)
        for option in each.metadata.get("options", ()):
            if not command or not option.commands or command in option.commands:
                name = option.name or each.name
                title = option.property or (each.name if len(each.metadata["options"]) == 1 else name)
                found[name] = replace(option, name=name, property=title)
    return found


def with_options(settings: _Settings, values: Mapping[str, Any]) -> _Settings:
    """Return settings, and the settings in them, with the values of options and of other fields by name."""
    changes: dict[str, Any] = {}
    for each in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, each.name)
        names = [option.name or each.name for option in each.metadata.get("options", ())] or [each.name]
        if is_dataclass(value):
            changes[each.name] = with_options(value, values)
        elif values.get(names[0]) is not None:
            given = [values[name] for name in names if values.get(name) is not None]
            made = each.metadata["make"](*given) if "make" in each.metadata else given[0]
            changes[each.name] = tuple(made) if isinstance(made, list) else made
    return replace(settings, **changes)  # type: ignore[type-var]


class Rule(NamedTuple):
    """A rule between options. An option is mentioned by its name, or as name=value.

    option : The rule applies if this option is given, or has this value.
    needs : Options of which one must be given.
    excludes : Options of which none may be given.
    implies : Option that gets this value if it is not given; an option of several values gets it in
        addition.
    remedy : End of the message; `{name}` is another option.
    message : The whole message, where that about the option would not help; `{value}` is that of what is
        needed.
    """

    option: str
    needs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    implies: str = ""
    remedy: str = ""
    message: str = ""


Spelling = Callable[[str, str], str]
"""Writes the name and the value, or "", of an option as its user does."""


def completed(
    given: Mapping[str, Any], options: Mapping[str, Option], rules: Iterable[Rule], spelled: Spelling
) -> dict[str, Any]:
    """Return the options that are given with those that they imply.

    Raises ValueError for an option that contradicts another one.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for rule in rules:
        if not _applies(rule.option, values, options):
            continue
        if rule.implies:
            name, _, value = rule.implies.partition("=")
            if isinstance(options[name].kind, Choices):
                values[name] = tuple(dict.fromkeys((*values.get(name, options[name].default), value)))
            else:
                values.setdefault(name, value)
        is_missing = rule.needs and not any(_applies(each, values, options) for each in rule.needs)
        if is_missing or any(_applies(each, values, options) for each in rule.excludes):
            names = {name: spelled(name, "") for name in options}
            if rule.message:
                value = values[rule.needs[0].partition("=")[0]]
                raise ValueError(rule.message.format(**names, value=",".join(value)))
            subject, *first, last = (
                spelled(*mention.partition("=")[::2])
                for mention in (rule.option, *(rule.needs or rule.excludes))
            )
            wanted = f"{', '.join(first)} or {last}" if first else last
            word = "only" if rule.needs else "not"
            raise ValueError(f"{subject}: {word} valid with {wanted}{rule.remedy.format(**names)}")
    return values


def completed_keywords(
    given: Mapping[str, Any], options: Mapping[str, Option], rules: Iterable[Rule]
) -> dict[str, Any]:
    """Return the options that a script passes as keywords, converted, with those that they imply.

    None stands for an option that is not given. Raises SceneError for an unknown, wrong or contradictory one.
    """

    def spelled(name: str, value: str) -> str:
        if value:
            return f'{name}="{value}"'
        return f"{name}=True" if isinstance(options[name].kind, Flag) else name

    values = {}
    for name, value in given.items():
        if name not in options:
            raise SceneError(f"option {name!r}: choose from {', '.join(sorted(options))}")
        if value is not None or options[name].default is not None:
            try:
                values[name] = options[name].kind.check(value)
            except ValueError as error:
                raise SceneError(f"{name} {error}") from None
    try:
        return completed(values, options, rules, spelled)
    except ValueError as error:
        raise SceneError(str(error)) from None


def _applies(mention: str, values: Mapping[str, Any], options: Mapping[str, Option]) -> bool:
    name, _, wanted = mention.partition("=")
    if not wanted:
        return values.get(name) not in (None, (), []) and values[name] is not False
    value = values.get(name, options[name].default)
    return wanted == value or (isinstance(value, tuple) and wanted in value)
