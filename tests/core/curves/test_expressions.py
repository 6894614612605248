"""Driver expressions of the frame: values against Python, bounds against dense points."""

import math

import numpy as np
import pytest

from addon.core.curves.expressions import Expressions, expression_of
from addon.core.curves.keyframes import Curves
from tests.core.curves.random_curves import one_curve

NAMES = {"sin": np.sin, "cos": np.cos, "abs": abs, "fabs": abs, "pi": math.pi} | {
    "radians": lambda angle: angle * math.pi / 180,
    "degrees": lambda angle: angle * 180 / math.pi,
}
UNARY = ("sin({})", "cos({})", "abs({})", "-{}", "radians({})", "degrees({}) * 0.01", "{} / 3.5", "+{}")
BINARY = ("({} + {})", "({} - {})", "({} * {})")


def random_expression(rng: np.random.Generator, depth: int) -> str:
    if depth == 0:
        return str(rng.choice(["frame", "frame", f"{rng.uniform(-2, 2):.3f}", "pi", "3"]))
    if rng.random() < 0.5:
        return str(rng.choice(UNARY)).format(f"({random_expression(rng, depth - 1)})")
    return str(rng.choice(BINARY)).format(*(random_expression(rng, depth - 1) for _ in range(2)))


def joined(texts: list[str], maps: Curves | None = None) -> Expressions:
    expressions = [expression_of(text) for text in texts]
    map_of = np.full(len(texts), -1 if maps is None else 0)
    return Expressions([each for each in expressions if each is not None], map_of, maps)


def evaluated(text: str, frames: np.ndarray) -> np.ndarray:
    """Evaluate an expression at frames (m,)."""
    return np.zeros(len(frames)) + eval(text, {**NAMES, "frame": frames})


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = np.random.default_rng(5)
    return [random_expression(rng, int(rng.integers(0, 5))) for _ in range(300)]


def test_values_are_those_of_python(texts):
    rng = np.random.default_rng(1)
    times = rng.uniform(-50, 300, 20)
    which = np.repeat(np.arange(len(texts)), len(times))
    found = joined(texts).values_of(which, np.tile(times, len(texts)))
    frames = times.astype(np.float32).astype(float)
    expected = np.concatenate([evaluated(text, frames) for text in texts])
    np.testing.assert_allclose(found, expected.astype(np.float32), rtol=2e-7, atol=1e-12)


def test_no_point_is_farther_from_the_chord_than_the_deviation(texts):
    rng = np.random.default_rng(2)
    which, begin = rng.integers(0, len(texts), 3000), rng.uniform(-50, 300, 3000)
    end = begin + 10 ** rng.uniform(-3, 1, 3000)
    chords = joined(texts).chords(which, begin, end)
    ratios = []
    for row, first, last, *chord in zip(which, begin, end, *chords, strict=True):
        at_first, at_last, deviation = chord
        frames = np.linspace(first, last, 200)
        values = evaluated(texts[row], frames)
        np.testing.assert_allclose((at_first, at_last), values[[0, -1]], rtol=1e-9, atol=1e-9)
        distance = np.abs(values - np.linspace(at_first, at_last, 200)).max()
        assert distance <= deviation * (1 + 1e-9) + 1e-9 * np.abs(values).max()
        ratios.append(distance / deviation if deviation > 1e-6 else 1.0)
    # Bounds that are never near the distance would be of no use.
    assert np.median(ratios) > 0.3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # h^2 / 8 times the second derivative, which is constant.
        ("frame * frame", 2 * 0.25**2 / 8),
        ("3 * frame + 2", 0),
        ("4", 0),
        # Far from its kink, a straight line.
        ("abs(frame - 9)", 0),
        ("sin(frame * 8)", 64 * 0.25**2 / 8),
        # Short of a half turn, or of more than the slope allows.
        ("sin(frame * 80)", 80 * 0.25 / 2),
        ("abs(frame - 5.2)", 0.25 / 2),
    ],
)
def test_deviation_follows_from_slope_and_second_derivative(text, expected):
    chords = joined([text]).chords(np.array([0]), np.array([5.0]), np.array([5.25]))
    np.testing.assert_allclose(chords.deviation, [expected], atol=1e-12)


