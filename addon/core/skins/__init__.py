"""Points that bones carry by shares, as armatures bend meshes.

====================  ==============================================================================
`point_tree`          levels of a tree of the points, with what bounds those of each node
`blended_points`      points at the weighted mean of their places in spaces of bones, and their boxes
====================  ==============================================================================
"""
