"""Random shapes for tests: Hypothesis strategies in exact quarters, and seeded random batches."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from hypothesis import strategies as st

from addon.core import Aabb, Obb, Segment, Shape, Sphere, Triangle

# Quarters, because they, their squares and their sums are exact in float64.
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
"""The 24 rotations that map axes to axes; exact."""


@st.composite
def boxes(draw) -> Aabb:
    low = np.array(draw(POINT))
    return Aabb(low, low + draw(SIZES))


@st.composite
def oriented_boxes(draw) -> Obb:
    """Boxes along the coordinate axes, or rotated about them by the angles of 3-4-5 triangles."""
    rotation = draw(st.sampled_from(QUARTER_TURNS))
    for axis in draw(st.sampled_from([(), (2,), (0, 2), (1, 2, 0)])):
        rotation = rotation_3_4_5(axis) @ rotation
    return Obb(draw(POINT), draw(SIZES), rotation)


def rotation_3_4_5(axis: int) -> np.ndarray:
    """Rotation about a coordinate axis by the angle with cosine 0.8 and sine 0.6."""
    return axis_rotation(axis, 0.8, 0.6)


def axis_rotation(axis: int, cosine: float, sine: float) -> np.ndarray:
    """Rotation (3, 3) about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = cosine
    matrix[j, i], matrix[i, j] = sine, -sine
    return matrix


def random_directions(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random unit vectors (count, 3), uniform on the sphere."""
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def random_rotations(rng: np.random.Generator, count: int) -> np.ndarray:
    """Rotations (count, 3, 3), uniformly distributed."""
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q *= np.sign(np.einsum("nii->ni", r))[:, None]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    return q


def random_shapes(kind: type, rng: np.random.Generator, count: int, one_sided: bool = False) -> Shape:
    """Batch of shapes about as large as the space they are in, so that half of all pairs overlap."""
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
    return (
        Aabb(centers - half, centers + half)
        if kind is Aabb
        else Obb(centers, half, random_rotations(rng, count))
    )


def translated(shape: Shape, offset: np.ndarray) -> Shape:
    """Translate shapes without the rounding of a matrix product."""
    names = [
        name
        for name, tail in shape.field_shapes.items()
        if name not in ("radius", "half_extents", "rotation")
    ]
    arrays = {name: getattr(shape, name) for name in shape.field_shapes}
    for name in names:
        arrays[name] = arrays[name] + offset
    extra = {"one_sided": shape.one_sided} if isinstance(shape, Triangle) else {}
    return type(shape)(**arrays, **extra)


def scaled(shape: Shape, factor: float) -> Shape:
    """Scale shapes about the origin, as in another unit of length."""
    arrays = {
        name: getattr(shape, name) * (1 if name == "rotation" else factor) for name in shape.field_shapes
    }
    extra = {"one_sided": shape.one_sided} if isinstance(shape, Triangle) else {}
    return type(shape)(**arrays, **extra)


def size_of(*shapes: Shape) -> np.ndarray:
    """Largest coordinate or length (n,) of each pair; rounding errors are relative to it."""
    sizes = []
    for shape in shapes:
        for name, tail in shape.field_shapes.items():
            if name != "rotation":
                array = np.abs(getattr(shape, name))
                sizes.append(array.max(axis=-1) if tail else array)
    return np.max(np.broadcast_arrays(*sizes), axis=0)


def affine(linear: np.ndarray, offset=(0.0, 0.0, 0.0)) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, offset
    return matrix
