"""Random curves and objects that follow them."""

import numpy as np

from addon.core.curves.easings import FAMILIES, MODES
from addon.core.curves.keyframes import BEZIER, CONSTANT, EASED, LINEAR, Curves, Keys
from addon.core.curves.transforms import (
    CHANNELS,
    DELTA_SCALE,
    LOCATION,
    ROTATION,
    SCALE,
    Transforms,
)

FIRST, LAST = 0.0, 40.0


EASINGS = [(family, mode) for family in FAMILIES for mode in MODES]


def one_curve(points, right=None, left=None, kind=BEZIER, is_extrapolated=False, settings=(1.7, 0, 0)):
    """Curve through points (k, 2); handles (k, 2) are flat and a third of a frame long by default."""
    points = np.asarray(points, dtype=np.float32)
    third = np.array([1 / 3, 0])
    sides = ((left, points - third), (right, points + third))
    left, right = (np.asarray(rest if side is None else side, dtype=np.float32) for side, rest in sides)
    kinds = np.broadcast_to(kind, len(points)).astype(np.int64)
    keys = Keys(points, left, right, kinds, np.tile(np.array(settings, dtype=np.float32), (len(points), 1)))
    return Curves(keys, np.array([0, len(points)]), np.array([is_extrapolated]))


def eased_in(family, s, settings, span, default_period=0.3):
    """Easings by their usual definitions, from 0 to 1 in parts s of the time."""
    k, amplitude, period = (np.asarray(value, dtype=float) for value in settings)
    powers = {"QUAD": 2, "CUBIC": 3, "QUART": 4, "QUINT": 5}
    if family in powers:
        return s ** powers[family]
    if family == "SINE":
        return 1 - np.cos(np.pi / 2 * s)
    if family == "EXPO":
        return (2 ** (10 * s) - 1) / 1023
    if family == "CIRC":
        return 1 - np.sqrt(1 - s**2)
    if family == "BACK":
        return (k + 1) * s**3 - k * s**2
    if family == "ELASTIC":
        return elastic_in(s, amplitude, period, *span, default_period)
    # Bounces of a ball that falls from a height of 1: those at the end reach 1/4, 1/16 and 1/64.
    t = 2.75 * (1 - s)
    heights = [1 - t**2, *(1 / 4**n - (t - vertex) ** 2 for n, vertex in ((1, 1.5), (2, 2.25), (3, 2.625)))]
    return np.max(heights, axis=0)


def elastic_in(s, amplitude, period, duration, change, default_period):
    """Swing that grows from 2^-10 to 1. Blender scales it by a small amplitude, but for the last quarter."""
    period = np.where(period == 0, default_period * duration, period)
    before_end = (1 - s) * duration
    swing = 2 ** (10 * (s - 1)) * np.cos(2 * np.pi * before_end / period)
    with np.errstate(all="ignore"):
        ratio = np.abs(change) / amplitude
        shift = np.arcsin(change / amplitude)
        large = 2 ** (10 * (s - 1)) * np.sin(2 * np.pi * before_end / period + shift) * amplitude / change
        quarter = 4 * before_end / np.abs(period)
        factor = np.where(amplitude == 0, 0, 1 / ratio)
        factor = np.where(quarter < 1, factor * quarter + 1 - quarter, factor)
    value = np.where((amplitude != 0) & (amplitude >= np.abs(change)), large, factor * swing)
    return np.where(s == 0, 0, value)


def eased(family, mode, s, settings, span):
    """Easings of all modes: backwards to ease out, and one half of each for both."""
    if mode == "EASE_IN":
        return eased_in(family, s, settings, span)
    if mode == "EASE_OUT":
        return 1 - eased_in(family, 1 - s, settings, span)
    k, *elasticity = settings
    first, second = (
        eased_in(family, np.minimum(part, 1), (1.525 * k, *elasticity), span, 0.45) / 2
        for part in (2 * s, 2 - 2 * s)
    )
    return np.where(s < 0.5, first, 1 - second)


def random_curves(rng, count):
    """Curves of `random_keys`."""
    return Curves(*random_keys(rng, count))


