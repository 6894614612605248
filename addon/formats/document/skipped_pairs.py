"""Reasons why a scan skips pairs."""

from __future__ import annotations

from enum import StrEnum

from ...core.messages import template


class SkippedPairs(StrEnum):
    """Reason why a scan skips pairs: its name in documents, `text` for the user, and a `remedy`.

    The remedy is of the command line. If there are several reasons, a pair counts for the first one.
    """

    text: str
    remedy: str

    def __new__(cls, name: str, text: str = "", remedy: str = "") -> SkippedPairs:
        """Create a reason from its name, the clause that explains it, and the remedy."""
        reason = str.__new__(cls, name)
        reason._value_, reason.text, reason.remedy = name, text, remedy
        return reason

    GROUPS = "groups", template("not of both groups"), "tested without --a and --b"
    IGNORED = "ignored", template("ignored"), "by --ignore, or in the file"
    PARENTS = "parents", template("parent and child"), "tested with --no-ignore-parents"
    PARTS = "parts", template("parts of one object"), "tested with --no-ignore-parents"
    COLLECTIONS = "collections", template("in one collection"), "tested without --ignore-collection"
    OBSTACLES = "obstacles", template("two obstacles"), "obstacles are not tested against each other"
    STATIC = "static", template("neither object moves"), "tested with --static-pairs"
