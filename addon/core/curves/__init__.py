"""Animation curves as arrays: values at times, and bounds on what they do in between."""