def random_keys(rng, count, size=5.0):
    """Keys of curves of one to six keys of all kinds, with handles of any length, upright ones too."""
    counts = rng.integers(1, 7, count)
    starts = np.concatenate([[0], np.cumsum(counts)])
    times = [np.sort(rng.choice(np.arange(FIRST, LAST, 0.5), n, replace=False)) for n in counts]
    points = np.column_stack([np.concatenate(times), rng.uniform(-size, size, starts[-1])]).astype(np.float32)
    reach = rng.choice([0.0, 1.0, 3.0, 20.0], (2, starts[-1])) * rng.uniform(0, 1, (2, starts[-1]))
    rise = rng.uniform(-size, size, (2, starts[-1])) * rng.choice([0.0, 1.0], (2, starts[-1]))
    left = points + np.column_stack([-reach[0], rise[0]]).astype(np.float32)
    right = points + np.column_stack([reach[1], rise[1]]).astype(np.float32)
    kinds = rng.choice([BEZIER, BEZIER, BEZIER, LINEAR, CONSTANT, EASED, EASED], starts[-1]).astype(np.int64)
    kinds = np.where(kinds == EASED, EASED + rng.integers(0, len(EASINGS), starts[-1]), kinds)
    settings = rng.uniform((0, -3, 0.3), (3, 12, 9), (starts[-1], 3)) * rng.choice([0, 1], (starts[-1], 3))
    return Keys(points, left, right, kinds, settings.astype(np.float32)), starts, rng.random(count) < 0.3


def dense_points(keys, count=400):
    """Points (k, count, 2) of the segments of all keys, by definition, up to the next key of any curve."""
    start, end = keys.points[:-1].astype(float), keys.points[1:].astype(float)
    span = (end - start)[:, :1]
    handles = []
    for key, handle in ((start, keys.right[:-1].astype(float)), (end, keys.left[1:].astype(float))):
        reach = np.abs(handle - key)[:, :1]
        handles.append(key + (handle - key) * np.minimum(1, span / np.maximum(reach, 1e-9)))
    s = np.linspace(0, 1, count)[:, None, None]
    weights = (1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3
    bezier = sum(weight * point for weight, point in zip(weights, (start, *handles, end), strict=True))
    line = start + s * (end - start)
    kind = keys.interpolation[:-1, None]
    step = np.stack([line[..., 0], np.broadcast_to(start[:, 1], line.shape[:2])], axis=-1)
    points = np.where(kind == BEZIER, bezier, np.where(kind == LINEAR, line, step))
    for code, (family, mode) in enumerate(EASINGS):
        rows = np.flatnonzero(keys.interpolation[:-1] == EASED + code)
        span = (end - start)[rows].T
        part = eased(family, mode, s[:, :, 0], keys.settings[rows].astype(float).T, span)
        values = start[rows, 1] + part * (end - start)[rows, 1]
        points[:, rows] = np.stack([line[:, rows, 0], values], axis=-1)
    return np.moveaxis(points, 0, 1)


def random_transforms(rng, count):
    """Objects of all rotation modes, half of them children, with curves on a part of their channels."""
    modes = rng.integers(0, 8, count)
    rest = np.zeros((count, CHANNELS))
    rest[:, LOCATION], rest[:, ROTATION] = rng.uniform(-9, 9, (count, 3)), rng.uniform(-3, 3, (count, 4))
    rest[:, SCALE] = rest[:, DELTA_SCALE] = 1
    rest[rng.random(count) < 0.3, SCALE] = rng.uniform(0.2, 2, 3)
    is_keyed = rng.random((count, CHANNELS)) < np.repeat([0.5, 0.4, 0.1, 0.3, 0], [3, 4, 3, 3, 7])
    curve_of = np.where(is_keyed, np.cumsum(is_keyed).reshape(is_keyed.shape) - 1, -1)
    parents = np.array([rng.integers(-1, row) if row and row % 2 else -1 for row in range(count)])
    inverse = np.tile(np.eye(4), (count, 1, 1))
    inverse[:, :3, 3] = rng.uniform(-2, 2, (count, 3))
    curves = random_curves(rng, int(is_keyed.sum()))
    single = (values.astype(np.float32) for values in (rest, inverse))
    return Transforms(next(single), curve_of, modes, parents, next(single), curves)
