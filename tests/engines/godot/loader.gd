# Calls functions of the loader. Reads `tasks.json` of the project and writes `results.json`: what each task returns.
# Standard error has a line before the errors and warnings of each task.
extends SceneTree

var _loader: GDScript = load("res://collision_bounds.gd")


func _init() -> void:
	var tasks: Array = JSON.parse_string(FileAccess.get_file_as_string("res://tasks.json"))
	var results := tasks.map(_result)
	var file := FileAccess.open("res://results.json", FileAccess.WRITE)
	file.store_string(JSON.stringify(results, "", true, true))
	file.close()
	quit()


func _result(task: Dictionary) -> Variant:
	printerr("task")
	var path: String = task["document"]
	if task["function"] == "read_tracks":
		return _plain(_loader.read_tracks(path))
	var objects: Dictionary = _loader.read(path)
	match task["function"]:
		"static_body":
			return _ended(_loader.static_body(objects, task["shape"]))
		"bodies":
			var ice := PhysicsMaterial.new()
			ice.resource_name = "ice"
			return _ended(_loader.bodies(objects, {"Ice": ice}))
		"add_to":
			var root := _node(task["scene"])
			_loader.add_to(root, objects)
			return _ended(root)
		_:
			return objects.keys()


# The description of a node, which is freed.
func _ended(node: Node) -> Dictionary:
	var found := _described(node)
	node.free()
	return found


# The node that a dictionary describes: its name, class, basis by columns, bones or path to a skeleton, and children.
func _node(description: Dictionary) -> Node:
	var node: Node = ClassDB.instantiate(description.get("kind", "Node3D"))
	node.name = description["name"]
	if description.has("basis"):
		var columns: Array = description["basis"].map(func(each: Array) -> Vector3: return Vector3(each[0], each[1], each[2]))
		node.transform = Transform3D(Basis(columns[0], columns[1], columns[2]), Vector3(1, 2, 3))
	for bone: String in description.get("bones", []):
		node.add_bone(bone)
	if description.has("skeleton"):
		node.skeleton = NodePath(description["skeleton"])
	for child: Dictionary in description.get("children", []):
		node.add_child(_node(child))
	return node


func _described(node: Node) -> Dictionary:
	var found := {"name": str(node.name), "kind": node.get_class(), "children": node.get_children().map(_described)}
	found["owner"] = "" if node.owner == null else str(node.owner.name)
	if node is Node3D:
		var placed: Transform3D = node.transform
		found["columns"] = [placed.basis.x, placed.basis.y, placed.basis.z, placed.origin].map(_plain)
	if node is BoneAttachment3D:
		found["bone"] = node.bone_name
	if node is CollisionObject3D:
		found["layers"] = [node.collision_layer, node.collision_mask]
	if node is StaticBody3D and node.physics_material_override != null:
		found["material"] = node.physics_material_override.resource_name
	if node is CollisionShape3D:
		found["kind"] = node.shape.get_class()
		for key: String in ["size", "radius", "height", "points"]:
			if key in node.shape:
				found[key] = _plain(node.shape.get(key))
	return found


# What JSON can hold of a value.
func _plain(value: Variant) -> Variant:
	if value is Vector3:
		return [value.x, value.y, value.z]
	if value is AABB:
		return {"position": _plain(value.position), "size": _plain(value.size)}
	if value is Array or value is PackedVector3Array or value is PackedFloat64Array:
		return Array(value).map(_plain)
	if value is Dictionary:
		var found := {}
		for key: Variant in value:
			found[key] = _plain(value[key])
		return found
	return value
