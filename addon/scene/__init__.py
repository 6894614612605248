"""Adapters: from Blender's scene to the arrays of the math, and the jobs that all three doors run."""
