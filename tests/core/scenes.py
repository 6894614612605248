"""Shapes that several tests draw: by hypothesis in exact quarters, and at random in batches."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from hypothesis import strategies as st

from addon.core import Aabb, Obb, Segment, Shape, Sphere, Triangle

# Quarters: exact in float64, and so are their squares and sums.
QUARTER = st.integers(-40, 40).map(lambda n: n / 4)
POINT = st.tuples(QUARTER, QUARTER, QUARTER)
SIZE = st.integers(0, 20).map(lambda n: n / 4)
SIZES = st.tuples(SIZE, SIZE, SIZE)

QUARTER_TURNS = [
    matrix
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
    if np.linalg.det(matrix := np.eye(3)[list(order)] * signs) > 0
]
"""The 24 turns that take axes to axes: exact."""


@st.composite
def boxes(draw) -> Aabb:
    low = np.array(draw(POINT))
    return Aabb(low, low + draw(SIZES))


@st.composite
def oriented_boxes(draw) -> Obb:
    """With axes along the coordinate axes, or turned by the angles of 3-4-5 triangles about them."""
    turn = draw(st.sampled_from(QUARTER_TURNS))
    for axis in draw(st.sampled_from([(), (2,), (0, 2), (1, 2, 0)])):
        turn = three_four_five(axis) @ turn
    return Obb(draw(POINT), draw(SIZES), turn)


def three_four_five(axis: int) -> np.ndarray:
    """A turn by the angle whose cosine is 0.8 and sine 0.6."""
    return turned_about(axis, 0.8, 0.6)


def turned_about(axis: int, cosine: float, sine: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = cosine
    matrix[j, i], matrix[i, j] = sine, -sine
    return matrix


def directions(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def rotations(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3, 3), spread evenly."""
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q *= np.sign(np.einsum("nii->ni", r))[:, None]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    return q


def random_shapes(kind: type, rng: np.random.Generator, count: int, one_sided: bool = False) -> Shape:
    """A batch of shapes about as large as the space that they share, so that half of all pairs overlap."""
    centers = rng.normal(size=(count, 3))
    if kind is Sphere:
        return Sphere(centers, rng.uniform(0, 1, count))
    if kind is Segment:
        return Segment(centers, centers + rng.normal(size=(count, 3)))
    if kind is Triangle:
        return Triangle(
            centers, *(centers + rng.normal(size=(count, 3)) for _ in range(2)), one_sided=one_sided
        )
    half = rng.uniform(0, 1, (count, 3))
    return Aabb(centers - half, centers + half) if kind is Aabb else Obb(centers, half, rotations(rng, count))


def moved(shape: Shape, offset: np.ndarray) -> Shape:
    """The same shapes elsewhere, without the rounding of a matrix."""
    names = [name for name, tail in shape.tails.items() if name not in ("radius", "half_extents", "rotation")]
    arrays = {name: getattr(shape, name) for name in shape.tails}
    for name in names:
        arrays[name] = arrays[name] + offset
    extra = {"one_sided": shape.one_sided} if isinstance(shape, Triangle) else {}
    return type(shape)(**arrays, **extra)


def scaled(shape: Shape, factor: float) -> Shape:
    """The same shapes in another unit."""
    arrays = {name: getattr(shape, name) * (1 if name == "rotation" else factor) for name in shape.tails}
    extra = {"one_sided": shape.one_sided} if isinstance(shape, Triangle) else {}
    return type(shape)(**arrays, **extra)


def size_of(*shapes: Shape) -> np.ndarray:
    """The largest coordinate or length of each pair, which rounding is measured by."""
    sizes = []
    for shape in shapes:
        for name, tail in shape.tails.items():
            if name != "rotation":
                array = np.abs(getattr(shape, name))
                sizes.append(array.max(axis=-1) if tail else array)
    return np.max(np.broadcast_arrays(*sizes), axis=0)
