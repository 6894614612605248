"""Steps that need convex hulls, of many objects at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from typing import TypeVar

from ...errors import CollisionBoundsError
from ...numeric.arrays import Ints
from ..convex_hull import HullRequest
from .quickhulls import quickhulls

_Result = TypeVar("_Result")


def run_together(
    jobs: Sequence[Generator[HullRequest, Ints | None, _Result]],
) -> list[_Result | CollisionBoundsError]:
    """Run several jobs such as `hull_steps`, and build the hulls that they need at the same time.

    jobs : Each yields requests, and is sent the faces of the hull, or None if there is none.
    Returns results : list. In place of a result, the error that a job raised, because one does not stop the
        others.
    """
    results: dict[int, _Result | CollisionBoundsError] = {}
    faces: dict[int, Ints | None] = dict.fromkeys(range(len(jobs)))
    while faces:
        requests: dict[tuple[float, int | None], dict[int, HullRequest]] = defaultdict(dict)
        for number, found in faces.items():
            try:
                request = jobs[number].send(found)
                requests[request.tolerance, request.max_vertices][number] = request
            except StopIteration as end:
                results[number] = end.value
            except CollisionBoundsError as error:
                results[number] = error
        faces = {}
        for (tolerance, max_vertices), group in requests.items():
            hulls = quickhulls([request.points for request in group.values()], tolerance, max_vertices)
            faces |= dict(zip(group, hulls, strict=True))
    return [results[number] for number in range(len(jobs))]
