"""Small correct documents with all kinds of content, in several spaces: the fuzzer breaks copies of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from addon.core import (
    Aabb,
    Clearance,
    Contact,
    ContactInterval,
    ContactReport,
    ConvexHull,
    FirstContact,
    Obb,
    Sphere,
    SphereTree,
    aabb_from_points,
    hull_from_points,
    sphere_from_points,
    sphere_tree_from_triangles,
)
from addon.core.numeric.arrays import Floats, rotation_matrix
from addon.core.scan.report import Clearances, Contacts
from addon.formats import (
    Convention,
    DocumentContents,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
    dumps,
    make_document,
    space_for,
)

_SPACES = (
    space_for("blender"),
    space_for("gltf"),
    space_for("unity", 0.01),
    space_for("unreal", 2.0),
    space_for(Convention("custom", "-X", "+Y", "left", 7.0)),
)
_ORIGIN = Origin("Collision Bounds", "1.2.3", "5.2.3", "scene.blend", "Scène")
_TIME = TimeSettings(24000 / 1001, 1, 20, 1, 1)
_CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def document_texts() -> list[str]:
    """Return the text of every document."""
    return [
        dumps(make_document(contents, space, decimals))
        for space, decimals in zip(_SPACES, (6, 3, 9, 4, 6), strict=True)
        for contents in _contents()
    ]


def fitted_object(
    id: str, parent: str | None, points: Floats, place: Floats, is_detailed: bool
) -> ObjectBounds:
    """Return an object with all shapes around points (n, 3), turned by some angle and moved to a place."""
    rotation = np.array([0.7, -0.5, 0.5, 0.1])
    turn = rotation_matrix(rotation)
    shapes: list[tuple[Sphere | Aabb | Obb | ConvexHull | SphereTree, ...]] = []
    box = aabb_from_points(points)
    center, half = (box.min + box.max) / 2, (box.max - box.min) / 2
    hull = hull_from_points(points)
    tree = sphere_tree_from_triangles(points[np.arange(len(points) // 3 * 3)].reshape(-1, 3, 3), 2)
    for matrix, offset in ((np.eye(3), np.zeros(3)), (turn, place)):
        moved = points @ matrix.T + offset
        plain = (
            aabb_from_points(moved),
            Obb(matrix @ center + offset, half, matrix),
            sphere_from_points(moved),
        )
        detailed = (
            ConvexHull(hull.vertices @ matrix.T + offset, hull.faces),
            SphereTree(tree.center @ matrix.T + offset, tree.radius, tree.children),
        )
        shapes.append((*plain, *(detailed if is_detailed else ())))
    return ObjectBounds(id, id, "MESH", parent, place, rotation, np.ones(3), shapes[0], shapes[1])


def _contents() -> Iterator[DocumentContents]:
    points = np.array(
        [(1, 2, 3), (-1, 0, 2), (0, -2, 1), (1, 1, -2), (-2, 1, 0), (0, 0, 3)], dtype=np.float64
    )
    far = np.array([100.0, -20.0, 3.0])
    detailed = [
        fitted_object("a", None, points, far / 10, True),
        fitted_object("b", "a", _CORNERS, far, True),
    ]
    yield DocumentContents(detailed[:1], (Skipped("Z", "no vertices"),), _ORIGIN, _TIME)
    plain = [
        fitted_object(id, parent, points * 0.1, far * scale, False)
        for id, parent, scale in (("a", None, 1.0), ("b/part.0", "a", 0.1), ("Würfel", "b/part.0", 3.0))
    ]
    yield DocumentContents(plain, (), _ORIGIN, _TIME, _scan(), Partial(50))
    yield _animated(fitted_object("a", None, points, far, False))


def _scan() -> ScannedContacts:
    """Two contacts and a near miss, of the objects in `plain`."""
    first = FirstContact(5.5, 1e-4, np.array([0.1, 2, 3]), np.array([0.0, 0.6, -0.8]), False, False, "linear")
    at_start = FirstContact(1.0, 0.0, np.zeros(3), np.array([1.0, 0, 0]), True, False, "sampled")
    contacts = (
        Contact(0, 1, first, (ContactInterval(5.5, 7.0), ContactInterval(8.0, 9.25)), 6.0, 0.5),
        Contact(1, 2, at_start, (ContactInterval(1.0, 20.0),), 20.0, 0.1),
    )
    report = ContactReport(Contacts.of(contacts), Clearances.of([Clearance(0, 2, 3.5, 0.25)]), 20.0)
    return ScannedContacts(report, ["a", "b/part.0", "Würfel"], "sphere", frozenset({"a"}))


def _animated(entry: ObjectBounds) -> DocumentContents:
    """Contents with an envelope and a track of an object that moves along X."""
    box = next(shape for shape in entry.world if isinstance(shape, Aabb))
    sphere = next(shape for shape in entry.world if isinstance(shape, Sphere))
    along = np.array([[0.0, 0, 0], [1, 0, 0], [2.5, 0, 0]])
    envelope = (
        Aabb(box.min, box.max + along[-1]),
        Sphere(sphere.center + along[-1] / 2, sphere.radius + along[-1, 0] / 2),
    )
    track = Track(
        entry.id,
        np.array([1.0, 2.0, 3.5]),
        Sphere(sphere.center + along, np.broadcast_to(sphere.radius, 3)),
        Aabb(box.min + along, box.max + along),
    )
    moving = replace(entry, envelope=envelope)
    return DocumentContents([moving], (), _ORIGIN, _TIME, tracks=[track], linear_ids=[entry.id])
