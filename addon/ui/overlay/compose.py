"""Compose the draw data of a scene from values alone: a pure function, without bpy and without state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...core import Contact
from ...core.numeric.arrays import Ints
from ...scene.live.contact_state import LiveShapes
from ...scene.settings import DrawnShape, ShapeName
from .draw_data import DrawData, contact_marker, with_labels


class OverlayOptions(NamedTuple):
    """Display settings that decide what is drawn.

    Attributes
    ----------
    drawn : sequence of str
        Names of the shapes that are drawn.
    checked : str
        Name of the shape checked for contact.
    only_selected, show_names, show_contact, show_ghosts, show_envelopes : bool
    show_spheres, show_boxes : bool
        Whether spheres and boxes of envelopes are drawn.
    """

    drawn: tuple[DrawnShape, ...]
    checked: ShapeName
    only_selected: bool
    show_names: bool
    show_contact: bool
    show_ghosts: bool
    show_envelopes: bool
    show_spheres: bool
    show_boxes: bool


class Additions(NamedTuple):
    """Values drawn in addition to bounds; each is needed only if its option is on.

    Attributes
    ----------
    names : sequence of str
        Current names of all subjects.
    active : sequence of int
        Both subjects of the active row; empty without one.
    contact : Contact or None
        The active contact.
    ghosts : DrawData or None
        The active pair at its first contact.
    envelopes : DrawData
    marker_color : sequence of float
        Of the mark at the active contact.
    """

    names: Sequence[str]
    active: Sequence[int]
    contact: Contact | None
    ghosts: DrawData | None
    envelopes: DrawData
    marker_color: Sequence[float]


def compose_draw_data(
    bounds: DrawData, live: LiveShapes, additions: Additions, options: OverlayOptions
) -> DrawData:
    """Compose the draw data of a scene.

    Parameters
    ----------
    bounds : DrawData
        Bounds of all subjects; see `draw_data_from_shapes`.
    live : LiveShapes
        Shapes of all subjects, and whether each is selected and visible.
    additions : Additions
        Labels, marker, ghosts and envelopes.
    options : OverlayOptions
        Display settings.
    """
    data = bounds.of_subjects(live.selected) if options.only_selected else bounds
    if options.show_names:
        data = with_labels(data, additions.names, label_ranks(live, additions.active))
    if additions.ghosts is not None and options.show_ghosts:
        data = data.with_ghosts(additions.ghosts)
    if additions.contact is not None and options.show_contact:
        # There are no ghosts before the playhead was at the contact: take sizes from current bounds.
        sized_by = data if additions.ghosts is None else additions.ghosts
        data = replace(data, marker=contact_marker(additions.contact, sized_by, additions.marker_color))
    if options.show_envelopes:
        is_shown = live.visible & live.selected if options.only_selected else live.visible
        envelopes = additions.envelopes.of_subjects(is_shown)
        data = data.drawn_over(envelopes, options.show_spheres, options.show_boxes)
    return data


def label_ranks(live: LiveShapes, active: Sequence[int]) -> Ints:
    """Return the rank (n,) of each subject's label: the active pair, selected, in contact, then the rest."""
    ranks: Ints = np.select([live.selected, live.in_contact], [1, 2], 3)
    ranks[list(active)] = 0
    return ranks
