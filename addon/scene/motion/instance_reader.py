"""The instances of a scene frame by frame: where only matrices change, only these are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools
from ...core.progress import run_to_end
from ..blender.instances import MESH_LIKE, InstanceTable, VisibleInstance, read_instance_table


class InstanceReader:
    """Reads all instances at one time after the other.

    From Blender 4.5 on, the instances that geometry nodes make of objects can be compared with those of the
    time before, by a few arrays. If they show the same objects with the same ids, and no other objects came
    or went, the instances of the dependency graph are the same in the same order.
    """

    def __init__(self, describe: Callable[[VisibleInstance], Any]) -> None:
        """Prepare to read instances; `describe` as of `read_instance_table`."""
        self._describe = describe
        self._table: InstanceTable | None = None
        self._signature: Hashable = None
        self._matrices: InstanceMatrices | None = None

    def read(self, depsgraph: bpy.types.Depsgraph) -> InstanceTable:
        """Read all instances of an evaluated dependency graph.

        If nothing but matrices changed, `kinds`, `kind_of`, `positions` and `indices` are those of the last
        table, and the details of kinds are as they were there.
        """
        signature = _signature_of(depsgraph)
        if self._table is not None and signature is not None and signature == self._signature:
            if self._matrices is None:
                self._matrices = InstanceMatrices(self._table.count)
            matrices = self._matrices.read(depsgraph)
            if matrices is not None:
                self._table = self._table.with_matrices(matrices)
                return self._table
        self._table = run_to_end(read_instance_table(depsgraph, self._describe))
        self._signature = signature
        self._matrices = None
        return self._table


def _signature_of(depsgraph: bpy.types.Depsgraph) -> Hashable:
    """Return what the objects and ids of all instances depend on; None if that is not known."""
    if not hasattr(bpy.types.Object, "evaluated_geometry"):
        return None
    scene = depsgraph.scene
    if scene.background_set is not None:
        return None
    parts: list[Hashable] = [shown.original.session_uid for shown in depsgraph.objects]
    meshes: dict[int, tuple[int, Any]] = {}
    # An object that shows instances may itself be hidden.
    for item in scene.collection.all_objects:
        if item.is_instancer:
            return None
        if item.modifiers or item.type not in MESH_LIKE:
            made = _object_signature(item.evaluated_get(depsgraph), meshes, depsgraph, 0)
            if made is None:
                return None
            parts.append((item.session_uid, made))
    return tuple(parts)


_DEEPEST = 4
"""Levels of instances in instances that are compared."""
_COMPONENTS = ("mesh", "curves", "pointcloud", "volume", "grease_pencil")


def _object_signature(
    evaluated: Any, meshes: dict[int, tuple[int, Any]], depsgraph: bpy.types.Depsgraph, depth: int
) -> Hashable:
    """Return what the instances that an object's nodes make depend on; None if that is not known.

    meshes : number of each mesh by its pointer, and the geometry that keeps it alive; new ones are added
    """
    if evaluated.original.is_instancer or len(evaluated.particle_systems):
        return None
    # A hidden object is not evaluated.
    if not evaluated.is_evaluated or not any(modifier.type == "NODES" for modifier in evaluated.modifiers):
        return ()
    return _geometry_signature(evaluated.evaluated_geometry(), meshes, depsgraph, depth)


def _geometry_signature(
    geometry: Any, meshes: dict[int, tuple[int, Any]], depsgraph: bpy.types.Depsgraph, depth: int
) -> Hashable:
    """Return what the instances in a geometry depend on, as `_object_signature` does."""
    components = [getattr(geometry, name, None) for name in _COMPONENTS]
    present = tuple(component is not None for component in components)
    mesh = -1
    if components[0] is not None:
        mesh, _ = meshes.setdefault(components[0].as_pointer(), (len(meshes), geometry))
    cloud = geometry.instances_pointcloud()
    if cloud is None:
        return present, mesh
    if depth == _DEEPEST:
        return None
    parts: list[Hashable] = [present, mesh, len(cloud.points)]
    for name in (".reference_index", "id"):
        attribute = cloud.attributes.get(name)
        if attribute is None:
            parts.append(None)
            continue
        numbers = np.empty(len(cloud.points), dtype=np.int32)
        attribute.data.foreach_get("value", numbers)
        parts.append(numbers.tobytes())
    for reference in geometry.instance_references():
        if isinstance(reference, bpy.types.Object):
            uid = reference.original.session_uid
            evaluated = reference.original.evaluated_get(depsgraph)
            inner = _object_signature(evaluated, meshes, depsgraph, depth + 1)
        elif isinstance(reference, bpy.types.GeometrySet):  # type: ignore[attr-defined, unused-ignore]
            uid, inner = 0, _geometry_signature(reference, meshes, depsgraph, depth + 1)
        else:
            return None  # a collection
        if inner is None:
            return None
        parts.append((uid, inner))
    return tuple(parts)


# ---- Matrices of all instances whose order is known, without asking Blender for each instance

_IDENTITY = np.eye(4, dtype=np.float32)


class InstanceMatrices:
    """Reads the matrices of the instances of a dependency graph, while it shows the same ones.

    Blender takes a microsecond for each instance. Geometry nodes keep the transforms of their instances as
    one array, and Blender multiplies them by the matrix of their object. Where the products are equal to
    Blender's matrices, to the bit, they replace them. That is tested for each new pattern of zeros and ones
    in the factors, because a product by them does not depend on how sums are rounded.
    """

    def __init__(self, count: int) -> None:
        """Prepare to read `count` instances, those that are no mesh-like objects included."""
        self._count = count
        self._is_instance: Bools | None = None
        self._tested: set[bytes] = set()
        self._is_product = hasattr(bpy.types.Object, "evaluated_geometry")

    def read(self, depsgraph: bpy.types.Depsgraph) -> NDArray[np.float32] | None:
        """Read all matrices (count, 4, 4), by columns; None if there are more or fewer instances now."""
        if self._is_product:
            # Of the instances that geometry nodes make, as far as they are products of two.
            factors: _Factors = []
            for item in depsgraph.scene.collection.all_objects:
                if not any(modifier.type == "NODES" for modifier in item.modifiers):
                    continue
                evaluated: Any = item.evaluated_get(depsgraph)
                # A hidden object is not evaluated.
                if not evaluated.is_evaluated:
                    continue
                geometry = evaluated.evaluated_geometry()
                transforms = _transforms(geometry.instances_pointcloud())
                if len(transforms) and all(_is_single(each) for each in geometry.instance_references()):
                    factors.append((np.array(evaluated.matrix_world, dtype=np.float32).T, transforms))
            pattern = b"".join(_pattern(each) for pair in factors for each in pair)
            if pattern in self._tested:
                return self._multiplied(depsgraph, factors)
        matrices = self._read_all(depsgraph)
        if self._is_product and matrices is not None:
            if self._is_instance is None:
                self._is_instance = np.empty(self._count, dtype=bool)
                depsgraph.object_instances.foreach_get("is_instance", self._is_instance)
            count = sum(len(transforms) for _, transforms in factors)
            self._is_product = (
                count == np.count_nonzero(self._is_instance)
                and len(depsgraph.objects) == self._count - count
                and np.array_equal(self._multiplied(depsgraph, factors), matrices)
            )
            self._tested.add(pattern)
        return matrices

    def _read_all(self, depsgraph: bpy.types.Depsgraph) -> NDArray[np.float32] | None:
        """Read all matrices from Blender."""
        matrices = np.empty((self._count, 4, 4), dtype=np.float32)
        try:
            depsgraph.object_instances.foreach_get("matrix_world", matrices.reshape(-1))
        except (RuntimeError, TypeError):
            return None
        return matrices

    def _multiplied(self, depsgraph: bpy.types.Depsgraph, factors: _Factors) -> NDArray[np.float32]:
        """Compute all matrices (count, 4, 4)."""
        assert self._is_instance is not None
        matrices = np.empty((self._count, 4, 4), dtype=np.float32)
        objects: Any = depsgraph.objects
        of_objects = np.empty(
            (self._count - int(np.count_nonzero(self._is_instance)), 4, 4), dtype=np.float32
        )
        objects.foreach_get("matrix_world", of_objects.reshape(-1))
        matrices[~self._is_instance] = of_objects
        products = [_product(*pair) for pair in factors]
        matrices[self._is_instance] = np.concatenate([*products, of_objects[:0]])
        return matrices


_Factors: TypeAlias = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""World matrix (4, 4) of each object that shows instances, and the transforms (n, 4, 4) of these."""


