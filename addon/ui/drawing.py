"""Pictures drawn by the graphics card: unit shapes, once for each row that a texture holds.

What changes from frame to frame is that texture. Nothing is made before the first drawing: Blender has no
graphics in background, before 5.2 at least.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gpu
import numpy as np
from numpy.typing import NDArray

from . import unit_shapes
from .on_screen import BySize, seen_by_size
from .picture import Picture, Rows
from .shaders import ROWS_ACROSS, face_shader, line_shader, small_ball_shader, small_box_shader

_FINE, _COARSE, _COARSEST = 48, 24, 16
"""Segments of a circle, on large balls, on others, and on small ones where each line may be hidden."""
_BALL_FACES, _SMALL_BALL_FACES = 32, 12
_LIFT = 1e-6
"""Nearer to the viewer, in depth: a face of a box that lies on one of its mesh would flicker."""


class Style(NamedTuple):
    """How a picture is drawn, whatever it shows.

    line_width : pixels; 0 for no lines
    line_opacity, face_opacity : from 0 to 1
    in_front : over everything, instead of behind what hides it
    """

    line_width: float
    line_opacity: float
    face_opacity: float
    in_front: bool


class _Texture(NamedTuple):
    texture: gpu.types.GPUTexture
    rows: int


class _Textures(NamedTuple):
    """Forms of one kind on the graphics card, by their size; None where there are none."""

    small: _Texture | None
    middle: _Texture | None
    large: _Texture | None

    @classmethod
    def of(cls, rows: BySize) -> _Textures:
        return cls(*map(_texture, rows))


class Painter:
    """The shaders and unit shapes, made when they are first needed. Needs a graphics card from then on."""

    def __init__(self) -> None:
        self._lines, self._faces = line_shader(), face_shader()
        self._small_ball, self._small_box = small_ball_shader(), small_box_shader()
        self._square = _face_batch(unit_shapes.square())
        self._ball_lines = _line_batch(unit_shapes.ball_lines(_COARSE))
        self._small_ball_lines = _line_batch(unit_shapes.ball_lines(_COARSEST))
        self._fine_ball_lines = _line_batch(unit_shapes.ball_lines(_FINE))
        self._box_lines = _line_batch(unit_shapes.box_lines())
        self._stick_lines = _line_batch(unit_shapes.stick_lines())
        self._ball_faces = _face_batch(unit_shapes.ball_faces(_BALL_FACES))
        self._small_ball_faces = _face_batch(unit_shapes.ball_faces(_SMALL_BALL_FACES))
        self._box_faces = _face_batch(unit_shapes.box_faces())

    def draw(self, picture: Picture, style: Style, viewport: tuple[int, int]) -> None:
        """Draw into the active framebuffer of (width, height) pixels, as gpu.matrix is set."""
        view = np.array(gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix())
        balls = _Textures.of(seen_by_size(picture.balls.rows, view, viewport))
        boxes = _Textures.of(seen_by_size(picture.boxes.rows, view, viewport))
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE" if style.in_front else "LESS_EQUAL")
        if style.face_opacity:
            self._draw_faces(balls, boxes, style)
        if style.line_width:
            self._draw_lines(balls, boxes, style, viewport)
        if len(picture.sticks):
            gpu.state.depth_test_set("NONE")
            self._bind(self._lines, style.line_opacity, viewport, max(2.0, style.line_width))
            _draw(self._lines, self._stick_lines, _texture(picture.sticks.rows))
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")

    def _draw_faces(self, balls: _Textures, boxes: _Textures, style: Style) -> None:
        gpu.state.face_culling_set("BACK")
        self._bind(self._faces, style.face_opacity)
        _draw(self._faces, self._small_ball_faces, balls.small)
        for texture in (balls.middle, balls.large):
            _draw(self._faces, self._ball_faces, texture)
        for texture in boxes:
            _draw(self._faces, self._box_faces, texture)
        gpu.state.face_culling_set("NONE")

    def _draw_lines(
        self, balls: _Textures, boxes: _Textures, style: Style, viewport: tuple[int, int]
    ) -> None:
        # A square is nowhere as deep as the lines on it are.
        has_squares = style.in_front
        if has_squares:
            for shader, texture in ((self._small_ball, balls.small), (self._small_box, boxes.small)):
                if texture is not None:
                    self._bind(shader, style.line_opacity, viewport, style.line_width)
                    _draw(shader, self._square, texture)
        self._bind(self._lines, style.line_opacity, viewport, style.line_width)
        _draw(self._lines, self._fine_ball_lines, balls.large)
        _draw(self._lines, self._ball_lines, balls.middle)
        for texture in (boxes.middle, boxes.large):
            _draw(self._lines, self._box_lines, texture)
        if not has_squares:
            _draw(self._lines, self._small_ball_lines, balls.small)
            _draw(self._lines, self._box_lines, boxes.small)

    @staticmethod
    def _bind(
        shader: gpu.types.GPUShader, opacity: float, viewport: tuple[int, int] | None = None, width: float = 0
    ) -> None:
        shader.bind()
        shader.uniform_float("opacity", opacity)
        shader.uniform_float("lift", _LIFT)
        if viewport is not None:
            shader.uniform_float("viewport", viewport)
            shader.uniform_float("width", width)


def _draw(shader: gpu.types.GPUShader, batch: gpu.types.GPUBatch, texture: _Texture | None) -> None:
    if texture is not None:
        shader.uniform_sampler("rows", texture.texture)
        batch.draw_instanced(shader, instance_start=0, instance_count=texture.rows)


# Below, the type stubs of Blender 4.2 give no arguments to constructors of the gpu module (call-arg), and
# those of 5.2 do not say that an array will do where a sequence does (arg-type).


def _texture(rows: Rows) -> _Texture | None:
    if not len(rows):
        return None
    down = -(-len(rows) // ROWS_ACROSS)
    filled = np.zeros((down * ROWS_ACROSS, 4, 4), dtype=np.float32)
    filled[: len(rows)] = rows
    buffer: Any = gpu.types.Buffer("FLOAT", filled.size, filled.reshape(-1))  # type: ignore[arg-type, call-arg, unused-ignore]
    texture = gpu.types.GPUTexture((4 * ROWS_ACROSS, down), format="RGBA32F", data=buffer)  # type: ignore[call-arg, unused-ignore]
    return _Texture(texture, len(rows))


def _line_batch(lines: unit_shapes.Lines) -> gpu.types.GPUBatch:
    return _batch(
        {"point": lines.points, "along": lines.along, "side": lines.sides[:, None]}, lines.triangles
    )


def _face_batch(faces: unit_shapes.Faces) -> gpu.types.GPUBatch:
    return _batch({"point": faces.points}, faces.triangles)


def _batch(columns: dict[str, NDArray[np.float32]], triangles: NDArray[np.int32]) -> gpu.types.GPUBatch:
    layout = gpu.types.GPUVertFormat()
    for name, values in columns.items():
        layout.attr_add(id=name, comp_type="F32", len=values.shape[1], fetch_mode="FLOAT")
    vertices = gpu.types.GPUVertBuf(layout, len(columns["point"]))  # type: ignore[call-arg, unused-ignore]
    for name, values in columns.items():
        vertices.attr_fill(name, np.ascontiguousarray(values))  # type: ignore[arg-type]
    indices: Any = gpu.types.GPUIndexBuf(type="TRIS", seq=triangles)  # type: ignore[arg-type, call-arg, unused-ignore]
    return gpu.types.GPUBatch(type="TRIS", buf=vertices, elem=indices)  # type: ignore[call-arg, unused-ignore]
