"""The extension installed from its zip into a separate Blender: it works, and can be removed completely.

Each test that disables it has a separate process, because an extension is enabled for a whole process.
"""

from __future__ import annotations

import subprocess
import sys

import bpy
import pytest

from tests.package.command_line import run_commands
from tests.paths import TOP
from tests.tiers import times

# The same scans as options of the operator and as options of the command.
SCANS = {
    "meshes": ({}, []),
    "linear": ({"motion": "linear", "shape": "sphere"}, ["--motion", "linear", "--shape", "sphere"]),
    "oriented": ({"shape": "obb"}, ["--shape", "obb"]),
    "trees": ({"shape": "spheres"}, ["--shape", "spheres"]),
    "pairs": (
        {
            "shape": "aabb",
            "group_a": "collection:*",
            "ignored": "Cart:Fence/Post.3, Strut*:Strut*",
            "ignore_parents": False,
            "static_pairs": True,
            "clearance": 0.1,
        },
        [
            *("--shape", "aabb", "--a", "collection:*"),
            *("--ignore", "Cart:Fence/Post.3", "--ignore", "Strut*:Strut*"),
            *("--no-ignore-parents", "--static-pairs", "--clearance", "0.1"),
        ],
    ),
}

# Frames and scans. Sphere trees, capsules and cylinders are slow to fit, so the quick tier skips them. First
# contacts are all before frame 40.
CASES = [
    pytest.param(
        ((24, 25), [name for name in SCANS if name != "trees"]), id="at_contact", marks=pytest.mark.smoke
    ),
    pytest.param(((1, times(40, 40, full=60)), list(SCANS)), id="all", marks=pytest.mark.long),
    pytest.param(((24, 25), []), id="added_shapes_and_axes", marks=pytest.mark.long),
]


@pytest.fixture(params=CASES)
def documents(request, in_blender, tmp_path) -> dict[str, list[bytes]]:
    """Documents of the bounds and of each scan, written by the panel, the command line and the script."""
    frames, scans = request.param
    scene = tmp_path / "scene.blend"
    in_blender(
        f"""
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = {frames}
        bpy.ops.wm.save_as_mainfile(filepath={str(scene)!r})
        answer(None)
        """
    )
    buttons = {"bounds": "compute_bounds(scope='VISIBLE')"}
    buttons |= {name: f"find_contacts(scope='VISIBLE', **{SCANS[name][0]!r})" for name in scans}
    commands = {"bounds": ["bounds"]}
    if not scans:
        buttons["shapes"] = "compute_bounds(scope='VISIBLE', added_shapes={'capsule', 'cylinder'})"
        commands["shapes"] = ["bounds", "--shapes", "sphere,aabb,capsule,cylinder"]
        # A scan has the axes of the scene, which the bounds have set.
        smallest = "compute_bounds(scope='VISIBLE', box_axes='smallest')"
        scan = "bpy.ops.collision_bounds.find_contacts(scope='VISIBLE', shape='aabb')"
        buttons["smallest"] = f"{smallest}; {scan}"
        commands["smallest"] = ["contacts", "--shape", "aabb", "--preset", "gltf", "--box-axes", "smallest"]
    commands |= {name: ["contacts", "--preset", "gltf", *SCANS[name][1]] for name in scans}
    entry_points = ("panel", "command", "script")
    paths = {name: [tmp_path / f"{entry}_{name}.json" for entry in entry_points] for name in commands}
    # The operators of the panel, and the function that `blender FILE --command collision_bounds` calls.
    for name, command in commands.items():
        code = in_blender(
            f"""
            bpy.ops.wm.open_mainfile(filepath={str(scene)!r})
            bpy.ops.collision_bounds.{buttons[name]}
            options = {{}} if {command[0]!r} == "bounds" else {{"preset": "gltf"}}
            bpy.ops.collision_bounds.export_json(filepath={str(paths[name][0])!r}, **options)
            bpy.ops.wm.open_mainfile(filepath={str(scene)!r})
            answer(package.registration._run_command({[*command, "-q", "-o", str(paths[name][1])]!r}))
            """
        )
        assert code == 0
    # The script of the checkout.
    run_commands(
        sys.executable,
        [
            [command, scene, "-q", *options, "-o", paths[name][2]]
            for name, (command, *options) in commands.items()
        ],
    )
    return {name: [path.read_bytes() for path in paths[name]] for name in paths}


