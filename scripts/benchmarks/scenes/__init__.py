"""Tables about scenes in Blender: scans, instances, the overlay."""
