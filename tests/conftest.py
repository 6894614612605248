"""What holds for all tests."""

from __future__ import annotations

import os
import sys

import pytest

_exit_code = 0


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    global _exit_code
    _exit_code = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave without Blender's clean-up: as a module, 4.5 may wait forever for its own thread."""
    if "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_exit_code)