def test_panel_command_line_and_script_write_same_bytes(documents):
    for name, (panel, command, script) in documents.items():
        assert len(panel) > 5000
        assert panel == command == script, name
    # All scans differ.
    scans = [panel for name, (panel, *_) in documents.items() if name not in ("bounds", "shapes")]
    assert len(set(scans)) == len(scans) >= 1


@pytest.mark.smoke
def test_disabling_removes_everything_and_enabling_again_works(in_new_blender):
    names = in_new_blender(
        """
        import addon_utils
        from io_scene_gltf2 import exporter_extension_layout_draw as dialogs
        def registered():
            handlers = bpy.app.handlers
            found = [
                name for name in dir(handlers) if isinstance(getattr(handlers, name), list)
                and any(NAME in getattr(function, "__module__", "") for function in getattr(handlers, name))
            ]
            found += [name for name in dir(bpy.types) if "collision_bounds" in name.lower()]
            found += dir(bpy.ops.collision_bounds)
            found += ["property"] if hasattr(bpy.types.Scene, "collision_bounds") else []
            found += ["dialog"] if NAME in dialogs else []
            menu = bpy.types.TOPBAR_MT_file_export
            found += [f.__name__ for f in getattr(menu.draw, "_draw_funcs", []) if NAME in f.__module__]
            return found
        enabled = registered()
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
        addon_utils.disable(NAME)
        disabled = registered()
        bpy.context.scene.frame_set(7)
        addon_utils.enable(NAME)
        enabled_again = registered()
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
        answer([sorted(enabled), disabled, sorted(enabled_again)])
        """
    )
    enabled, disabled, enabled_again = names
    assert len(enabled) >= 15 and "dialog" in enabled
    assert disabled == []
    assert enabled_again == enabled


@pytest.mark.smoke
@pytest.mark.smoke
@pytest.mark.skipif(bpy.app.version < (5, 0, 0), reason="as a module, Blender can wait forever when it ends")
def test_script_that_registers_the_extension_ends_without_an_error(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(TOP)!r})\nimport addon; addon.register()\n")
    ended = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_failed_registration_is_undone(in_new_blender):
    result = in_new_blender(
        """
        import addon_utils
        addon_utils.disable(NAME)
        from bl_ext.user_default.collision_bounds import registration
        def fail():
            raise RuntimeError("on purpose")
        attach, registration.overlay.attach = registration.overlay.attach, fail
        try:
            registration.register()
        except RuntimeError as error:
            message = str(error)
        remaining = [hasattr(bpy.types.Scene, "collision_bounds"), dir(bpy.ops.collision_bounds)]
        registration.overlay.attach = attach
        registration.register()
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        answer([message, remaining, sorted(bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE"))])
        """
    )
    assert result == ["on purpose", [False, []], ["FINISHED"]]


def test_undo_removes_results_redo_restores_them_and_loading_drops_them(in_blender):
    states = in_blender(
        """
        from bl_ext.user_default.collision_bounds.scene.jobs import result_store
        from bl_ext.user_default.collision_bounds.ui.overlay.state import find_overlay
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        def state():
            settings = bpy.context.scene.collision_bounds
            results = result_store.get(settings.result_id)
            overlay = find_overlay(bpy.context.scene, bpy.context.view_layer)
            shown = overlay is not None and len(overlay.draw_data.by_mesh["boxes"]) > 0
            return [results.bounds is not None, len(settings.rows), shown, results.stale]
        states = [state()]
        bpy.ops.ed.undo_push(message="start")
        bpy.ops.collision_bounds.compute_bounds("EXEC_DEFAULT", True, scope="VISIBLE")
        states.append(state())
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", True, scope="VISIBLE", shape="aabb")
        states.append(state())
        for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo):
            step()
            states.append(state())
        bpy.ops.wm.save_as_mainfile(filepath=folder + "/saved.blend")
        bpy.ops.wm.open_mainfile(filepath=folder + "/saved.blend")
        states.append(state())
        answer(states)
        """
    )
    nothing, bounds, start = [False, 0, False, False], [True, 0, True, False], states[2]
    assert start[0] and start[1] >= 7 and start[2:] == [True, False]
    assert states == [nothing, bounds, start, bounds, nothing, bounds, start, nothing]


