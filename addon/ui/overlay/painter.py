"""Painter of draw data: the graphics card draws unit meshes, one instance for each row of a texture.

Only that texture changes from frame to frame. Shaders and batches are created at the first drawing, because
Blender before 5.2 has no graphics in background.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gpu
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats
from ..properties.display import COLLISION_BOUNDS_PG_display
from . import unit_meshes
from .draw_data import DrawData, InstanceRows
from .screen_size import RowsBySize, visible_by_size
from .shaders import ROWS_ACROSS, face_shader, line_shader, small_box_shader, small_sphere_shader

_FINE, _COARSE, _COARSEST = 48, 24, 16
"""Segments of a circle: on large spheres, on others, and on small ones that objects may hide in part."""
_SPHERE_SEGMENTS, _SMALL_SPHERE_SEGMENTS = 32, 12
"""Meridians of filled spheres."""
_STRONG_WIDTH = 1.8
"""Width of strong lines, in widths of plain ones."""
LIFT = 1e-6
"""Offset in depth towards the viewer, because a face of a box on a face of its mesh would flicker."""


class Style(NamedTuple):
    """Style that draw data is drawn in.

    Attributes
    ----------
    line_width : float
        In pixels; 0 for no lines.
    line_opacity, face_opacity : float
        From 0 to 1.
    in_front : bool
        Whether to draw over everything, instead of hiding what is behind objects.
    """

    line_width: float
    line_opacity: float
    face_opacity: float
    in_front: bool

    @classmethod
    def of(cls, display: COLLISION_BOUNDS_PG_display, scale: float) -> Style:
        """Return the style of a scene's display settings; line widths grow with the interface."""
        has_lines, has_faces = display.draw_as != "FACES", display.draw_as != "WIRE"
        width = display.line_width * scale if has_lines else 0.0
        return cls(width, display.line_opacity, display.face_opacity if has_faces else 0.0, display.in_front)


class _View(NamedTuple):
    """Width and height in pixels, and the viewer: a point, or a direction, whose last number is 0."""

    viewport: tuple[int, int]
    viewer: tuple[float, ...]

    @classmethod
    def of(cls, matrix: Floats, viewport: tuple[int, int]) -> _View:
        """Return the view of a matrix (4, 4) from world space to Blender's clip space."""
        # The position that has no place on the screen: x, y and w are 0 there.
        viewer = np.linalg.inv(matrix) @ (0.0, 0.0, -1.0, 0.0)
        return cls(viewport, tuple((viewer / np.abs(viewer).max()).tolist()))


class _Texture(NamedTuple):
    texture: gpu.types.GPUTexture
    rows: int


class _Textures(NamedTuple):
    """Instances of one unit mesh on the graphics card, by size on the screen; None where there are none."""

    small: _Texture | None
    middle: _Texture | None
    large: _Texture | None

    @classmethod
    def of(cls, rows: RowsBySize) -> _Textures:
        return cls(*map(_texture, rows))


