"""Contacts that a scan verifies on meshes, compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import bpy
import numpy as np

from tests.scene.building import open_empty_file
from tests.scene.mesh_truth.building import FRAMES, Pair
from tests.scene.mesh_truth.evaluation import Truth, first_touch
from tests.scene.mesh_truth.families import FAMILIES
from tests.scene.sampling import scan_scene

SHAPES = ("aabb", "sphere", "obb", "spheres", "capsule", "compound")
_ROUNDED = 1e-5
"""Frames that documents may round a time by."""


class Answer(NamedTuple):
    """Answer of a scan about the meshes of a pair: whether they touch, when first, and the `+/-` of that.

    `touches` is None for meshes that were not tested, and `reason` says why then.
    """

    touches: bool | None
    frame: float = 0.0
    uncertainty: float = 0.0
    reason: str = ""


def build(family: str, seed: int) -> Pair:
    """Build a scene of a family in an empty file."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = (int(frame) for frame in FRAMES)
    pair = FAMILIES[family](np.random.default_rng([seed, *family.encode()]))
    scene.frame_set(1)
    return pair


def find_truth(pair: Pair) -> Truth:
    """Find the first touch in the scene that is open."""
    truth = first_touch(("A", "B"), FRAMES, pair.per_frame)
    bpy.context.scene.frame_set(1)
    return truth


def ask(shape: str) -> Answer:
    """Scan the scene that is open with one shape, and verify its contact on the meshes."""
    document = scan_scene(shape=shape, confirm=True).document()
    contacts = [each for each in document["contacts"] if {each["a"][0], each["b"][0]} == {"A", "B"}]
    if not contacts:
        return Answer(False)
    if reasons := [each.get("notVerified", "no word") for each in contacts if "meshes" not in each]:
        return Answer(None, reason=reasons[0])
    touching = [each["meshes"] for each in contacts if each["meshes"]["touch"]]
    if not touching:
        return Answer(False)
    first = min(touching, key=lambda each: each["frame"])
    return Answer(True, first["frame"], first["uncertainty"])


def wrong(answer: Answer, truth: Truth, pair: Pair) -> str:
    """Return what is wrong: "denied", "invented", "late", "early", "untested", or an empty text.

    A contact of bounds whose meshes are not tested denies nothing.
    """
    if answer.touches is None:
        return "" if answer.reason in pair.reasons else f"untested: {answer.reason}"
    slack = pair.early + _ROUNDED
    low, high = answer.frame - answer.uncertainty, answer.frame + answer.uncertainty
    grazes = any(begin - slack <= high and low <= end + slack for begin, end in truth.grazes)
    if truth.first is None:
        return "invented" if answer.touches and not grazes else ""
    if not answer.touches:
        return "denied"
    begin, end = truth.first
    if low > end + slack:
        return "late"
    return "early" if high < begin - slack and not grazes else ""


def disagreeing(answers: Mapping[str, Answer], early: float = 0.0) -> list[tuple[str, str]]:
    """Return pairs of shapes whose answers about the same meshes differ by more than both uncertainties."""
    tested = {shape: answer for shape, answer in answers.items() if answer.touches is not None}
    found = []
    for first, a in tested.items():
        for second, b in tested.items():
            apart = abs(a.frame - b.frame) > a.uncertainty + b.uncertainty + early + _ROUNDED
            if first < second and (a.touches != b.touches or (a.touches and apart)):
                found.append((first, second))
    return found
