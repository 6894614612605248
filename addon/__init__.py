"""Collision Bounds: bounding volumes, and the moment moving objects first touch.

This file runs first on any import below it, also without Blender: registration is imported when needed.
"""


def register() -> None:
    """Add the panel, the operators, the overlay and the command line to Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Take everything away again that `register` added."""
    from . import registration

    registration.unregister()
