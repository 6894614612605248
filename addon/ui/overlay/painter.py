"""Painter of draw data: the graphics card draws unit meshes, one instance for each row of a texture.

Shaders and batches are created at the first drawing: Blender before 5.2 has no graphics in background.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats
from ..properties.preferences import preferences
from ..properties.scene import COLLISION_BOUNDS_PG_display
from .draw_data import DrawData, InstanceRows
from .shaders import ROWS_ACROSS, face_shader, line_shader, small_box_shader, small_sphere_shader
from .unit_meshes import FACES, LINES, SurfaceMesh, UnitMesh, square

_CIRCLES = 16, 24, 48
"""Segments of a circle: of small shapes that objects may hide in part, of middle ones, and of large ones."""
_MERIDIANS = 12, 32, 32
"""Meridians of filled shapes: of small, middle and large ones."""
_SURFACES, _FACES = 0.2, 0.4
"""Opacities of the surfaces of the active pair, and of what is inside the other."""
_STRONG_WIDTH = 1.8
"""Width of strong lines, in widths of plain ones."""
LIFT = 1e-6
"""Offset in depth towards the viewer, because a face of a box on a face of its mesh would flicker."""
SMALL, LARGE = 16, 64
"""Half widths in pixels. Below SMALL there is hardly any perspective; above LARGE circles must be fine."""

# 1 at the numbers of a row that are the axes of its matrix.
_IN_MATRIX_AXES = np.array([1, 1, 1, 0] * 3 + [0] * 4, dtype=np.float32)


class Style(NamedTuple):
    """Style that draw data is drawn in.

    Lines are `line_width` pixels wide, 0 for none; opacities are from 0 to 1. With `in_front`, shapes are
    drawn over everything, instead of hidden behind objects.
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


def visible_by_size(rows: InstanceRows, view: Floats, viewport: tuple[int, int]) -> tuple[InstanceRows, ...]:
    """Return the rows (n, 4, 4) of instances that may be visible: small, middle and large on the screen.

    Conservative: an instance with a corner in the view is never culled. `view` (4, 4) leads from the world to
    Blender's clip space, as in gpu.matrix; the viewport is in pixels.
    """
    if not len(rows):
        return rows, rows, rows
    matrix: NDArray[np.float32] = np.asarray(view, dtype=np.float32)
    # One product of matrices is fastest: weights are zero for numbers of a row that are not the center.
    flat = rows.reshape(-1, 16)
    weights = np.zeros((16, 3), dtype=np.float32)
    weights[[3, 7, 11]] = matrix[[0, 1, 3], :3].T
    x, y, depth = weights.T @ flat.T + matrix[[0, 1, 3], 3:]
    radius = np.sqrt(flat * flat @ _IN_MATRIX_AXES)  # from the center of a box to its corners
    # The two sides of the view of a shifted camera have different angles: the larger bound holds for both.
    across, forward = matrix[:2, :3], matrix[3, :3]
    right, up = np.linalg.norm([forward - across, forward + across], axis=2).max(axis=0)
    is_visible = (np.abs(x) - depth <= radius * right) & (np.abs(y) - depth <= radius * up)
    pixels_per_unit = 0.5 * float((np.linalg.norm(across, axis=1) * viewport).max())
    # A box of three equal axes is sqrt(3) times narrower than its diagonal. At or behind the viewer, where
    # depth is not positive, an instance counts as large.
    half_width = radius * (pixels_per_unit / 1.7320508)
    is_small = is_visible & (half_width < SMALL * depth)
    is_large = is_visible & (half_width > LARGE * depth)
    groups = (is_small, is_visible ^ is_small ^ is_large, is_large)
    return tuple(rows if group.all() else rows[group] for group in groups)


_Texture: TypeAlias = tuple[gpu.types.GPUTexture, int]
"""Texture of rows on the graphics card, and their number."""


