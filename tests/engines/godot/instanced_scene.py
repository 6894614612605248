"""A scene with instances of collections and of a character, for Godot, as Blender code."""

INSTANCED = """
for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
scene.name = "Level"


def collection(name, *items):
    made = bpy.data.collections.new(name)
    for item in items:
        scene.collection.objects.unlink(item)
        made.objects.link(item)
    return made


def instance(name, of, *place, **options):
    item = bpy.data.objects.new(name, None)
    item.instance_type, item.instance_collection = "COLLECTION", of
    return put(item, *place, **options)


def wedge(name, *place, **options):
    # A tetrahedron without symmetry.
    corners = [(0, 0, 0), (3, 0, 0), (0, 1, 0), (0, 0, 2)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    data = bpy.data.meshes.new(name)
    data.from_pydata(corners, [], faces)
    return put(bpy.data.objects.new(name, data), *place, **options)


turn = (0.4, 0.5, 0.6)
post = wedge("Post", (0, 1, 0), (0, 0.3, 0))
rail = wedge("Rail", (0, 3, 0), (0.2, 0.1, 0), (1, 2, 1), parent=post)
gate = collection("Gate", post, rail)
gate.instance_offset = (0.5, 0.25, 0)
# The collection itself is in the scene too.
scene.collection.children.link(gate)
instance("Gate Far", gate, (10, 8, 0))
instance("Gate/Near", gate, (0, 8, 0), turn)
instance("Gate Mirror", gate, (-10, 8, 0), turn, (-1, 1, 1))
instance("Gate Wide", gate, (-20, 8, 0), turn, (2, 1, 3))
instance("Gate.001", gate, (-30, 8, 0), turn, (2, 2, 2))
row = collection(
    "Row", instance("A", gate, (1, 20, 0), (0, 0.5, 0.6)), instance("B", gate, (20, 20, 0), turn, (1, -2, 1))
)
rows = instance("Row 1", row, (0, 0, 30)), instance("Row 2", row, (0, 0, 60), (1, 2, 3), (1.5, 1.5, 1.5))
street = collection("Street", *rows)
instance("Street L", street, (0, 100, 0))
instance("Street R", street, (0, 200, 0), (0.3, 0.2, 0.1))
instance("Row Alone", row, (0, 300, 0))
# Names that the importer gives to others: of instances, of another object, and of the scene.
for number, name in enumerate(("Post2", "Crate.001", "Crate_001", "Level", "a/b.5", "Wheel", "Wheel2")):
    wedge(name, (40 + 5 * number, 0, 0))
slashed = collection("Slashed", wedge("c/d.5", (1, 1, 1)))
for number, name in enumerate(("e/f", "e", "e.0")):
    instance(name, slashed, (100 + 10 * number, 0, 0))
# Instances at the corners of a face, of an object that is not in the file by itself.
corners = mesh("Corners", (4, 5, 0), flat=True)
corners.instance_type = "VERTS"
put(corners, (80, 20, 0))
wedge("Leaf", (0.5, 0.25, 0), turn, (0.3, 0.3, 0.3), parent=corners)
# Instances of geometry nodes on three vertices.
points = bpy.data.meshes.new("Scatter")
points.from_pydata([(0, 0, 0), (4, 0, 0), (8, 1, 0)], [], [])
scatter = put(bpy.data.objects.new("Scatter", points), (0, 480, 0), (0, 0, 0.3))
tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
for direction in ("INPUT", "OUTPUT"):
    tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
kinds = ("NodeGroupInput", "GeometryNodeObjectInfo", "GeometryNodeInstanceOnPoints", "NodeGroupOutput")
inward, info, on_points, outward = map(tree.nodes.new, kinds)
info.inputs["Object"].default_value = wedge("Seed", (0, 470, 0), (0, 0.2, 0), (1, 2, 1))
info.inputs["As Instance"].default_value = True
tree.links.new(inward.outputs[0], on_points.inputs["Points"])
tree.links.new(info.outputs["Geometry"], on_points.inputs["Instance"])
tree.links.new(on_points.outputs[0], outward.inputs[0])
scatter.modifiers.new("Nodes", "NODES").node_group = tree
for frame, x in ((1, 60), (11, 90)):
    instance_of = bpy.data.objects.get("Moving") or instance("Moving", gate)
    instance_of.location.x = x
    instance_of.keyframe_insert("location", frame=frame)
scene.frame_set(6)
"""

CHARACTERS = """
def character(name, place=(0, 0, 0), offset=(0, 0, 0)):
    rig = bpy.data.objects.new(name + " Rig", bpy.data.armatures.new(name))
    put(rig, place)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for bone, head, tail in (("Upper", 0, 2), ("Upper_2", 2, 3), ("Lower", 3, 4)):
        made = rig.data.edit_bones.new(bone)
        made.head, made.tail, made.parent = (0, 0, head), (0, 0.2, tail), above
        above = made
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["Upper_2"].rotation_mode = "XYZ"
    rig.pose.bones["Upper_2"].rotation_euler = (0.5, 0.2, 0.1)
    data = bpy.data.meshes.new(name)
    corners = [(x, y, z) for z in (0.1, 1.9, 2.1, 2.9, 3.1, 4) for x in (-0.5, 0.5) for y in (-0.3, 0.6)]
    sides = ((0, 1), (1, 3), (3, 2), (2, 0))
    faces = [(4 * k + i, 4 * k + j, 4 * k + 4 + j, 4 * k + 4 + i) for k in range(5) for i, j in sides]
    data.from_pydata(corners, [], faces)
    skin = put(bpy.data.objects.new(name, data), offset, parent=rig)
    for number, bone in enumerate(("Upper", "Upper_2", "Lower")):
        skin.vertex_groups.new(name=bone).add(range(8 * number, 8 * number + 8), 1, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    hat = wedge(name + " Hat", (0, 0, 0), (0.1, 0.2, 0.3), (1, 1.5, 1), parent=rig)
    hat.parent_type, hat.parent_bone = "BONE", "Lower"
    return rig, skin, hat


hero = collection("Hero Collection", *character("Hero", (1, 2, 3)))
pair = collection("Pair", instance("Left", hero, (5, 0, 0), (0, 0, 0.5)), instance("Right", hero, (-5, 0, 0)))
instance("Pair 1", pair, (0, 420, 0))
instance("Pair 2", pair, (0, 440, 0), (0, 0, 1), (2, 2, 2))
instance("Single", hero, (20, 420, 0), (0.3, 0.2, 0.1))
character("Free", (40, 420, 0), (0.5, 0.25, 0))
# The importer numbers bones with the name of an object.
wedge("Upper", (50, 420, 0))
"""
