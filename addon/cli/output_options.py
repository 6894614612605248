"""Output options: which file is written, in which format and space, and whether it can store the request."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from ..formats import (
    CONVENTIONS,
    FILE_FORMATS,
    Convention,
    FileFormat,
    convention_for,
    file_format,
    format_from_filename,
)
from .values import UsageError

_SCENE_SUFFIXES = (".blend", ".glb", ".fbx", ".obj", ".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of files that are read, and never written."""


def complete_output_options(options: argparse.Namespace) -> None:
    """Set the format and convention of the output, in place. Raises UsageError for contradictions."""
    if Path(options.output or "").suffix.lower() in _SCENE_SUFFIXES:
        *suffixes, last = dict.fromkeys(format.suffix for format in FILE_FORMATS)
        known = f"{', '.join(suffixes)} or {last}"
        raise UsageError(f"{options.output}: is the name of a scene; name a {known} file")
    source = str(options.output) if options.format is None else f"--format {options.format}"
    format = file_format(options.format) if options.format else format_from_filename(options.output or "")
    options.format = format.name
    if options.command == "contacts" and "contacts" not in format.contents:
        raise UsageError(f"{source}: {format.label} has no place for contacts")
    if format.convention is not None and options.preset not in (None, format.name):
        raise UsageError(f"--preset: {format.label} has axes and a unit of its own")
    if options.command == "bounds":
        _check_storable(options, format, source)
    options.convention = convention_for(format.name, _requested_convention(options))


def _check_storable(options: argparse.Namespace, format: FileFormat, source: str) -> None:
    """Raise UsageError for a request that the format cannot store.

    source : the option or file name that the format was determined from
    """
    for name in ("envelope", "tracks"):
        if getattr(options, name) and name not in format.contents:
            raise UsageError(
                f"{source}: {format.label} has no place for --{name}, a document has (FILE.json)"
            )
    if not format.shapes & set(options.shapes):
        requested = ",".join(options.shapes)
        raise UsageError(f"--shapes {requested}: {format.label} has no such shapes, add aabb")


def _requested_convention(options: argparse.Namespace) -> Convention:
    """Convention of --preset and, for a custom one, of --up, --forward, --handedness and --scale."""
    custom = {name: getattr(options, name) for name in ("up", "forward", "handedness", "scale")}
    if options.preset != "custom":
        if given := [name for name, value in custom.items() if value is not None]:
            raise UsageError(f"--{given[0]}: is about --preset custom")
        return CONVENTIONS[options.preset or "blender"]
    if missing := [name for name, value in custom.items() if value is None and name != "scale"]:
        raise UsageError(f"--preset custom: needs --{missing[0]}")
    scale = 1.0 if options.scale is None else options.scale
    return Convention("custom", options.up, options.forward, options.handedness, scale)


def format_help() -> str:
    """List the file formats with their purposes, and the suffixes that select them."""
    purposes = (
        f"{' or '.join(format.name for format in formats)} {purpose}".strip()
        for purpose, formats in itertools.groupby(FILE_FORMATS, lambda format: format.purpose)
    )
    default = FILE_FORMATS[0]
    suffixes = (
        f"{format.name} for {format.suffix}"
        for format in FILE_FORMATS
        if format is not default and format_from_filename(format.suffix) is format
    )
    return f"{', '.join(purposes)} (default by the suffix: {', '.join(suffixes)}, else {default.name})"
