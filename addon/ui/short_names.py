"""Names shortened to the width of a column: in the middle, because names often differ at their ends alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_ELLIPSIS = "\u2026"
_TAIL = 0.65
"""Part of the characters that are kept at the end of a shortened name."""
_SEPARATORS = "._- /"


def common_prefix(names: Iterable[str]) -> str:
    """Return what all names begin with, up to a separator, so that a part of each is left."""
    names = list(names)
    # What the first and the last name in order have in common, all in between have too.
    first, last = min(names, default=""), max(names, default="")
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    shortest = min(map(len, names), default=0)
    ends = [k + 1 for k in range(min(same, shortest - 1)) if first[k] in _SEPARATORS]
    return first[: ends[-1]] if ends else ""


def shortened(name: str, prefix: str, fits: Callable[[str], bool]) -> str:
    """Shorten a name until it fits: first by words of a prefix that all names have, then in the middle.

    Parameters
    ----------
    name : str
        Of an object.
    prefix : str
        As `common_prefix` returns it.
    fits : callable
        Return whether a text fits. Shorter texts fit better.
    """
    if fits(name):
        return name
    rest = name.removeprefix(prefix)
    for end in (k + 1 for k in range(len(name) - len(rest)) if name[k] in _SEPARATORS):
        if fits(_ELLIPSIS + name[end:]):
            return _ELLIPSIS + name[end:]
    low, high = 1, len(rest)
    # The largest number of characters that fit, by bisection; one at least.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(_kept(rest, middle)) else (low, middle)
    return _kept(rest, low)


def _kept(name: str, count: int) -> str:
    """Keep some characters of a name, at its begin and its end."""
    tail = max(1, round(_TAIL * count))
    return name[: count - tail] + _ELLIPSIS + name[-tail:]
