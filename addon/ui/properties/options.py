"""Options that a scene and operators (for F9) have as properties, from those that the settings declare.

Changes are announced to subscribers: importing overlay, panels and operators would be a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, UILayout

from ...scene.blender.instances import name_of
from ...scene.blender.object_properties import property_of
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.declarations import Name, Number, Option, Patterns, options_of
from ...scene.settings import JOB_OPTIONS, SHAPE_KINDS, ColliderSettings, PairSettings
from ...scene.subjects.selection import COLLECTION_PREFIX, split_at_commas

Listener = Callable[[Any, Context], None]
"""Called with the owner of the property and the context."""

display_changed: list[Listener] = []
"""Listeners to changes of the bounds that are drawn, of their fit, or of their colors."""
style_changed: list[Listener] = []
"""Listeners to changes of the style, which leave the draw data as it is."""
active_contact_changed: list[Listener] = []
"""Listeners to changes of the active row of the contact list."""
grouping_changed: list[Listener] = []
"""Listeners to changes of what the rows of the contact list are grouped by."""
tab_renamed: list[Listener] = []
"""Listeners to changes of the name of the tab in the sidebar."""


def announces(listeners: list[Listener]) -> Listener:
    """Return a function that calls all listeners: Blender accepts nothing else that can be called."""

    def announce(owner: Any, context: Context) -> None:
        for listener in listeners:
            listener(owner, context)

    return announce


_Class = TypeVar("_Class", bound=type)


def flag(name: str = "", description: str = "", **more: Any) -> Any:
    """Return the definition of a property that is on or off."""
    return BoolProperty(name=name, description=description, **more)


def one_of(name: str, description: str, *items: tuple[Any, ...], **more: Any) -> Any:
    """Return the definition of a property that is one of several items: name, label, tooltip, number."""
    return EnumProperty(name=name, description=description, items=items, **more)


_scope = partial(
    one_of,
    "Objects",
    "Objects to process",
    ("SELECTED", "Selected", "Only selected objects", 0),
    ("VISIBLE", "All Visible", "All visible objects with geometry, instances included", 1),
)
_added_shapes = partial(
    one_of,
    "Also Fit",
    "Shapes to fit in addition to spheres and boxes. They are part of exported bounds",
    *(
        (key, kind.label, kind.description, kind.icon, kind.bit)
        for key, kind in SHAPE_KINDS.items()
        if kind.bit
    ),
)
OPTIONS: dict[str, dict[str, Option]] = {
    command: {
        option.property: option
        for option in options.values()
        if option.label and not option.is_of_objects_alone
    }
    for command, options in (
        ("bounds", JOB_OPTIONS["bounds"]),
        ("contacts", JOB_OPTIONS["contacts"]),
        ("colliders", options_of(ColliderSettings())),
    )
}
"""Options of a scene and of the operator of each command, by the names of their properties."""

_OF_JOBS = OPTIONS["bounds"] | OPTIONS["contacts"]

PART_OPTIONS = ("parts", "parts_tolerance", "part_shape")
"""Options of convex parts."""

BOUNDS_OPTIONS = ("added_shapes", *OPTIONS["bounds"])
"""Options of Compute Bounds, each a property of the scene and of the operator."""

CONTACT_OPTIONS = tuple(OPTIONS["contacts"])
"""Options of Find Contacts, each a property of the scene and of the operator."""

OPTIONS_WITH_PICKER = ("group_a", "group_b", "obstacles")
"""Options that have a picker, and a pattern of the same name for everything else."""

_OF_PAIRS = {option.property for option in options_of(PairSettings()).values()}

SCAN_OPTIONS = tuple(
    name for name in CONTACT_OPTIONS if name not in {*_OF_PAIRS, *OPTIONS["bounds"], "shape", "motion"}
)
"""Options of Find Contacts that no panel draws in another place."""

SCENE_SPECIFIC_OPTIONS = (
    *("scope", "group_threshold"),
    *(name for name, option in _OF_JOBS.items() if isinstance(option.kind, Name | Patterns)),
)
"""Options that refer to objects of one scene, so presets do not store them."""

CHOSEN_GROUP = {
    "name": "Vertex Group",
    "description": "Name of the vertex group. Empty for the active group of each object",
}


def option_property(name: str, /, **changes: Any) -> Any:
    """Return the definition of the property of an option, or of the objects, with changed arguments."""
    if name == "scope":
        return _scope(**changes)
    if name == "added_shapes":
        return _added_shapes(**{**changes, "options": {"ENUM_FLAG", *changes.get("options", ())}})
    option = (OPTIONS["colliders"] | _OF_JOBS)[name]
    if isinstance(option.kind, Patterns) and not option.kind.of_pairs:
        changes = {"search": suggested_names, "search_options": {"SUGGESTION"}, **changes}
    return property_of(option, **changes)


def suggested_names(_owner: Any, context: Context, _typed: str) -> Iterator[str]:
    """Yield collections and objects as suggestions for a field that also takes patterns."""
    yield from (
        f"{COLLECTION_PREFIX}{name_of(entry)}" for entry in context.scene.collection.children_recursive
    )
    yield from (name_of(item) for item in context.scene.objects)


class HasOptions:
    """Base of classes with properties that are not in their body."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


def with_properties(**properties: Any) -> Callable[[_Class], _Class]:
    """Return a decorator that adds properties to a class."""

    def add(cls: _Class) -> _Class:
        cls.__annotations__ = {**properties, **cls.__annotations__}
        return cls

    return add


def option_values(settings: Any, command: str) -> dict[str, Any]:
    """Return the values of the options of a command, as they were typed, by the names of the options."""
    return {option.name: _typed(option, getattr(settings, name)) for name, option in OPTIONS[command].items()}


def _typed(option: Option, value: Any) -> Any:
    """Return the value of a property as it was typed: a length in single precision as a decimal number."""
    if isinstance(option.kind, Number) and not option.kind.is_whole:
        return decimal_from_float32(value)
    if isinstance(option.kind, Name):
        return value or None
    if isinstance(option.kind, Patterns):
        return split_at_commas(value) if option.kind.of_pairs else (value,) if value else ()
    return value


_APPLIES: dict[str, Callable[[Any], bool]] = {
    # Bounds have parts only if the shape is chosen, colliders always.
    **dict.fromkeys(PART_OPTIONS, lambda each: "compound" in getattr(each, "added_shapes", ("compound",))),
    **dict.fromkeys(("up", "forward", "handedness", "units"), lambda export: export.preset == "custom"),
    "pattern": lambda colliders: colliders.naming == "custom",
    "max_vertices": lambda colliders: colliders.kind == "hull",
    "group_threshold": lambda bounds: bool(bounds.vertex_group),
}
"""Whether options apply that do so only with certain values of others."""


def draw_options(layout: UILayout, settings: Any, names: Iterable[str], item: Any = None) -> None:
    """Draw those options of a scene or an operator that apply. Vertex groups are those of an object."""
    for name in names:
        if not _APPLIES.get(name, bool)(settings):
            continue
        column = layout.column()
        # Greyed out instead of hidden, so that rows stay in place while the number of parts is dragged.
        column.active = name != "parts_tolerance" or settings.parts > 1
        if name in ("group", "vertex_group") and item is not None and len(item.vertex_groups):
            column.prop_search(settings, name, item, "vertex_groups")
        else:
            column.prop(settings, name)
