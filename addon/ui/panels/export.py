"""The Colliders and Export panels, and colliders in Blender's own glTF export.

The latter are options in its dialog, stored in the scene, and the hooks that its exporter calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import bpy
from bpy.types import Context, Object, Panel, Scene, UILayout

from ...formats.export.gltf import GltfExtension
from ...formats.wording import valid_text
from ...scene.blender.object_settings import decimal_from_float32, is_marked_collider
from ...scene.colliders.check import ColliderCheck, Mend
from ...scene.colliders.records import ColliderState
from ...scene.gltf_export.nodes import ExportSettings, add_colliders
from ...scene.settings import ColliderKind
from ..kept_checks import count_colliders, is_outdated, stored_check
from ..operators import export
from ..operators.colliders import check_summary
from ..overlay.state import after_export, before_export
from ..properties.options import draw_options
from ..properties.preferences import PACKAGE
from ..properties.scene import COLLIDER_OPTIONS, fit_settings, selected_count, settings_of, settings_on
from ..texts import iface_, iface_count, most_that_fit, n_, translated
from .sidebar import Tab, fits_in_sidebar, folded, running_job, with_button

_BUTTONS_IN_ROW, _LONG_BUTTONS_IN_ROW = 3, 2
_SHORT_BUTTON = 12
"""Characters of the text of a button up to which three fit into a row."""

_LISTED = 12
"""Problems and notes that the panel lists; the report of the command line has all."""
_SURROUNDINGS = 84
"""Pixels of a sidebar that are left and right of a text in the list."""
_SURROUNDINGS_OF_COUNTS = 64
"""Pixels of a sidebar that are left and right of a text with an icon in a panel."""


class COLLISION_BOUNDS_PT_colliders(Tab, Panel):
    bl_label = "Colliders"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = with_button(
            self.layout,
            "collision_bounds.create_colliders",
            "MESH_CUBE",
            "collision_bounds.remove_colliders",
            running_job("collision_bounds.create_colliders"),
            _button_text(context),
        )
        settings = settings_of(context)
        lines = layout.column(align=True)
        fits = fits_in_sidebar(context, _SURROUNDINGS_OF_COUNTS)
        for icon, text in count_lines(count_colliders(context.scene)):
            for line in wrapped_lines(text, fits):
                lines.label(text=line, translate=False, icon=icon)
                icon = "BLANK1"
        draw_options(layout, settings.colliders, COLLIDER_OPTIONS)
        row = layout.row()
        row.active = settings.display.show_overlay
        row.prop(settings.colliders, "show_surfaces")
        column = self.layout.column(align=True)
        column.operator("collision_bounds.colliders_from_selection", icon="EDITMODE_HLT")
        column.operator("collision_bounds.colliders_from_group", icon="GROUP_VERTEX")
        self.layout.operator("collision_bounds.check_colliders", icon="CHECKMARK")
        check = stored_check(context.scene)
        if check is not None:
            _draw_check(self.layout.box(), context, check)


def _button_text(context: Context) -> str:
    """Return the text of Create Colliders with the number of selected objects; empty for its label."""
    count = selected_count(context)
    return iface_("Create Colliders: {count} Selected", count=count) if count else ""


_KIND_COUNTS: dict[ColliderKind, tuple[str, str]] = {
    "box": (n_("{count} box"), n_("{count} boxes")),
    "sphere": (n_("{count} sphere"), n_("{count} spheres")),
    "capsule": (n_("{count} capsule"), n_("{count} capsules")),
    "hull": (n_("{count} hull"), n_("{count} hulls")),
}


def count_lines(states: Counter[ColliderState]) -> Iterator[tuple[Any, str]]:
    """Yield lines with an icon: how many colliders of which kinds, and how many were edited."""
    kinds: Counter[ColliderKind] = Counter()
    for state, count in states.items():
        kinds[state.kind] += count
    texts = [iface_count(kinds[kind], *texts) for kind, texts in _KIND_COUNTS.items() if kinds[kind]]
    if len(texts) > 1:
        one, many = n_("{count} collider: {kinds}"), n_("{count} colliders: {kinds}")
        texts = [iface_count(kinds.total(), one, many, kinds=", ".join(texts))]
    yield from (("CHECKMARK", text) for text in texts)
    if edited := sum(count for state, count in states.items() if state.is_edited):
        yield "INFO", iface_("{count} edited manually: kept", count=edited)


_MENDS: dict[Mend, tuple[str, str]] = {
    "rename": ("collision_bounds.rename_colliders", n_("Rename All: {count}")),
    "rebuild": ("collision_bounds.rebuild_colliders", n_("Rebuild All: {count}")),
}
"""Operator that mends a problem, and the text of the button that mends all that it can."""


def _draw_check(layout: UILayout, context: Context, check: ColliderCheck) -> None:
    """Draw the problems and notes of the last check: click a name to select the object.

    After a change of the scene there are none, because some may be mended.
    """
    is_old = is_outdated(context.scene)
    row = layout.row(align=True)
    if is_old:
        row.label(text="The scene changed: check again", icon="ERROR")
    else:
        row.label(text=check_summary(check), translate=False, icon="ERROR" if check.problems else "CHECKMARK")
    row.operator("collision_bounds.clear_collider_check", text="", icon="X", emboss=False)
    if is_old:
        return
    mends = Counter(problem.mended_by for problem in check.problems)
    row = layout.row(align=True)
    for mend, (operator, text) in _MENDS.items():
        if mends[mend] > 1:
            row.operator(operator, text=iface_(text, count=mends[mend]), translate=False)
    fits = fits_in_sidebar(context, _SURROUNDINGS)
    for index, problem in enumerate(check.findings[:_LISTED]):
        column = layout.column(align=True)
        line = column.row(align=True)
        name = line.row(align=True)
        name.alignment = "LEFT"
        icon: Any = "RESTRICT_SELECT_OFF" if index < len(check.problems) else "INFO"
        select, text = "collision_bounds.select_collider_problem", valid_text(problem.name)
        name.operator(select, text=text, translate=False, icon=icon, emboss=False).index = index
        if problem.mended_by:
            button = line.row(align=True)
            button.alignment = "RIGHT"
            button.operator(_MENDS[problem.mended_by][0]).index = index
        for text in wrapped_lines(valid_text(translated(problem.text)), fits):
            column.label(text=text, translate=False)
    if len(check.findings) > _LISTED:
        more = len(check.findings) - _LISTED
        text = iface_count(more, "and {count} other", "and {count} others")
        layout.label(text=text, translate=False)


def wrapped_lines(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Break a text between words into lines that fit; a word that does not fit is a line of its own.

    Languages without spaces are broken between any two characters.
    """
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and not fits(longer):
            yield line
            longer = word
        # Japanese, for example, is written without spaces.
        while len(longer) > 1 and not fits(longer) and any("\u3040" <= each <= "\u9fff" for each in longer):
            count = most_that_fit(len(longer), lambda count, text=longer: fits(text[:count]))
            yield longer[:count]
            longer = longer[count:]
        line = longer
    if line:
        yield line


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    bl_label = "Export"

    def draw(self, context: Context) -> None:
        document, *partial = export.EXPORTS
        text = iface_(document.button_text)
        self.layout.operator(document.bl_idname, text=text, translate=False, icon="EXPORT")
        for is_long, count in ((False, _BUTTONS_IN_ROW), (True, _LONG_BUTTONS_IN_ROW)):
            buttons = [each for each in partial if (len(each.button_text) > _SHORT_BUTTON) == is_long]
            for start in range(0, len(buttons), count):
                row = self.layout.row(align=True)
                for operator in buttons[start : start + count]:
                    text = iface_(operator.button_text)
                    row.operator(operator.bl_idname, text=text, translate=False)
        self.layout.prop(settings_of(context), "keep_results")


