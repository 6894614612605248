"""What holds for the tests of the math."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes is the machine's matter: a busy one must not fail a test.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
