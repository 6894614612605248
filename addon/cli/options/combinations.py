"""Options that depend on each other: checks of these, and values that follow from other options."""

from __future__ import annotations

import argparse

from ...scene.settings import ENVELOPE_SHAPES, OBSTACLE_SHAPES, ContactSettings, FitSettings
from .output_options import check_report_options, complete_output_options
from .values import UsageError


def complete_options(options: argparse.Namespace) -> None:
    """Set values that follow from other options, in place. Raises UsageError for contradictory options."""
    if options.command == "bounds":
        _complete_parts(options)
        complete_output_options(options)
        _check_bones(options)
        _check_bounds(options)
    elif options.command == "contacts":
        complete_output_options(options)
        _check_bones(options)
        _complete_scanned_shape(options)
        _check_shares(options)
    elif options.command == "check-colliders":
        check_report_options(options)


def _complete_parts(options: argparse.Namespace) -> None:
    """Add the compound that --parts requests to the shapes. Raises UsageError for options without one."""
    if options.parts is not None:
        options.shapes = tuple(dict.fromkeys((*options.shapes, "compound")))
    for name in ("parts_tolerance", "part_shape"):
        if getattr(options, name) is not None and "compound" not in options.shapes:
            raise UsageError(f"{_written(name)}: only valid with --parts or --shapes compound")
    options.parts = options.parts or FitSettings.parts
    options.part_shape = options.part_shape or FitSettings.part_shape


def _complete_scanned_shape(options: argparse.Namespace) -> None:
    """Set the shape that --parts or --obstacles requests. Raises UsageError for options of another one."""
    for name in ("parts", "parts_tolerance"):
        if getattr(options, name) is not None:
            options.shape = options.shape or "compound"
            if options.shape != "compound":
                raise UsageError(f"{_written(name)}: only valid with --shape compound")
    options.parts = options.parts or FitSettings.parts
    if options.shape is None:
        options.shape = ContactSettings.shape if not options.obstacles else OBSTACLE_SHAPES[0]
    if options.one_sided and not options.obstacles:
        raise UsageError("--one-sided: only valid with --obstacles")


def _check_bones(options: argparse.Namespace) -> None:
    if options.bone_weight is not None and not options.bones:
        raise UsageError("--bone-weight: only valid with --bones")


def _check_bounds(options: argparse.Namespace) -> None:
    over_frames = options.envelope or options.tracks
    if options.group_threshold is not None and options.vertex_group is None:
        raise UsageError("--group-threshold: only valid with --vertex-group")
    if options.vertex_group is not None and (over_frames or options.bones):
        raise UsageError("--vertex-group: not valid with --bones, --envelope or --tracks")
    if options.bone_frames == "all" and not options.bones:
        raise UsageError("--bone-frames all: only valid with --bones")
    if options.frames is not None and not (over_frames or options.bone_frames == "all"):
        raise UsageError(
            "--frames: only valid with --envelope, --tracks or --bone-frames all; for bounds at one frame "
            "use --frame"
        )
    if over_frames and not set(ENVELOPE_SHAPES) & set(options.shapes):
        requested = ",".join(options.shapes)
        raise UsageError(
            f"--shapes {requested}: envelopes and tracks need {' or '.join(ENVELOPE_SHAPES)}; add one of them"
        )


def _check_shares(options: argparse.Namespace) -> None:
    for name in ("frame_share", "join_shares"):
        if getattr(options, name) is not None and options.output in (None, "-"):
            raise UsageError(f"{_written(name)}: needs an output file, which names those of the shares")
    share, count = options.frame_share, options.join_shares
    if share is not None and count is not None and share[1] != count:
        raise UsageError(f"--join-shares {count}: must be {share[1]}, as of --frame-share")
    if options.share_exit_code is not None and (share is None) != (count is None):
        raise UsageError(
            "--share-exit-code: not valid with one of --frame-share and --join-shares, only with both or none"
        )


def _written(name: str) -> str:
    """Return an option as it is written, from its name in the namespace."""
    return f"--{name.replace('_', '-')}"