# Blender's glTF exporter calls them before it plays the animation, and when the file is written.
glTF2_pre_export_callback, glTF2_post_export_callback = before_export, after_export  # noqa: N816


class glTF2ExportUserExtension:
    """Adds colliders to Blender's glTF exports, which create an instance each.

    It keeps the object of each node, until all nodes of a scene exist.
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._objects: dict[int, Object] = {}

    def gather_tree_filter_tag_hook(self, vtree: Any, _export_settings: Any) -> None:
        """Drop the collider objects of meshes that get collider nodes: one of both is enough.

        The exporter calls this when it knows which objects to export.
        """
        if not _extensions():
            return
        for node in vtree.nodes.values():
            item = node.blender_object
            if not isinstance(item, Object) or not is_marked_collider(item.original):
                continue
            parent = item.original.parent
            # Bones, and meshes with bones, get no collider nodes.
            if parent is None or (item.original.parent_type != "BONE" and parent.find_armature() is None):
                node.keep_tag = False

    def gather_node_hook(self, node: Any, blender_object: Object, _export_settings: Any) -> None:
        """Record the object of a node; the exporter calls this for each."""
        self._nodes.append(node)  # kept alive, so that no other node gets its id
        self._objects[id(node)] = blender_object

    def gather_scene_hook(self, scene: Any, exported: Scene, export_settings: dict[str, Any]) -> None:
        """Add colliders to the nodes of a scene, with the settings of the dialog's scene.

        The exporter calls this when all of these exist.
        """
        settings = settings_on(bpy.context.scene).gltf
        if extensions := _extensions():
            tolerance = decimal_from_float32(settings.parts_tolerance)
            fit = fit_settings(settings_on(exported))
            fit = replace(fit, parts=settings.parts, parts_tolerance=tolerance)
            log = export_settings["log"]
            add_colliders(
                scene.nodes,
                self._objects,
                ExportSettings(
                    extensions, settings.shape, fit, settings.max_vertices, export_settings["gltf_yup"]
                ),
                lambda problem: log.warning(translated(problem), popup=True),
            )


def _extensions() -> list[GltfExtension]:
    settings = settings_on(bpy.context.scene).gltf
    names: tuple[GltfExtension, ...] = ("omi", "khr")
    return [name for name in names if getattr(settings, name)]


def draw_gltf_options(context: Context, layout: UILayout) -> None:
    body = folded(layout, "COLLISION_BOUNDS_gltf_export", n_("Collision Bounds"))
    if body is None:
        return
    settings = settings_on(context.scene).gltf
    body.use_property_split, body.use_property_decorate = True, False
    column = body.column(heading="Colliders", align=True)
    column.prop(settings, "omi")
    column.prop(settings, "khr")
    column = body.column()
    column.active = settings.omi or settings.khr
    column.prop(settings, "shape")
    column.prop(settings, "parts")
    if settings.parts > 1:
        column.prop(settings, "parts_tolerance")
    if settings.shape == "hull":
        column.prop(settings, "max_vertices")


def attach() -> None:
    """Add the options to the dialog, if Blender's glTF exporter is installed."""
    _dialogs()[PACKAGE] = draw_gltf_options


def detach() -> None:
    _dialogs().pop(PACKAGE, None)


def _dialogs() -> dict[str, Any]:
    try:
        from io_scene_gltf2 import exporter_extension_layout_draw
    except ImportError:
        return {}
    return exporter_extension_layout_draw
