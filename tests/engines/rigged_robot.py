"""A robot whose meshes are parented to bones, as Blender code."""

ROBOT = """
armature = bpy.data.armatures.new("Robot")
rig = bpy.data.objects.new("Robot", armature)
scene.collection.objects.link(rig)
rig.location, rig.rotation_euler = (3, -2, 0.5), (0.1, 0.2, 0.7)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
# Bone: parent, head, tail. No mesh is on "Root" and "Wrist".
for name, parent, head, tail in (
    ("Root", None, (0, 0, 0), (0, 0, 0.5)),
    ("Base", "Root", (0, 0, 0.5), (0, 0, 1)),
    ("Upper", "Base", (0, 0, 1), (0, 0, 3)),
    ("Lower", "Upper", (0, 0, 3), (2, 0, 3)),
    ("Wrist", "Lower", (2, 0, 3), (2.5, 0, 3)),
    ("Finger", "Wrist", (2.5, 0, 3), (3, 0, 3)),
    ("Foot", "Root", (0, 2, 0), (0, 2.5, 0)),
):
    bone = armature.edit_bones.new(name)
    bone.head, bone.tail = head, tail
    bone.parent = armature.edit_bones[parent] if parent else None
bpy.ops.object.mode_set(mode="OBJECT")
rig.pose.bones["Upper"].rotation_mode = "XYZ"
rig.pose.bones["Upper"].rotation_euler = (0.4, 0.3, 0)


def on_bone(item, bone):
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", bone
    return item


on_bone(put(mesh("Pedestal", (0.6, 0.6, 0.4))), "Base")
on_bone(put(mesh("Arm", (0.2, 0.9, 0.2))), "Upper").location = (0, -1, 0)
on_bone(put(mesh("Cable", (0.05, 0.9, 0.05))), "Upper").location = (0.3, -1, 0)
on_bone(put(mesh("Elbow", (0.2, 0.9, 0.2))), "Lower").location = (0, -1, 0)
# Below an empty, which has no bounds.
mount = on_bone(bpy.data.objects.new("Mount", None), "Wrist")
scene.collection.objects.link(mount)
put(mesh("Tool", (0.2, 0.2, 0.2))).parent = mount
put(mesh("Bit", (0.05, 0.3, 0.05))).parent = bpy.data.objects["Tool"]
if HAS_FOOT:
    on_bone(put(mesh("Foot", (0.3, 0.3, 0.1))), "Foot")
# A skin that only the finger deforms.
grip = put(mesh("Grip", (0.3, 0.1, 0.1)), (2.8, 0, 3))
grip.vertex_groups.new(name="Finger").add(range(len(grip.data.vertices)), 1.0, "REPLACE")
grip.parent = rig
grip.modifiers.new("Armature", "ARMATURE").object = rig
bpy.context.view_layer.update()
"""

PARENTS = {
    "Pedestal": None,
    "Arm": "Pedestal",
    # Of several objects on one bone, the first by name is the parent of the others.
    "Cable": "Arm",
    "Elbow": "Arm",
    "Tool": "Elbow",
    "Bit": "Tool",
    "Grip": "Tool",
}
"""Parent of each object by the tree of bones. Without HAS_FOOT, the pedestal is the only root."""
