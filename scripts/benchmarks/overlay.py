"""The overlay: where everything is now beside Blender's own frame, and drawing it."""

from __future__ import annotations

from typing import Any

from .scans import Keyed
from .tables import Call, Competitor, Row, Table, Target

_SHAPES = ("sphere", "aabb")
_AWAY = 60
"""A frame at which nothing is where it was fitted."""


def _live(case: Keyed) -> tuple[Any, Any, Any]:
    """A scene at a frame, a look at it, and the picture that comes of that."""
    import bpy

    scene = case.scene()
    from addon.scene.fitting import FitSettings
    from addon.scene.identities import identities
    from addon.scene.jobs import BoundsSettings, compute_bounds
    from addon.scene.live import Live
    from addon.ui.picture import picture_of

    scene.frame_set(1)
    result = compute_bounds(scene, BoundsSettings())
    live = Live(result, identities(result.subjects))
    checked: Any = case.shape
    drawn: Any = dict.fromkeys((*_SHAPES, checked))

    def look(changed: Any) -> Any:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return live.look(depsgraph, FitSettings(), drawn, checked, True, changed, same_flags=True)

    def picture(shown: Any) -> Any:
        return picture_of(shown, tuple(drawn), checked, (0.0, 0.5, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0))

    look(None)
    scene.frame_set(_AWAY)
    return scene, look, picture


def _looked(case: Keyed) -> Call:
    _, look, picture = _live(case)
    return lambda: picture(look(()))


def _played(case: Keyed) -> Call:
    scene = case.scene()

    def play() -> None:
        scene.frame_set(_AWAY + 1)
        scene.frame_set(_AWAY)

    return play


def _told(case: Keyed, answers: Any) -> str:
    if "overlay" not in answers:
        return ""
    picture = answers["overlay"]
    return f"{len(picture.balls)} balls, {len(picture.boxes)} boxes"


LIVE = Table(
    "live",
    "objects moving, one frame",
    (Competitor("overlay", _looked), Competitor("frame_set", _played, per=2)),
    [
        Row("1000, spheres checked", lambda: Keyed(1000, "sphere", "linear", 6.0), 1000, 1, [Target(5e-3)]),
        Row("1000, boxes checked", lambda: Keyed(1000, "aabb", "linear", 6.0), 1000, 1, [Target(5e-3)]),
        Row("1000 turning, oriented boxes checked", lambda: Keyed(1000, "obb", "linear", 6.0), 1000),
        Row("3000, spheres checked", lambda: Keyed(3000, "sphere", "linear", 6.0), 3000),
    ],
    _told,
    seconds_each=4.0,
)


def _drawn(case: Keyed, rows: int | None) -> Call:
    """Upload and draw, all of it or `rows` of each kind: the same calls, and hardly any work for the card."""
    _, look, picture = _live(case)
    import gpu

    if not hasattr(gpu, "init"):
        raise ImportError("Blender before 5.2 draws in windows only")
    gpu.init()
    from mathutils import Matrix

    from addon.ui import drawing

    painter, made, whole = drawing.Painter(), picture(look(())), drawing._draw
    canvas: Any = gpu.types.GPUOffScreen(800, 600)
    view = Matrix.LocRotScale((-27, -27, -27), None, None)
    everything = Matrix.Diagonal((1 / 36, 1 / 27, -1 / 100, 1))

    def some(shader: Any, batch: Any, texture: Any) -> None:
        whole(shader, batch, texture if rows is None else texture and texture._replace(rows=rows))

    def draw() -> None:
        drawing._draw = some
        with canvas.bind():
            gpu.matrix.load_matrix(view)
            gpu.matrix.load_projection_matrix(everything)
            painter.draw(made, drawing.Style(1.8, 1.0, 0.15, True), (800, 600))
        if rows is None:
            canvas.texture_color.read()  # until it is drawn

    return draw


DRAWING = Table(
    "drawing",
    "filled, with outlines",
    (
        Competitor("in Python", lambda case: _drawn(case, 1)),
        Competitor("by a processor instead of a card", lambda case: _drawn(case, None)),
    ),
    [Row("1000 spheres, 1000 boxes", lambda: Keyed(1000, "aabb", "linear", 6.0), 1000, 1, [Target(1e-3)])],
)
