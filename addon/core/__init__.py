"""The math: bounds of points, pairs of shapes at rest and in motion, contacts over an animation.

Standard library and NumPy only; works without Blender. Lengths are in the caller's unit, arrays are float64
and batched over leading axes. Coordinates are the caller's: nothing here knows about axes or engines.
"""

from .bounds_motion import BoundsMotion, BoundsSample
from .broad_phase import (
    overlapping_pairs,
    overlapping_pairs_between,
    overlapping_pairs_between_brute_force,
    overlapping_pairs_brute_force,
)
from .capsule import Capsule, capsule_from_points
from .contact_report import (
    Clearance,
    Contact,
    ContactInterval,
    ContactReport,
    FirstContact,
    MotionKind,
    Progress,
)
from .contacts import ScanSettings, scan_contacts
from .enclosing_hull import ConvexHull, hull_from_points
from .envelope import Envelopes, envelopes_over
from .errors import (
    CollisionBoundsError,
    EmptyGeometryError,
    InvalidShapeError,
    NonFiniteGeometryError,
)
from .fitting import (
    SPHERE_METHODS,
    aabb_from_points,
    aabbs_from_groups,
    sphere_from_aabb,
    sphere_from_points,
    spheres_from_groups,
)
from .interpolation import at
from .mesh_contact import MeshContact, first_mesh_contact
from .mesh_distance import MeshSeparation, mesh_separation, meshes_overlap
from .minimal_box import obb_from_points
from .motion import Motion, Sample, SubframeMotion
from .obstacles import Obstacle
from .separation import minimum_translation, overlaps, separation, witness_points
from .shapes import Aabb, Bound, Obb, Segment, Shape, Sphere, Triangle, stacked
from .sphere_tree import SphereTree
from .sphere_tree_fitting import sphere_tree_from_triangles
from .surfaces import Surface, ball_surface, box_surface, capsule_surface
from .sweep import Impact, ImpactStatus, closest_time, first_impact, overlap_span, time_of_impact
from .swept_pairs import SweptPairs
from .triangle_mesh import TriangleMesh
from .witness import WitnessPoints

__all__ = [
    "SPHERE_METHODS",
    "Aabb",
    "Bound",
    "BoundsMotion",
    "BoundsSample",
    "Capsule",
    "Clearance",
    "CollisionBoundsError",
    "Contact",
    "ContactInterval",
    "ContactReport",
    "ConvexHull",
    "EmptyGeometryError",
    "Envelopes",
    "FirstContact",
    "Impact",
    "ImpactStatus",
    "InvalidShapeError",
    "MeshContact",
    "MeshSeparation",
    "Motion",
    "MotionKind",
    "NonFiniteGeometryError",
    "Obb",
    "Obstacle",
    "Progress",
    "Sample",
    "ScanSettings",
    "Segment",
    "Shape",
    "Sphere",
    "SphereTree",
    "SubframeMotion",
    "Surface",
    "SweptPairs",
    "Triangle",
    "TriangleMesh",
    "WitnessPoints",
    "aabb_from_points",
    "aabbs_from_groups",
    "at",
    "ball_surface",
    "box_surface",
    "capsule_from_points",
    "capsule_surface",
    "closest_time",
    "envelopes_over",
    "first_impact",
    "first_mesh_contact",
    "hull_from_points",
    "mesh_separation",
    "meshes_overlap",
    "minimum_translation",
    "obb_from_points",
    "overlap_span",
    "overlapping_pairs",
    "overlapping_pairs_between",
    "overlapping_pairs_between_brute_force",
    "overlapping_pairs_brute_force",
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
