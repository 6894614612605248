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
    yield from driver.scroll_sidebar(5)
    yield from driver.click_button("collision_bounds.export_json", across=0.3)
    yield from driver.confirm_file_browser()
    Path(bpy.data.filepath).with_suffix(".json").rename(driver.folder / f"{name}.json")
