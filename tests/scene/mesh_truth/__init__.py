"""Contacts of random pairs of meshes, found without code of the product, to compare its scans with."""
