"""Texts of the interface: translated, with numbers and names in them.

Lengths are in the units of the scene, frames in as many decimals as are certain. Names are shortened to the
width of a column: in the middle, because names often differ at their ends alone.

Blender translates names and descriptions of classes and properties, and texts that are literals in calls of a
layout. Every other text is passed to one of these functions, as a whole sentence with a named placeholder for
each value. They are named as in Blender's own scripts: `iface_` for labels, `tip_` for tooltips, `rpt_` for
reports and error messages.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from os.path import commonprefix
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface, pgettext_rpt, pgettext_tip

from .. import translations
from ..core import CollisionBoundsError
from ..core.messages import Message

_MOST_DECIMALS = 4
_ELLIPSIS = "\u2026"
_TAIL = 0.65
"""Part of the characters that are kept at the end of a shortened name."""
_SEPARATORS = "._- /"
_NUMBER = re.compile(rf"[{re.escape(_SEPARATORS)}]?\d+$")


class LengthUnit(NamedTuple):
    """Unit of lengths of a scene: its size in Blender units, and its symbol, which is empty for these."""

    size: float
    symbol: str


_METRIC = {"KILOMETERS": 1e3, "METERS": 1.0, "CENTIMETERS": 1e-2, "MILLIMETERS": 1e-3, "MICROMETERS": 1e-6}
_IMPERIAL = {"MILES": 1609.344, "FEET": 0.3048, "INCHES": 0.0254, "THOU": 2.54e-5}
"""Meters of the units of Blender's settings, the largest first."""
_SYMBOLS = dict(
    zip([*_METRIC, *_IMPERIAL], ("km", "m", "cm", "mm", "\u00b5m", "mi", "ft", "in", "thou"), strict=True)
)


def length_unit(units: Any, largest: float) -> LengthUnit:
    """Return the unit of lengths in a scene's settings. If it adapts, it is that of the largest length."""
    if units.system == "NONE":
        return LengthUnit(1.0, "")
    known, name, meters = _METRIC | _IMPERIAL, units.length_unit, abs(largest) * units.scale_length
    if name not in known:
        of_system = _METRIC if units.system == "METRIC" else _IMPERIAL
        usual = "METERS" if units.system == "METRIC" else "FEET"
        smallest = [*of_system][-1] if meters else usual
        name = next((each for each, size in of_system.items() if meters >= size), smallest)
    return LengthUnit(known[name] / units.scale_length, _SYMBOLS[name])


def length_text(value: float, units: Any, digits: int = 4) -> str:
    """Return a length in Blender units as text in the unit of a scene's settings, with so many digits.

    Without units of its own, the scene's numbers stand alone.
    """
    if units.system != "NONE" and units.length_unit == "ADAPTIVE":
        meters = value * units.scale_length
        text = bpy.utils.units.to_string(units.system, "LENGTH", meters, precision=digits)
        # Without a digit, it is rounded to 0, which has no sign.
        return text if any(digit in text for digit in "123456789") else text.lstrip("-")
    unit = length_unit(units, value)
    return f"{number_text(value / unit.size, digits)} {unit.symbol}".rstrip()


def lengths_text(values: Sequence[float], units: Any, digits: int = 4) -> str:
    """Return lengths in Blender units as text, all in the unit of the largest."""
    unit = length_unit(units, max(map(abs, values), default=0.0))
    numbers = "  ".join(number_text(value / unit.size, digits) for value in values)
    return f"{numbers} {unit.symbol}".rstrip()


def number_text(value: float, digits: int) -> str:
    """Return a number with so many digits, without an exponent and without a sign of 0."""
    rounded = float(f"{value:.{digits}g}")
    return str(np.format_float_positional(rounded + 0.0, trim="-"))


def playhead_text(frame: float, most: int = _MOST_DECIMALS) -> str:
    """Return the frame of the playhead, in as many decimals as it has, up to `most`, at least one."""
    return f"{frame:.{most}f}".rstrip("0").rstrip(".")


