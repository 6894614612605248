"""The tables of docs/development/performance.md: the competitors, the inputs and the goals of each table."""

from .at_rest import AT_REST
from .boxes import BOX
from .broad_phase import BROAD_PHASE
from .convex_parts import CONVEX_PARTS
from .fitting import ORIENTED_BOX, SPHERE_TREE
from .minimal_sphere import MINIMAL_SPHERE
from .motion import IN_MOTION, SWEPT_SPHERES
from .report_pages import REPORT_PAGES
from .scenes.bones import BONES
from .scenes.evaluated_scans import CHARACTERS, DRIVEN
from .scenes.instances import INSTANCE_BOUNDS, INSTANCE_SCANS
from .scenes.many_files import MANY_FILES
from .scenes.mesh_scans import MESH_SAMPLES, MESHES
from .scenes.overlay import DRAWING, LIVE
from .scenes.scans import CROWDS, SCANS
from .scenes.split_animation import SPLIT_ANIMATION
from .tables import Table
from .tracks import NUMBER_TEXT, TRACKS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        MINIMAL_SPHERE,
        BOX,
        ORIENTED_BOX,
        SPHERE_TREE,
        CONVEX_PARTS,
        BROAD_PHASE,
        AT_REST,
        IN_MOTION,
        SWEPT_SPHERES,
        CROWDS,
        SCANS,
        DRIVEN,
        CHARACTERS,
        MESHES,
        MESH_SAMPLES,
        BONES,
        INSTANCE_BOUNDS,
        INSTANCE_SCANS,
        NUMBER_TEXT,
        TRACKS,
        LIVE,
        DRAWING,
        MANY_FILES,
        SPLIT_ANIMATION,
        REPORT_PAGES,
    )
}
