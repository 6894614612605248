"""Nodes that occur in node trees of modifiers, in groups too."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from .animated.switches import INSTANCING, changing
from .names import full_name_of

_INSTANCING = ("Instance", "ObjectInfo", "CollectionInfo", "StringToCurves", "Import", "GreasePencil", "Bake")
"""Parts of the names of nodes that can make instances, or read them."""


def has_node(item: bpy.types.Modifier, is_wanted: Callable[[str], bool]) -> bool:
    """Return whether the node tree of a modifier, or a group in it, has a node of a wanted type."""
    return _has_node(getattr(item, "node_group", None), is_wanted, set())


def tree_has_node(tree: bpy.types.NodeTree, is_wanted: Callable[[str], bool]) -> bool:
    """Return whether a node tree has a node of a wanted type, groups in it not included."""
    return any(is_wanted(node.bl_idname) for node in tree.nodes)


def _has_node(tree: bpy.types.NodeTree | None, is_wanted: Callable[[str], bool], seen: set[str]) -> bool:
    if tree is None or full_name_of(tree) in seen:
        return False
    seen.add(full_name_of(tree))
    return any(
        is_wanted(node.bl_idname) or _has_node(getattr(node, "node_tree", None), is_wanted, seen)
        for node in tree.nodes
    )


def may_have_instances(item: bpy.types.Object) -> bool:
    """Return whether an original object may show instances at any frame. Conservative."""
    return (
        item.is_instancer
        or bool(changing(item, INSTANCING))
        or any(
            modifier.type == "PARTICLE_SYSTEM"
            or (modifier.type == "NODES" and has_node(modifier, _may_instance))
            for modifier in item.modifiers
        )
    )


def _may_instance(kind: str) -> bool:
    return any(part in kind for part in _INSTANCING)
