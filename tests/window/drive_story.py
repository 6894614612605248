"""In Blender's window: from the closed sidebar to two exported files, by mouse alone."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
sys.path.insert(0, str(Path(__file__).parent))

import bpy
from hands import Hands, Steps, run

from example_scene import projectile_contact_frame

PAIR = ("Plate", "Projectile")


def exported(hands: Hands, name: str) -> Steps:
    """Press Export JSON, take the proposed name, and put the file aside."""
    yield from hands.press("collision_bounds.export_json")
    yield from hands.save_dialog()
    Path(bpy.data.filepath).with_suffix(".json").rename(hands.folder / f"{name}.json")


def story(hands: Hands) -> Steps:
    """Compute, export, find, look, export, hide."""
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    yield from hands.note("before")
    yield from hands.choose("collision_bounds.scope", "VISIBLE")
    yield from hands.press("collision_bounds.compute")
    yield from hands.note("computed")
    yield from exported(hands, "bounds")

    yield from hands.press("collision_bounds.find_contacts")
    yield from hands.until(lambda: len(hands.settings.rows), 60, "the scan ends")
    yield from hands.note("found")
    yield from hands.click_row(*PAIR)
    place = bpy.data.objects["Projectile"].matrix_world.translation
    yield from hands.note(
        "contact", projectile=hands.seen_at(place), closed_form_frame=projectile_contact_frame()
    )
    yield from exported(hands, "contacts")

    yield from hands.find(hands.region("HEADER"), "overlay.show_overlays", down=False)
    yield from hands.click()
    yield from hands.note("hidden", overlays=hands.area.spaces.active.overlay.show_overlays)


run(story)
