"""Pixels that the graphics card draws of draw data. Blender draws without a window from 5.2 on."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.core import Aabb, Capsule, Contact, ContactInterval, Cylinder, FirstContact, Obb, Sphere
from addon.scene.live.contact_state import LiveShapes, OwnedShapes
from addon.ui.overlay.draw_data import DrawData, contact_marker, draw_data_from_shapes
from addon.ui.properties.preferences import preferences

pytestmark = pytest.mark.skipif(bpy.app.version < (5, 2), reason="Blender before 5.2 draws in windows only")

SIZE = 400
PIXELS = 20
"""Pixels per unit: the view is 20 units wide, looks down, and has the origin at its center."""
FREE, CONTACT = preferences().free_color, preferences().contact_color


@pytest.fixture(scope="module")
def painter():
    import gpu

    gpu.init()
    from addon.ui.overlay.painter import Painter

    return Painter()


def drawn(painter, draw_data, *, view=None, wall=None, **style):
    """Return pixels (SIZE, SIZE, 4) from 0 to 1, bottom row first; `wall` is the height of a wall behind."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    from addon.ui.overlay.painter import Style

    style = {"line_width": 2.0, "line_opacity": 1.0, "face_opacity": 0.0, "in_front": True} | style
    flat = Matrix.Diagonal((0.1, 0.1, -0.01, 1.0))
    canvas = gpu.types.GPUOffScreen(SIZE, SIZE)
    with canvas.bind():
        buffer = gpu.state.active_framebuffer_get()
        buffer.clear(color=(0, 0, 0, 1), depth=1.0)
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(view or flat)
            if wall is not None:
                gpu.state.depth_test_set("LESS_EQUAL")
                gpu.state.depth_mask_set(True)
                shader = gpu.shader.from_builtin("UNIFORM_COLOR")
                shader.uniform_float("color", (0, 0, 0, 1))
                square = [(x, y, wall) for x, y in ((-9, -9), (9, -9), (9, 9), (-9, -9), (9, 9), (-9, 9))]
                batch_for_shader(shader, "TRIS", {"pos": square}).draw(shader)
            painter.draw(draw_data, Style(**style), (SIZE, SIZE))
        found = np.array(buffer.read_color(0, 0, SIZE, SIZE, 4, 0, "FLOAT"), dtype=float)
    canvas.free()
    return found.reshape(SIZE, SIZE, 4)


def draw_data_of(name, shape, in_contact=None):
    """Return the draw data of shapes (n,), all of which are checked."""
    count = shape.shape[0]
    touching = np.zeros(count, dtype=bool) if in_contact is None else np.array(in_contact)
    shapes = {name: OwnedShapes(shape, np.arange(count))}
    live = LiveShapes(shapes, touching, np.ones(count, dtype=bool), np.ones(count, dtype=bool))
    return draw_data_from_shapes(live, [name], name)


def spheres(*circles, in_contact=None):
    return draw_data_of("sphere", Sphere([c[:3] for c in circles], [c[3] for c in circles]), in_contact)


def lit(pixels):
    return pixels[..., :3].max(axis=-1) > 0.3


def pixel_centers():
    """Return world x and y of the centers of all pixels."""
    at = (np.arange(SIZE) + 0.5 - SIZE / 2) / PIXELS
    return np.meshgrid(at, at)


def test_outline_of_a_sphere_is_where_the_projection_puts_it(painter):
    found = lit(drawn(painter, spheres((2, -3, 0, 4))))
    x, y = pixel_centers()
    off = np.hypot(x - 2, y + 3) - 4
    on_axis = (np.abs(x - 2) < 0.2) | (np.abs(y + 3) < 0.2)
    # A line of two pixels with smooth edges. The other two circles are seen edge-on.
    assert found[np.abs(off) < 0.04].all()
    assert not found[(np.abs(off) > 0.16) & ~on_axis].any()
    assert found[(np.abs(x - 2) < 0.04) & (off < -0.1)].all()


