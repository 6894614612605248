"""Sample documents with every kind of content, from explicit input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from addon.core import (
    Aabb,
    Clearance,
    Contact,
    ContactDetails,
    ContactInterval,
    ContactReport,
    FirstContact,
    Obb,
    Overlap,
    Sphere,
)
from addon.core.numeric.arrays import rotation_matrix
from addon.core.scan.report import Clearances, Contacts
from addon.formats import (
    DocumentContents,
    ObjectBounds,
    Origin,
    ScannedContacts,
    Skipped,
    Space,
    TimeSettings,
    Track,
    make_document,
    space_for,
)

ORIGIN = Origin("Collision Bounds", "1.2.3", "5.2.3", "scene.blend", "Scene")
TIME = TimeSettings(fps=24000 / 1001, start=-5, end=20, step=1, reference=1.0)
# A third has no finite decimals, so rounding always changes it.
THIRD = 1 / 3


def bounds(
    id: str,
    name: str,
    parent: str | None = None,
    shift: float = 0.0,
    rotation: tuple[float, ...] = (-0.5, 0.5, 0.1, 0.7),
) -> ObjectBounds:
    """Return an object whose shapes are consistent, in world and in local space."""
    center, local_center = np.array([THIRD + shift, -2 * THIRD, 0.1]), np.array([0.1, THIRD, -0.2])
    matrix, half = rotation_matrix(rotation), np.array([1, THIRD, 2])
    local = (
        Sphere(local_center, 10 * THIRD),
        Obb(local_center, half, np.eye(3)),
        Aabb(local_center - half, local_center + half),
    )
    box = Aabb(center - 1, center + np.array([1, 2 * THIRD, 3]))
    return ObjectBounds(
        id=id,
        name=name,
        kind="MESH",
        parent=parent,
        translation=center - matrix @ local_center,
        rotation=np.array(rotation),
        scale=np.array([1.0, 2.0, 3.0]),
        local=local,
        world=(box, Obb(center, half, matrix), Sphere(center, 10 * THIRD)),
    )


def document_of(
    objects: Sequence[ObjectBounds], space: Space, decimals: int = 6, **contents: Any
) -> dict[str, Any]:
    """Return a document of these objects, which can be changed; `contents` are further fields of
    DocumentContents.
    """
    fields: dict[str, Any] = {"skipped": [], "origin": ORIGIN, "time": TIME, **contents}
    document = make_document(DocumentContents(objects, **fields), space, decimals)
    return {**document, "objects": list(document["objects"])}


def contact(a: int = 0, b: int = 1, *spans: tuple[float, float]) -> Contact:
    spans = spans or ((11 + THIRD, 11.5), (14.0, 15 + THIRD))
    first = FirstContact(
        frame=spans[0][0],
        uncertainty=THIRD / 100,
        point=np.array([-0.0, THIRD, 1.0]),
        normal=np.array([2 / 7, 3 / 7, -6 / 7]),
        at_start=False,
        tunnelling=int(spans[0][1]) < spans[0][0],
    )
    # The last interval begins with a jump.
    details = tuple(
        ContactDetails(
            first.uncertainty if k == 0 else k / 700,
            first.point + k,
            first.normal if k == 0 else np.array([0.6, 0.0, -0.8]),
            None if k and k == len(spans) - 1 else np.array([-THIRD, 0.25, 1 + k]),
            begin,
            0.25 / (k + 1),
            np.array([-2 / 7, 6 / 7, 3 / 7]),
        )
        for k, (begin, _) in enumerate(spans)
    )
    return Contact(a, b, first, tuple(ContactInterval(*span) for span in spans), spans[0][0], 0.25, details)


def contact_of_meshes(overlap: Overlap, depth: float) -> Contact:
    """Return a contact of meshes, whose overlap is of a kind, and whose depth is NaN if they are open."""
    made = contact()
    details = tuple(
        each._replace(depth=depth / (k + 1), overlap=overlap) for k, each in enumerate(made.details)
    )
    return replace(made, depth=depth, details=details, overlap=overlap)


def document_of_meshes(overlap: Overlap, depth: float) -> dict[str, Any]:
    """Return a document of a scan of meshes, with one contact."""
    report = ContactReport(Contacts.of((contact_of_meshes(overlap, depth),)))
    scanned = ScannedContacts(report, ["a", "b"], "mesh")
    return document_of([bounds("a", "Ball"), bounds("b", "Wall")], space_for("blender", 1.0), scanned=scanned)


def document(
    preset: str = "blender", decimals: int = 6, contacts: tuple[Contact, ...] | None = None
) -> dict[str, Any]:
    """Return a document of three objects, one the child of another, a contact, a near miss and skipped
    objects.
    """
    objects = [bounds("c", "Würfel"), bounds("b", "Ball", "a", 5.0), bounds("a", "Ball", None, -3.0)]
    near = (Clearance(2, 0, 7 + THIRD, 0.3 + 1e-9),)
    report = ContactReport(Contacts.of((contact(),) if contacts is None else contacts), Clearances.of(near))
    return document_of(
        objects,
        space_for(preset, 0.5),
        decimals,
        skipped=[Skipped("Zed", "no vertices"), Skipped("Empty", "no vertices")],
        scanned=ScannedContacts(report, ["a", "b", "c"], "sphere"),
    )


ENVELOPE = (Sphere([THIRD, 1, 1], 14 * THIRD), Aabb([-1, -2 - THIRD, -2], [2 + THIRD, 2, 5]))
CENTERS = np.array([(0, THIRD, 1), (THIRD, 0, -1)])


def document_with_tracks(preset: str = "blender", decimals: int = 6) -> dict[str, Any]:
    """Return a document of two objects, an envelope, and two tracks, one of them without spheres."""
    objects = [replace(bounds("a", "Ball"), envelope=ENVELOPE), bounds("b", "Bat")]
    boxes = Aabb(CENTERS - THIRD, CENTERS + 2 * THIRD)
    tracks = [
        Track("b", np.array([1.0, 2 + THIRD]), None, boxes),
        Track("a", np.array([1.0, 2.0]), Sphere(CENTERS, [3 * THIRD, 2]), boxes),
    ]
    space = space_for(preset, 0.5)
    return document_of(objects, space, decimals, tracks=tracks, linear_ids=["b"])