def map_curve() -> Curves:
    """Curve that Blender adds to a driver: its result, but for the values of two keys near 0 and 1."""
    handles = {"left": [[-1, -1], [2 / 3, 2 / 3]], "right": [[1 / 3, 1 / 3], [2, 2]]}
    return one_curve([[0, 0], [1, 1]], **handles, is_extrapolated=True)


def test_value_near_the_key_of_a_map_is_that_of_the_key():
    driven, frames = joined(["frame / 16"], map_curve()), np.array([0.001, 8.0, 15.999, 32.0])
    rows = np.zeros(4, dtype=np.int64)
    np.testing.assert_allclose(driven.values_of(rows, frames), [0, 0.5, 1, 2], atol=1e-6)
    chords = driven.chords(rows, frames, frames + 0.25)
    # What the key hides is part of the deviation.
    assert (chords.deviation > 1e-4).tolist() == [True, False, True, False]


def test_values_that_a_key_of_a_map_hides_have_no_deviation():
    # At frame 4 the sine is 1, and is nearer to 1 than 0.0001 for 2 * 0.014 / (pi / 8) = 0.072 frames.
    driven, frames = joined(["sin(frame * pi / 8)"], map_curve()), np.array([3.98, 4.0, 3.9, 4.02])
    ends = np.array([4.01, 4.01, 3.98, 4.07])
    chords = driven.chords(np.zeros(4, dtype=np.int64), frames, ends)
    assert chords.deviation[:2].tolist() == [0, 0]
    assert chords.begin[:2].tolist() == chords.end[:2].tolist() == [1, 1]
    assert (chords.deviation[2:] > 1e-4).all()
    # Shapes before a jump follow from such an end.
    assert (chords.end[2], chords.begin[3]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "center"),
    [
        ("sin(frame * 0.05)", 10 * math.pi),
        ("sin(frame * 0.05)", 20 * math.pi),
        ("sin(frame * 3) * 0.5 + 0.5", math.pi / 6),
        ("1 + sin(frame)", 1.5 * math.pi),
        ("1 - cos(frame) * 0.00005", math.pi),
        ("cos(frame) * 0.00007", math.pi),
        ("frame / 16", 0.0),
        ("frame / 16", 16.0),
        ("1.00003 * sin(frame)", math.pi / 2),
    ],
)
def test_mapped_values_near_keys_are_within_the_deviation_of_the_chord(text, center):
    rng, driven = np.random.default_rng(3), joined([text], map_curve())
    begin = center + 10 ** rng.uniform(-6, -1, 2000) * rng.choice([-1, 1], 2000)
    end = begin + 10 ** rng.uniform(-5, 0, 2000)
    zero = np.zeros(2000, dtype=np.int64)
    chords = driven.chords(zero, begin, end)
    shares = np.linspace(0, 1, 65)
    times = begin[:, None] + (end - begin)[:, None] * shares
    values = driven.values_of(np.zeros(times.size, dtype=np.int64), times.ravel()).reshape(times.shape)
    # Shapes are at the values at both ends, whatever the ends of the chord are.
    for first, last in ((values[:, 0], values[:, -1]), (chords.begin, chords.end)):
        distance = np.abs(values - first[:, None] - (last - first)[:, None] * shares).max(axis=1)
        # Results and times are rounded to single precision.
        assert (distance <= chords.deviation + 5e-7 * (1 + abs(center))).all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "frame +",
        "#frame",
        "1 / frame",
        "frame / 0",
        "frame / (pi - pi)",
        "frame ** 2",
        "frame % 2",
        "floor(frame)",
        "sin(frame, 2)",
        "sin(x=frame)",
        "sin()",
        "sin",
        "value",
        "frame > 3",
        "1 if frame else 2",
        "bpy.data",
        "'frame'",
        "frame * 1e99",
        "frame * nan",
        "[frame]",
        "lambda: frame",
        "frame; frame",
    ],
)
def test_other_expressions_are_not_known(text):
    assert expression_of(text) is None
