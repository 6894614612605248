"""Results of searches that take long, shared by all subjects, jobs and frames of a session.

They are the axes of smallest boxes, the lines of capsules and cylinders, sphere trees, and convex parts. Each
is decided by the bits of the numbers in its key alone, so a result that is found here is the one that a
search would find. Those used least recently are dropped first.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

_Result = TypeVar("_Result")

_MOST_BYTES = 64 << 20
_ENTRY_BYTES = 500
"""Memory of a key and of a small result."""

_known: OrderedDict[bytes, tuple[int, Any]] = OrderedDict()
_size = 0


def search_key(kind: str, *parts: Any) -> bytes:
    """Key of a search of one kind in arrays and numbers."""
    digest = hashlib.blake2b(kind.encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype, part.shape)).encode() + part.tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.digest()


def known_result(key: bytes) -> Any:
    """Return a result that is known; None if it is not."""
    if key not in _known:
        return None
    _known.move_to_end(key)
    return _known[key][1]


def store_result(key: bytes, result: _Result, size: int = 0) -> _Result:
    """Remember a result whose arrays have a size in bytes, and return it."""
    global _size
    _size += size + _ENTRY_BYTES - _known.pop(key, (0, None))[0]
    _known[key] = size + _ENTRY_BYTES, result
    while len(_known) > 1 and _size > _MOST_BYTES:
        _size -= _known.popitem(last=False)[1][0]
    return result


def searched(key: bytes, search: Callable[[], _Result], size: int = 0) -> _Result:
    """Return a result that is known, or search for it; an error is not remembered."""
    result: _Result | None = known_result(key)
    return store_result(key, search(), size) if result is None else result


def forget_results() -> None:
    """Forget all results."""
    global _size
    _known.clear()
    _size = 0