def test_moving_an_object_marks_results_out_of_date_and_updates_overlay(in_blender):
    stale, before, after = in_blender(
        """
        from bl_ext.user_default.collision_bounds.scene.jobs import result_store
        from bl_ext.user_default.collision_bounds.ui.overlay.state import find_overlay
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        scene = bpy.context.scene
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
        def lowest():
            drawn = find_overlay(scene, scene.view_layers[0]).draw_data
            return float(drawn.by_mesh["boxes"].rows[:, 0, 3].min())
        stale = [result_store.get(scene.collision_bounds.result_id).stale]
        scene.objects["Mast"].select_set(True)
        scene.frame_set(20)
        bpy.context.view_layer.update()
        stale.append(result_store.get(scene.collision_bounds.result_id).stale)
        before = lowest()
        scene.objects["Mast"].location.x -= 100
        bpy.context.view_layer.update()
        stale.append(result_store.get(scene.collision_bounds.result_id).stale)
        answer([stale, before, lowest()])
        """
    )
    assert stale == [False, False, True]
    assert after < before - 50


def test_operators_without_objects_report_remedy(in_blender):
    messages = in_blender(
        """
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        for item in bpy.context.scene.objects:
            item.select_set(False)
        messages = []
        for operator in (bpy.ops.collision_bounds.compute_bounds, bpy.ops.collision_bounds.find_contacts):
            try:
                operator(scope="SELECTED")
            except RuntimeError as error:
                messages.append(str(error))
        try:
            bpy.ops.collision_bounds.export_json(filepath=folder + "/x.json")
        except RuntimeError as error:
            messages.append(str(error))
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
        try:
            bpy.ops.collision_bounds.export_json(filepath=folder + "/no/such/folder.json")
        except RuntimeError as error:
            messages.append(str(error))
        answer(messages)
        """
    )
    assert "No object with geometry is selected" in messages[0]
    assert "No object with geometry is selected" in messages[1]
    assert "Compute bounds or find contacts first" in messages[2]
    assert "folder" in messages[3] and "does not exist" in messages[3]


def test_row_of_projectile_jumps_to_fractional_frame_and_colors_pair_red(in_blender):
    result = in_blender(
        """
        from bl_ext.user_default.collision_bounds.ui.overlay.state import find_overlay
        bpy.ops.wm.open_mainfile(filepath=scene_path)
        scene = bpy.context.scene
        bpy.ops.collision_bounds.find_contacts(scope="VISIBLE", shape="aabb")
        settings = scene.collision_bounds
        rows = [(row.a, row.b, row.tunnelling) for row in settings.rows]
        settings.active_row = next(i for i, row in enumerate(settings.rows) if row.tunnelling)
        rows_drawn = find_overlay(scene, scene.view_layers[0]).draw_data.by_mesh["boxes"].rows
        red = int((rows_drawn[:, 3, 0] > rows_drawn[:, 3, 2]).sum())
        answer([rows, scene.frame_current, scene.frame_subframe, red])
        """
    )
    rows, frame, sub_frame, red = result
    assert [row for row in rows if row[2]] == [["Plate", "Projectile", True]]
    # projectile_contact_frame() of the example scene: 24.3125.
    assert (frame, sub_frame) == (24, 0.3125)
    # The crate on its pallet is the other pair.
    assert red == 4
