"""Objects that depend on more of their scene than what is evaluated with them.

Such objects may look different in a private scene. The check is conservative: whatever uses one of them
counts as dependent, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ..blender.animated.switches import SIMPLIFICATION, changing
from ..blender.node_trees import tree_has_node
from ..blender.simulation import dependents_of

_CAMERA_CONSTRAINTS = frozenset({"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"})
_ACTIVE_CAMERA = "GeometryNodeInputActiveCamera"
_MATH_NAMES = frozenset(
    {"abs", "acos", "asin", "atan", "atan2", "bool", "ceil", "cos", "degrees", "exp", "fabs", "float"}
    | {"floor", "fmod", "frame", "int", "log", "max", "min", "pi", "pow", "radians", "round", "sin"}
    | {"sqrt", "tan"}
)
"""Names of a driver's expression whose values depend on the frame alone."""


def reasons_by_object(scene: bpy.types.Scene, blocks: Iterable[bpy.types.ID]) -> dict[int, str]:
    """Return why objects may look different in another scene, by their session_uid.

    scene : Their scene.
    blocks : Original data-blocks that were evaluated: the objects, and all that they depend on.
    """
    if changing(scene, SIMPLIFICATION):
        reason = "the simplification of the scene is animated"
        return {block.session_uid: reason for block in blocks if isinstance(block, bpy.types.Object)}
    by_reason: dict[str, set[bpy.types.ID]] = {}
    for block in blocks:
        reason = next(_reasons(block), None)
        if reason is not None:
            by_reason.setdefault(reason, set()).add(block)
    reasons: dict[int, str] = {}
    for reason, found in by_reason.items():
        for block in dependents_of(found):
            if isinstance(block, bpy.types.Object):
                reasons.setdefault(block.session_uid, reason)
    return reasons


def _reasons(block: Any) -> Iterator[str]:
    """Why a data-block itself may look different."""
    animation = getattr(block, "animation_data", None)
    for curve in animation.drivers if animation is not None else ():
        yield from _driver_reasons(curve.driver)
    if isinstance(block, bpy.types.NodeTree) and tree_has_node(block, _ACTIVE_CAMERA.__eq__):
        yield "its nodes use the active camera"
    if not isinstance(block, bpy.types.Object):
        return
    if block.mode not in ("OBJECT", "POSE"):
        yield "it is being edited"
    if block.type == "META":
        yield "metaballs melt into others of the scene"
    if block.rigid_body is not None or block.rigid_body_constraint is not None:
        yield "it is a rigid body"
    bones = block.pose.bones if block.pose is not None else ()
    for constraint in (*block.constraints, *(each for bone in bones for each in bone.constraints)):
        if constraint.type in _CAMERA_CONSTRAINTS:
            yield "a constraint uses the clip or the camera of the scene"
    if block.pose is not None and block.pose.ik_solver == "ITASC":
        yield "its bones remember earlier frames"


def _driver_reasons(driver: Any) -> Iterator[str]:
    for variable in driver.variables:
        if variable.type == "CONTEXT_PROP":
            yield "a driver reads the scene"
        for target in variable.targets:
            if isinstance(target.id, (bpy.types.Scene, bpy.types.WindowManager, bpy.types.Screen)):
                yield "a driver reads the scene"
    if driver.type == "SCRIPTED" and not driver.is_simple_expression:
        known = _MATH_NAMES | {variable.name for variable in driver.variables}
        if driver.use_self or not _names_in(driver.expression) <= known:
            yield "a driver runs Python"


def _names_in(expression: str) -> set[str]:
    """All names in an expression, attributes included; one that is never defined if it is invalid."""
    try:
        code = compile(expression, "driver", "eval")
    except (SyntaxError, ValueError):
        return {""}
    # Functions and comprehensions within the expression have code of their own.
    return {*code.co_names, *({"lambda"} if any(hasattr(each, "co_code") for each in code.co_consts) else ())}
