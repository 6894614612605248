"""Which pairs of subjects a contact scan looks at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Bools, Ints
from .errors import InvalidShapeError


class PairChoice:
    """Groups, ignored pairs and labels of `count` subjects, asked for pairs of their indices.

    Raises InvalidShapeError for what does not fit the number of subjects.
    """

    def __init__(
        self,
        count: int,
        group_a: Bools | None,
        group_b: Bools | None,
        ignored: Sequence[tuple[int, int]],
        separate: Ints | None,
    ) -> None:
        everything = np.ones(count, dtype=bool)
        listed = np.sort(np.array(ignored, dtype=np.int64).reshape(-1, 2), axis=1)
        self.count = count
        self.group_a = everything if group_a is None else group_a
        self.group_b = everything if group_b is None else group_b
        self._separate = separate
        for name, fits in (
            ("group_a", self.group_a.shape == (count,)),
            ("group_b", self.group_b.shape == (count,)),
            ("ignored", not len(listed) or (listed.min() >= 0 and listed.max() < count)),
            ("separate", separate is None or separate.shape == (count,)),
        ):
            if not fits:
                raise InvalidShapeError(f"settings: {name} does not fit {count} subjects")
        self._ignored = self.keys(listed[:, 0], listed[:, 1])
        self._groups = group_a is not None or group_b is not None

    def keys(self, first: Ints, second: Ints) -> Ints:
        """One number (m,) for each pair, the same for either order."""
        keys: Ints = np.minimum(first, second) * self.count + np.maximum(first, second)
        return keys

    def wanted(self, first: Ints, second: Ints) -> Bools:
        """Which pairs (m,) are looked at."""
        wanted = np.asarray(first != second)
        if self._groups:
            a, b = self.group_a, self.group_b
            wanted &= (a[first] & b[second]) | (a[second] & b[first])
        if self._separate is not None:
            labels = self._separate[first]
            wanted &= (labels < 0) | (labels != self._separate[second])
        if len(self._ignored):
            wanted &= ~np.isin(self.keys(first, second), self._ignored)
        return wanted

    def in_order(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Pairs i < j (m,): one of group A first, otherwise the lower index."""
        as_given = self.group_a[i] & self.group_b[j]
        return np.where(as_given, i, j), np.where(as_given, j, i)
