"""Random batches of moving pairs by kind, and the kinds that each query supports."""

from __future__ import annotations

from tests.core import motions

BATCHES = {
    "spheres": motions.random_spheres,
    "boxes": motions.random_boxes,
    "sphere and box": motions.random_sphere_and_box,
    "sphere and triangle": motions.random_sphere_and_triangle,
    "sphere and one-sided triangle": lambda rng, count: motions.random_sphere_and_triangle(rng, count, True),
    "oriented boxes": motions.random_oriented_boxes,
    "sphere and oriented box": motions.random_sphere_and_oriented_box,
    "box and oriented box": lambda rng, count: [
        *motions.random_boxes(rng, count)[:2],
        *motions.random_oriented_boxes(rng, count)[2:],
    ],
}
WITH_TRIANGLES = ["sphere and triangle", "sphere and one-sided triangle"]
WITH_SPANS = ["spheres", "boxes", "sphere and box", *WITH_TRIANGLES]
WITH_CLOSEST = ["spheres", "boxes", *WITH_TRIANGLES]
