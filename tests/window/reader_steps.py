"""Steps of a reader of the documentation in Blender's window, which several drive scripts share."""

from __future__ import annotations

from pathlib import Path

import bpy
from window_driver import Steps, WindowDriver


def install(driver: WindowDriver, archive: Path) -> Steps:
    """Run Install from Disk, with the zip chosen in the file browser."""
    with driver.context():
        bpy.ops.extensions.package_install_files("INVOKE_DEFAULT")
    yield from driver.confirm_file_browser(archive)
    yield from driver.wait_until(
        lambda: hasattr(bpy.types.Scene, "collision_bounds"), "the extension is installed"
    )


def export_document(driver: WindowDriver, name: str) -> Steps:
    """Scroll down to Export JSON, click it, confirm the proposed name, and move the file."""
    region = driver.region("UI")
    yield from driver.move_mouse(region.x + 0.3 * region.width, region.y + 0.5 * region.height)
    driver.xdotool("click", "--repeat", 12, "--delay", 30, 5)
    yield from driver.wait_for_redraw()
    yield from driver.click_button("collision_bounds.export_json")
    yield from driver.confirm_file_browser()
    Path(bpy.data.filepath).with_suffix(".json").rename(driver.folder / f"{name}.json")