def _transforms(cloud: Any) -> NDArray[np.float32]:
    """Copy the transforms (n, 4, 4) of instances, by columns."""
    transforms = np.empty((0 if cloud is None else len(cloud.points), 4, 4), dtype=np.float32)
    if len(transforms):
        cloud.attributes["instance_transform"].data.foreach_get("value", transforms.reshape(-1))
    return transforms


def _is_single(reference: Any) -> bool:
    """Return whether an instance of this is one instance in the end, without another transform."""
    if isinstance(reference, bpy.types.Object):
        return True
    if not isinstance(reference, bpy.types.GeometrySet):  # type: ignore[attr-defined, unused-ignore]
        return False  # a collection
    if any(getattr(reference, name, None) is not None for name in _COMPONENTS):
        return False
    transforms = _transforms(reference.instances_pointcloud())
    return (
        len(transforms) == 1
        and bool((transforms[0] == _IDENTITY).all())
        and all(_is_single(each) for each in reference.instance_references())
    )


def _pattern(matrices: NDArray[np.float32]) -> bytes:
    """Return which entries of matrices (n, 4, 4) or (4, 4) are all 0, and which are all 1."""
    rows = matrices.reshape(-1, 16)
    is_zero, is_one = (rows == 0).all(axis=0), (rows == 1).all(axis=0)
    return bytes(is_zero.tobytes() + is_one.tobytes())


def _product(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply a matrix (4, 4) by matrices (n, 4, 4), all by columns, with the sums in Blender's order."""
    if (first == _IDENTITY).all():
        return second
    # Numpy is slow along axes of four numbers.
    x, y, z, w = np.ascontiguousarray(second.reshape(-1, 4).T)
    product = np.empty_like(second)
    for k, (a, b, c, d) in enumerate(first.T):
        product.reshape(-1, 4)[:, k] = (x * a + y * b) + (z * c + w * d)
    return product
