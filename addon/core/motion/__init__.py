"""Motions: where shapes are at a time, and where they may be in between."""
