"""The math: bounds of points, pairs of shapes at rest and in motion, contacts over an animation.

Standard library and NumPy only; works without Blender. Lengths are in the caller's unit, arrays are float64
and batched over leading axes. Coordinates are the caller's: the math does not depend on axes or engines.

Rooms, in reading order; each imports only from those above it:

===============  ===========================================================================================
`errors`         errors for invalid input
`messages`       sentences that keep their template and values, for translation
`progress`       progress of long jobs, which are generators, and of jobs that are made of others
`numeric`        arrays, batches, rounding errors, directions
`curves`         animation curves and transforms: values at times, bounds of what happens in between
`skins`          points that bones carry by shares: boxes around them, at a time and over an interval
`shapes`         spheres, boxes, oriented boxes, capsules, cylinders, segments, triangles
`broad_phase`    pairs of boxes that overlap, by a grid, by sorting, and by a hierarchy
`fitting`        shapes fitted to points: spheres, boxes, capsules, cylinders, convex hulls
`trees`          trees of spheres, and how they are built
`mesh`           triangle meshes, their hierarchy of bounds, and containment
`compound`       meshes split into convex parts
`distance`       two shapes at rest: separation, overlap, minimum translation, witness points
`sweep`          two shapes in motion: time of impact, time of closest approach
`interval`       contacts of many pairs within one interval of time
`motion`         where shapes are at a time, and where they may be in between: known, or from samples
`scan`           contacts over an animation: near pairs, subdivision of their intervals, reports
`envelope`       bounds of everything that shapes sweep over an animation
===============  ===========================================================================================
"""

from .broad_phase.overlapping_pairs import overlapping_pairs, overlapping_pairs_between
from .compound.convex_parts import convex_parts
from .distance.dispatch import minimum_translation, overlaps, separation, witness_points
from .distance.mesh_mesh import MeshSeparation, mesh_separation, meshes_overlap
from .distance.meshes import overlap_depth
from .distance.overlap_kinds import Overlap
from .distance.separating_axis import WitnessPoints
from .envelope.envelopes import Envelopes, envelopes_over
from .errors import (
    CollisionBoundsError,
    EmptyGeometryError,
    InvalidShapeError,
    NonFiniteGeometryError,
    UnsupportedPairError,
)
from .fitting.axial import capsule_from_points, cylinder_from_points
from .fitting.convex_hull import ConvexHull, hull_from_points
from .fitting.enclosing import (
    SPHERE_METHODS,
    aabb_from_points,
    aabbs_from_groups,
    sphere_from_aabb,
    sphere_from_points,
    spheres_from_groups,
)
from .fitting.oriented_box import obb_from_points
from .fitting.tessellation import Surface, ball_surface, box_surface, capsule_surface, cylinder_surface
from .mesh.meshes import Meshes
from .mesh.triangle_mesh import TriangleMesh
from .motion.motion import Motion, Sample, Sampler
from .progress import ContactMotion, MotionKind, Progress
from .scan.report import Clearance, Contact, ContactDetails, ContactInterval, ContactReport, FirstContact
from .scan.scan import ScanSettings, scan_contacts
from .shapes import Aabb, Bound, Capsule, Cylinder, Obb, Segment, Shape, Sphere, Triangle, stacked
from .sweep.dispatch import closest_time, first_impact, overlap_span, time_of_impact
from .sweep.interpolation import Impact, ImpactStatus, at
from .trees.builder import sphere_tree_from_triangles
from .trees.sphere_tree import SphereTree

__all__ = [
    "SPHERE_METHODS",
    "Aabb",
    "Bound",
    "Capsule",
    "Clearance",
    "CollisionBoundsError",
    "Contact",
    "ContactDetails",
    "ContactInterval",
    "ContactMotion",
    "ContactReport",
    "ConvexHull",
    "Cylinder",
    "EmptyGeometryError",
    "Envelopes",
    "FirstContact",
    "Impact",
    "ImpactStatus",
    "InvalidShapeError",
    "MeshSeparation",
    "Meshes",
    "Motion",
    "MotionKind",
    "NonFiniteGeometryError",
    "Obb",
    "Overlap",
    "Progress",
    "Sample",
    "Sampler",
    "ScanSettings",
    "Segment",
    "Shape",
    "Sphere",
    "SphereTree",
    "Surface",
    "Triangle",
    "TriangleMesh",
    "UnsupportedPairError",
    "WitnessPoints",
    "aabb_from_points",
    "aabbs_from_groups",
    "at",
    "ball_surface",
    "box_surface",
    "capsule_from_points",
    "capsule_surface",
    "closest_time",
    "convex_parts",
    "cylinder_from_points",
    "cylinder_surface",
    "envelopes_over",
    "first_impact",
    "hull_from_points",
    "mesh_separation",
    "meshes_overlap",
    "minimum_translation",
    "obb_from_points",
    "overlap_depth",
    "overlap_span",
    "overlapping_pairs",
    "overlapping_pairs_between",
    "overlaps",
    "scan_contacts",
    "separation",
    "sphere_from_aabb",
    "sphere_from_points",
    "sphere_tree_from_triangles",
    "spheres_from_groups",
    "stacked",
    "time_of_impact",
    "witness_points",
]
