#!/usr/bin/env python3
"""Find changes to the code of the distance and sweep rooms that no test notices.

mutmut makes the changes. Each is tested with the tests that mirror the rooms: first those of the quick tier,
then those of the push tier. A change that passes them all needs a reason in scripts/mutation/explained.toml.
`python scripts/dev.py mutants` runs this script in its environment.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from environments import ROOT

sys.path.insert(0, str(ROOT))
# Tests run one after another, and more threads than that only wait.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import pytest

from mutation.mutations import ROOMS, Mutant, mutants_of
from mutation.runs import SURVIVED, MutantRuns, in_child

EXPLAINED = Path(__file__).parent / "mutation" / "explained.toml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Test the mutants; return 1 if one survives without a reason, or if a reason is for no survivor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as sweep/aabb or sweep/aabb.box_gaps")
    parser.add_argument("--explained", action="store_true", help="test the explained mutants instead")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    reasons = {
        (function, change)
        for function, changes in tomllib.loads(EXPLAINED.read_text("utf-8")).items()
        for change in changes
    }
    mutants = {(mutant.function, mutant.change): mutant for room in ROOMS for mutant in mutants_of(room)}
    outdated = reasons - set(mutants)
    chosen = {key for key in mutants if not options.names or key[0].startswith(tuple(options.names))}
    tested = {
        key: each for key, each in mutants.items() if key in chosen and (key in reasons) == options.explained
    }
    survivors = survivors_of(survivors_of(list(tested.values()), "quick"), "push")
    survived = {(mutant.function, mutant.change) for mutant in survivors}
    for room in ROOMS:
        total, explained, ran, left = (
            sum(function.startswith(f"{room}/") for function, _ in keys)
            for keys in (chosen, chosen & reasons, tested, survived)
        )
        print(f"{room}: {total} mutants, {explained} explained, {ran} tested, {left} survived.")
    if options.explained:
        outdated |= set(tested) - survived
    else:
        for function, change in sorted(survived):
            print(f"Kill or explain: line {mutants[function, change].lines.start}: {function}: {change}")
    for function, change in sorted(outdated):
        print(f"Remove from {EXPLAINED.name}, because it does not survive: {function}: {change}")
    return 1 if outdated or (survived and not options.explained) else 0


def survivors_of(mutants: Sequence[Mutant], tier: str) -> list[Mutant]:
    """Test mutants with the tests of a tier, and return those that survive. Print the others."""
    begin = time.monotonic()

    def report(mutant: Mutant, state: str, test: str) -> None:
        print(f"{state}: {mutant.function}: {mutant.change} {test}", flush=True)

    def run(send: Callable[[Any], None]) -> int:
        runs = MutantRuns(mutants, report)
        tests = [f"tests/core/{room}" for room in ROOMS]
        pytest.main([*tests, "--tier", tier, "-q", "-s", "-p", "no:cacheprovider"], plugins=[runs])
        if runs.failed or len(runs.states) < len(mutants):
            print(f"Tests fail without a mutant: {runs.failed}")
            return 1
        send([state == SURVIVED for state in runs.states])
        return 0

    if not mutants:
        return []
    print(f"{len(mutants)} mutants, {tier} tests", flush=True)
    # Each tier has a separate process, because test modules read the tier when they are imported.
    sent, status = in_child(run)
    if status:
        sys.exit(f"The {tier} tests did not run.")
    print(f"{sum(sent[0])} survived, {time.monotonic() - begin:.0f} s")
    return [mutant for mutant, survived in zip(mutants, sent[0], strict=True) if survived]


if __name__ == "__main__":
    sys.exit(main())
