"""Compare many pairs, and print what is wrong.

`python -m tests.scene.mesh_truth.survey --seeds 0:20 FAMILY ...`, from the top of the checkout.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import bpy

from tests.scene.mesh_truth.building import Pair
from tests.scene.mesh_truth.comparison import (
    SHAPES,
    Answer,
    build,
    find_truth,
    find_whole_truth,
    first_answer,
    scan,
    whole_answer,
    wrong,
    wrong_bounds,
)
from tests.scene.mesh_truth.evaluation import Sampler, TooManySamplesError
from tests.scene.mesh_truth.families import FAMILIES
from tests.scene.mesh_truth.whole import WholeAnswer, wrong_wholes

WIDE = 0.01
"""Uncertainty in frames above which an answer is counted as wide."""


def compare(family: str, seed: int, shapes: tuple[str, ...], truth_only: bool) -> dict[str, object]:
    """Compare the answers of scans with some shapes about one scene; returns a record."""
    pair, sampler = build(family, seed), Sampler(("A", "B"))
    begin = time.process_time()
    try:
        truth = find_truth(pair, sampler)
    except TooManySamplesError:
        return {"family": family, "seed": seed, "skipped": "too many samples"}
    middle = time.process_time()
    record: dict[str, object] = {
        "family": family,
        "seed": seed,
        "first": truth.first,
        "grazes": truth.grazes[:3],
    }
    record |= {"gap": truth.gap, "samples": truth.samples, "seconds": round(middle - begin, 2)}
    if truth_only:
        return record
    answers: dict[str, Answer] = {}
    errors = {}
    for shape in shapes:
        begin = time.process_time()
        try:
            document = scan(shape)
            answers[shape] = first_answer(document)
            if shape == "mesh":
                whole = whole_answer(document)
                record |= {"whole answer": asdict(whole), "whole": _wrong_wholes(whole, pair, sampler)}
        except Exception as error:  # a crash is one of the findings
            errors[shape] = repr(error) + traceback.format_exc()[-400:]
        record.setdefault("scans", {})[shape] = round(time.process_time() - begin, 2)  # type: ignore[attr-defined]
    found = {
        shape: (wrong if shape == "mesh" else wrong_bounds)(answer, truth, pair)
        for shape, answer in answers.items()
    }
    record |= {"answers": answers, "wrong": {k: v for k, v in found.items() if v}, "errors": errors}
    is_wide = "mesh" in answers and answers["mesh"].uncertainty > WIDE
    return record | {"wide": ["mesh"] * is_wide}


def _wrong_wholes(answer: WholeAnswer, pair: Pair, sampler: Sampler) -> list[str]:
    try:
        return wrong_wholes(answer, find_whole_truth(pair, sampler), pair)
    except TooManySamplesError:
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--seeds", default="0:5")
    parser.add_argument("--shapes", default=",".join(("mesh", *SHAPES)))
    parser.add_argument("--truth", action="store_true", help="do not scan")
    parser.add_argument("-o", type=Path, help="write records as lines of JSON")
    options = parser.parse_args()
    begin, end = map(int, options.seeds.split(":"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    for family in options.families or FAMILIES:
        total: Counter[str] = Counter()
        for seed in range(begin, end):
            record = compare(family, seed, tuple(options.shapes.split(",")), options.truth)
            total["pairs"] += 1
            total["touch"] += bool(record.get("first"))
            total["skipped"] += "skipped" in record
            total["seconds x10"] += int(10 * float(record.get("seconds", 0)))  # type: ignore[arg-type]
            for name in record.get("wrong", {}).values():  # type: ignore[attr-defined]
                total[name] += 1
            answers: dict[str, Answer] = record.get("answers", {})  # type: ignore[assignment]
            if "mesh" in answers:
                total[answers["mesh"].motion or "apart"] += 1
            for name in ("errors", "wide", "whole"):
                total[name] += len(record.get(name, ()))  # type: ignore[arg-type]
            if any(record.get(name) for name in ("wrong", "errors", "whole")) or "skipped" in record:
                print("   ", json.dumps(record), flush=True)
            if options.o:
                with options.o.open("a") as out:
                    out.write(json.dumps(record) + "\n")
        print(family, dict(total), flush=True)


if __name__ == "__main__":
    main()
