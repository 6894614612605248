"""Points around what moving points sweep: their convex hull holds all, between samples too, and is tight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from addon.core.envelope.swept_points import points_swept
from addon.core.numeric.geodesic import geodesic_directions
from tests.finished import finished
from tests.tiers import times

DIRECTIONS = geodesic_directions(4).vectors
CLOUD = np.random.default_rng(5).uniform(-1, 1, size=(40, 3))


def swept(
    place: Callable[[float], np.ndarray | None], frames: list[float], is_refinable: bool = True
) -> tuple[np.ndarray, list[float]]:
    """Points around one group, and the times at which it was sampled."""
    sampled: list[float] = []

    def sample(time: float) -> dict[int, np.ndarray]:
        sampled.append(time)
        points = place(time)
        return {} if points is None else {0: points}

    (points,) = finished(points_swept(sample, frames, 1, is_refinable))
    return points, sampled


def supports(points: np.ndarray) -> np.ndarray:
    return (points @ DIRECTIONS.T).max(axis=0)


def dense(place: Callable[[float], np.ndarray], frames: list[float]) -> np.ndarray:
    return np.concatenate([place(time) for time in np.linspace(frames[0], frames[-1], 601)])


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])


MOTIONS: dict[str, Callable[[float], np.ndarray]] = {
    "turn": lambda time: turned(CLOUD, 0.7 * time),
    "fast turn": lambda time: turned(CLOUD, 2.2 * time),
    "wave": lambda time: CLOUD + np.sin(1.3 * time + CLOUD[:, ::-1]) * [0.5, 0, 0.2],
    "kink between frames": lambda time: CLOUD * [1, 1, 1 + abs(time - 3.37)],
}


@pytest.mark.parametrize("name", MOTIONS)
def test_hull_holds_the_points_between_samples_too(name):
    frames = [float(frame) for frame in range(7)]
    points, _ = swept(MOTIONS[name], frames)
    truth = dense(MOTIONS[name], frames)
    size = float(np.ptp(truth, axis=0).max())
    excess = supports(points) - supports(truth)
    assert excess.min() >= -1e-12
    assert excess.max() <= 0.01 * size
    # Samples at frames alone would not do.
    whole = np.concatenate([MOTIONS[name](time) for time in frames])
    assert (supports(whole) - supports(truth)).min() < -1e-3


def test_random_motions_are_held():
    for seed in range(times(15, full=120)):
        rng = np.random.default_rng(seed)
        amplitude, rate, phase = rng.uniform(0.1, 1, (3, 40, 3))

        def place(time: float, of=(amplitude, rate, phase)) -> np.ndarray:
            size, speed, offset = of
            return CLOUD + size * np.sin(speed * time + 6 * offset)

        frames = [0.0, 1.0, 2.0, 3.0, 4.0]
        points, _ = swept(place, frames)
        truth = dense(place, frames)
        excess = supports(points) - supports(truth)
        assert excess.min() >= -1e-12
        assert excess.max() <= 0.01 * float(np.ptp(truth, axis=0).max())


def test_points_at_rest_are_returned_as_they_are():
    points, sampled = swept(lambda _: CLOUD, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(points, CLOUD)
    assert len(sampled) == 5


def test_noise_grows_the_points_by_its_size():
    """Rounded positions count as at rest; the points grow by how far they were from where they were kept."""
    rng = np.random.default_rng(1)
    noisy = {time: CLOUD + rng.uniform(-5e-7, 5e-7, CLOUD.shape) for time in (1.0, 2.0, 3.0)}
    points, _ = swept(noisy.__getitem__, [1.0, 2.0, 3.0], is_refinable=False)
    assert len(points) == 8 * len(CLOUD)
    excess = supports(points) - supports(np.concatenate(list(noisy.values())))
    assert excess.min() >= 0 and excess.max() < 3e-6


def test_jump_is_sampled_closely_and_adds_little():
    points, sampled = swept(lambda time: CLOUD + np.array([0, 0, 5 * (time >= 1.3)]), [0.0, 1.0, 2.0, 3.0])
    both = np.concatenate([CLOUD, CLOUD + np.array([0, 0, 5])])
    excess = supports(points) - supports(both)
    assert excess.min() >= 0 and excess.max() < 0.01 * 7
    assert len(sampled) < 90


def test_without_refinement_only_the_frames_are_sampled_in_order():
    _, sampled = swept(MOTIONS["turn"], [0.0, 1.0, 2.5], is_refinable=False)
    assert sampled == [0.0, 1.0, 2.5]


def test_group_is_absent_in_between_or_always():
    points, _ = swept(lambda time: None if 1 < time < 2.5 else CLOUD + time, [0.0, 1.0, 2.0, 3.0])
    truth = np.concatenate([CLOUD, CLOUD + 1, CLOUD + 2.5, CLOUD + 3])
    assert (supports(points) - supports(truth)).min() >= 0
    assert swept(lambda _: None, [0.0, 1.0])[0].shape == (0, 3)
    assert (supports(swept(lambda _: CLOUD, [4.0])[0]) == supports(CLOUD)).all()


def test_number_of_points_may_change():
    points, _ = swept(lambda time: CLOUD[: 20 + int(time)] + time, [0.0, 1.0, 2.0])
    truth = np.concatenate([CLOUD[:20], CLOUD[:21] + 1, CLOUD[:22] + 2])
    assert (supports(points) - supports(truth)).min() >= 0


@pytest.mark.long
@pytest.mark.parametrize("flat", [1.0, 0.0])
def test_many_points_are_reduced_to_their_hull(flat):
    """In one plane there is no hull with a volume: then all are kept."""
    cloud = np.random.default_rng(2).normal(size=(3000, 3)) * [1, 1, flat]

    def place(time: float) -> np.ndarray:
        return np.asarray(turned(cloud, 0.4 * time))

    frames = [float(frame) for frame in range(8)]
    points, _ = swept(place, frames)
    truth = np.stack([supports(place(time)) for time in np.linspace(0, 7, 301)]).max(axis=0)
    excess = supports(points) - truth
    assert excess.min() >= -1e-12 and excess.max() <= 0.01 * 2 * truth.max()
    assert not flat or len(points) < 8 * 30_000
