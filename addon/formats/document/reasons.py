"""Reasons why a scan skips pairs, and why the meshes of a contact were not verified."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from ...core.messages import template


class _Reason(StrEnum):
    """Reason with its name in documents, `text` for the user, and a `remedy` of the command line, if any."""

    text: str
    remedy: str

    def __new__(cls, name: str, text: str = "", remedy: str = "") -> Self:
        """Create a reason from its name, the clause that explains it, and the remedy."""
        reason = str.__new__(cls, name)
        reason._value_, reason.text, reason.remedy = name, text, remedy
        return reason


class SkippedPairs(_Reason):
    """Reason why a scan skips pairs. If there are several reasons, a pair counts for the first one."""

    GROUPS = "groups", template("not of both groups"), "tested without --a and --b"
    IGNORED = "ignored", template("ignored"), "by --ignore, or in the file"
    PARENTS = "parents", template("parent and child"), "tested with --no-ignore-parents"
    PARTS = "parts", template("parts of one object"), "tested with --no-ignore-parents"
    COLLECTIONS = "collections", template("in one collection"), "tested without --ignore-collection"
    OBSTACLES = "obstacles", template("two obstacles"), "obstacles are not tested against each other"
    STATIC = "static", template("neither object moves"), "tested with --static-pairs"


class NotVerified(_Reason):
    """Reason why the meshes of a contact were not verified. If there are several, the first is written."""

    BONE = "bone", template("a bone has no mesh of its own")
    CUSTOM_SHAPE = "customShape", template("a custom shape is not the mesh")
    LOOSE_PART = "loosePart", template("a loose part is not the whole mesh")
    MERGED_COLLECTION = "mergedCollection", template("a collection has several meshes")
    UNBAKED_SIMULATION = "unbakedSimulation", template("a simulation is not baked")
    SIMULATED = "simulated", template("an object is simulated")
    NO_FACES = "noFaces", template("an object has no faces")
    VERTEX_COUNT = "vertexCount", template("the number of vertices changes")
    ABSENT = "absent", template("an object is absent meanwhile")
    NOT_FINITE = "notFinite", template("a coordinate is not finite")
    UNDECIDED = "undecided", template("the meshes are too close for too long")
    STOPPED = "stopped", template("the scan was stopped")
    UNSUPPORTED = "unsupported", template("the meshes cannot be tested")
