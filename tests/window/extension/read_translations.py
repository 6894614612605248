"""In Blender without a window: print texts of the extension in each language, as JSON."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from typing import Any

import addon_utils
import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt, pgettext_tip

PACKAGE = "bl_ext.user_default.collision_bounds"
translations: Any = importlib.import_module(f"{PACKAGE}.translations")
texts: Any = importlib.import_module(f"{PACKAGE}.ui.texts")


def report_of(function: Any, **options: Any) -> str:
    """Return the report of an operator, which Blender prints, or its error."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            function(**options)
    except RuntimeError as error:
        return str(error).partition(": ")[2].strip().splitlines()[0]
    return printed.getvalue().strip()


def read(language: str) -> dict[str, Any]:
    """Return texts in a language, and entries that Blender translates otherwise."""
    bpy.context.preferences.view.language = language
    operators: Any = bpy.ops.collision_bounds
    operator = bpy.types.COLLISION_BOUNDS_OT_go_to_contact  # type: ignore[attr-defined]
    words: Any = translations.LANGUAGES.get(language[:2])
    other = []
    if words is not None:
        plain = {text: entry for text, entry in words["messages"].items() if text not in words["meanings"]}
        for find in (pgettext_iface, pgettext_tip, pgettext_rpt):
            other += [(text, find(text)) for text, entry in plain.items() if find(text) != entry]
        other += [
            (text, pgettext_iface(text, translations.CONTEXT))
            for text, entry in words["meanings"].items()
            if pgettext_iface(text, translations.CONTEXT) != entry
        ]

    forward: Any = bpy.context.window_manager.operator_properties_last("collision_bounds.go_to_contact")
    forward.direction = "NEXT"
    return {
        "operator": pgettext_iface("Compute Bounds", "Operator"),
        "tooltip": operator.description(bpy.context, forward),
        "report": report_of(operators.compute_bounds, scope="SELECTED"),
        "error": report_of(operators.export_json, filepath="/nowhere/missing.json"),
        "box": texts.meaning_("Box"),
        "add": texts.meaning_("Add"),
        "other": other,
    }


view = bpy.context.preferences.view
view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
bpy.ops.object.select_all(action="DESELECT")
bpy.data.objects["Crate"].select_set(True)
found = {language: read(language) for language in ("en_US", "de_DE", "ja_JP")}
view.language = "de_DE"
addon_utils.disable(PACKAGE)
found["disabled"] = {"operator": pgettext_iface("Compute Bounds", "Operator")}
print()
print(json.dumps(found))
