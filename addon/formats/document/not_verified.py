"""Reasons why the meshes of a contact were not verified."""

from __future__ import annotations

from enum import StrEnum

from ...core.messages import template


class NotVerified(StrEnum):
    """Reason why the meshes of a contact were not verified: its name in documents, and `text` for the user.

    If there are several, the first one is written.
    """

    text: str

    def __new__(cls, name: str, text: str = "") -> NotVerified:
        """Create a reason from its name and the clause that explains it."""
        reason = str.__new__(cls, name)
        reason._value_, reason.text = name, text
        return reason

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
