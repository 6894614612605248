"""Commands: each runs one job and writes its result.

Blender and `scene` are imported when a command needs them, because that takes a second:
help, usage errors and `validate` do without.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from ..core import CollisionBoundsError, Progress
from ..formats import (
    DocumentError,
    DocumentSizeError,
    InputWarning,
    bounds_table,
    dumps,
    load_document,
    require_writable,
    write_text,
)
from ..formats.export.text_table import collider_check_table
from ..formats.wording import pluralized, single_line
from . import CONTACTS_FOUND, DONE, PROBLEMS_FOUND, PROGRAM
from .job_runner import ProgressLine, print_warning, report_inputs, run_job, write_output, write_result
from .parser import UsageError
from .process import create_session_folder_parent

if TYPE_CHECKING:
    from ..scene.jobs.result import Result
    from ..scene.motion.scan_records import ScanShare
    from ..scene.settings import ContactSettings

_Settings = TypeVar("_Settings")


def compute_bounds_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `bounds`: bounds at one frame, optionally with envelopes and tracks."""
    scene, warnings = _open_scene(options)
    from ..scene.jobs.bounds import BOUNDS_SHARE, bounds_in_parts
    from ..scene.settings import BoundsSettings

    settings = _settings(BoundsSettings(), scene, options, frame=_restarted(scene, options.frame))
    line = ProgressLine(None if options.quiet or not sys.stderr.isatty() else sys.stderr)
    result = run_job(bounds_in_parts(scene, settings), line)
    report_inputs([entry for entry in result.warnings if entry not in warnings], options)
    line.written = 0.0 if settings.envelope or settings.tracks else BOUNDS_SHARE
    write_result(result, options, out, lambda document: bounds_table(document, result.linear_only), line)
    return DONE


def find_contacts_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `contacts`: contacts over a frame range."""
    baseline = None if options.baseline is None else _load_baseline(options)
    scene, warnings = _open_scene(options)
    _restarted(scene)
    from ..scene.settings import ContactSettings

    settings = _settings(ContactSettings(), scene, options)
    line = ProgressLine(None if options.quiet or not sys.stderr.isatty() else sys.stderr)
    job = _contacts_job(scene, settings, options)
    result = None if job is None else run_job(job, line)
    if result is None:
        return DONE if options.share_exit_code is None else int(options.share_exit_code)
    report_inputs([entry for entry in result.warnings if entry not in warnings], options)
    comparison = write_result(
        result, options, out, lambda document: [result.contacts_table(document)], line, baseline
    )
    if options.fail_on_new:
        counts, exit_code = comparison is not None and bool(comparison.new), CONTACTS_FOUND
    else:
        counts, exit_code = result.has_contacts, CONTACTS_FOUND if options.fail_on_contact else DONE
    if not counts:
        return DONE
    return exit_code if options.contact_exit_code is None else int(options.contact_exit_code)


def _contacts_job(
    scene: Any, settings: ContactSettings, options: argparse.Namespace
) -> Generator[Progress, None, Result | None] | None:
    """Return the job that finds contacts; None if there is nothing to do here."""
    from ..scene.jobs.contacts import find_contacts, scan_frame_share
    from ..scene.motion.scan_records import has_sections, refusal_of

    share, count = options.frame_share, options.join_shares
    if share is None and count is not None:
        shares = _read_shares(options, count)
        _print_refusal(*(each.refusal for each in shares))
        return find_contacts(scene, settings, shares=shares)
    can_be_shared = share is not None
    if count is not None or options.share_exit_code is not None:
        can_be_shared = has_sections(scene, settings)
        if can_be_shared and (refusal := refusal_of(scene)):
            _print_refusal(refusal)
            can_be_shared = False
    if can_be_shared:
        exchange = partial(_exchange_shares, options)
        return None if share is None else scan_frame_share(scene, settings, share, exchange)
    # The first of the shares is the whole scan.
    return None if share is not None and share[0] else find_contacts(scene, settings)


def _exchange_shares(options: argparse.Namespace, share: ScanShare) -> list[ScanShare]:
    """Write a share, and return all shares; an empty list if others are missing, or of another scan."""
    from ..scene.motion.scan_records import share_as_text

    write_text(_share_path(options, share.number, share.share_count), share_as_text(share))
    if options.join_shares is None:
        _print_refusal(share.refusal)
        return []
    try:
        shares = _read_shares(options, share.share_count)
    except UsageError:
        return []
    for number, other in enumerate(shares):
        if (other.number, other.share_count, other.identity) != (number, len(shares), share.identity):
            return []
    _print_refusal(*(each.refusal for each in shares))
    return shares


def _read_shares(options: argparse.Namespace, count: int) -> list[ScanShare]:
    """Read the files of all shares. Raises UsageError for one that is missing or damaged."""
    from ..scene.motion.scan_records import share_from_text

    shares = []
    for number in range(count):
        path = _share_path(options, number, count)
        name = single_line(str(path))
        try:
            shares.append(share_from_text(path.read_text("utf-8")))
        except FileNotFoundError:
            remedy = f"write it with --frame-share {number + 1}/{count}"
            raise UsageError(f"{name}: does not exist; {remedy}") from None
        except (OSError, UnicodeDecodeError, CollisionBoundsError) as error:
            raise UsageError(f"{name}: cannot be joined ({error})") from None
    return shares


def _share_path(options: argparse.Namespace, number: int, count: int) -> Path:
    """Return the file of a share, by its number from 0."""
    return Path(f"{options.output}.{number + 1}-of-{count}")


def _print_refusal(*refusals: str) -> None:
    """Print the first reason that is not empty, if there is one, why a scan was not divided."""
    if refusal := next(filter(None, refusals), ""):
        print(f"{PROGRAM}: not split: {single_line(refusal)}", file=sys.stderr)


def check_colliders_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `check-colliders`: check collider objects, and the meshes that they enclose."""
    scene, _ = _open_scene(options)
    from ..scene.blender.animated import Simulations
    from ..scene.blender.frames import advance_to
    from ..scene.blender.instances import name_of
    from ..scene.colliders.check import check_colliders
    from ..scene.settings import ColliderCheckSettings

    frame = _restarted(scene)
    if frame is not None:
        advance_to(scene, frame, Simulations.of(scene), None)
    document = check_colliders(scene, _settings(ColliderCheckSettings(), scene, options)).document(
        name_of(scene)
    )
    write_output([dumps(document)], [collider_check_table(document)], options, out, ProgressLine(None))
    return PROBLEMS_FOUND if document["problems"] else DONE


