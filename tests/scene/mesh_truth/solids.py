"""Points and faces of meshes, outward."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Array = np.ndarray
Mesh = tuple[Array, list[tuple[int, ...]]]


def box(x: float, y: float, z: float) -> Mesh:
    """Box around the origin, by its half sizes."""
    points = np.array([(i, j, k) for i in (-x, x) for j in (-y, y) for k in (-z, z)])
    return points, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def bar(half: float, height: float, rings: int) -> Mesh:
    """Square bar from the origin along z, closed, with rings of four vertices."""
    square = half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return tube(lambda row: np.column_stack([square, np.full(4, height * row / (rings - 1))]), rings)


def tube(ring: Callable[[int], Array], count: int) -> Mesh:
    """Return a closed tube through rings of points (n, 3), counterclockwise seen from its end."""
    rings = [ring(row) for row in range(count)]
    around = len(rings[0])
    points = np.concatenate([*rings, [rings[0].mean(axis=0), rings[-1].mean(axis=0)]])
    faces: list[tuple[int, ...]] = _quads(count, around, False)
    low, high, last = count * around, count * around + 1, (count - 1) * around
    for here in range(around):
        after = (here + 1) % around
        faces += [(low, after, here), (high, last + here, last + after)]
    return points, faces


def _quads(rows: int, around: int, is_ring: bool) -> list[tuple[int, ...]]:
    """Quads between successive rings; the last one and the first too if they are a ring."""
    faces: list[tuple[int, ...]] = []
    for row in range(rows if is_ring else rows - 1):
        low, high = row * around, (row + 1) % rows * around
        for here in range(around):
            after = (here + 1) % around
            faces.append((low + here, low + after, high + after, high + here))
    return faces


def _circle(count: int) -> Array:
    angle = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def ball(radius: float, rings: int = 8, around: int = 12) -> Mesh:
    """Sphere of triangles and quads, with poles."""
    tilt = np.pi * (np.arange(rings) + 0.5) / rings

    def ring(row: int) -> Array:
        return radius * np.column_stack(
            [np.sin(tilt[row]) * _circle(around), np.full(around, -np.cos(tilt[row]))]
        )

    points, faces = tube(ring, rings)
    points[-2:] = (0, 0, -radius), (0, 0, radius)
    return points, faces


def inverted(mesh: Mesh) -> Mesh:
    """Mesh whose faces look to the other side."""
    return mesh[0], [face[::-1] for face in mesh[1]]


def joined(*meshes: Mesh) -> Mesh:
    """One mesh of several."""
    offsets = np.cumsum([0, *(len(points) for points, _ in meshes)])
    faces = [
        tuple(corner + int(offset) for corner in face)
        for (_, listed), offset in zip(meshes, offsets, strict=False)
        for face in listed
    ]
    return np.concatenate([points for points, _ in meshes]), faces


def moved(mesh: Mesh, offset: Sequence[float]) -> Mesh:
    """Mesh at another place."""
    return mesh[0] + np.asarray(offset, dtype=float), mesh[1]


def torus(large: float, small: float, rings: int = 20, around: int = 8, arc: float = 2 * np.pi) -> Mesh:
    """Torus around z, or a part of it with closed ends."""
    is_whole = arc == 2 * np.pi
    turn = arc * np.arange(rings) / (rings if is_whole else rings - 1)
    tilt = _circle(around)

    def ring(row: int) -> Array:
        out = large + small * tilt[:, 0]
        return np.column_stack([out * np.cos(turn[row]), out * np.sin(turn[row]), -small * tilt[:, 1]])

    if not is_whole:
        return tube(ring, rings)
    return np.concatenate([ring(row) for row in range(rings)]), _quads(rings, around, True)


def ring_of(inner: Array, outer: Array, half: float) -> Mesh:
    """Ring along z between two closed outlines (n, 2) of as many points, such as a gear with a bore."""
    count = len(inner)
    outlines = ((outer, -half), (outer, half), (inner, half), (inner, -half))
    points = np.concatenate([np.column_stack([line, np.full(count, z)]) for line, z in outlines])
    return points, _quads(4, count, True)


def gear(teeth: int, root: float, tip: float, half: float) -> Mesh:
    """Spur gear with trapezoids as teeth, a tooth at angle 0."""
    angle = 2 * np.pi / teeth * (np.arange(teeth)[:, None] + np.array([-0.28, -0.12, 0.12, 0.28])).ravel()
    radius = np.tile([root, tip, tip, root], teeth)
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    return ring_of(0.4 * root * direction, radius[:, None] * direction, half)


def _thread_radius(radius: float, depth: float, pitch: float, turn: Array, height: float) -> Array:
    phase = (height / pitch - turn / (2 * np.pi)) % 1.0
    return radius + depth * np.abs(2 * phase - 1)


def bolt(radius: float, depth: float, pitch: float, height: float, rows: int, around: int = 16) -> Mesh:
    """Return a closed bolt along z with a thread of one start."""
    turn = 2 * np.pi * np.arange(around) / around

    def ring(row: int) -> Array:
        z = height * (row / (rows - 1) - 0.5)
        out = _thread_radius(radius, depth, pitch, turn, z)
        return np.column_stack([out[:, None] * _circle(around), np.full(around, z)])

    return tube(ring, rows)


def nut(radius: float, depth: float, pitch: float, height: float, rows: int, around: int = 16) -> Mesh:
    """Return a closed nut along z, with a thread inside."""
    turn = 2 * np.pi * np.arange(around) / around
    heights = height * (np.arange(rows) / (rows - 1) - 0.5)
    inner = [_thread_radius(radius, depth, pitch, turn, z) for z in heights]
    outer = np.full(around, 1.6 * (radius + depth))
    rings = [(outer, z) for z in heights] + [
        (out, z) for out, z in zip(inner[::-1], heights[::-1], strict=True)
    ]
    points = [np.column_stack([out[:, None] * _circle(around), np.full(around, z)]) for out, z in rings]
    return np.concatenate(points), _quads(len(rings), around, True)


def sheet(half: float, cells: int) -> Mesh:
    """Open square grid in the plane z = 0."""
    line = np.linspace(-half, half, cells + 1)
    x, y = (each.ravel() for each in np.meshgrid(line, line, indexing="ij"))
    row, column = (each.ravel() for each in np.meshgrid(range(cells), range(cells), indexing="ij"))
    low = row * (cells + 1) + column
    faces = np.column_stack([low, low + cells + 1, low + cells + 2, low + 1])
    return np.column_stack([x, y, 0 * x]), [tuple(face) for face in faces.tolist()]
