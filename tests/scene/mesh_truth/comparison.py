"""Contacts of meshes, and of their bounds, compared with the truth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from tests.scene.building import open_empty_file
from tests.scene.mesh_truth.building import FRAMES, Pair
from tests.scene.mesh_truth.evaluation import Sampler, Truth, first_touch
from tests.scene.mesh_truth.families import FAMILIES
from tests.scene.mesh_truth.whole import WholeAnswer, WholeTruth
from tests.scene.sampling import scan_scene

SHAPES = ("aabb", "sphere", "obb", "spheres", "capsule", "compound")
"""Shapes of bounds, which enclose the meshes."""
_ROUNDED = 1e-5
"""Frames that documents may round a time by."""
_WIDER = 0.01
"""Part of the size of the smaller body by which the gap of a near miss may exceed the least distance."""


class Answer(NamedTuple):
    """Answer of a scan about a pair: whether it touches, when first, the `+/-` of that, and its motion.

    `gap` is that of a near miss.
    """

    touches: bool
    frame: float = 0.0
    uncertainty: float = 0.0
    gap: float | None = None
    motion: str = ""


def build(family: str, seed: int) -> Pair:
    """Build a scene of a family in an empty file."""
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = (int(frame) for frame in FRAMES)
    pair = FAMILIES[family](np.random.default_rng([seed, *family.encode()]))
    scene.frame_set(1)
    return pair


def find_truth(pair: Pair, sampler: Sampler) -> Truth:
    """Find the first touch in the scene that is open."""
    size = sampler.at(FRAMES[0]).size() / 2
    truth = replace(first_touch(sampler, FRAMES, pair.per_frame), size=size)
    bpy.context.scene.frame_set(1)
    return truth


def find_whole_truth(pair: Pair, sampler: Sampler) -> WholeTruth:
    """Sample the scene that is open throughout."""
    truth = WholeTruth(sampler, pair.per_frame)
    bpy.context.scene.frame_set(1)
    return truth


def scan(shape: str) -> dict[str, Any]:
    """Scan the scene that is open with one shape; returns the document."""
    return scan_scene(shape=shape).document()


def _of_pair(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [each for each in document[name] if {each["a"][0], each["b"][0]} == {"A", "B"}]


def first_answer(document: dict[str, Any]) -> Answer:
    """Return the answer of a document about the first touch."""
    contacts = _of_pair(document, "contacts")
    if not contacts:
        return Answer(False, gap=whole_answer(document).gap)
    contact = min(contacts, key=lambda each: each["first"]["frame"])
    first = contact["first"]
    return Answer(True, first["frame"], first["uncertainty"], motion=contact["motion"])


def whole_answer(document: dict[str, Any]) -> WholeAnswer:
    """Return the whole answer of a document, of all objects of the two bodies."""
    contacts = _of_pair(document, "contacts")
    spans = [
        (each["start"], each["end"], each["uncertainty"])
        for contact in contacts
        for each in contact["intervals"]
    ]
    depths = [contact["deepest"]["depth"] for contact in contacts]
    gap = min((each["gap"] for each in _of_pair(document, "clearances")), default=None)
    return WholeAnswer(spans, max((each for each in depths if each is not None), default=None), gap)


def wrong(answer: Answer, truth: Truth, pair: Pair) -> str:
    """Return what is wrong with the answer of a scan of meshes, or an empty text.

    It is "missed", "invented", "late", "early", or "far" for a near miss with a gap that is too large.
    """
    slack = pair.early + _ROUNDED
    low, high = answer.frame - answer.uncertainty, answer.frame + answer.uncertainty
    grazes = any(begin - slack <= high and low <= end + slack for begin, end in truth.grazes)
    if truth.first is None:
        most = math.inf if pair.is_linear else truth.gap + _WIDER * truth.size
        is_far = answer.gap is not None and answer.gap > most
        return "far" if is_far else "invented" if answer.touches and not grazes else ""
    if not answer.touches:
        return "missed"
    begin, end = truth.first
    if low > end + slack:
        return "late"
    return "early" if high < begin - slack and not grazes else ""


def wrong_bounds(answer: Answer, truth: Truth, pair: Pair) -> str:
    """Return what is wrong with the answer of a scan of bounds, which touch when the meshes do or before.

    It is "missed", "late", or an empty text.
    """
    if truth.first is None:
        return ""
    if not answer.touches:
        return "missed"
    return "late" if answer.frame - answer.uncertainty > truth.first[1] + pair.early + _ROUNDED else ""
