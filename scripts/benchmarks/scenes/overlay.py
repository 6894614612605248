"""The overlay: its update, compared with Blender's own frame change, and its drawing."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from ..tables import Call, Competitor, Row, Table, Target
from .scans import Keyed

_SHAPES = ("sphere", "aabb")
_MOVED_FRAME = 60
"""A frame at which all objects have moved since they were fitted."""


def _live(case: Keyed) -> tuple[Any, Any, Any]:
    """Return a scene at a frame, and functions that update live subjects and return their draw data."""
    import bpy

    scene = case.scene()
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.live.live_shapes import LiveSubjects
    from addon.scene.settings import BoundsSettings, FitSettings
    from addon.scene.subjects.subject import identify_subjects
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
        return draw_data_from_shapes(shown, tuple(drawn), checked)

    update(None)
    scene.frame_set(_MOVED_FRAME)
    return scene, update, draw_data


def _update(case: Keyed) -> Call:
    _, update, draw_data = _live(case)
    return lambda: draw_data(update(()))


def _touching(case: Keyed) -> Call:
    """Find the pairs that Touching Now lists."""
    _, update, _ = _live(case)
    from addon.core.scan.candidates import PairFilter
    from addon.scene.live.touching import find_touching_pairs

    checked: Any = case.shape
    shapes = update(()).shapes[checked]
    pair_filter = PairFilter(int(shapes.owners.max()) + 1, None, None, (), None)
    return lambda: find_touching_pairs(shapes, pair_filter)


def _frame_set(case: Keyed) -> Call:
    scene = case.scene()

    def play() -> None:
        scene.frame_set(_MOVED_FRAME + 1)
        scene.frame_set(_MOVED_FRAME)

    return play


def _describe(case: Keyed, results: Any) -> str:
    if "overlay" not in results:
        return ""
    meshes = results["overlay"].by_mesh
    return f"{len(meshes['spheres'])} spheres, {len(meshes['boxes'])} boxes"


LIVE = Table(
    "live",
    "moving objects, one frame",
    (
        Competitor("overlay", _update),
        Competitor("pairs that touch", _touching),
        Competitor("frame_set", _frame_set, per=2),
    ),
    [
        Row("1000, shape: sphere", lambda: Keyed(1000, "sphere", "linear", 6.0), 1000, 1, [Target(5e-3)]),
        Row("1000, shape: box", lambda: Keyed(1000, "aabb", "linear", 6.0), 1000, 1, [Target(5e-3)]),
        Row("1000 rotating, shape: oriented box", lambda: Keyed(1000, "obb", "linear", 6.0), 1000),
        Row("3000, shape: sphere", lambda: Keyed(3000, "sphere", "linear", 6.0), 3000),
    ],
    _describe,
    seconds_each=4.0,
)


def _draw(case: Keyed, rows: int | None) -> Call:
    """Upload and draw everything, or only `rows` instances of each shape.

    With one row the Python calls are the same, and the graphics card has almost no work.
    """
    _, update, draw_data = _live(case)
    import gpu

    if not hasattr(gpu, "init"):
        raise ImportError("Blender before 5.2 draws in windows only")
    gpu.init()
    from mathutils import Matrix

    from addon.ui.overlay import painter as drawing

    painter, shown, draw_all_rows = drawing.Painter(), draw_data(update(())), drawing._draw
    canvas: Any = gpu.types.GPUOffScreen(800, 600)
    view = Matrix.LocRotScale((-27, -27, -27), None, None)
    projection = Matrix.Diagonal((1 / 36, 1 / 27, -1 / 100, 1))

    def draw_rows(shader: Any, batch: Any, texture: Any) -> None:
        draw_all_rows(shader, batch, texture if rows is None else (texture[0], rows))

    def draw() -> None:
        with canvas.bind(), patch.object(drawing, "_draw", draw_rows):
            gpu.matrix.load_matrix(view)
            gpu.matrix.load_projection_matrix(projection)
            painter.draw(shown, drawing.Style(1.8, 1.0, 0.15, True), (800, 600))
        if rows is None:
            canvas.texture_color.read()  # waits until drawing has finished

    return draw


DRAWING = Table(
    "drawing",
    "filled, with outlines",
    (
        Competitor("Python calls", lambda case: _draw(case, 1)),
        Competitor("with software rendering", lambda case: _draw(case, None)),
    ),
    [Row("1000 spheres, 1000 boxes", lambda: Keyed(1000, "aabb", "linear", 6.0), 1000, 1, [Target(1e-3)])],
)
