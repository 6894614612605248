# Adds the bodies of documents to scenes, and reports what they are added to. Reads `tasks.json` of the project and
# writes `attached.json`: for each task the bodies in the order of the document, each with the path of the node above, the
# vertices of its mesh, or of its bone, and the boxes.
extends SceneTree

var _loader: GDScript = load("res://collision_bounds.gd")


func _init() -> void:
	var results := {}
	var tasks: Array = JSON.parse_string(FileAccess.get_file_as_string("res://tasks.json"))
	for task: Dictionary in tasks:
		var scene := _scene(task)
		var found := []
		# Warnings are there too.
		printerr("task ", task["name"])
		for body: CollisionObject3D in _loader.add_to(scene, _loader.read("res://" + task["document"])):
			var boxes := body.get_children().map(func(node: Node) -> Dictionary: return _box(node, scene))
			var path := str(scene.get_path_to(body.get_parent()))
			found.append({"path": path, "points": _points(body.get_parent(), scene), "boxes": boxes})
		results[task["name"]] = found
		scene.free()
	var file := FileAccess.open("res://attached.json", FileAccess.WRITE)
	file.store_string(JSON.stringify(results, "", true, true))
	file.close()
	quit()


func _scene(task: Dictionary) -> Node:
	if task["imported"]:
		return load("res://" + task["scene"]).instantiate()
	var document := GLTFDocument.new()
	var state := GLTFState.new()
	document.append_from_file(ProjectSettings.globalize_path("res://" + task["scene"]), state)
	return document.generate_scene(state)


# The transform relative to the scene, which is not in the tree.
func _placed(node: Node, scene: Node) -> Transform3D:
	if node == scene:
		return Transform3D.IDENTITY
	var above := _placed(node.get_parent(), scene)
	if node is BoneAttachment3D:
		var skeleton: Skeleton3D = node.get_parent()
		return above * skeleton.get_bone_global_pose(skeleton.find_bone(node.bone_name))
	return above * node.transform if node is Node3D else above


func _box(node: CollisionShape3D, scene: Node) -> Dictionary:
	var placed := _placed(node, scene)
	return {"axes": [placed.basis.x, placed.basis.y, placed.basis.z].map(_numbers), "center": _numbers(placed.origin),
			"size": _numbers(node.shape.size)}


func _points(node: Node, scene: Node) -> Array:
	if node is MeshInstance3D:
		return _vertices(node, scene, "")
	var points := []
	if node is BoneAttachment3D:
		for mesh: Node in node.get_parent().get_children():
			if mesh is MeshInstance3D and mesh.skin != null:
				points += _vertices(mesh, scene, node.bone_name)
	return points


# The vertices of a mesh, as its skeleton bends it: all, or those of one bone. Each has one bone.
func _vertices(mesh: MeshInstance3D, scene: Node, bone: String) -> Array:
	var points := []
	var skeleton: Skeleton3D = mesh.get_node_or_null(mesh.skeleton) if mesh.skin != null else null
	for surface in mesh.mesh.get_surface_count():
		var arrays := mesh.mesh.surface_get_arrays(surface)
		var vertices: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
		for i in vertices.size():
			if skeleton == null:
				points.append(_numbers(_placed(mesh, scene) * vertices[i]))
				continue
			var count: int = arrays[Mesh.ARRAY_BONES].size() / vertices.size()
			for k in range(i * count, (i + 1) * count):
				if arrays[Mesh.ARRAY_WEIGHTS][k] < 0.5:
					continue
				var bind: int = arrays[Mesh.ARRAY_BONES][k]
				var joint := mesh.skin.get_bind_bone(bind)
				if joint < 0:
					joint = skeleton.find_bone(mesh.skin.get_bind_name(bind))
				if bone in ["", skeleton.get_bone_name(joint)]:
					var pose := skeleton.get_bone_global_pose(joint) * mesh.skin.get_bind_pose(bind)
					points.append(_numbers(_placed(skeleton, scene) * (pose * vertices[i])))
	return points


func _numbers(vector: Vector3) -> Array:
	return [vector.x, vector.y, vector.z]
