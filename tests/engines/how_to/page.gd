# Opens a scene below a node with a script of the page, if there is one, and prints the bodies of each mesh and bone:
# name, class of the node above, and classes of the bodies and of their shapes.
extends SceneTree


func _initialize() -> void:
	var arguments := OS.get_cmdline_user_args()
	var scene: Node = load("res://" + arguments[0]).instantiate()
	scene.name = "Level"
	var node := Node3D.new()
	if arguments.size() > 1:
		node = load("res://" + arguments[1]).new()
	node.add_child(scene)
	get_root().add_child(node)
	await process_frame
	for above: Node in scene.find_children("*", "Node3D", true, false):
		if not (above is MeshInstance3D or above is BoneAttachment3D):
			continue
		var bodies := []
		for body: Node in above.get_children():
			if body is CollisionObject3D:
				var shapes := body.find_children("*", "CollisionShape3D", true, false)
				bodies.append([body.get_class(), shapes.map(func(each: Node) -> String: return each.shape.get_class())])
		print("above\t%s\t%s\t%s" % [above.name, above.get_class(), JSON.stringify(bodies)])
	node.free()
	quit()
