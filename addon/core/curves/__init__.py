"""Animation curves as arrays: values and matrices at times, and bounds on what happens in between.

==================  ==============================================================================
`easings`           easings with Blender's formulas and rounding
`easing_bounds`     parts of easings: distance from the chord
`keyframes`         curves of keys: segments, values at times, and distance from the chord over intervals
`expressions`       driver expressions of the frame number, and curves with these
`transforms`        world matrices of objects from their channels, rotation modes and parents
`transform_bounds`  keyed objects between two frames: distance of points and turns from the chord
==================  ==============================================================================
"""
