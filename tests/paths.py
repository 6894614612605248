"""Folders that tests read."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
"""The top of the checkout."""
