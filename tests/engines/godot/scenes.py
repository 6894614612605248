"""Scenes for Godot: models with and without colliders, documents and vertices, written by Blender."""

from tests.engines.from_blender import VERTICES
from tests.engines.rigged_robot import ROBOT

PART_SHAPES = ("hull", "box", "sphere", "capsule")
SHAPES = ("aabb", "obb", "sphere", "capsule", "cylinder", "hull", "spheres")
PARTS = tuple(f"parts_{shape}" for shape in PART_SHAPES)
EXPORTED = ("obb", "sphere", "hull", "parts")
"""Colliders in the files of Blender's exporter."""
KINDS = ("box", "sphere", "capsule", "hull")
"""Kinds of collider objects."""
NAMINGS = ("godot", "godot_concave")

# Godot names the node of a bone with a dot like an object of that name, and other bones with another number.
_NAMES = "for item in (rig.data.bones['Foot'], bpy.data.objects['Foot']): item.name = 'Foot.L'\n"
SCENES = {
    "difficult": "",
    "robot": f"scene = empty_scene()\nHAS_FOOT = True\n{ROBOT}{_NAMES}",
    "floor": "scene = empty_scene()\nbuild_scene()\n",
}
"""Code by name of the scene; the first one is the difficult scene, the last one the example scene."""

_FUNCTIONS = f"""
sys.path[:0] = [TOP, TOP + "/scripts"]
import io, json
import numpy as np
import addon
from addon.cli.main import main
from factory_floor.factory import build_scene

addon.register()
# The exporter finds the extension by its name in the preferences.
bpy.context.preferences.addons.new().module = "addon"
{VERTICES}

def empty_scene():
    bpy.ops.wm.read_homefile(app_template="", use_empty=True)
    return bpy.context.scene

def export_model(name):
    # By default, skeletons are exported at rest, where the vertices near joints are elsewhere.
    export(f"{{folder}}/{{place}}/{{name}}.glb", export_apply=True, export_rest_position_armature=False)

def export_document(name, *options):
    printed, path = io.StringIO(), f"{{folder}}/{{place}}/{{name}}.json"
    code = main(["bounds", *options, "--decimals", "9", "-q", "-o", path], opens_file=False, out=printed)
    assert code == 0, printed.getvalue()

def export_files():
    # Godot would open a .blend file in its project.
    bpy.ops.wm.save_as_mainfile(filepath=f"{{bpy.app.tempdir}}/{{place}}.blend")
    os.mkdir(f"{{folder}}/{{place}}")
    write_vertices(f"{{folder}}/{{place}}/vertices.json")
    export_document("blender")
    for shape in {SHAPES!r}:
        export_document(shape, "--preset", "gltf", "--shapes", shape)
        export_document("bones_" + shape, "--preset", "gltf", "--shapes", shape, "--bones")
    for shape in {PART_SHAPES!r}:
        export_document("parts_" + shape, "--preset", "gltf", "--parts", "4", "--part-shape", shape)
    export_model("model")
    settings = scene.collision_bounds.gltf
    settings.omi = True
    for shape in ("obb", "sphere", "hull"):
        settings.shape = shape
        export_model("omi_" + shape)
    settings.parts = 4
    export_model("omi_parts")
    settings.omi = False
    for item in scene.objects:
        if any(each.type == "ARMATURE" for each in item.modifiers):
            item.collision_bounds.use_object_settings = True
            item.collision_bounds.bounds_for = "bones"
    for naming in {NAMINGS!r}:
        for kind in {KINDS!r}:
            bpy.ops.collision_bounds.create_colliders(scope="VISIBLE", kind=kind, naming=naming)
            export_model(f"{{naming}}_{{kind}}")
    bpy.ops.collision_bounds.remove_colliders()
"""

EXPORT_SCENES = _FUNCTIONS + "".join(
    f"{code}place = {name!r}\nexport_files()\n" for name, code in SCENES.items()
)
"""Writes the files of each scene to a folder with its name."""
