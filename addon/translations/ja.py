"""Japanese."""

MESSAGES: dict[str, str] = {}

MEANINGS: dict[str, str] = {}
