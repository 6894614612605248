"""Contacts of scans of meshes, compared with collisions and distances of fcl at many times.

No mesh of these scenes is small enough to be inside another one. So two touch where triangles do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from addon.core.numeric.arrays import Floats, Ints

from ..truth import matrices_at, names_of, sampled_frames, wrong_contacts

_BETWEEN = 60
_FEW_TRIANGLES = 200_000
"""Triangles above which only those near the path of the other mesh are given to fcl."""
_NEAR = 0.05
"""Distance from which on it need not be exact."""


class LocalMeshes:
    """Vertices and triangles of objects (n,) in their spaces, and spheres around them."""

    def __init__(self, scene: Any, names: Sequence[str]) -> None:
        kinds: dict[str, tuple[Floats, Ints]] = {}
        self.meshes: list[tuple[Floats, Ints]] = []
        for name in names:
            mesh = scene.objects[name].data
            if mesh.name not in kinds:
                mesh.calc_loop_triangles()
                points = np.empty((len(mesh.vertices), 3), dtype=np.float32)
                triangles = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
                mesh.vertices.foreach_get("co", points.reshape(-1))
                mesh.loop_triangles.foreach_get("vertices", triangles.reshape(-1))
                kinds[mesh.name] = points.astype(np.float64), triangles.astype(np.int64)
            self.meshes.append(kinds[mesh.name])
        low, high = (np.array([side(p, axis=0) for p, _ in self.meshes]) for side in (np.min, np.max))
        self.center = (low + high) / 2
        self.radius = np.array(
            [
                np.sqrt(((points - middle) ** 2).sum(axis=1).max())
                for (points, _), middle in zip(self.meshes, self.center, strict=True)
            ]
        )

    def centers(self, matrices: Floats) -> Floats:
        """Centers (n, 3) of the spheres, by the matrices (n, 4, 4) of one time."""
        turned: Floats = np.einsum("nij,nj->ni", matrices[:, :3, :3], self.center)
        return turned + matrices[:, :3, 3]


def wrong_rigid_meshes(scene: Any, result: Any, frames: tuple[int, int]) -> str:
    """Describe the first wrong contact of rigid meshes; an empty text if there is none."""
    import fcl

    names = names_of(result)
    matrices, local = matrices_at(scene, names), LocalMeshes(scene, names)
    paths = np.array([local.centers(matrices(float(frame))) for frame in range(frames[0], frames[1] + 1)])
    models: dict[tuple[int, int], Any] = {}

    def model(row: int, other: int) -> Any:
        points, triangles = local.meshes[row]
        key = (id(points), other if len(triangles) > _FEW_TRIANGLES else -1)
        if key not in models:
            if key[1] >= 0:
                # A mesh as large as this does not move.
                reach = local.radius[other] + 1.0
                corners = points[triangles]
                low, high = paths[:, other].min(axis=0) - reach, paths[:, other].max(axis=0) + reach
                near = ((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high)).all(axis=1)
                triangles = triangles[near]
            models[key] = fcl.BVHModel()
            models[key].beginModel(len(triangles), len(points))
            models[key].addSubModel(points, triangles)
            models[key].endModel()
        return models[key]

    def gaps(time: float, a: Ints, b: Ints) -> Floats:
        now = matrices(time)
        centers = local.centers(now)
        found = np.sqrt(((centers[a] - centers[b]) ** 2).sum(axis=1)) - local.radius[a] - local.radius[b]
        for row in np.flatnonzero(found < _NEAR).tolist():
            i, j = int(a[row]), int(b[row])
            pair = [
                fcl.CollisionObject(model(one, two), fcl.Transform(now[one, :3, :3], now[one, :3, 3]))
                for one, two in ((i, j), (j, i))
            ]
            is_hit = fcl.collide(*pair, fcl.CollisionRequest(), fcl.CollisionResult())
            found[row] = (
                -np.inf if is_hit else fcl.distance(*pair, fcl.DistanceRequest(), fcl.DistanceResult())
            )
        return np.asarray(found)

    return wrong_contacts(result.report, len(names), gaps, sampled_frames(*frames, _BETWEEN))
