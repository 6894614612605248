"""Objects with settings, and checks that shapes enclose their vertices.

The vertices that must be inside are computed here from the mesh data alone.
"""

from __future__ import annotations

import bpy
import numpy as np

from addon.core import Aabb, Sphere
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from tests.finished import finished
from tests.scene.building import CUBE, Nodes, key_location

rng = np.random.default_rng(5)
CLOUD = rng.normal(size=(40, 3)).astype(np.float32)
FACES = [tuple(map(int, rng.choice(40, 3, replace=False))) for _ in range(60)]
POSE = {"location": (1.5, -2, 0.5), "rotation_euler": (0.4, 1.1, -0.7), "scale": (2.0, 0.5, 1.25)}
SHAPES = ["sphere", "aabb", "obb", "spheres"]


def add_item(name, points=CLOUD, faces=FACES, collection=None, **attributes):
    """Add a mesh object, by default with 40 random vertices and 60 random triangles."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], faces)
    item = bpy.data.objects.new(name, mesh)
    (collection or bpy.context.scene.collection).objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    bpy.context.view_layer.update()
    return item


def change_settings(item, **values):
    """Enable the settings of an object and set some of them. Returns the object."""
    item.collision_bounds.use_object_settings = True
    for key, value in values.items():
        setattr(item.collision_bounds, key, value)
    return item


def world_vertices(item, points=None):
    """World positions (n, 3) in double precision of object-space points, by default of the mesh vertices."""
    if points is None:
        points = [tuple(vertex.co) for vertex in item.data.vertices]
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return np.asarray(points, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def encloses(shape, points, margin=0.0):
    """Return whether each point is inside one of the shapes, at least `margin` from its surface."""
    points = np.asarray(points)[:, None]
    slack = 1e-9 - margin
    if isinstance(shape, Sphere):
        gap = np.linalg.norm(points - shape.center, axis=-1) - shape.radius
    elif isinstance(shape, Aabb):
        gap = np.maximum(shape.min - points, points - shape.max).max(axis=-1)
    else:
        local = np.einsum("...ji,...j->...i", shape.rotation, points - shape.center)
        gap = (np.abs(local) - shape.half_extents).max(axis=-1)
    return bool((gap <= slack).any(axis=-1).all())


def bounds_by_name(shapes=("sphere", "aabb"), **fit):
    """Compute bounds at the current frame. Returns the entries by name, and the result."""
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=FitSettings(**fit)))
    return {entry.name: entry for entry in result.objects}, result


def sample_shapes(shape, frames=(1, 3, 5), **settings):
    """Yield the shapes of all subjects by name, at each frame, as a scan samples them."""
    fit = FitSettings(**settings)
    result = compute_bounds(bpy.context.scene, BoundsSettings(fit=fit))
    subjects = result.subjects
    motion = SceneMotion(bpy.context.scene, subjects, Selection(), shape, fit)
    for frame in frames:
        sample = motion.sample(float(frame))
        assert sample.present.all()
        owners = np.arange(len(subjects)) if motion.owners is None else motion.owners
        yield {subject.name: sample.shapes[owners == number] for number, subject in enumerate(subjects)}


def animate(item):
    """Key location and rotation so that the object moves at each frame. Returns the object."""
    for frame, angle in ((1, 0.1), (5, 1.9)):
        item.rotation_euler[2] = angle
        item.keyframe_insert("rotation_euler", frame=frame)
    start = np.array(item.location)
    key_location(item, {1: tuple(start), 5: tuple(start + np.array((3.0, 1.0, 0.0)))})
    return item


def scan_with_static_pairs(shape="aabb", frames=(1, 11, 1), **more):
    """Scan for contacts, also of pairs in which neither object moves."""
    job = find_contacts(
        bpy.context.scene, ContactSettings(shape=shape, frames=frames, static_pairs=True, **more)
    )
    return finished(job)


def add_two_cubes(name, **attributes):
    """Add one mesh of two closed cubes, the second at x = 5."""
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    points = np.concatenate([CUBE, CUBE + np.array((5, 0, 0))])
    faces = quads + [tuple(8 + corner for corner in quad) for quad in quads]
    return add_item(name, points, faces, **attributes)


def cube_faces():
    """Return the quads of a cube whose vertices are in the order of CUBE."""
    return [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]


def join_instances(item, source):
    """Join a mesh, by geometry nodes, with an instance of `source` on each vertex.

    For None the instances are of a new cube of side 4.
    """
    nodes = Nodes(item)
    if source is None:
        instance = nodes.add("GeometryNodeMeshCube", {"Size": (4, 4, 4)}).outputs[0]
    else:
        instance = nodes.instance_of(source)
    nodes.end(nodes.joined(nodes.mesh, nodes.on_points(nodes.mesh, instance)))
    bpy.context.view_layer.update()
