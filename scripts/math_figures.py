# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the figures of docs/math.md from results of addon.core.

    python scripts/math_figures.py            all of them, into docs/images/math
    python scripts/math_figures.py rod        those whose names contain a word

Any Python that has NumPy will do. The figures are in scripts/figures.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from figures import FIGURES  # noqa: E402  # it imports the package at the top of the checkout

FOLDER = TOP / "docs" / "images" / "math"


def main(words: Sequence[str]) -> None:
    for name, draw in FIGURES.items():
        if not words or any(word in name for word in words):
            path = FOLDER / f"{name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            draw().save(path)


if __name__ == "__main__":
    main(sys.argv[1:])
