"""Documents of nested objects, and readers of URDF, MJCF and YAML that share no code with the writers."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from addon.core import (
    Aabb,
    Obb,
    aabb_from_points,
    hull_from_points,
    sphere_from_points,
    sphere_tree_from_triangles,
)
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import ObjectBounds, file_text, space_for
from addon.formats.export.robotics.links import ROBOTICS_SPACE
from tests.formats import samples

SHAPES = ("sphere", "aabb", "obb", "hull", "spheres")
"""Shapes of a document, by their keys."""

IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Part:
    """An object of a scene: its name, parent, and points in its own axes.

    Attributes
    ----------
    name : str
        Also the id.
    parent : str or None
    translation, rotation : (3,), (4,) float
        In the world; the quaternion has w first.
    points : (n, 3) float
        In the object's axes.
    """

    name: str
    parent: str | None
    translation: np.ndarray
    rotation: np.ndarray
    points: np.ndarray

    def world_points(self) -> np.ndarray:
        """Points (n, 3) in the world."""
        return self.translation + self.points @ rotation_matrix(self.rotation).T

    def bounds(self, id: str = "", shapes: Sequence[str] = SHAPES) -> ObjectBounds:
        """Object of a document with some shapes, in the world and in its own axes."""
        groups = []
        for points, axes in (
            (self.points, np.eye(3)),
            (self.world_points(), rotation_matrix(self.rotation)),
        ):
            low, high = (points @ axes).min(axis=0), (points @ axes).max(axis=0)
            size = 16 * np.finfo(float).eps * np.abs(points).max()
            triangles = points[
                [(k, (k + 1) % len(points), (k + 2) % len(points)) for k in range(len(points))]
            ]
            fits: dict[str, Callable[..., Any]] = {
                "aabb": lambda points=points: aabb_from_points(points),
                "obb": lambda axes=axes, low=low, high=high, size=size: Obb(
                    axes @ ((low + high) / 2), (high - low) / 2 + size, axes
                ),
                "sphere": lambda points=points: sphere_from_points(points),
                "hull": lambda points=points: hull_from_points(points, 255, 9),
                "spheres": lambda triangles=triangles: sphere_tree_from_triangles(triangles),
            }
            groups.append(tuple(fits[shape]() for shape in shapes))
        return ObjectBounds(
            id=id or self.name,
            name=self.name,
            kind="MESH",
            parent=self.parent,
            translation=self.translation,
            rotation=self.rotation,
            scale=np.ones(3),
            local=groups[0],
            world=groups[1],
        )


def nested_parts(seed: int, count: int = 6, far: float = 10.0, size: float = 1.0) -> list[Part]:
    """Return objects that are far apart, each the child of one before it or of none, in any rotation."""
    random = np.random.default_rng(seed)
    parts: list[Part] = []
    for number in range(count):
        parent = parts[random.integers(number)].name if number and number % 4 else None
        quaternion = random.normal(size=4)
        parts.append(
            Part(
                f"Part_{number}",
                parent,
                random.uniform(-far, far, 3),
                quaternion / np.linalg.norm(quaternion) if number % 3 else np.array(IDENTITY),
                random.uniform(-size, size, (12, 3)) + random.uniform(-size, size, 3),
            )
        )
    return parts


def box_part(name: str, parent: str | None = None, at: Any = (0, 0, 0), rotation: Any = IDENTITY) -> Part:
    """Return a cube of side 2."""
    corners = np.array([(x, y, z) for x in (-1.0, 1) for y in (-1, 1) for z in (-1, 1)])
    return Part(name, parent, np.array(at, dtype=float), np.array(rotation, dtype=float), corners)


def document_of_parts(parts: list[Part], shape: str, scale_length: float = 1.0, decimals: int = 6) -> dict:
    """Return a document of objects with one shape each, in the space of files for robots."""
    return samples.document_of(
        [part.bounds(shapes=[shape]) for part in parts], space_for(ROBOTICS_SPACE, scale_length), decimals
    )


def with_shape(document: dict, shape: str) -> dict:
    """Return a document without all other shapes."""
    keep = {"local", "world"}
    objects = [
        {
            key: {shape: value[shape]} if key in keep and shape in value else value
            for key, value in each.items()
        }
        for each in document["objects"]
    ]
    return {**document, "objects": objects}


def text_of(document: dict, name: str, **options: Any) -> str:
    """Return the text of a file."""
    return "".join(file_text(document, name, **options))


@dataclass(frozen=True)
class Solid:
    """A convex shape in the world, as a reader finds it.

    Attributes
    ----------
    kind : str
        "sphere", "box", "cylinder", "capsule" or "mesh".
    sizes : tuple of float
        Radius; half extents; or radius and half length.
    translation, rotation : (3,), (3, 3) float
    vertices : (v, 3) float or None
        Of a mesh.
    """

    kind: str
    sizes: tuple[float, ...]
    translation: np.ndarray
    rotation: np.ndarray
    vertices: np.ndarray | None = None

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Distance (n,) by which points (n, 3) of the world are outside; negative inside."""
        local = (points - self.translation) @ self.rotation
        if self.kind == "sphere":
            return np.linalg.norm(local, axis=1) - self.sizes[0]
        if self.kind == "box":
            return (np.abs(local) - self.sizes).max(axis=1)
        if self.kind == "mesh":
            return height_above_hull(self.vertices, local)
        radius, half = self.sizes
        if self.kind == "cylinder":
            across = np.linalg.norm(local[:, :2], axis=1) - radius
            return np.maximum(across, np.abs(local[:, 2]) - half)
        nearest = np.clip(local[:, 2], -half, half)
        return np.linalg.norm(local - nearest[:, None] * np.array([0, 0, 1.0]), axis=1) - radius


