"""The part of Godot that the loader uses. Vectors and sizes of shapes round to single precision."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

null, true, false, OK = None, True, False, 0


class String(str):
    def begins_with(self, text: str) -> bool:
        return self.startswith(text)

    def validate_node_name(self) -> String:
        return String(re.sub(r'[.:@/"%]', "_", self))

    def length(self) -> int:
        return len(self)

    def left(self, count: int) -> String:
        return String(self[:count])

    def right(self, count: int) -> String:
        return String(self[-count:])

    def substr(self, start: int) -> String:
        return String(self[start:])

    def is_valid_int(self) -> bool:
        return re.fullmatch(r"[+-]?\d+", self) is not None

    def split(self, separator: str) -> Array:
        return Array(map(String, super().split(separator)))


class Array(list):
    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: list) -> Array:
        return Array([*self, *other])

    def slice(self, start: int, end: int | None = None) -> Array:
        return Array(self[start:end])

    def sort_custom(self, is_before: Any) -> None:
        self.sort(key=functools.cmp_to_key(lambda a, b: is_before(b, a) - is_before(a, b)))

    def pop_back(self) -> Any:
        return self.pop()

    def size(self) -> int:
        return len(self)

    def is_empty(self) -> bool:
        return not self

    def min(self) -> Any:
        return min(self)


class Dictionary(dict):
    def has(self, key: Any) -> bool:
        return not isinstance(key, dict) and key in self

    def is_empty(self) -> bool:
        return not self


PackedFloat64Array = PackedVector3Array = PackedStringArray = Array


def str(value: Any) -> String:
    return String("<null>" if value is None else f"{value}")


def is_of_type(value: Any, kind: Any) -> bool:
    if isinstance(value, bool) or kind in (int, float):
        return type(value) is kind
    return isinstance(value, kind)


def items_of(value: Any) -> Iterable[Any]:
    return range(value) if isinstance(value, int) else value


def floorf(value: float) -> float:
    return math.floor(value)


floori = floorf


absf, maxf, mini, is_finite, INF = abs, max, min, math.isfinite, math.inf


def error_string(_code: int) -> str:
    return String("File not found")


def single(value: Any) -> float:
    return float(np.float32(value))


class Vector3:
    def __init__(self, x: float = 0, y: float = 0, z: float = 0) -> None:
        self.numbers = np.array([x, y, z], dtype=np.float32)

    x = property(lambda self: float(self.numbers[0]))
    y = property(lambda self: float(self.numbers[1]))
    z = property(lambda self: float(self.numbers[2]))

    def __add__(self, other: Vector3) -> Vector3:
        return Vector3(*(self.numbers + other.numbers))

    def __sub__(self, other: Vector3) -> Vector3:
        return Vector3(*(self.numbers - other.numbers))

    def __mul__(self, factor: Any) -> Vector3:
        return Vector3(
            *(self.numbers * (factor.numbers if isinstance(factor, Vector3) else np.float32(factor)))
        )

    def abs(self) -> Vector3:
        return Vector3(*np.abs(self.numbers))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Vector3:
        return Vector3(*(self.numbers / (other.numbers if isinstance(other, Vector3) else np.float32(other))))

    def length(self) -> float:
        return float(np.linalg.norm(self.numbers))

    def distance_to(self, other: Vector3) -> float:
        return (self - other).length()

    def dot(self, other: Vector3) -> float:
        return float(self.numbers @ other.numbers)

    def cross(self, other: Vector3) -> Vector3:
        return Vector3(*np.cross(self.numbers, other.numbers))

    def normalized(self) -> Vector3:
        return self / self.length()


Vector3.ONE, Vector3.ZERO = Vector3(1, 1, 1), Vector3()
Vector3.RIGHT, Vector3.UP = Vector3(1, 0, 0), Vector3(0, 1, 0)


class Vector4:
    def __init__(self, *numbers: float) -> None:
        with np.errstate(over="ignore"):
            self.numbers = np.array(numbers, dtype=np.float32)

    def length(self) -> float:
        return float(np.linalg.norm(self.numbers.astype(np.float64)))


class Quaternion(Vector4):
    def normalized(self) -> Quaternion:
        return Quaternion(*(self.numbers / np.linalg.norm(self.numbers)))


class Basis:
    """Columns are the axes."""

    def __init__(self, *axes: Any) -> None:
        if len(axes) == 3:
            self.matrix = np.stack([axis.numbers for axis in axes], axis=1)
            return
        x, y, z, w = axes[0].numbers.astype(np.float64)
        self.matrix = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ],
            dtype=np.float32,
        )

    @staticmethod
    def from_scale(scale: Vector3) -> Basis:
        return Basis(*(Vector3(*row) for row in np.diag(scale.numbers)))

    x = property(lambda self: Vector3(*self.matrix[:, 0]))
    y = property(lambda self: Vector3(*self.matrix[:, 1]))
    z = property(lambda self: Vector3(*self.matrix[:, 2]))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Vector3):
            return Vector3(*(self.matrix @ other.numbers))
        return Basis(*(Vector3(*column) for column in (self.matrix @ other.matrix).T))

    def inverse(self) -> Basis:
        return Basis(*(Vector3(*column) for column in np.linalg.inv(self.matrix).T))


_IDENTITY = Basis(Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))


class Transform3D:
    def __init__(self, basis: Basis, origin: Vector3) -> None:
        self.basis, self.origin = basis, origin

    def __mul__(self, other: Transform3D) -> Transform3D:
        return Transform3D(self.basis * other.basis, self.basis * other.origin + self.origin)

    def affine_inverse(self) -> Transform3D:
        basis = self.basis.inverse()
        return Transform3D(basis, basis * (self.origin * -1))


Transform3D.IDENTITY = Transform3D(_IDENTITY, Vector3())


class AABB:
    def __init__(self, position: Vector3 | None = None, size: Vector3 | None = None) -> None:
        self.position, self.size = position or Vector3(), size or Vector3()

    def grow(self, by: float) -> AABB:
        return AABB(self.position - Vector3.ONE * by, self.size + Vector3.ONE * (2 * by))


class Object:
    @classmethod
    def new(cls) -> Any:
        return cls()


class Shape(Object):
    """Resource whose numbers are single-precision."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, single(value) if isinstance(value, (int, float)) else value)


