# Reads animations of scenes. Reads `tasks.json` of the project and writes `animation.json`: for each task the step of the
# animation, and the positions and rotations of its nodes at the times of the task.
extends SceneTree


func _init() -> void:
	var results := {}
	var tasks: Array = JSON.parse_string(FileAccess.get_file_as_string("res://tasks.json"))
	for task: Dictionary in tasks:
		var scene := _scene(task)
		var player: AnimationPlayer = scene.get_node("AnimationPlayer")
		var names := player.get_animation_list()
		var animation := player.get_animation(names[0])
		var positions := {}
		var rotations := {}
		for track in animation.get_track_count():
			var found := []
			var path := str(animation.track_get_path(track))
			if animation.track_get_type(track) == Animation.TYPE_POSITION_3D:
				positions[path] = found
				for time: float in task["times"]:
					var place := animation.position_track_interpolate(track, time)
					found.append([place.x, place.y, place.z])
			elif animation.track_get_type(track) == Animation.TYPE_ROTATION_3D:
				rotations[path] = found
				for time: float in task["times"]:
					var turn := animation.rotation_track_interpolate(track, time)
					found.append([turn.x, turn.y, turn.z, turn.w])
		results[task["name"]] = {"names": names, "step": animation.step, "positions": positions, "rotations": rotations}
		scene.free()
	var file := FileAccess.open("res://animation.json", FileAccess.WRITE)
	file.store_string(JSON.stringify(results, "", true, true))
	file.close()
	quit()


func _scene(task: Dictionary) -> Node:
	if not task.has("rates"):
		return load("res://" + task["scene"]).instantiate()
	var document := GLTFDocument.new()
	var state := GLTFState.new()
	document.append_from_file(ProjectSettings.globalize_path("res://" + task["scene"]), state)
	# An empty list is the default of Godot.
	return document.generate_scene.callv([state] + task["rates"])