class Painter:
    """Shaders, and batches of unit meshes. Creating one needs a graphics card."""

    def __init__(self) -> None:
        self._line_shader, self._face_shader = line_shader(), face_shader()
        self._lines = {
            mesh: [_batch(self._line_shader, *lines(count).ribbons) for count in _CIRCLES]
            for mesh, lines in LINES.items()
        }
        self._faces = {
            mesh: [_face_batch(self._face_shader, faces(count)) for count in _MERIDIANS]
            for mesh, faces in FACES.items()
        }
        self._small: dict[UnitMesh, Any] = {"spheres": small_sphere_shader(), "boxes": small_box_shader()}
        self._square = _face_batch(self._small["boxes"], square())
        # Triangles of an overlap that were drawn last.
        self._triangles: dict[str, tuple[Any, Any]] = {}

    def draw(self, data: DrawData, style: Style, viewport: tuple[int, int]) -> None:
        """Draw into the active framebuffer of (width, height) pixels, with the matrices of gpu.matrix."""
        view = np.array(gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix())
        # The position that has no place on the screen: x, y and w are 0 there. Of a view without perspective,
        # it is a direction, whose last number is 0.
        viewer = np.linalg.inv(view) @ (0.0, 0.0, -1.0, 0.0)
        lines = {
            "viewport": viewport,
            "viewer": tuple((viewer / np.abs(viewer).max()).tolist()),
            "opacity": style.line_opacity,
        }
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE" if style.in_front else "LESS_EQUAL")
        for part, width in zip(data.by_strength, (1.0, _STRONG_WIDTH), strict=True):
            calls = [
                (mesh, size, _texture(rows))
                for mesh, instances in part.by_mesh.items()
                for size, rows in enumerate(visible_by_size(instances.rows, view, viewport))
                if len(rows)
            ]
            if style.face_opacity:
                gpu.state.face_culling_set("BACK")
                _bind(self._face_shader, opacity=style.face_opacity)
                for mesh, size, texture in calls:
                    if mesh in self._faces:
                        _draw(self._face_shader, self._faces[mesh][size], texture)
                gpu.state.face_culling_set("NONE")
            for mesh, size, texture in calls:
                shader, batch = self._line_shader, self._lines[mesh][size]
                # A square does not have the depth of the lines on it, so objects would hide the wrong parts.
                if size == 0 and style.in_front and mesh in self._small:
                    shader, batch = self._small[mesh], self._square
                # Hulls have no faces here, so they keep their lines where all shapes are drawn as faces.
                if line_width := width * (style.line_width or (mesh == "edges")):
                    _bind(shader, width=line_width, **lines)
                    _draw(shader, batch, texture)
        gpu.state.depth_test_set("NONE")
        if data.surfaces is not None:
            corners, color = data.surfaces
            gpu.state.face_culling_set("BACK")
            self._draw_triangles("surfaces", corners, (*color, _SURFACES))
            gpu.state.face_culling_set("NONE")
            inside = (*tuple(preferences().contact_color)[:3], _FACES)
            self._draw_triangles("inside", data.faces, inside)
        if len(data.marker):
            _bind(self._line_shader, width=max(2.0, style.line_width), **lines)
            _draw(self._line_shader, self._lines["edges"][0], _texture(data.marker.rows))
        gpu.state.blend_set("NONE")

    def _draw_triangles(self, name: str, corners: Any, color: tuple[float, ...]) -> None:
        """Draw triangles of corners (3 n, 3) over everything, because other objects may hide them."""
        if not len(corners):
            return
        shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
        if self._triangles.get(name, (None,))[0] is not corners:
            self._triangles[name] = corners, batch_for_shader(shader, "TRIS", {"pos": corners})
        shader.bind()
        shader.uniform_float("color", color)
        self._triangles[name][1].draw(shader)


def _bind(shader: gpu.types.GPUShader, **uniforms: Any) -> None:
    """Bind a shader; those of lines have more uniforms than the opacity."""
    shader.bind()
    for name, value in {"lift": LIFT, **uniforms}.items():
        shader.uniform_float(name, value)


def _draw(shader: gpu.types.GPUShader, batch: gpu.types.GPUBatch, texture: _Texture) -> None:
    shader.uniform_sampler("rows", texture[0])
    batch.draw_instanced(shader, instance_start=0, instance_count=texture[1])


# Below, the type stubs of Blender 4.2 list no arguments of constructors in the gpu module (call-arg), and
# those of 5.2 do not accept arrays as sequences (arg-type).


def _texture(rows: InstanceRows) -> _Texture:
    height = -(-len(rows) // ROWS_ACROSS)
    padded = np.zeros((height * ROWS_ACROSS, 4, 4), dtype=np.float32)
    padded[: len(rows)] = rows
    buffer: Any = gpu.types.Buffer("FLOAT", padded.size, padded.reshape(-1))  # type: ignore[arg-type, call-arg, unused-ignore]
    texture = gpu.types.GPUTexture((4 * ROWS_ACROSS, height), format="RGBA32F", data=buffer)  # type: ignore[call-arg, unused-ignore]
    return texture, len(rows)


def _face_batch(shader: gpu.types.GPUShader, faces: SurfaceMesh) -> gpu.types.GPUBatch:
    return _batch(shader, {"point": faces.points}, faces.triangles)


def _batch(shader: gpu.types.GPUShader, columns: dict[str, Any], triangles: Any) -> gpu.types.GPUBatch:
    return batch_for_shader(shader, "TRIS", columns, indices=triangles)
