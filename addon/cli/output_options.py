"""Output options: which file is written, in which format and space, and whether it can store the request."""

from __future__ import annotations

import argparse
import itertools
import os
import stat
from pathlib import Path

from ..core import CollisionBoundsError
from ..formats import (
    CONVENTIONS,
    FILE_FORMATS,
    Convention,
    FileFormat,
    convention_for,
    file_format,
    format_from_filename,
)
from ..scene.open_file import SCENE_SUFFIXES

_READ_ONLY_SUFFIXES = frozenset(SCENE_SUFFIXES) - {format.suffix for format in FILE_FORMATS}
"""Suffixes of files that are opened, and never written."""


class UsageError(CollisionBoundsError):
    """An argument that is unknown or invalid, or a combination of options that is not possible."""


def complete_output_options(options: argparse.Namespace) -> None:
    """Set the format and convention of the output, in place. Raises UsageError for contradictions."""
    is_file = options.output not in (None, "-")
    if is_file:
        _require_no_scene_name(options.output)
    source = str(options.output) if options.format is None else f"--format {options.format}"
    if options.format is not None:
        format = file_format(options.format)
    else:
        format = _format_of_file(options.output) if is_file else FILE_FORMATS[0]
    options.format = format.name
    if options.command == "contacts" and "contacts" not in format.contents:
        raise UsageError(f"{source}: {format.label} cannot store contacts; {_alternative('contacts')}")
    if format.convention is not None and options.preset not in (None, format.name):
        raise UsageError(f"--preset {options.preset}: {format.label} has fixed axes and units; omit --preset")
    if options.command == "bounds":
        _check_storable(options, format, source)
        if options.free_joints and format.name != "mjcf":
            raise UsageError("--free-joints: only valid with --format mjcf or a FILE.xml")
    options.convention = convention_for(format.name, _requested_convention(options))


REPORT_FORMATS = ("json",)
"""Formats of the output of `check-colliders`."""


def check_report_options(options: argparse.Namespace) -> None:
    """Check the output file of a command that writes a report. Raises UsageError for an unknown suffix."""
    if options.output in (None, "-"):
        return
    _require_no_scene_name(options.output)
    suffixes = {Path(name).suffix.lower() for name in (options.output, os.path.realpath(options.output))}
    if options.format is None and ".json" not in suffixes and not _is_pipe_or_device(options.output):
        raise UsageError(f"{options.output}: the name must end in .json; for another name add --format json")


def _is_pipe_or_device(output: str) -> bool:
    try:
        return not stat.S_ISREG(Path(output).stat().st_mode)
    except OSError:  # it does not exist
        return False


def _require_no_scene_name(output: str) -> None:
    """Raise UsageError if a file, or the file that it links to, has the name of a scene."""
    if Path(output).suffix.lower() in _READ_ONLY_SUFFIXES:
        raise UsageError(
            f"{output}: is the name of a scene file; choose a name that ends in {_known_suffixes()}"
        )
    target = os.path.realpath(output)
    if Path(target).suffix.lower() in _READ_ONLY_SUFFIXES:
        raise UsageError(f"{output}: is a link to the scene file {target}; choose another name")


def _format_of_file(output: str) -> FileFormat:
    """Format of the suffix of a file, or else of the file that it links to; a document for pipes and devices.

    Raises UsageError for an unknown suffix.
    """
    format = format_from_filename(output) or format_from_filename(os.path.realpath(output))
    if format is not None:
        return format
    if _is_pipe_or_device(output):
        return FILE_FORMATS[0]
    raise UsageError(f"{output}: the name must end in {_known_suffixes()}; for another name add --format")


def _known_suffixes() -> str:
    *suffixes, last = dict.fromkeys(format.suffix for format in FILE_FORMATS)
    return f"{', '.join(suffixes)} or {last}"


def _check_storable(options: argparse.Namespace, format: FileFormat, source: str) -> None:
    """Raise UsageError for a request that the format cannot store.

    source : the option or file name that the format was determined from
    """
    for name in ("envelope", "tracks"):
        if getattr(options, name) and name not in format.contents:
            raise UsageError(f"{source}: {format.label} cannot store --{name}; {_alternative(name)}")
    if options.envelope and format.name == "gltf" and "volumes" not in options.gltf:
        raise UsageError(f"{source}: {format.label} stores --envelope as volumes only; add --gltf volumes")
    if not format.shapes & set(options.shapes):
        requested = ",".join(options.shapes)
        added = "aabb" if "aabb" in format.shapes else "sphere"
        raise UsageError(f"--shapes {requested}: {format.label} cannot store these shapes; add {added}")
    if "compound" in options.shapes:
        if "compound" not in format.shapes:
            raise UsageError(f"{source}: {format.label} cannot store convex parts; omit --parts")
        if options.part_shape == "hull" and not {"compound", "hull"} <= format.shapes:
            raise UsageError(f"{source}: {format.label} cannot store hulls of parts; add --part-shape box")


def _alternative(content: str) -> str:
    """Suggest files that can store a kind of content of FileFormat.contents."""
    suffixes = [
        format.suffix
        for format in FILE_FORMATS
        if content in format.contents and format_from_filename(format.suffix) is format
    ]
    return f"write a {' or '.join(suffixes)} file instead"


def _requested_convention(options: argparse.Namespace) -> Convention:
    """Convention of --preset and, for a custom one, of --up, --forward, --handedness and --scale."""
    custom = {name: getattr(options, name) for name in ("up", "forward", "handedness", "scale")}
    if options.preset != "custom":
        if given := [name for name, value in custom.items() if value is not None]:
            raise UsageError(f"--{given[0]}: only valid with --preset custom")
        return CONVENTIONS[options.preset or "blender"]
    if missing := [name for name, value in custom.items() if value is None and name != "scale"]:
        raise UsageError(f"--preset custom: needs --{missing[0]}")
    scale = 1.0 if options.scale is None else options.scale
    return Convention("custom", options.up, options.forward, options.handedness, scale)


def format_help() -> str:
    """List the file formats with their purposes, and the default."""
    purposes = (
        f"{' or '.join(format.name for format in formats)} {purpose}".strip()
        for purpose, formats in itertools.groupby(FILE_FORMATS, lambda format: format.purpose)
    )
    default = FILE_FORMATS[0]
    return f"{', '.join(purposes)} (default: by the suffix, {default.name} without a file)"
