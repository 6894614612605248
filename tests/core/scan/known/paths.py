"""Known motion of spheres along polylines in time, with jumps and bumps, and its contacts by exact pieces."""

from itertools import pairwise

import numpy as np

from addon.core import Sample, Sphere, time_of_impact
from tests.core.scan.surfaces import balls_and_surfaces


class Polylines:
    """Spheres (n,) whose centers go straight from knot to knot; equal knot times are a jump.

    knots : list of (times (k,), centers (k, 3)) for each sphere
    """

    def __init__(self, knots, radius=0.5):
        self.knots = [(np.asarray(times, float), np.asarray(centers, float)) for times, centers in knots]
        self.radius = np.full(len(knots), float(radius))
        self.refinable = self.is_certain = np.ones(len(knots), dtype=bool)
        self.costs, self.grain = np.ones(len(knots)), np.full(len(knots), 2.0**-24)

    def center(self, sphere, time, is_before=False):
        times, centers = self.knots[sphere]
        after = np.searchsorted(times, time, "left" if is_before else "right")
        if after == 0 or after == len(times):
            return centers[min(after, len(times) - 1)]
        (t0, t1), (c0, c1) = times[after - 1 : after + 1], centers[after - 1 : after + 1]
        return c0 + (c1 - c0) * (time - t0) / (t1 - t0)

    def at(self, shapes, times, is_before=False):
        centers = [self.center(*each, is_before) for each in zip(shapes, times, strict=True)]
        return Sphere(np.array(centers).reshape(-1, 3), self.radius[shapes])

    def sample(self, time):
        every = np.arange(len(self.knots))
        return Sample(self.at(every, np.full(len(every), time)))

    def sample_between(self, time, subjects):
        return Sample(self.at(subjects, np.full(len(subjects), time)))

    def deviation(self, sphere, begin, end):
        """Largest distance of a knot, or a limit, from the chord: exact, because pieces are straight."""
        times, centers = self.knots[sphere]
        first, last = self.center(sphere, begin), self.center(sphere, end, is_before=True)
        within = (times > begin) & (times < end)
        line = first + (last - first) * ((times[within] - begin) / (end - begin))[:, None]
        return np.linalg.norm(centers[within] - line, axis=1).max(initial=0)

    def bound(self, shapes, begin, end):
        found = [self.deviation(*each) for each in zip(shapes, begin, end, strict=True)]
        return (np.array(found), np.zeros(len(shapes), dtype=bool))

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def jumps(self, sphere):
        times = self.knots[sphere][0]
        return times[1:][np.diff(times) == 0]

    def breaks(self, shapes, begin, end):
        found = []
        for sphere, first, last in zip(shapes, begin, end, strict=True):
            jumps = self.jumps(sphere)
            found.append(jumps[(jumps > first) & (jumps < last)].min(initial=np.inf))
        return np.array(found)

    def first_contact(self, a, b, begin, end):
        """First time at which spheres touch, from the straight pieces of both; NaN for never."""
        times = np.unique(np.concatenate([[begin, end], *(self.knots[k][0] for k in (a, b))]))
        times = times[(times >= begin) & (times <= end)]
        for first, last in pairwise(times):
            ends = [
                self.center(a, first),
                self.center(a, last, True),
                self.center(b, first),
                self.center(b, last, True),
            ]
            shapes = [Sphere(center, self.radius[k]) for center, k in zip(ends, (a, a, b, b), strict=True)]
            part = float(time_of_impact(*shapes))
            if not np.isnan(part):
                return first + part * (last - first)
        return np.nan


class PolylinesAroundMesh(Polylines):
    """Spheres along polylines, and a surface at rest as the last subject.

    is_certain : Change it to make a sampler of it, of which some shapes are known.
    """

    def __init__(self, knots, mesh, radius=0.5):
        super().__init__([*knots, ([0.0], [(0.0, 0, 0)])], radius)
        self.mesh = mesh
        self.certain = self

    def at(self, shapes, times, is_before=False):
        is_ball = shapes < len(self.knots) - 1
        balls = super().at(shapes[is_ball], np.asarray(times)[is_ball], is_before)
        batch = balls_and_surfaces(balls, [self.mesh] * int((~is_ball).sum()))
        return batch[np.argsort(np.argsort(~is_ball, kind="stable"))]

    def first_contact_with_mesh(self, sphere, begin, end):
        """First time at which a sphere touches the mesh, from its straight pieces; NaN for never."""
        times = np.unique(np.concatenate([[begin, end], self.knots[sphere][0]]))
        times = times[(times >= begin) & (times <= end)]
        for first, last in pairwise(times):
            ends = [self.center(sphere, first), self.center(sphere, last, True)]
            moved = [Sphere(center, self.radius[sphere]) for center in ends]
            part = float(time_of_impact(*moved, self.mesh, self.mesh))
            if not np.isnan(part):
                return first + part * (last - first)
        return np.nan


def random_polylines(rng, count, frames, size):
    """Spheres with knots at frames and between, short bumps of 1/64 frame, and jumps."""
    knots = []
    for _ in range(count):
        times = np.sort(rng.choice(np.arange(0, frames, 0.25), rng.integers(2, 8), replace=False))
        centers = rng.uniform(-size, size, (len(times), 3))
        if rng.random() < 0.5:  # a bump
            at = rng.uniform(0, frames - 1)
            line = Polylines([(times, centers)])
            rest, peak = line.center(0, at), rng.uniform(-size, size, 3)
            keep = (times < at) | (times > at + 1 / 32)
            times = np.concatenate([times[keep], [at, at + 1 / 64, at + 1 / 32]])
            centers = np.concatenate([centers[keep], [rest, peak, rest]])
            order = np.argsort(times, kind="stable")
            times, centers = times[order], centers[order]
        if rng.random() < 0.5:  # a jump, at a frame or between
            at = rng.choice([np.floor(rng.uniform(1, frames)), rng.uniform(1, frames)])
            row = np.searchsorted(times, at)
            center = Polylines([(times, centers)]).center(0, at)
            times = np.insert(times, row, [at, at])
            centers = np.insert(centers, row, [center, rng.uniform(-size, size, 3)], axis=0)
        knots.append((times, centers))
    return Polylines(knots)
