"""Hulls and trees that cannot enclose the same object as its boxes and spheres, or each other, are found."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from addon.formats import CONVENTIONS, document_problems, dumps
from tests.formats.broken import put, scaled
from tests.formats.validation.test_hulls_and_trees import document

DOCUMENT = json.loads(dumps(document()))
WORLD, LOCAL = "objects.0.world", "objects.0.local"


def moved(path: str, distance: float):
    """Move the vertices of a hull, or all nodes of a tree, along X."""

    def change(broken: dict[str, Any]) -> None:
        _, index, group, shape = path.split(".")
        part = broken["objects"][int(index)][group][shape]
        for point in part["vertices"] if shape == "hull" else [node["center"] for node in part]:
            point[0] += distance

    return change


def together(*changes):
    def change(broken: dict[str, Any]) -> None:
        for each in changes:
            each(broken)

    return change


def scaled_about_middle(group: str, factor: float):
    """Scale the vertices of a hull about their mean."""

    def change(broken: dict[str, Any]) -> None:
        vertices = np.array(broken["objects"][0][group]["hull"]["vertices"])
        middle = vertices.mean(axis=0)
        broken["objects"][0][group]["hull"]["vertices"] = (middle + factor * (vertices - middle)).tolist()

    return change


def with_radii(group: str, nodes, radius: float):
    return together(*(put(f"objects.0.{group}.spheres.{node}.radius", radius) for node in nodes))


LEAVES = (1, 3, 4)
IN_BOTH = "world", "local"
LIES = {
    "world hull moved": (moved(f"{WORLD}.hull", 100), "world.hull: cannot enclose the same object as"),
    "world hull moved a little": (moved(f"{WORLD}.hull", 0.01), "world.hull: cannot enclose"),
    "local hull moved": (moved(f"{LOCAL}.hull", -1), "local.hull: cannot enclose the same object as"),
    "both hulls moved": (
        together(moved(f"{WORLD}.hull", 1), moved(f"{LOCAL}.hull", 1)),
        "world.hull: cannot enclose the same object as",
    ),
    "world hull ten times as large": (scaled_about_middle("world", 10), "world.hull: is far larger than"),
    "both hulls ten times as large": (
        together(*(scaled_about_middle(group, 10) for group in IN_BOTH)),
        "world.hull: is far larger than",
    ),
    "world hull smaller": (scaled_about_middle("world", 0.99), "world.hull: cannot enclose"),
    "world tree moved": (moved(f"{WORLD}.spheres", 100), "world.spheres: cannot enclose the same"),
    "both trees moved": (
        together(moved(f"{WORLD}.spheres", 100), moved(f"{LOCAL}.spheres", 100)),
        "world.spheres: cannot enclose the same object as world.aabb",
    ),
    "root of radius 0": (put(f"{WORLD}.spheres.0.radius", 0), "world.spheres[0].radius: is smaller than"),
    "inner nodes of radius 0": (
        together(*(with_radii(group, [2], 0) for group in IN_BOTH)),
        "world.spheres[2].radius: is smaller than that of a child",
    ),
    "leaves of radius 0": (with_radii("world", LEAVES, 0), "world.spheres[2].radius: is larger than its"),
    "leaves of both trees of radius 0": (
        together(*(with_radii(group, LEAVES, 0) for group in IN_BOTH)),
        "world.spheres[2].radius: is larger than its children require",
    ),
    "one leaf elsewhere": (
        put(f"{WORLD}.spheres.3.center", [0.4, -1.5, 0.3]),
        "world.spheres[3]: is not local.spheres[3], moved by transform",
    ),
    "one leaf of both trees far away": (
        together(*(put(f"objects.0.{group}.spheres.3.center", [500, 0, 0]) for group in IN_BOTH)),
        "world.spheres[3].center: is too far from the root",
    ),
    "diameters for radii": (
        together(*(scaled(f"{WORLD}.spheres.{node}.radius", 2) for node in range(5))),
        "local.spheres: cannot enclose the same object as world.spheres[0]",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_about_hulls_and_trees_are_found(name):
    change, problem = LIES[name]
    broken = copy.deepcopy(DOCUMENT)
    assert list(document_problems(broken)) == []
    change(broken)
    problems = [*document_problems(broken)]
    assert problems and problems[0].startswith(f"objects[0].{problem}")


@pytest.mark.parametrize("name", ["world hull moved", "world hull ten times as large"])
def test_hulls_without_other_shapes_are_compared_with_each_other(name):
    broken = copy.deepcopy(DOCUMENT)
    for group in IN_BOTH:
        broken["objects"][0][group] = {"hull": broken["objects"][0][group]["hull"]}
    assert list(document_problems(broken)) == []
    LIES[name][0](broken)
    found = [*document_problems(broken)]
    assert found == ["objects[0].transform: does not map local.hull to world.hull"]


@pytest.mark.parametrize("preset", CONVENTIONS)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_written_hulls_and_trees_are_accepted(preset, decimals):
    assert list(document_problems(json.loads(dumps(document(preset, decimals))))) == []