def height_above_hull(vertices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Largest height (n,) of points above the faces of the convex hull of vertices, by brute force.

    A plane through three vertices is a face if no vertex is above it.
    """
    heights = np.full(len(points), -np.inf)
    size = float(np.ptp(vertices, axis=0).max())
    count = len(vertices)
    for i in range(count):
        for j in range(i + 1, count):
            normals = np.cross(vertices[j] - vertices[i], vertices[j + 1 :] - vertices[i])
            lengths = np.linalg.norm(normals, axis=1)
            normals = normals[lengths > 1e-9 * size * size] / lengths[lengths > 1e-9 * size * size, None]
            for normal in (*normals, *-normals):
                along = vertices @ normal
                if along.max() <= vertices[i] @ normal + 1e-12 * size:
                    heights = np.maximum(heights, points @ normal - along.max())
    return heights


def union_outside(solids: list[Solid], points: np.ndarray) -> np.ndarray:
    """Distance (n,) by which points are outside of all solids, as a lower bound."""
    return np.min([solid.outside(points) for solid in solids], axis=0)


def numbers(text: str | None, default: str = "") -> np.ndarray:
    """Return the numbers of an attribute."""
    return np.array([float(word) for word in (text or default).split()])


def rotation_by_angles(angles: np.ndarray) -> np.ndarray:
    """Matrix (3, 3) of URDF's roll, pitch and yaw: the product of rotations about Z, Y and X."""
    (a, b, c), (d, e, f) = np.cos(angles), np.sin(angles)
    about_x = np.array([(1, 0, 0), (0, a, -d), (0, d, a)])
    about_y = np.array([(b, 0, e), (0, 1, 0), (-e, 0, b)])
    about_z = np.array([(c, -f, 0), (f, c, 0), (0, 0, 1)])
    return about_z @ about_y @ about_x


def pose(element: ElementTree.Element | None) -> np.ndarray:
    """Matrix (4, 4) of an origin of URDF."""
    matrix = np.eye(4)
    if element is not None:
        matrix[:3, :3] = rotation_by_angles(numbers(element.get("rpy")))
        matrix[:3, 3] = numbers(element.get("xyz"))
    return matrix


def read_urdf(text: str) -> tuple[dict[str, list[Solid]], dict[str, str]]:
    """Read the solids of each link in the world, and the parent of each link; check that they make a tree."""
    robot = ElementTree.fromstring(text.encode("utf-8"))
    links = {link.get("name"): link for link in robot.findall("link")}
    assert robot.tag == "robot" and robot.get("name") and len(links) == len(robot.findall("link"))
    joints = {}
    for joint in robot.findall("joint"):
        assert joint.get("type") == "fixed"
        joints[joint.find("child").get("link")] = joint
    assert len({joint.get("name") for joint in robot.findall("joint")}) == len(joints)
    assert set(links) - set(joints) == {"world"}
    parents = {name: joint.find("parent").get("link") for name, joint in joints.items()}

    def world(name: str) -> np.ndarray:
        if name == "world":
            return np.eye(4)
        return world(parents[name]) @ pose(joints[name].find("origin"))

    solids = {}
    for name, link in links.items():
        solids[name] = [
            urdf_solid(collision.find("geometry")[0], world(name) @ pose(collision.find("origin")))
            for collision in link.findall("collision")
        ]
    return solids, parents


def urdf_solid(geometry: ElementTree.Element, matrix: np.ndarray) -> Solid:
    if geometry.tag == "box":
        sizes = tuple(numbers(geometry.get("size")) / 2)
    elif geometry.tag == "sphere":
        sizes = (float(geometry.get("radius")),)
    else:
        assert geometry.tag == "cylinder"
        sizes = (float(geometry.get("radius")), float(geometry.get("length")) / 2)
    return Solid(geometry.tag, sizes, matrix[:3, 3], matrix[:3, :3])


def read_mjcf(text: str) -> tuple[dict[str, list[Solid]], dict[str, str]]:
    """Read the solids of each body in the world, and the parent of each body."""
    model = ElementTree.fromstring(text.encode("utf-8"))
    meshes = {mesh.get("name"): numbers(mesh.get("vertex")).reshape(-1, 3) for mesh in model.iter("mesh")}
    solids: dict[str, list[Solid]] = {}
    parents: dict[str, str] = {}

    def matrix_of(element: ElementTree.Element) -> np.ndarray:
        matrix = np.eye(4)
        matrix[:3, :3] = rotation_matrix(numbers(element.get("quat"), "1 0 0 0"))
        matrix[:3, 3] = numbers(element.get("pos"), "0 0 0")
        return matrix

    def visit(element: ElementTree.Element, name: str, above: np.ndarray) -> None:
        for body in element.findall("body"):
            assert body.get("name") not in solids
            world = above @ matrix_of(body)
            parents[body.get("name")] = name
            solids[body.get("name")] = []
            for geom in body.findall("geom"):
                matrix = world @ matrix_of(geom)
                sizes = tuple(numbers(geom.get("size")))
                solids[body.get("name")].append(
                    Solid(
                        geom.get("type"), sizes, matrix[:3, 3], matrix[:3, :3], meshes.get(geom.get("mesh"))
                    )
                )
            visit(body, body.get("name"), world)

    visit(model.find("worldbody"), "world", np.eye(4))
    names = [geom.get("name") for geom in model.iter("geom")]
    assert len(set(names)) == len(names)
    return solids, parents


def read_spheres(text: str) -> dict[str, np.ndarray]:
    """Read the spheres (n, 4) of each link, center and radius, from the subset of YAML that is written."""
    spheres: dict[str, list[list[float]]] = {}
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    if lines == ["collision_spheres: {}"]:
        return {}
    assert lines[0] == "collision_spheres:"
    for line in lines[1:]:
        if match := re.fullmatch(r'  "?([A-Za-z_]\w*)"?:', line, re.ASCII):
            assert match[1] not in spheres
            spheres[match[1]] = []
        elif match := re.fullmatch(r"    - center: \[(.*)\]", line):
            spheres[list(spheres)[-1]].append([float(word) for word in match[1].split(", ")])
        else:
            match = re.fullmatch(r"      radius: (.*)", line)
            spheres[list(spheres)[-1]][-1].append(float(match[1]))
    return {name: np.array(rows) for name, rows in spheres.items()}


def distance_tolerance(points: np.ndarray) -> float:
    """Return the rounding error of the computed distances of points (n, 3) of the world."""
    return 8 * np.finfo(float).eps * float(np.abs(points).max()) * math.sqrt(3)


def box_shape(low: Any, high: Any) -> Aabb:
    """Return a box."""
    return Aabb(np.array(low, dtype=float), np.array(high, dtype=float))