def test_edges_of_boxes_follow_their_rotation(painter):
    turn = np.pi / 6
    rotation = [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    found = lit(drawn(painter, draw_data_of("obb", Obb([[1, 1, 0]], [[5, 2, 1]], [rotation]))))
    x, y = pixel_centers()
    along = (x - 1) * np.cos(turn) + (y - 1) * np.sin(turn)
    across = -(x - 1) * np.sin(turn) + (y - 1) * np.cos(turn)
    off = np.maximum(np.abs(along) - 5, np.abs(across) - 2)
    assert found[np.abs(off) < 0.03].mean() > 0.98 and not found[np.abs(off) > 0.25].any()
    upright = lit(drawn(painter, draw_data_of("aabb", Aabb([[-4, -2, 0]], [[2, 3, 1]]))))
    off = np.maximum(np.abs(x + 1) - 3, np.abs(y - 0.5) - 2.5)
    assert upright[np.abs(off) < 0.03].mean() > 0.98 and not upright[np.abs(off) > 0.16].any()


def test_shapes_in_contact_are_red_and_others_blue(painter):
    found = drawn(painter, spheres((-5, 0, 0, 3), (5, 0, 0, 3), in_contact=[True, False]))
    left, right = found[:, : SIZE // 2], found[:, SIZE // 2 :]
    for half, color in ((left, CONTACT), (right, FREE)):
        bright = half[half[..., :3].max(axis=-1) > 0.95]
        assert len(bright) > 100
        np.testing.assert_allclose(bright[:, :3], np.tile(color[:3], (len(bright), 1)), atol=0.06)


@pytest.mark.parametrize("width", [1.0, 3.0, 8.0])
def test_lines_have_their_width_and_opacity(painter, width):
    half = 6 + 0.5 / PIXELS  # at the center of a pixel
    box = draw_data_of("aabb", Aabb([[-half, -6, 0]], [[half, 6, 0]]))
    found = drawn(painter, box, line_width=width, line_opacity=0.5)
    # Light in one row of pixels across the left edge, where two lines of half opacity lie on each other.
    row = found[SIZE // 2, : SIZE // 2, 2]
    full = 1 - (1 - 0.5) ** 2
    assert row.max() == pytest.approx(full, abs=0.02)
    assert row.sum() / full == pytest.approx(width, abs=1.0)


def test_filled_sphere_covers_its_disc_evenly(painter):
    found = drawn(painter, spheres((0, 0, 0, 5)), line_width=0.0, face_opacity=0.5)
    x, y = pixel_centers()
    inside, outside = np.hypot(x, y) < 4.9, np.hypot(x, y) > 5.05
    np.testing.assert_allclose(found[inside][:, 2], 0.5, atol=0.01)
    assert not found[outside][:, :3].any()
    box = drawn(
        painter, draw_data_of("aabb", Aabb([[-4, -2, 0]], [[2, 3, 1]])), line_width=0.0, face_opacity=0.5
    )
    inside = (np.abs(x + 1) < 2.9) & (np.abs(y - 0.5) < 2.4)
    np.testing.assert_allclose(box[inside][:, 2], 0.5, atol=0.01)


def test_shapes_behind_wall_are_hidden_unless_drawn_in_front(painter):
    draw_data = spheres((-5, 0, -2, 1), (5, 0, 4, 1))
    behind = lit(drawn(painter, draw_data, in_front=False, face_opacity=0.5, wall=1.0))
    assert not behind[:, : SIZE // 2].any() and behind[:, SIZE // 2 :].any()
    over = lit(drawn(painter, draw_data, in_front=True, face_opacity=0.5, wall=1.0))
    assert over[:, : SIZE // 2].any() and over[:, SIZE // 2 :].any()


def test_empty_data_and_excluded_subjects_draw_nothing(painter):
    assert not lit(drawn(painter, DrawData(), face_opacity=0.5)).any()
    draw_data = spheres((-5, 0, 0, 3), (5, 0, 0, 3))
    found = lit(drawn(painter, draw_data.of_subjects(np.array([False, True])), face_opacity=1.0))
    assert not found[:, : SIZE // 2].any() and found[:, SIZE // 2 :].any()


def test_thousand_instances_are_drawn_at_their_positions(painter):
    side = np.arange(-8.0, 8, 0.5)
    centers = np.stack(np.meshgrid(side, side, [0.0]), axis=-1).reshape(-1, 3)
    assert len(centers) == 1024
    found = lit(
        drawn(
            painter,
            draw_data_of("sphere", Sphere(centers, np.full(1024, 0.1))),
            line_width=0.0,
            face_opacity=1.0,
        )
    )
    column, row = ((centers[:, :2] * PIXELS) + SIZE / 2).astype(int).T
    assert found[row, column].all()
    between = ((centers[:, :2] + 0.25) * PIXELS + SIZE / 2).astype(int).T
    assert not found[between[1], between[0]].any()


def test_edge_that_passes_the_viewer_is_straight(painter):
    # An eye at the origin that looks down, at 90 degrees: the box begins behind it.
    near, far = 0.1, 100.0
    view = Matrix(
        (
            (1, 0, 0, 0),
            (0, 1, 0, 0),
            (0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)),
            (0, 0, -1, 0),
        )
    )
    box = draw_data_of("aabb", Aabb([[-1, -1, -20]], [[1, 1, 5]]))
    found = lit(drawn(painter, box, view=view))
    x, y = (axis / 10 for axis in pixel_centers())
    # Edges along the view lie on the diagonals; the far square is a twentieth as large.
    off = np.minimum(np.abs(x - y), np.abs(x + y)) * SIZE / 2
    near_the_far_square = np.maximum(np.abs(x), np.abs(y)) < 0.06
    assert found[(off < 0.5) & ~near_the_far_square].all()
    assert not found[(off > 3.5) & ~near_the_far_square].any()


@pytest.mark.parametrize("name", ["spheres", "boxes"])
def test_small_shapes_drawn_as_squares_match_those_drawn_as_lines(painter, name):
    """Small shapes are drawn as squares in front of everything, and as lines where objects may hide them."""
    rng = np.random.default_rng(7)
    side = np.linspace(-8, 8, 9)
    centers = np.stack(np.meshgrid(side, side, [0.0]), axis=-1).reshape(-1, 3)
    if name == "spheres":
        draw_data = draw_data_of("sphere", Sphere(centers, rng.uniform(0.2, 0.75, 81)))
    else:
        rotation, _ = np.linalg.qr(rng.normal(size=(81, 3, 3)))
        rotation *= np.linalg.det(rotation)[:, None, None]
        draw_data = draw_data_of("obb", Obb(centers, rng.uniform(0.05, 0.5, (81, 3)), rotation))
    view = (
        Matrix.Diagonal((0.1, 0.1, -0.01, 1.0)) @ Matrix.Rotation(0.5, 4, "X") @ Matrix.Rotation(0.4, 4, "Y")
    )
    squares, lines = (drawn(painter, draw_data, in_front=front, view=view) for front in (True, False))
    assert lit(lines).sum() > 5000
    off = np.abs(squares - lines)[..., :3].max(axis=-1)
    # Where lines cross, those drawn as ribbons blend twice and are a little brighter.
    assert off.sum() < 0.15 * lit(lines).sum() and (off > 0.4).sum() < 0.04 * lit(lines).sum()


TILTED = Matrix.Rotation(0.5, 4, "X") @ Matrix.Rotation(0.4, 4, "Y")


def perspective(eye, angle):
    """Return a view from (0, 0, eye) down to the origin, of an angle in radians."""
    near, far, focal = 0.1, 1000.0, 1 / np.tan(angle / 2)
    depth = (far + near) / (far - near), 2 * far * near / (far - near)
    return Matrix(
        (
            (focal, 0, 0, 0),
            (0, focal, 0, 0),
            (0, 0, -depth[0], depth[0] * eye - depth[1]),
            (0, 0, -1, eye),
        )
    )


def brightness_along(found, view, start, end):
    """Return the brightness on the line between two points, away from its ends, where others may cross it."""
    points = np.linspace(start, end, 41)[4:-4]
    clip = np.c_[points, np.ones(len(points))] @ np.array(view).T
    column, row = np.floor((clip[:, :2] / clip[:, 3:] + 1) / 2 * SIZE).astype(int).T
    # A line of two pixels covers half of some pixels, so take the brightest around.
    around = [found[row + i, column + j, :3].max(axis=-1) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.max(around, axis=0)


@pytest.mark.parametrize("in_front", [True, False], ids=["squares if small", "lines"])
@pytest.mark.parametrize("scale", [0.6, 5.0], ids=["small", "large"])
@pytest.mark.parametrize(
    "project",
    [Matrix.Diagonal((0.1, 0.1, -0.01, 1.0)), perspective(30, 0.65), perspective(200, 0.1)],
    ids=["orthographic", "near", "far"],
)
@pytest.mark.parametrize("turn", [(0.5, 0.4), (2.3, -0.7), (-1.1, 2.6)])
def test_edges_of_box_between_two_hidden_faces_are_dimmer(painter, in_front, scale, project, turn):
    view = project @ Matrix.Rotation(turn[0], 4, "X") @ Matrix.Rotation(turn[1], 4, "Y")
    half = scale * np.array([1.0, 0.8, 0.9])
    found = drawn(painter, draw_data_of("aabb", Aabb([-half], [half])), view=view, in_front=in_front)
    # A face is hidden if its corners are clockwise on the screen.
    signs = {-1: [], 1: []}
    is_seen = {}
    for axis in range(3):
        for sign in signs:
            loop = np.zeros((4, 3))
            loop[:, axis], across = sign, ((axis + 1) % 3, (axis + 2) % 3)
            loop[:, across] = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)][::sign])
            clip = np.c_[loop * half, np.ones(4)] @ np.array(view).T
            x, y = (clip[:, :2] / clip[:, 3:]).T
            is_seen[axis, sign] = (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() > 0
    brightness = {True: [], False: []}
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        for first in (-1, 1):
            for second in (-1, 1):
                end = np.zeros(3)
                end[[axis, one, two]] = 1, first, second
                start = end.copy()
                start[axis] = -1
                seen = is_seen[one, first] or is_seen[two, second]
                brightness[seen].append(np.median(brightness_along(found, view, start * half, end * half)))
    assert len(brightness[False]) == 3
    # Where two dim edges cross, they add up to 1 - 0.6^2.
    assert max(brightness[False]) < 0.66 < 0.8 < min(brightness[True])


@pytest.mark.parametrize("in_front", [True, False], ids=["squares if small", "lines"])
@pytest.mark.parametrize("radius", [0.78, 6.0], ids=["small", "large"])
@pytest.mark.parametrize("eye", [None, 30.0])
def test_circles_on_far_side_of_sphere_are_dimmer(painter, in_front, radius, eye):
    project = Matrix.Diagonal((0.1, 0.1, -0.01, 1.0)) if eye is None else perspective(eye, 0.65)
    view = project @ TILTED
    found = drawn(painter, spheres((0, 0, 0, radius)), view=view, in_front=in_front)
    angles = np.linspace(0, 2 * np.pi, 73)[:-1]
    near, far = [], []
    for axis in range(3):
        circle = np.roll(np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=1), axis, axis=1)
        # The direction to the viewer, in the space before the rotation of the view.
        depth = circle @ np.array(TILTED)[2, :3]
        limit = 0 if eye is None else radius / eye
        for points, kept in ((near, depth > limit + 0.3), (far, depth < limit - 0.3)):
            points += [brightness_along(found, view, p, p).max() for p in radius * circle[kept]]
    assert len(near) > 50 and len(far) > 50
    # Segments of a circle overlap at their ends, where they add up to 1 - 0.6^2.
    assert np.quantile(near, 0.05) > 0.8 and np.median(far) < 0.66


def test_circle_on_outline_of_sphere_is_not_dimmed(painter):
    for radius in (0.6, 6.0):
        found = drawn(painter, spheres((0.025, 0.025, 0, radius)))
        angles = np.linspace(0, 2 * np.pi, 73)
        points = radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1) + (0.025, 0.025, 0)
        flat = Matrix.Diagonal((0.1, 0.1, -0.01, 1.0))
        assert min(brightness_along(found, flat, p, p).max() for p in points) > 0.8


def test_sphere_seen_along_an_axis_has_straight_circles_without_gaps(painter):
    found = lit(drawn(painter, spheres((0.025, 0.025, 0, 0.6))))  # at the center of a pixel
    center, reach = SIZE // 2, 11
    assert found[center, center - reach : center + reach].all()
    assert found[center - reach : center + reach, center].all()
    assert not found[center + 4, center + 4], "the sphere is not filled"


def test_small_box_seen_along_an_axis_is_not_filled(painter):
    found = lit(drawn(painter, draw_data_of("aabb", Aabb([[-0.5, -0.4, -0.5]], [[0.5, 0.4, 0.5]]))))
    x, y = pixel_centers()
    off = np.maximum(np.abs(x) - 0.5, np.abs(y) - 0.4)
    assert found[np.abs(off) < 0.03].all() and not found[np.abs(off) > 0.16].any()


def test_contact_marker_is_at_its_point_with_arrow_along_its_normal(painter):
    first = FirstContact(4.0, 0.0, np.array([1.0, 2.0, 0.0]), np.array([0.0, 1.0, 0.0]), False, False)
    contact = Contact(0, 1, first, (ContactInterval(4, 5),), 4.5, 0.5)
    sizes = spheres((0, 0, 0, 3), (0, 5, 0, 4))
    found = lit(drawn(painter, DrawData(marker=contact_marker(contact, sizes.instances))))
    x, y = pixel_centers()
    # Its length is the geometric mean of 3 and 4.
    assert found[(np.abs(x - 1) < 0.03) & (y > 2) & (y < 5.4)].all()
    assert not found[(y > 5.6) | (y < 1.3) | (np.abs(x - 1) > 0.7)].any()
    assert found[(np.abs(y - 2) < 0.03) & (np.abs(x - 1) < 0.4)].all()


def test_outline_of_a_capsule_has_round_ends_whatever_its_length(painter):
    turn = np.pi / 6
    for half, radius in ((5.0, 2.0), (0.5, 3.0), (0.0, 3.0)):
        axis = [[np.cos(turn), np.sin(turn), 0]]
        found = lit(drawn(painter, draw_data_of("capsule", Capsule([[1, 1, 0]], axis, [half], [radius]))))
        x, y = pixel_centers()
        along = (x - 1) * np.cos(turn) + (y - 1) * np.sin(turn)
        across = -(x - 1) * np.sin(turn) + (y - 1) * np.cos(turn)
        off = np.hypot(np.maximum(np.abs(along) - half, 0), across) - radius
        # Circles around the ends of the segment and lines along it are seen edge-on.
        inside = (np.abs(np.abs(along) - half) < 0.2) | (np.abs(across) < 0.2)
        assert found[np.abs(off) < 0.03].mean() > 0.95
        assert not found[(np.abs(off) > 0.25) & ~inside].any()


def test_outline_of_a_cylinder_is_where_the_projection_puts_it(painter):
    x, y = pixel_centers()
    upright = Cylinder([[2, -3, 0]], [[0, 0, 1]], [1.5], [4])
    found = lit(drawn(painter, draw_data_of("cylinder", upright)))
    off = np.hypot(x - 2, y + 3) - 4
    assert found[np.abs(off) < 0.04].all() and not found[np.abs(off) > 0.25].any()
    lying = Cylinder([[1, 1, 0]], [[1, 0, 0]], [5], [2])
    found = lit(drawn(painter, draw_data_of("cylinder", lying)))
    off = np.maximum(np.abs(x - 1) - 5, np.abs(y - 1) - 2)
    assert found[np.abs(off) < 0.03].mean() > 0.98
    assert not found[(np.abs(off) > 0.25) & (np.abs(y - 1) > 0.2)].any()


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_far_side_of_capsules_and_cylinders_is_dim(painter, kind):
    # The axis leans towards the viewer, who looks down: half of the lower circle is on the far side.
    tilt = np.sqrt(0.5)
    shape = (Capsule if kind == "capsule" else Cylinder)([[0, 0, 0]], [[tilt, 0, tilt]], [4], [3])
    brightness = drawn(painter, draw_data_of(kind, shape))[..., :3].max(axis=-1)

    def brightest_around(degrees):
        angles = np.radians(degrees)
        x, y = -4 * tilt + 3 * tilt * np.cos(angles), 3 * np.sin(angles)
        columns, rows = ((SIZE / 2 + PIXELS * values).astype(int) for values in (x, y))
        near = [brightness[rows + i, columns + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return np.median(np.max(near, axis=0))

    assert brightest_around(np.arange(110, 160, 5)) > 0.9
    assert 0.2 < brightest_around(np.arange(20, 70, 5)) < 0.6


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_capsules_and_cylinders_are_filled(painter, kind):
    shape = (Capsule if kind == "capsule" else Cylinder)([[0, 0, 0]], [[1, 0, 0]], [4], [2])
    found = drawn(painter, draw_data_of(kind, shape), line_width=0.0, face_opacity=1.0)
    filled = found[..., :3].max(axis=-1) > 0.5
    x, y = pixel_centers()
    off = np.hypot(np.maximum(np.abs(x) - 4, 0), y) - 2 if kind == "capsule" else None
    off = np.maximum(np.abs(x) - 4, np.abs(y) - 2) if off is None else off
    assert filled[off < -0.1].all() and not filled[off > 0.1].any()
