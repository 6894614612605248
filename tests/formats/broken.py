"""Single changes that break a correct document: in form, which a schema finds, and in consistency."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from tests.formats import samples

Document = dict[str, Any]
Change = Callable[[Document], Any]


def put(path: str, value: Any) -> Change:
    """Set the item at a path such as "objects.0.name"."""

    def change(document: Document) -> None:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        part: Any = document
        for key in parents:
            part = part[key]
        part[last] = value

    return change


def drop(path: str) -> Change:
    """Delete the item at a path."""

    def change(document: Document) -> None:
        *parents, last = path.split(".")
        part: Any = document
        for key in parents:
            part = part[int(key) if key.isdigit() else key]
        del part[last]

    return change


def both(first: Change, second: Change) -> Change:
    """Apply two changes in order."""

    def change(document: Document) -> None:
        first(document)
        second(document)

    return change


def scaled(path: str, factor: float) -> Change:
    """Multiply the number, or each of the numbers, at a path."""

    def change(document: Document) -> None:
        part: Any = document
        for key in path.split("."):
            part = part[int(key) if key.isdigit() else key]
        times = [number * factor for number in part] if isinstance(part, list) else part * factor
        put(path, times)(document)

    return change


def w_first(path: str) -> Change:
    """Reorder a quaternion to (w, x, y, z), as in Blender's Python API."""

    def change(document: Document) -> None:
        part: Any = document
        for key in path.split("."):
            part = part[int(key) if key.isdigit() else key]
        part.insert(0, part.pop())

    return change


def only_close(document: Document) -> None:
    """Let the first contact be one within a clearance of 0.3, with gaps of 0.1 and 0.2."""
    contact = document["contacts"][0]
    contact["clearance"] = 0.3
    contact["closest"] = {"frame": contact.pop("deepest")["frame"], "gap": 0.1}
    for span, gap in zip(contact["intervals"], (0.1, 0.2), strict=True):
        deepest = span.pop("deepest")
        span["closest"] = {"frame": deepest["frame"], "gap": gap, "direction": deepest["direction"]}


def with_tracks() -> Document:
    """Return the sample document with a track and an envelope, as another program may write them."""
    document = samples.document()
    # Object "a" is around (-2.7, -0.7, 0.1), with a box from -0.9 to 3.1 along Z.
    document["tracks"] = [
        {
            "object": "a",
            "space": "world",
            "frames": [1, 2.5],
            "sphere": {"centers": [[-3, -1, 1], [-2, -1, 1]], "radii": [3, 3.5]},
            "aabb": {"mins": [[-4, -2, -1], [-3, -2, -1]], "maxs": [[-1.5, 0, 3.1], [-0.5, 0, 3.1]]},
        }
    ]
    document["objects"][0]["envelope"] = {
        "aabb": {"min": [-4, -2, -1], "max": [0, 0, 3.1]},
        "sphere": {"center": [-2, -1, 1], "radius": 4},
    }
    return document


def broken(change: Change) -> Document:
    document = copy.deepcopy(with_tracks())
    change(document)
    return document


