"""Scripts of difficult scenes, which run in any Blender, with or without the extension."""

# Every object has a property that leads to wrong colliders if it is ignored.
SCENE = """
import math, os, sys
import bpy

scene = bpy.context.scene

def put(item, location=(0, 0, 0), rotation=(0, 0, 0), scale=(1, 1, 1), parent=None):
    item.location, item.rotation_euler, item.scale, item.parent = location, rotation, scale, parent
    scene.collection.objects.link(item)
    return item

def mesh(name, size=(1, 1, 1), middle=(0, 0, 0), flat=False):
    corners = [(x, y, z) for z in ((0,) if flat else (-1, 1)) for y in (-1, 1) for x in (-1, 1)]
    points = [tuple(m + s * c for m, s, c in zip(middle, size, corner)) for corner in corners]
    faces = [(0, 1, 3, 2)]
    if not flat:
        faces += [(4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    return bpy.data.objects.new(name, data)

put(mesh("Plain"), (1, 2, 3))
put(mesh("Turned", (1, 0.3, 2)), (5, 0, 0), (0.3, 1.1, -0.4), (1, 2, 0.2))
put(mesh("OffCenter", (1, 1, 1), (50, -3, 0.1)), (0, 5, 0), (0.1, 0.2, 0.3))
put(mesh("Mirrored", (1, 2, 0.5), (1, 0, 0)), (0, -5, 0), (0.5, 0, 0), (-1, 1, 2))
put(mesh("InsideOut", (1, 2, 0.5), (1, 0, 0)), (0, -9, 0), (0.5, 0, 0), (-2, -1, -3))
put(mesh("Flat", (3, 2, 0), flat=True), (0, 0, -4), (0, 0.5, 0))
put(mesh("Tiny", (1e-4, 2e-4, 1e-4)), (0.3, 0.1, 0), (1, 1, 1))
put(mesh("Huge", (1e5, 1e5, 3e4)), (0, 0, 1e5), (0.2, 0.3, 0.4))
put(mesh("Far", (0.5, 0.5, 0.5)), (1e5, -1e5, 1e4), (0.1, 0, 0))
wide = put(mesh("Wide", (1, 1, 1)), (-5, 0, 0), (0, 0, 0.2), (3, 1, 1))
sheared = put(mesh("Sheared", (1, 0.2, 0.2)), (0, 3, 0), (0, 0, math.radians(45)), (1, 1, 1), wide)
put(mesh("Grandchild", (0.2, 0.3, 0.1)), (1, 0, 1), (1, 0.4, 0.3), (1, -2, 0.5), sheared)
put(mesh('a/b:c "d" 🚗'), (7, 7, 7))
put(mesh("Crate.001", (0.5, 0.5, 0.5)), (7, 10, 7), (0.4, 0.5, 0.6))
dot = bpy.data.meshes.new("Dot")
dot.from_pydata([(1 / 3, 0.2, -1 / 7)], [], [])
put(bpy.data.objects.new("Dot", dot), (-3, 8, 2), (0.1, 0.2, 0.3), (2, 3, 4))

# Three objects with one name: a local one, and one from each of two libraries.
for number in range(2):
    library = os.path.join(bpy.app.tempdir, f"library{number}.blend")
    crate = put(mesh("Crate", (0.5 + number, 0.3, 0.2)), (12, 3 * number, 0), (0.2, 0.3, number))
    bpy.context.view_layer.update()
    bpy.data.libraries.write(library, {crate})
    bpy.data.meshes.remove(crate.data)
    with bpy.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = ["Crate"]
    scene.collection.objects.link(linked.objects[0])
put(mesh("Crate", (0.4, 0.4, 0.8)), (12, 6, 0), (0, 0.3, 0))

several = bpy.data.collections.new("Several")
several.objects.link(mesh("InCollection", (0.2, 0.4, 0.6)))
for number in range(2):
    empty = bpy.data.objects.new(f"Instance{number}", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", several
    put(empty, (9, number * 3, 0), (0.2, 0.3, number), (1, 1 + number, 1))

arrayed = put(mesh("Arrayed", (0.2, 0.2, 0.2)), (-9, 0, 0))
arrayed.modifiers.new("Array", "ARRAY").count = 4
keyed = put(mesh("Keyed"), (-9, 5, 0), (0, 0.3, 0))
keyed.shape_key_add(name="Basis")
key = keyed.shape_key_add(name="Long")
for index in range(4, 8):
    key.data[index].co = (3, 1, 5 + index)
key.value = 0.7

curve = bpy.data.curves.new("Curve", "CURVE")
curve.dimensions, curve.bevel_depth = "3D", 0.2
spline = curve.splines.new("POLY")
spline.points.add(2)
for point, place in zip(spline.points, ((0, 0, 0, 1), (1, 0, 2, 1), (2, 3, 0, 1))):
    point.co = place
put(bpy.data.objects.new("Curve", curve), (-9, -5, 0))

def animate(item, path, keys, linear=True):
    for frame, value in keys.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)
    action = item.animation_data.action
    # Before Blender 5.0, the action itself contains the curves.
    bags = [action] if hasattr(action, "fcurves") else [
        bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags
    ]
    for point in (point for bag in bags for curve in bag.fcurves for point in curve.keyframe_points):
        point.interpolation = "LINEAR" if linear else "BEZIER"

# Dart passes through Plate between two frames. The end of Spinner hits Post. Swing eases and hits Wall.
scene.frame_start, scene.frame_end = 1, 12
dart = put(mesh("Dart", (0.5, 0.1, 0.1), (0.3, 0, 0)), rotation=(0.2, 0.1, 0))
animate(dart, "location", {1: (-30, 40, 1), 12: (31, 41, 1.5)})
put(mesh("Plate", (0.2, 2, 2)), (2, 40.5, 1), (0, 0, 0.5))
spinner = put(mesh("Spinner", (3, 0.2, 0.3)), (-14, 40, 0))
animate(spinner, "rotation_euler", {1: (0, 0, 0), 12: (0.4, 0.2, 2.5)})
put(mesh("Post", (0.3, 0.3, 2)), (-14, 42.4, 0.5), (0.1, 0, 0.3))
arm = put(bpy.data.objects.new("Arm", None), (-14, 52, 0), (0, 0.1, 0), (1.5, 1.5, 1.5))
animate(arm, "rotation_euler", {1: (0, 0.1, 0), 12: (0.2, 0.1, 1.6)}, linear=False)
put(mesh("Swing", (0.4, 0.2, 0.3)), (3, 0, 0), (0.3, 0, 0), parent=arm)
put(mesh("Wall", (0.5, 0.5, 2)), (-13.8, 56.9, 0), (0, 0, 0.2))
scene.frame_set(1)

flattened = put(mesh("Flattened"), (-13, 0, 0), scale=(1, 1, 0))
armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
put(armature)
bpy.context.view_layer.objects.active = armature
bpy.ops.object.mode_set(mode="EDIT")
bone = armature.data.edit_bones.new("Bone")
bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
bpy.ops.object.mode_set(mode="OBJECT")
skinned = put(mesh("Skinned"), parent=armature)
skinned.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
skinned.modifiers.new("Armature", "ARMATURE").object = armature
bpy.context.view_layer.update()

def export(path, **options):
    kind = "GLB" if path.endswith(".glb") else "GLTF_SEPARATE"
    bpy.ops.export_scene.gltf(filepath=path, export_format=kind, **options)

def leave():
    # Blender as a module can crash in its own cleanup.
    sys.stdout.flush()
    os._exit(0)
"""

# A function for meshes with notches, which are prisms; and two outlines, each with its convex faces.
PRISMS = """
def prism(name, outline, faces):
    count = len(outline)
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [(i, (i + 1) % count, (i + 1) % count + count, i + count) for i in range(count)]
    tops = [tuple(count + i for i in face) for face in faces]
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], [*(face[::-1] for face in faces), *tops, *sides])
    return bpy.data.objects.new(name, data)

L = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)], [(0, 1, 2, 3), (0, 3, 4, 5)]
U = [(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)], [
    (0, 1, 4, 5), (1, 2, 3, 4), (0, 5, 6, 7)
]
"""