def _load_baseline(options: argparse.Namespace) -> dict[str, Any]:
    """Return the document of --baseline."""
    name = single_line(str(options.baseline))
    if _is_output(options.baseline, options):
        raise UsageError(f"--baseline {name}: is the output file too, which would replace it")
    try:
        baseline: dict[str, Any] = load_document(options.baseline)
    except DocumentError as error:
        raise UsageError(f"--baseline {name}: {error}") from None
    # Only bounds have these. Bounds without them look like a scan without contacts.
    if baseline["tracks"] or "vertexGroup" in baseline["extras"]:
        raise UsageError(f"--baseline {name}: is a document of bounds; write it with contacts")
    return baseline


def validate_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `validate`: check a document."""
    name = single_line(str(options.file))
    try:
        document = load_document(options.file, options.max_size)
    except DocumentSizeError as error:
        raise UsageError(f"{name}: {error}; raise the limit with --max-size") from None
    except DocumentError as error:
        raise UsageError(f"{name}: {error}") from None
    if not options.quiet:
        objects = pluralized(len(document["objects"]), "object")
        contacts = pluralized(len(document["contacts"]), "contact")
        warnings = len(document.get("warnings", ()))
        more = f", {pluralized(warnings, 'warning')}" if warnings else ""
        print(f"{name}: valid ({objects}, {contacts}{more})", file=out)
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace, TextIO], int]] = {
    "bounds": compute_bounds_command,
    "contacts": find_contacts_command,
    "check-colliders": check_colliders_command,
    "validate": validate_command,
}


def _open_scene(options: argparse.Namespace) -> tuple[Any, tuple[InputWarning, ...]]:
    """Check that the output can be written, open the file if there is one to open, and check its inputs.

    Returns the scene and the warnings about it, which are printed already.
    """
    if options.output not in (None, "-"):
        require_writable(Path(options.output))
    if "file" in options and _is_output(options.file, options):
        raise UsageError(f"{options.output}: is the scene file itself; choose another name")
    create_session_folder_parent()
    try:
        import bpy
    except ImportError as error:
        reason = "is not installed in this Python" if error.name == "bpy" else f"cannot be imported ({error})"
        raise UsageError(
            f"the module bpy {reason}: install it with {sys.executable} -m pip install bpy, or run the "
            "script in Blender (blender -b --python-exit-code 3 --python SCRIPT -- COMMAND SCENE)"
        ) from None
    from ..scene.blender import object_properties
    from ..scene.blender.parts import known_rows

    object_properties.attach()
    known_rows.attach()
    if "file" in options:
        from ..scene.open_file import open_scene

        for problem in open_scene(options.file, options.enable_autoexec):
            print_warning(problem)
    elif not bpy.data.filepath:
        from ..scene.open_file import has_scene_suffix, unreadable_reason

        # Blender continues with its start-up scene if it cannot open a file: that is not the requested scene.
        # Name the last scene file on Blender's own command line.
        before = itertools.takewhile(lambda word: word not in {"-c", "--command", "--"}, sys.argv[1:])
        scenes = [word for word in before if not word.startswith("-") and has_scene_suffix(Path(word))]
        reason = unreadable_reason(Path(scenes[-1])) if scenes else ""
        name = scenes[-1] if scenes else "SCENE.blend"
        raise UsageError(f"{name}: {reason or 'Blender has no scene file open'}")
    elif _is_output(bpy.data.filepath, options):
        raise UsageError(f"{options.output}: is the scene file itself; choose another name")
    if options.scene is not None:
        from ..scene.open_file import activate_scene

        activate_scene(options.scene)
    from ..scene.blender.missing_inputs import input_warnings

    warnings = input_warnings(bpy.context.evaluated_depsgraph_get())
    report_inputs(warnings, options)
    return bpy.context.scene, warnings


def _restarted(scene: Any, frame: float | None = None) -> float | None:
    """Forget what Blender simulated in one step when it opened the file at a later frame than the start.

    Returns the frame to evaluate, by default that of the file; None to take a scene without such simulations
    as it is.
    """
    from ..scene.blender.animated import Simulations
    from ..scene.blender.frames import playhead

    simulations = Simulations.of(scene)
    if simulations.first_frame is None:
        return frame
    saved = playhead(scene)
    simulations.restart(scene)
    return saved if frame is None else frame


def _is_output(opened: str | Path, options: argparse.Namespace) -> bool:
    """Return whether the output would replace a file that is opened, also through links."""
    try:
        return options.output not in (None, "-") and Path(options.output).samefile(opened)
    except OSError:  # one of them does not exist
        return False


def _settings(settings: _Settings, scene: Any, options: argparse.Namespace, **more: Any) -> _Settings:
    """Return settings with the options; in --objects, the objects below an armature or empty stand for it."""
    from ..scene.options import with_options
    from ..scene.subjects.selection import patterns_with_objects_below

    objects = patterns_with_objects_below(scene, options.objects)
    return with_options(settings, {**options.given, "objects": objects, **more})
