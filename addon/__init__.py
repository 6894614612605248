"""Collision Bounds: bounding volumes, and the time at which moving objects first touch.

Packages. Each may import those above it; `cli` and `ui` do not import each other:

- `core`: the math. Needs NumPy only.
- `formats`: the JSON document and the other export formats.
- `scene`: reads Blender's scene, runs the jobs, creates collider objects.
- `cli`: the command line.
- `translations`: dictionaries of the interface in other languages. It imports nothing.
- `ui`: properties, operators, panels and the viewport overlay.
- `api`: bounds and contacts for scripts, as plain values. It may import `ui`.

`registration` adds all of it to Blender. It is imported only when needed, because importing any module below
runs this file, also without Blender.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Add the panel, the operators, the overlay and the command line to Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Remove everything that `register` added."""
    from . import registration

    registration.unregister()


def __getattr__(name: str) -> Any:
    """Return a hook that Blender's glTF exporter looks for in each extension, by a name with this prefix."""
    if not name.startswith("glTF2"):
        raise AttributeError(name)
    from .ui.panels import export

    return getattr(export, name)