def frame_text(frame: float, uncertainty: float = 0.0, decimals: int = _MOST_DECIMALS) -> str:
    """Return a frame, rounded to the first digit of its uncertainty, which follows if it is not zero.

    The uncertainty is rounded up. Without one, and at most, the frame has `decimals` decimals. An uncertainty
    below the last of them is not shown.
    """
    if not uncertainty or not math.isfinite(uncertainty):
        return f"{frame:.{decimals}f}"
    exponent = math.floor(math.log10(uncertainty))
    shown = math.ceil(round(uncertainty / 10.0**exponent, 6)) * 10.0**exponent
    if shown >= 10.0 ** (exponent + 1):
        exponent += 1
    if -exponent > decimals:
        # No digit of the uncertainty is among those of the frame.
        return f"{frame:.{decimals}f}"
    digits = max(-exponent, 0)
    return f"{frame:.{digits}f} ± {shown:.{digits}f}"


def shared_prefixes(names: Iterable[str]) -> dict[str, str]:
    """Return for each name the words at its begin that say little, because other names begin with them too.

    Names that differ only by the number at their end keep their words, unless all names do. If two names were
    the same without their prefixes, they lose only what all names have in common.
    """
    names = set(names)
    stems = sorted({_NUMBER.sub("", name) for name in names})
    everywhere = common_prefix(names)
    prefixes = dict.fromkeys(stems, everywhere)
    for pair in pairwise(stems):
        shared = common_prefix(pair)
        for stem in pair:
            prefixes[stem] = max(prefixes[stem], shared, key=len)
    of_names = {name: prefixes[_NUMBER.sub("", name)] for name in names}
    rests = {name: name.removeprefix(prefix) for name, prefix in of_names.items()}
    while len(set(rests.values())) < len(rests):
        counts = Counter(rests.values())
        for name in [name for name in rests if counts[rests[name]] > 1]:
            of_names[name], rests[name] = everywhere, name.removeprefix(everywhere)
    return of_names


def common_prefix(names: Iterable[str]) -> str:
    """Return what all names begin with, up to a separator, so that a part of each is left."""
    names = list(names) or [""]
    shared = commonprefix(names)[: min(map(len, names)) - 1]  # noqa: RUF071, names are no paths
    return shared[: 1 + max(map(shared.rfind, _SEPARATORS))]


def shortened(name: str, prefix: str, fits: Callable[[str], bool]) -> str:
    """Shorten a name until it fits: first by words of its prefix, then in the middle.

    The prefix is the begin of the name that `shared_prefixes` returns. Shorter texts fit better.
    """
    if fits(name):
        return name
    rest = name.removeprefix(prefix)
    for end in (k + 1 for k in range(len(name) - len(rest)) if name[k] in _SEPARATORS):
        if fits(_ELLIPSIS + name[end:]):
            return _ELLIPSIS + name[end:]
    return _kept(rest, most_that_fit(len(rest), lambda count: fits(_kept(rest, count))))


def most_that_fit(length: int, fit: Callable[[int], bool]) -> int:
    """Return the largest number of characters below a length that fit, by bisection; one at least."""
    return 1 + bisect_left(range(2, length), True, key=lambda count: not fit(count))


def shortened_pair(
    a: str, b: str, prefixes: Mapping[str, str], width_of: Callable[[str], float], room: float
) -> tuple[str, str, float]:
    """Shorten the names of a pair to the room of both, as `shortened` does.

    Each may take half of it, and what the other does not need. If they look the same then, they are shortened
    to where they differ. Also returns the width that is left to the first one.
    """
    half, first, second = room / 2, width_of(a), width_of(b)
    if first <= half < second:
        half = max(first, room - second)
    elif second <= half < first:
        half = min(first, room - second)
    sides = (a, lambda text: width_of(text) <= half), (b, lambda text: width_of(text) <= room - half)
    texts = [shortened(name, prefixes.get(name, ""), fits) for name, fits in sides]
    if texts[0] == texts[1] and a != b:
        shared = commonprefix([a, b])  # noqa: RUF071
        start = 1 + max(map(shared.rfind, _SEPARATORS)) or len(shared)
        texts = [_kept_from(name, start, fits) for name, fits in sides]
    return texts[0], texts[1], half


