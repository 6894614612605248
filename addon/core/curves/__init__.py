"""Animation curves as arrays: values and matrices at times, and bounds on what happens in between.

==================  =========================================================================
`bezier`            Bezier segments with Blender's formulas and rounding
`bezier_parts`      parts of Bezier segments: distance from the chord
`easings`           easings with Blender's formulas and rounding
`easing_bounds`     parts of easings: distance from the chord
`segments`          curves before, between and after their keys
`keyframes`         curves of keys: values at times
`chords`            curves over intervals: ends, distance from the chord
`expressions`       driver expressions of the frame number
`animated_values`   curves and expressions, numbered together
`jumps`             times at which objects jump
`rotation`          rotation modes: matrices, and distance from the chord and from the arc
`transforms`        world matrices of objects from their channels and parents
`transform_bounds`  objects over an interval: distance of their points from the chord
==================  =========================================================================
"""
