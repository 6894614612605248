"""The overlay: where everything is now beside Blender's own frame, and drawing it."""

from __future__ import annotations

from typing import Any

from .scans import Keyed
from .tables import Call, Competitor, Row, Table, Target

_SHAPES = ("sphere", "aabb")
_AWAY = 60
"""A frame at which nothing is where it was fitted."""


def _live(case: Keyed) -> tuple[Any, Any, Any]:
    """Return a scene at a frame, and functions that update live subjects and make draw data of them."""
    import bpy

    scene = case.scene()
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.live.live_shapes import LiveSubjects
    from addon.scene.settings import BoundsSettings, FitSettings
    from addon.scene.subjects.identities import identify_subjects
    from addon.ui.overlay.draw_data import draw_data_from_shapes

    scene.frame_set(1)
    result = compute_bounds(scene, BoundsSettings())
    live = LiveSubjects(result, identify_subjects(result.subjects))
    checked: Any = case.shape
    drawn: Any = dict.fromkeys((*_SHAPES, checked))

    def update(changed: Any) -> Any:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return live.update(depsgraph, FitSettings(), drawn, checked, True, changed, keep_flags=True)

    def draw_data(shown: Any) -> Any:
        return draw_data_from_shapes(shown, tuple(drawn), checked, (0.0, 0.5, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0))

    update(None)
    scene.frame_set(_AWAY)
    return scene, update, draw_data


def _updated(case: Keyed) -> Call:
    _, update, draw_data = _live(case)
    return lambda: draw_data(update(()))


def _played(case: Keyed) -> Call:
    scene = case.scene()

    def play() -> None:
        scene.frame_set(_AWAY + 1)
        scene.frame_set(_AWAY)

    return play


def _told(case: Keyed, answers: Any) -> str:
    if "overlay" not in answers:
        return ""
    draw_data = answers["overlay"]
    return f"{len(draw_data.spheres)} spheres, {len(draw_data.boxes)} boxes"


LIVE = Table(
    "live",
    "objects moving, one frame",
    (Competitor("overlay", _updated), Competitor("frame_set", _played, per=2)),
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
    _, update, draw_data = _live(case)
    import gpu

    if not hasattr(gpu, "init"):
        raise ImportError("Blender before 5.2 draws in windows only")
    gpu.init()
    from mathutils import Matrix

    from addon.ui.overlay import painter as drawing

    painter, made, whole = drawing.Painter(), draw_data(update(())), drawing._draw
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