FORM: dict[str, Change] = {
    "a list as an object": put("generator", []),
    "no format": drop("format"),
    "another format": put("format", "collision-bound"),
    "version 2": put("version", "2.0.0"),
    "version without a patch": put("version", "1.0"),
    "version with a line break": put("version", "1.0.0\n"),
    "version as a number": put("version", 1),
    "unknown key at the top": put("comment", "hello"),
    "unknown key in an object": put("objects.0.color", "red"),
    "no extras": drop("extras"),
    "extras as a list": put("extras", []),
    "no generator name": drop("generator.name"),
    "unknown preset": put("space.preset", "quake"),
    "unknown axis": put("space.up", "Z"),
    "unknown handedness": put("space.handedness", "both"),
    "no size of a unit": put("space.metersPerUnit", 0),
    "eight numbers of a matrix": put("space.fromBlender", [1, 0, 0, 0, 1, 0, 0, 0]),
    "ten numbers of a matrix": put("space.fromBlender", [1, 0, 0, 0, 1, 0, 0, 0, 1, 0]),
    "quaternion order": put("space.quaternion", "wxyz"),
    "no frame rate": put("time.fps", 0),
    "frame rate as text": put("time.fps", "24"),
    "frame rate true": put("time.fps", True),
    "first frame as text": put("time.frameStart", "1"),
    "step of zero": put("time.frameStep", 0),
    "objects as a table": put("objects", {}),
    "no id": drop("objects.1.id"),
    "empty id": put("objects.1.id", ""),
    "null name": put("objects.1.name", None),
    "parent as a number": put("objects.1.parent", 0),
    "flat vector": put("objects.0.transform.translation", [0, 0]),
    "vector of text": put("objects.0.transform.scale", ["1", "1", "1"]),
    "quaternion of three": put("objects.0.transform.rotation", [0, 0, 1]),
    "negative radius": put("objects.2.world.sphere.radius", -0.001),
    "radius null": put("objects.2.world.sphere.radius", None),
    "sphere without a center": drop("objects.2.local.sphere.center"),
    "box without max": drop("objects.2.local.aabb.max"),
    "negative half extent": put("objects.2.local.obb.halfExtents", [1, -1, 1]),
    "oriented box without axes": drop("objects.2.world.obb.rotation"),
    "oriented box of full sizes": put("objects.2.world.obb.size", [1, 1, 1]),
    "unknown shape": put("objects.2.local.cone", {}),
    "track in local space": put("tracks.0.space", "local"),
    "track without frames": drop("tracks.0.frames"),
    "track with a negative radius": put("tracks.0.sphere.radii", [1, -1]),
    "contact without intervals": put("contacts.0.intervals", []),
    "contact of an unknown shape": put("contacts.0.shape", "cone"),
    "contact without first": drop("contacts.0.first"),
    "tunnelling as a number": put("contacts.0.first.tunnelling", 1),
    "negative uncertainty": put("contacts.0.first.uncertainty", -1e-9),
    "interval without an end": drop("contacts.0.intervals.1.end"),
    "unknown kind of overlap": put("contacts.0.deepest.overlap", "near"),
    "negative gap": put("clearances.0.gap", -1),
    "skipped for no reason": put("skipped.0.reason", ""),
}

