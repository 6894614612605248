"""Pairs that are ignored in a file: one at a time, or all those that are probably meant to touch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.props import StringProperty
from bpy.types import Context, Operator

from ...core.numeric.arrays import Ints
from ...formats.wording import valid_text
from ...scene.blender.instances import full_name_of
from ...scene.blender.object_settings import SETTINGS_PROPERTY, entries_of
from ..properties.options import one_of
from ..properties.scene import SceneSettings, settings_of
from ..row_order import active_heading, grouped_rows, rows_meant_to_touch
from ..texts import n_, rpt_, rpt_count
from . import need
from .command import Command, Outcome, refusal, row_of
from .reports import show_changed_results
from .rows import pair_of_row


def settings_of_object(item: bpy.types.Object) -> Any:
    return getattr(item, SETTINGS_PROPERTY)


def pair_to_set(context: Context) -> tuple[dict[str, str], Any, Any]:
    """Return the names of the active row's pair, and its objects, first that whose settings get the pair.

    This is the first one, unless it is linked. An object that is missing is None.
    """
    (name_a, a), (name_b, b) = pair_of_row(context.view_layer, *row_of(context))
    names = {"a": valid_text(name_a), "b": valid_text(name_b)}
    return (names, b, a) if a and b and a.library is not None else (names, a, b)


def remove_pairs(kind: str, *pair: str) -> int:
    """Remove a pair of names, or all without one, from those that objects of this file store; count them."""
    wanted, count = set(map(valid_text, pair)), 0
    for item in bpy.data.objects:
        stored = getattr(settings_of_object(item), kind)
        for index in reversed(range(len(stored))):
            names = {valid_text(full_name_of(item)), valid_text(stored[index].name)}
            if item.library is None and (not pair or names == wanted):
                stored.remove(index)
                count += 1
    return count


class COLLISION_BOUNDS_OT_ignore_pair(Command, Operator):
    """Ignore contacts of this pair from now on, in all scans of this file"""

    bl_label = "Ignore This Pair"
    needs = (need.idle, need.row)

    def run(self, context: Context) -> str:
        """Add the pair to the settings of one of its objects, and drop it from the results."""
        before = settings_of(context).results
        names, a, b = pair_to_set(context)
        if a is None or b is None:
            text = n_("{name} is not in the view layer: only pairs of objects can be ignored")
            raise refusal(text, name=names["a" if a is None else "b"])
        if a.library is not None:
            raise refusal("{a} and {b} are linked: make a library override of one of them", **names)
        settings_of_object(a).ignored.add().name = full_name_of(b)
        contacts = before.contacts.without_pairs([frozenset((full_name_of(a), full_name_of(b)))])
        show_changed_results(context, replace(before, contacts=contacts))
        return rpt_("Contacts of {a} and {b} are ignored in this file", **names)


_needs_ignored_pairs = need.that(
    lambda _context: entries_of("ignored"), n_("No pair is ignored in this file")
)


class COLLISION_BOUNDS_OT_restore_pairs(Command, Operator):
    """Find contacts of this pair again, or of all pairs that are ignored in this file"""

    bl_label = "Restore Ignored Pairs"
    needs = (need.idle, _needs_ignored_pairs)

    a: StringProperty(
        name="A", description="First object of the pair; empty for all pairs", options={"SKIP_SAVE"}
    )
    b: StringProperty(name="B", description="Second object", options={"SKIP_SAVE"})

    def run(self, context: Context) -> str:
        """Remove the pairs from the settings of their objects; contacts lack them until the next scan."""
        count = remove_pairs("ignored", *((self.a, self.b) if self.a else ()))
        before = settings_of(context).results
        if count and before.contacts is not None:
            show_changed_results(context, replace(before, lacks_restored_pairs=True))
        return rpt_count(count, "{count} pair restored", "{count} pairs restored")


class COLLISION_BOUNDS_OT_ignore_pairs(Command, Operator):
    """Ignore contacts of all these pairs from now on, in all scans of this file"""

    bl_label = "Ignore Pairs"
    needs = (need.idle, need.contacts)

    which: one_of(
        "Pairs",
        "Pairs to ignore",
        ("ALWAYS", "Always in Contact", "Pairs in contact from the first frame to the last"),
        ("OBJECT", "With One Object", "Pairs with the object that touches the most others"),
        ("GROUP", "Of a Group", "Pairs of the group that is active in the list, as far as they are shown"),
        options={"SKIP_SAVE"},
    )

    def _rows(self, settings: SceneSettings) -> Ints:
        """Return the indices of the rows of the pairs."""
        if self.which != "GROUP":
            meant = rows_meant_to_touch(settings)
            return meant.always if self.which == "ALWAYS" else meant.of_object
        is_group = active_heading(settings) is not None
        return grouped_rows(settings, settings.active_row) if is_group else np.empty(0, dtype=np.int64)

    def run(self, context: Context) -> Outcome:
        """Add the pairs to the settings of one object of each, and drop them from the results."""
        settings = settings_of(context)
        before, names = settings.results, set[frozenset[str]]()
        for index in self._rows(settings).tolist():
            (name_a, a), (name_b, b) = pair_of_row(context.view_layer, settings, settings.rows[index])
            items = [item for item in (a, b) if item is not None and item.library is None]
            if a is None or b is None or not items or frozenset((name_a, name_b)) in names:
                continue
            settings_of_object(items[0]).ignored.add().name = full_name_of(b if items[0] == a else a)
            names.add(frozenset((name_a, name_b)))
        if not names:
            return self.cancelled(rpt_("There are no such pairs of objects of this file"), "WARNING")
        show_changed_results(context, replace(before, contacts=before.contacts.without_pairs(names)))
        one, many = n_("{count} pair is ignored in this file"), n_("{count} pairs are ignored in this file")
        return rpt_count(len(names), one, many)
