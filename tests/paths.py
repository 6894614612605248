"""Folders that tests read."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
"""The root folder of the checkout."""