def _kept_from(name: str, start: int, fits: Callable[[str], bool]) -> str:
    """Keep as many characters from a position on as fit, one at least."""
    head = _ELLIPSIS if start else ""
    rest = name[start:]
    if fits(head + rest):
        return head + rest
    count = most_that_fit(len(rest) + 1, lambda count: fits(head + rest[:count] + _ELLIPSIS))
    return head + rest[:count] + _ELLIPSIS


def _kept(name: str, count: int) -> str:
    """Keep some characters of a name, at its begin and its end."""
    tail = max(1, round(_TAIL * count))
    return name[: count - tail] + _ELLIPSIS + name[-tail:]


def wrapped_lines(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Break a text between words into lines that fit; a word that does not fit is a line of its own.

    Languages without spaces are broken between any two characters.
    """
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and not fits(longer):
            yield line
            longer = word
        # Japanese, for example, is written without spaces.
        while len(longer) > 1 and not fits(longer) and any("\u3040" <= each <= "\u9fff" for each in longer):
            count = most_that_fit(len(longer), lambda count, text=longer: fits(text[:count]))
            yield longer[:count]
            longer = longer[count:]
        line = longer
    if line:
        yield line


_MEANINGS = frozenset().union(*(words["meanings"] for words in translations.LANGUAGES.values()))


def n_(text: str) -> str:
    """Return a text unchanged: it is translated where it is shown."""
    return text


def iface_(text: str, /, **values: Any) -> str:
    """Translate a text of a label or a button, and fill in its values."""
    translated: Any = pgettext_iface(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def meaning_(text: str) -> str:
    """Translate a label with a word that Blender translates with another meaning, if it is among these."""
    if text in _MEANINGS:
        return pgettext_iface(text, translations.CONTEXT)
    return pgettext_iface(text)


def tip_(text: str, /, **values: Any) -> str:
    """Translate a text of a tooltip, and fill in its values."""
    translated: Any = pgettext_tip(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def rpt_(text: str, /, **values: Any) -> str:
    """Translate a text of a report, and fill in its values."""
    translated: Any = pgettext_rpt(text)  # the type stubs of Blender 4.2 lack the return type
    return translated.format(**values) if values else translated


def iface_count(count: int, one: str, many: str, /, **values: Any) -> str:
    """Translate a label with a number: `one` if the count is 1, else `many`. Both can contain {count}."""
    return iface_(one if count == 1 else many, count=count, **values)


def rpt_count(count: int, one: str, many: str, /, **values: Any) -> str:
    """Translate a report with a number: `one` if the count is 1, else `many`. Both can contain {count}."""
    return rpt_(one if count == 1 else many, count=count, **values)


def draw_line(layout: Any, text: str, icon: str = "NONE", /, **values: Any) -> None:
    """Draw a text, which is translated here, with its values."""
    layout.label(text=iface_(text, **values), translate=False, icon=icon)


def draw_note(layout: Any, text: str, icon: str = "INFO") -> None:
    """Draw the lines of a text, which is translated already, below each other."""
    for number, line in enumerate(text.split("\n")):
        layout.label(text=line, translate=False, icon="BLANK1" if number else icon)


def translated(text: str) -> str:
    """Translate a message of another layer. A text that is none stays as it is."""
    if isinstance(text, Message):
        values = {
            name: translated(value) if isinstance(value, Message) else value
            for name, value in text.values.items()
        }
        return rpt_(text.template, **values)
    return text


def error_text(error: CollisionBoundsError) -> str:
    """Return the message of an error, translated if it has a template."""
    return translated(error.message)


def joined(parts: Iterable[str]) -> str:
    """Join phrases that stand alone into a list."""
    return reduce(lambda text, part: rpt_("{list}, {item}", list=text, item=part), parts)


def sentences(parts: Iterable[str]) -> str:
    return reduce(lambda text, part: rpt_("{text}. {sentence}", text=text, sentence=part), parts)


def attach() -> None:
    bpy.app.translations.register(translations.__name__, translations.dictionaries())


def detach() -> None:
    bpy.app.translations.unregister(translations.__name__)