# Changes, and a pattern of the message, with the path of the problem.
MEANING: dict[str, tuple[Change, str]] = {
    "min above max": (put("objects.1.world.aabb.min", [99, -99, -99]), r"objects\[1\].world.aabb: min > max"),
    "envelope box inside out": (
        put("objects.0.envelope.aabb", {"min": [0, 0, 1], "max": [1, 1, 0]}),
        r"objects\[0\].envelope.aabb: min > max",
    ),
    "quaternion of length 2": (
        put("objects.0.transform.rotation", [0, 0, 0, 2]),
        r"objects\[0\].*unit quaternion",
    ),
    "quaternion of zeros": (put("objects.0.transform.rotation", [0, 0, 0, 0]), "unit quaternion"),
    "oriented box with axes of length 2": (
        put("objects.1.world.obb.rotation", [0, 0, 0, 2]),
        r"objects\[1\].world.obb.rotation: is not a unit quaternion",
    ),
    "duplicate id": (put("objects.1.id", "a"), r"objects\[1\].id: 'a' is used twice"),
    "unknown parent": (put("objects.0.parent", "z"), r"objects\[0\].parent: 'z'"),
    "own parent": (put("objects.0.parent", "a"), r"objects\[0\].parent: 'a'"),
    "circular parents": (
        both(put("objects.0.parent", "b"), put("objects.1.parent", "a")),
        r"objects\[0\].parent: 'a' is its own ancestor",
    ),
    "other shapes in local than in world": (
        drop("objects.0.local.sphere"),
        r"objects\[0\]: .*different shapes",
    ),
    "contact of an unknown id": (put("contacts.0.b", "z"), r"contacts\[0\].b: .*'z'"),
    "contact with itself": (put("contacts.0.b", "a"), r"contacts\[0\]: .*same"),
    "near miss of an unknown id": (put("clearances.0.a", "z"), r"clearances\[0\].a: .*'z'"),
    "track of an unknown id": (put("tracks.0.object", "z"), r"tracks\[0\].object: .*'z'"),
    "two tracks of one object": (
        lambda document: document["tracks"].append(document["tracks"][0]),
        r"tracks\[1\].object: 'a' has a track already",
    ),
    "fewer radii than frames": (put("tracks.0.sphere.radii", [1]), r"tracks\[0\].sphere.radii: has 1 .* 2"),
    "more boxes than frames": (put("tracks.0.aabb.mins", [[0, 0, 0]] * 3), r"tracks\[0\].aabb.mins: has 3"),
    "frames of a track out of order": (put("tracks.0.frames", [2, 1]), r"tracks\[0\].frames: must increase"),
    "box of a track inside out": (
        put("tracks.0.aabb.mins", [[0, 0, 0], [3, 0, 0]]),
        r"tracks\[0\].aabb: min > max",
    ),
    "intervals out of order": (
        put("contacts.0.intervals", [{"start": 11.333333, "end": 13}, {"start": 12, "end": 14}]),
        r"contacts\[0\].intervals: are not in order",
    ),
    "interval that ends before it starts": (
        put("contacts.0.intervals.1.end", 13.9),
        r"contacts\[0\].intervals: start > end",
    ),
    "first frame elsewhere": (put("contacts.0.first.frame", 11), r"contacts\[0\].first.frame"),
    "deepest outside of all intervals": (put("contacts.0.deepest.frame", 13), r"contacts\[0\].deepest.frame"),
    "normal of length 2": (put("contacts.0.first.normal", [0, 2, 0]), r"contacts\[0\].first.normal"),
    "wrong hand": (put("space.handedness", "left"), "space.handedness: is 'left'"),
    "wrong up": (put("space.up", "+Y"), r"space.up: is '\+Y'"),
    "wrong forward": (put("space.forward", "+X"), r"space.forward: is '\+X'"),
    "mirrored matrix": (put("space.fromBlender", [-1, 0, 0, 0, 1, 0, 0, 0, 1]), "space.handedness"),
    "sheared matrix": (put("space.fromBlender", [1, 1, 0, 0, 1, 0, 0, 0, 1]), "space.fromBlender"),
    "matrix of zeros": (put("space.fromBlender", [0] * 9), "space: its unit is not between"),
    "unit beyond numbers": (
        both(scaled("space.fromBlender", 1e-200), put("space.metersPerUnit", 1e200)),
        "space: its unit is not between 1e-30 and 1e.30 meters",
    ),
    "length beyond numbers in Blender units": (
        both(
            both(scaled("space.fromBlender", 1e-9), put("space.metersPerUnit", 1e9)),
            put("objects.0.world.sphere.radius", 1e305),
        ),
        r"objects\[0\].world.sphere.radius: is beyond the range",
    ),
    "matrix of two scales": (put("space.fromBlender", [1, 0, 0, 0, 2, 0, 0, 0, 1]), "space.fromBlender"),
    "turned matrix": (
        put("space.fromBlender", [0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1]),
        "space.fromBlender: must map each axis to an axis",
    ),
    "last frame before the first": (put("time.frameEnd", -6), "frameStart > frameEnd"),
    "infinite radius": (put("objects.0.local.sphere.radius", math.inf), r"objects\[0\].local.sphere.radius"),
    "number beyond floats in extras": (put("extras.big", 10**400), "extras.big: is beyond the range"),
    "objects out of order": (
        lambda document: document["objects"].reverse(),
        "objects: are not sorted by name, then id",
    ),
    "centimeters declared as meters": (
        put("space.unit", "cm"),
        "space.unit: is 'cm', which is 0.01 meters, but metersPerUnit is different",
    ),
    "Unity in centimeters": (
        lambda document: document["space"].update(
            samples.document("unity")["space"], unit="cm", metersPerUnit=0.01
        ),
        "space.metersPerUnit: does not match preset 'unity'",
    ),
    # Half sizes, lost signs, another unit or order: detectable because documents contain most facts twice.
    "full sizes for half extents": (
        scaled("objects.1.world.obb.halfExtents", 2),
        r"objects\[1\].world.obb: cannot enclose the same object as",
    ),
    "half extents halved again": (
        scaled("objects.1.local.obb.halfExtents", 0.5),
        r"objects\[1\].local.obb: cannot enclose the same object as",
    ),
    "half extents in another order": (
        put("objects.1.world.obb.halfExtents", [0.333334, 1, 2]),
        r"objects\[1\].world.obb: cannot enclose the same object as",
    ),
    "diameter for radius": (
        scaled("objects.1.world.sphere.radius", 2),
        r"objects\[1\].world.sphere: cannot enclose the same object as local.sphere",
    ),
    "radius halved": (
        scaled("objects.1.local.sphere.radius", 0.5),
        r"objects\[1\].local.sphere: cannot enclose the same object as",
    ),
    "sign lost from a center": (
        scaled("objects.1.world.sphere.center", -1),
        r"objects\[1\].world.sphere: cannot enclose the same object as world.aabb, world.obb",
    ),
    "sign lost from one coordinate of a box": (
        put("objects.0.world.aabb.max", [1.666667, 0, 3.1]),
        r"objects\[0\].world.aabb: cannot enclose the same object as world.sphere",
    ),
    "sign lost from a translation": (
        scaled("objects.1.transform.translation", -1),
        r"objects\[1\].transform: does not map the local shapes to the world shapes",
    ),
    "translation in centimeters": (
        scaled("objects.2.transform.translation", 100),
        r"objects\[2\].transform: does not map",
    ),
    "world box in centimeters": (
        both(scaled("objects.1.world.aabb.min", 100), scaled("objects.1.world.aabb.max", 100)),
        r"objects\[1\].world.aabb: cannot enclose the same object as",
    ),
    "world box in another space": (
        put("objects.1.world.aabb", {"min": [4.333333, -0.9, 0], "max": [6.333334, 3.1, 1.666667]}),
        r"objects\[1\].world.aabb: cannot enclose the same object as",
    ),
    "quaternion of a box with w first": (
        w_first("objects.1.world.obb.rotation"),
        r"objects\[1\].world.obb.rotation: is not that of local.obb, the object or the world",
    ),
    "quaternion of an object with w first": (
        w_first("objects.1.transform.rotation"),
        r"objects\[1\].world.obb.rotation: is not that of local.obb, the object or the world",
    ),
    "inverse quaternion": (
        lambda document: (
            scaled("objects.1.transform.rotation", -1)(document)
            or put("objects.1.transform.rotation.3", 0.5)(document)
        ),
        r"objects\[1\].world.obb.rotation: is not that of",
    ),
    "world shapes as local shapes": (
        lambda document: document["objects"][1].update(local=document["objects"][1]["world"]),
        r"objects\[1\].transform: does not map the local shapes to the world shapes",
    ),
    "world shapes of another object": (
        lambda document: document["objects"][1].update(world=document["objects"][0]["world"]),
        r"objects\[1\].transform: does not map",
    ),
    "envelope smaller than the object": (
        both(scaled("objects.0.envelope.aabb.min", 0.5), drop("objects.0.envelope.sphere")),
        r"objects\[0\].envelope: does not enclose the world shapes",
    ),
    "envelope whose sphere is elsewhere": (
        scaled("objects.0.envelope.sphere.center", -1),
        r"objects\[0\].envelope: its box and sphere",
    ),
    "envelope with less than half a radius": (
        scaled("objects.0.envelope.sphere.radius", 0.45),
        r"objects\[0\].envelope: its box and sphere",
    ),
    "track with a sign lost": (
        put("tracks.0.sphere.centers", [[-3, -1, 1], [2, -1, 1]]),
        r"tracks\[0\]: at frame 2.5 box and sphere cannot enclose the same object",
    ),
    "track in centimeters": (
        both(
            drop("tracks.0.sphere"),
            put(
                "tracks.0.aabb",
                {"mins": [[-4, -2, -1], [-300, -200, -100]], "maxs": [[-1, 0, 3], [-50, 0, 310]]},
            ),
        ),
        r"tracks\[0\]: at frame 2.5 is not in the envelope of its object",
    ),
    "track with frames outside the range": (
        put("tracks.0.frames", [1, 21]),
        r"tracks\[0\].frames: must be from frameStart to frameEnd",
    ),
    "tracks out of order": (
        lambda document: document["tracks"].insert(0, {**document["tracks"][0], "object": "b"}),
        "tracks: are not sorted by object",
    ),
    "pair listed twice": (
        lambda document: document["contacts"].append({**document["contacts"][0], "a": "b", "b": "a"}),
        r"contacts\[1\]: a and b have a contact already",
    ),
    "pair in contact that is also a near miss": (
        put("clearances.0.a", "b"),
        r"clearances\[0\]: a and b are listed in contacts too",
    ),
    "near miss listed twice": (
        lambda document: document["clearances"].append(document["clearances"][0]),
        r"clearances\[1\]: a and b have a clearance already",
    ),
    "near miss after the end": (
        put("clearances.0.frame", 20.5),
        r"clearances\[0\].frame: must be from frameStart to frameEnd",
    ),
    "contact after the end": (
        put("contacts.0.intervals.1.end", 20.001),
        r"contacts\[0\].intervals: must be from frameStart to frameEnd",
    ),
    "seconds at another rate": (
        put("contacts.0.first.seconds", 0.453333),
        r"contacts\[0\].first.seconds: is not frame / fps",
    ),
    "seconds from the first frame on": (
        put("contacts.0.first.seconds", 0.681250),
        r"contacts\[0\].first.seconds: is not frame / fps",
    ),
    "at the start, but later": (
        put("contacts.0.first.atStart", True),
        r"contacts\[0\].first.atStart: is true, but",
    ),
    "tunnelling across a whole frame": (
        put("contacts.0.intervals.0.end", 12.25),
        r"contacts\[0\].first.tunnelling: is true, but",
    ),
    "no tunnelling without a whole frame": (
        put("contacts.0.first.tunnelling", False),
        r"contacts\[0\].first.tunnelling: is false, but",
    ),
    "contacts of two shapes": (
        lambda document: document["contacts"].append({**document["contacts"][0], "b": "c", "shape": "aabb"}),
        r"contacts\[1\].shape: differs from that of contacts\[0\]",
    ),
    "obstacle that was tested against boxes": (
        both(put("contacts.0.obstacle", "a"), put("contacts.0.shape", "aabb")),
        r"contacts\[0\].obstacle: obstacles are tested against spheres and meshes, not aabb",
    ),
    "not at the start, but begins there": (
        both(
            both(put("contacts.0.first.frame", -5), put("contacts.0.intervals.0.start", -5)),
            both(put("contacts.0.first.seconds", -0.208542), put("contacts.0.first.tunnelling", False)),
        ),
        r"contacts\[0\].first.atStart: is false, but the contact begins at frameStart",
    ),
    "track of no frames": (
        lambda document: document["tracks"][0].update(
            frames=[], sphere={"centers": [], "radii": []}, aabb={"mins": [], "maxs": []}
        ),
        r"tracks\[0\].frames: is empty",
    ),
    "track without shapes": (
        both(drop("tracks.0.sphere"), drop("tracks.0.aabb")),
        r"tracks\[0\]: has neither sphere nor aabb",
    ),
    "interval with half of its details": (
        drop("contacts.0.intervals.1.normal"),
        r"contacts\[0\].intervals: must have all of uncertainty, point",
    ),
    "interval without details, after one that has them": (
        put("contacts.0.intervals.1", {"start": 14.0, "end": 15.5}),
        r"contacts\[0\].intervals: must have all of uncertainty, point",
    ),
    "first interval with another point": (
        put("contacts.0.intervals.0.point", [0, 0, 0]),
        r"contacts\[0\].intervals\[0\].point: differs from that of first",
    ),
    "first interval with another uncertainty": (
        put("contacts.0.intervals.0.uncertainty", 1),
        r"contacts\[0\].intervals\[0\].uncertainty: differs from that of first",
    ),
    "normal of an interval of length 2": (
        put("contacts.0.intervals.1.normal", [0, 2, 0]),
        r"contacts\[0\].intervals\[1\].normal: is not a unit vector",
    ),
    "direction of length 2": (
        put("contacts.0.intervals.0.deepest.direction", [0, 0, 2]),
        r"contacts\[0\].intervals\[0\].deepest.direction: is not a unit vector",
    ),
    "deepest overlap of another interval": (
        put("contacts.0.intervals.1.deepest.frame", 11.4),
        r"contacts\[0\].intervals\[1\].deepest.frame: is outside the interval",
    ),
    "interval that is deeper than the contact": (
        put("contacts.0.intervals.1.deepest.depth", 0.5),
        r"contacts\[0\].intervals\[1\].deepest.depth: is more than that of the contact",
    ),
    "interval that is closer than the contact": (
        both(only_close, put("contacts.0.intervals.1.closest.gap", 0.01)),
        r"contacts\[0\].intervals\[1\].closest.gap: is less than that of the contact",
    ),
    "overlap of bounds": (
        put("contacts.0.intervals.1.deepest.overlap", "crosses"),
        r"contacts\[0\].intervals\[1\].deepest.overlap: only meshes can have that",
    ),
    "bounds without a depth": (
        put("contacts.0.deepest.depth", None),
        r"contacts\[0\].deepest.depth: is null, but only meshes can have none",
    ),
    "gap above the clearance": (
        both(only_close, put("contacts.0.intervals.1.closest.gap", 0.31)),
        r"contacts\[0\].intervals\[1\].closest.gap: is more than the clearance, 0.3",
    ),
    "gap without a clearance": (
        both(only_close, drop("contacts.0.clearance")),
        r"contacts\[0\].closest.gap: is more than the clearance, 0",
    ),
    "closest approach outside of all intervals": (
        both(only_close, put("contacts.0.closest.frame", 13)),
        r"contacts\[0\].closest.frame: is outside all intervals",
    ),
    "direction of a gap of length 2": (
        both(only_close, put("contacts.0.intervals.0.closest.direction", [0, 0, 2])),
        r"contacts\[0\].intervals\[0\].closest.direction: is not a unit vector",
    ),
    "gap and depth": (
        both(only_close, put("contacts.0.deepest", {"frame": 11.5, "depth": 0.25})),
        r"contacts\[0\]: must have either deepest or closest",
    ),
    "neither gap nor depth": (
        drop("contacts.0.deepest"),
        r"contacts\[0\]: must have either deepest or closest",
    ),
    "negative depth": (
        both(put("contacts.0.clearance", 0.3), put("contacts.0.intervals.1.deepest.depth", -0.1)),
        r"contacts\[0\].intervals\[1\].deepest.depth: is negative, but a gap is in closest",
    ),
    "velocity without a closing speed": (
        put("contacts.0.intervals.0.closingSpeed", None),
        r"contacts\[0\].intervals\[0\].closingSpeed: must be null if velocity is null",
    ),
    "closing speed without a velocity": (
        put("contacts.0.intervals.1.closingSpeed", 1),
        r"contacts\[0\].intervals\[1\].closingSpeed: must be null if velocity is null",
    ),
    "closing speed of the other sign": (
        lambda document: document["contacts"][0]["intervals"][0].update(
            closingSpeed=-document["contacts"][0]["intervals"][0]["closingSpeed"]
        ),
        r"contacts\[0\].intervals\[0\].closingSpeed: is not the velocity against the normal",
    ),
    "obstacle that is neither of the two": (
        put("contacts.0.obstacle", "c"),
        r"contacts\[0\].obstacle: is neither a nor b",
    ),
}