class Painter:
    """Shaders, and batches of unit meshes. Creating one needs a graphics card."""

    def __init__(self) -> None:
        self._lines, self._faces = line_shader(), face_shader()
        self._small_sphere, self._small_box = small_sphere_shader(), small_box_shader()
        self._capsule_lines_shader, self._capsule_faces_shader = line_shader(True), face_shader(True)
        self._square = _face_batch(unit_meshes.square())
        self._sphere_lines = _line_batch(unit_meshes.sphere_lines(_COARSE))
        self._small_sphere_lines = _line_batch(unit_meshes.sphere_lines(_COARSEST))
        self._fine_sphere_lines = _line_batch(unit_meshes.sphere_lines(_FINE))
        self._box_lines = _line_batch(unit_meshes.box_lines())
        self._segment_lines = _line_batch(unit_meshes.segment_lines())
        self._sphere_faces = _face_batch(unit_meshes.sphere_faces(_SPHERE_SEGMENTS))
        self._small_sphere_faces = _face_batch(unit_meshes.sphere_faces(_SMALL_SPHERE_SEGMENTS))
        self._box_faces = _face_batch(unit_meshes.box_faces())
        segments = (_COARSEST, _COARSE, _FINE)
        self._capsule_lines = [_line_batch(unit_meshes.capsule_lines(count)) for count in segments]
        self._cylinder_lines = [_line_batch(unit_meshes.cylinder_lines(count)) for count in segments]
        self._capsule_faces = _face_batch(unit_meshes.capsule_faces(_SPHERE_SEGMENTS))
        self._cylinder_faces = _face_batch(unit_meshes.cylinder_faces(_SPHERE_SEGMENTS))

    def draw(self, data: DrawData, style: Style, viewport: tuple[int, int]) -> None:
        """Draw into the active framebuffer of (width, height) pixels, with the matrices of gpu.matrix."""
        matrix = np.array(gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix())
        view = _View.of(matrix, viewport)
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE" if style.in_front else "LESS_EQUAL")
        plain, strong = data.by_strength
        for part, width in ((plain, 1.0), (strong, _STRONG_WIDTH)):
            spheres = _Textures.of(visible_by_size(part.spheres.rows, matrix, viewport))
            boxes = _Textures.of(visible_by_size(part.boxes.rows, matrix, viewport))
            capsules = _Textures.of(visible_by_size(part.capsules.rows, matrix, viewport))
            cylinders = _Textures.of(visible_by_size(part.cylinders.rows, matrix, viewport))
            if style.face_opacity:
                self._draw_faces(spheres, boxes, style)
                self._draw_axial_faces(capsules, cylinders, style)
            if style.line_width:
                wide = style._replace(line_width=width * style.line_width)
                self._draw_lines(spheres, boxes, wide, view)
                self._draw_axial_lines(capsules, cylinders, wide, view)
            if len(part.edges):
                # Hulls have no faces here, so they keep their lines where all shapes are drawn as faces.
                edges = _Textures.of(visible_by_size(part.edges.rows, matrix, viewport))
                self._bind(self._lines, style.line_opacity, view, width * (style.line_width or 1.0))
                for texture in edges:
                    _draw(self._lines, self._segment_lines, texture)
        if len(data.marker):
            gpu.state.depth_test_set("NONE")
            self._bind(self._lines, style.line_opacity, view, max(2.0, style.line_width))
            _draw(self._lines, self._segment_lines, _texture(data.marker.rows))
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")

    def _draw_faces(self, spheres: _Textures, boxes: _Textures, style: Style) -> None:
        gpu.state.face_culling_set("BACK")
        self._bind(self._faces, style.face_opacity)
        _draw(self._faces, self._small_sphere_faces, spheres.small)
        for texture in (spheres.middle, spheres.large):
            _draw(self._faces, self._sphere_faces, texture)
        for texture in boxes:
            _draw(self._faces, self._box_faces, texture)
        gpu.state.face_culling_set("NONE")

    def _draw_lines(self, spheres: _Textures, boxes: _Textures, style: Style, view: _View) -> None:
        # A square does not have the depth of the lines on it, so objects would hide the wrong parts.
        has_squares = style.in_front
        if has_squares:
            for shader, texture in ((self._small_sphere, spheres.small), (self._small_box, boxes.small)):
                if texture is not None:
                    self._bind(shader, style.line_opacity, view, style.line_width)
                    _draw(shader, self._square, texture)
        self._bind(self._lines, style.line_opacity, view, style.line_width)
        _draw(self._lines, self._fine_sphere_lines, spheres.large)
        _draw(self._lines, self._sphere_lines, spheres.middle)
        for texture in (boxes.middle, boxes.large):
            _draw(self._lines, self._box_lines, texture)
        if not has_squares:
            _draw(self._lines, self._small_sphere_lines, spheres.small)
            _draw(self._lines, self._box_lines, boxes.small)

    def _draw_axial_faces(self, capsules: _Textures, cylinders: _Textures, style: Style) -> None:
        gpu.state.face_culling_set("BACK")
        for shader, batch, textures in (
            (self._capsule_faces_shader, self._capsule_faces, capsules),
            (self._faces, self._cylinder_faces, cylinders),
        ):
            for texture in textures:
                if texture is not None:
                    self._bind(shader, style.face_opacity)
                    _draw(shader, batch, texture)
        gpu.state.face_culling_set("NONE")

    def _draw_axial_lines(self, capsules: _Textures, cylinders: _Textures, style: Style, view: _View) -> None:
        for shader, batches, textures in (
            (self._capsule_lines_shader, self._capsule_lines, capsules),
            (self._lines, self._cylinder_lines, cylinders),
        ):
            for batch, texture in zip(batches, textures, strict=True):
                if texture is not None:
                    self._bind(shader, style.line_opacity, view, style.line_width)
                    _draw(shader, batch, texture)

    @staticmethod
    def _bind(
        shader: gpu.types.GPUShader, opacity: float, view: _View | None = None, width: float = 0
    ) -> None:
        shader.bind()
        shader.uniform_float("opacity", opacity)
        shader.uniform_float("lift", LIFT)
        if view is not None:
            shader.uniform_float("viewport", view.viewport)
            shader.uniform_float("viewer", view.viewer)
            shader.uniform_float("width", width)


def _draw(shader: gpu.types.GPUShader, batch: gpu.types.GPUBatch, texture: _Texture | None) -> None:
    if texture is not None:
        shader.uniform_sampler("rows", texture.texture)
        batch.draw_instanced(shader, instance_start=0, instance_count=texture.rows)


# Below, the type stubs of Blender 4.2 list no arguments of constructors in the gpu module (call-arg), and
# those of 5.2 do not accept arrays as sequences (arg-type).


def _texture(rows: InstanceRows) -> _Texture | None:
    if not len(rows):
        return None
    height = -(-len(rows) // ROWS_ACROSS)
    padded = np.zeros((height * ROWS_ACROSS, 4, 4), dtype=np.float32)
    padded[: len(rows)] = rows
    buffer: Any = gpu.types.Buffer("FLOAT", padded.size, padded.reshape(-1))  # type: ignore[arg-type, call-arg, unused-ignore]
    texture = gpu.types.GPUTexture((4 * ROWS_ACROSS, height), format="RGBA32F", data=buffer)  # type: ignore[call-arg, unused-ignore]
    return _Texture(texture, len(rows))


def _line_batch(lines: unit_meshes.RibbonMesh) -> gpu.types.GPUBatch:
    return _batch(
        {
            "point": lines.points,
            "along": lines.along,
            "normal": lines.normals,
            "other_normal": lines.other_normals,
            "side": lines.sides[:, None],
        },
        lines.triangles,
    )


def _face_batch(faces: unit_meshes.SurfaceMesh) -> gpu.types.GPUBatch:
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