class BoxShape3D(Shape):
    pass


class SphereShape3D(Shape):
    pass


class CapsuleShape3D(Shape):
    pass


class CylinderShape3D(Shape):
    pass


class ConvexPolygonShape3D(Shape):
    pass


class Node(Object):
    def __init__(self) -> None:
        self.name, self.owner, self.children = String(""), None, []
        self.parent: Node | None = None

    def add_child(self, child: Node, force_readable_name: bool = False) -> None:
        names = {each.name for each in self.children}
        number, plain = 2, child.name
        while child.name in names:
            child.name, number = String(f"{plain}{number}"), number + 1
        self.children.append(child)
        child.parent = self

    def get_parent(self) -> Node | None:
        return self.parent

    def get_children(self) -> Array:
        return Array(self.children)

    def free(self) -> None:
        pass


class Node3D(Node):
    def __init__(self) -> None:
        super().__init__()
        self.transform = Transform3D(_IDENTITY, Vector3())

    @property
    def position(self) -> Vector3:
        return self.transform.origin

    @position.setter
    def position(self, value: Vector3) -> None:
        self.transform = Transform3D(self.transform.basis, value)


class MeshInstance3D(Node3D):
    """Its skeleton is that with which it was created, or none: the substitute of a path is the node."""

    def __init__(self, skeleton: Node | None = None) -> None:
        super().__init__()
        self.skeleton = skeleton

    def get_aabb(self) -> AABB:
        return AABB()

    def get_node_or_null(self, path: Node | None) -> Node | None:
        return path


class Skeleton3D(Node3D):
    def __init__(self, bones: Iterable[str] = ()) -> None:
        super().__init__()
        self.bones = [*bones]

    def find_bone(self, name: str) -> int:
        return self.bones.index(name) if name in self.bones else -1

    def get_bone_count(self) -> int:
        return len(self.bones)

    def get_bone_name(self, bone: int) -> String:
        return String(self.bones[bone])

    def get_bone_global_pose(self, bone: int) -> Transform3D:
        return Transform3D.IDENTITY


class BoneAttachment3D(Node3D):
    bone_name = ""


class CollisionShape3D(Node3D):
    pass


class CollisionObject3D(Node3D):
    pass


class StaticBody3D(CollisionObject3D):
    physics_material_override = None


class Area3D(CollisionObject3D):
    pass


class RegEx:
    @staticmethod
    def create_from_string(pattern: str) -> RegEx:
        found = RegEx()
        found.pattern = pattern
        return found

    def sub(self, subject: str, replacement: str) -> String:
        return String(re.sub(self.pattern, replacement, subject, count=1))


class FileAccess:
    READ = 1

    @staticmethod
    def open(path: str, _mode: int) -> FileAccess | None:
        found = FileAccess()
        try:
            found.text = Path(path).read_text("utf-8")
        except OSError:
            return None
        return found

    @staticmethod
    def get_open_error() -> int:
        return 7

    def get_as_text(self) -> String:
        return String(self.text)


class JSON(Object):
    def parse(self, text: str) -> int:
        try:
            # Numbers of JSON are floats in Godot.
            self.data = _from_json(json.loads(text, parse_int=float))
        except ValueError:
            return 43
        return OK

    def get_error_line(self) -> int:
        return 1

    def get_error_message(self) -> String:
        return String("Unexpected end")


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return Array(map(_from_json, value))
    if isinstance(value, dict):
        return Dictionary({String(key): _from_json(each) for key, each in value.items()})
    return String(value) if type(value).__name__ == "str" else value
