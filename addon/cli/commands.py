"""Commands: each runs one job and writes its result.

Blender and `scene` are imported when a command needs them, because that takes a second:
help, usage errors and `validate` do without.
"""

from __future__ import annotations

import argparse
import contextlib
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
    bounds_table_parts,
    load_document,
    require_writable,
    write_text,
)
from ..formats.export.text_table import collider_check_table
from ..formats.wording import pluralized, single_line
from . import CONTACTS_FOUND, DONE, PROBLEMS_FOUND, PROGRAM
from .errors import UsageError
from .input_checks import print_warning, report_inputs
from .job_runner import run_job
from .progress_line import ProgressLine
from .result_writer import WritingProgress, write_report, write_result
from .session_folder import create_session_folder_parent

if TYPE_CHECKING:
    from ..scene.animation.scan_shares import ScanShare
    from ..scene.jobs.result import Result
    from ..scene.settings import ContactSettings

_Settings = TypeVar("_Settings")


def compute_bounds_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `bounds`: bounds at one frame, optionally with envelopes and tracks."""
    scene, warnings = _open_scene(options)
    from ..scene.jobs.bounds import BOUNDS_SHARE, bounds_in_parts
    from ..scene.jobs.envelopes import play_bounds
    from ..scene.settings import BoundsSettings

    settings = _settings(BoundsSettings(), scene, options, frame=_restarted(scene, options.frame))
    line, is_played = _progress_line(options), options.envelope or options.tracks
    job = play_bounds(scene, settings) if is_played else bounds_in_parts(scene, settings)
    result = run_job(job, line)
    report_inputs([entry for entry in result.warnings if entry not in warnings], options)
    progress = WritingProgress(line, 0.0 if is_played else BOUNDS_SHARE)
    write_result(
        result, options, out, lambda document: bounds_table_parts(document, result.linear_only), progress
    )
    return DONE


def find_contacts_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `contacts`: contacts over a frame range."""
    baseline = _load_baseline(options)
    scene, warnings = _open_scene(options)
    _restarted(scene)
    from ..scene.settings import ContactSettings

    settings = _settings(ContactSettings(), scene, options)
    line = _progress_line(options)
    if options.frame_share is not None and options.join_shares is None:
        return _scan_share(scene, settings, options, line)
    job = _contacts_job(scene, settings, options)
    result = None if job is None else run_job(job, line)
    if result is None:
        return DONE if options.share_exit_code is None else int(options.share_exit_code)
    report_inputs([entry for entry in result.warnings if entry not in warnings], options)
    progress = WritingProgress(line)
    comparison = write_result(
        result,
        options,
        out,
        lambda document: [result.contacts_table(document)],
        progress,
        baseline,
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
    from ..scene.jobs.contacts import find_contacts
    from ..scene.jobs.frame_shares import scan_and_join

    if options.frame_share is not None:
        if _can_be_shared(scene, settings):
            return scan_and_join(scene, settings, options.frame_share, partial(_exchange_shares, options))
        # The first of the shares is the whole scan.
        return None if options.frame_share[0] else find_contacts(scene, settings)
    if options.join_shares is None and options.share_exit_code is not None:
        return None if _can_be_shared(scene, settings) else find_contacts(scene, settings)
    return find_contacts(scene, settings, shares=_read_shares(options))


def _exchange_shares(options: argparse.Namespace, share: ScanShare) -> list[ScanShare]:
    """Write a share, and return all shares; an empty list if others are missing, or of another scan."""
    from ..scene.animation.scan_shares import share_as_text, share_from_text

    write_text(_share_path(options, share.number, share.share_count), share_as_text(share))
    shares = []
    for number in range(share.share_count):
        other = share
        if number != share.number:
            try:
                text = _share_path(options, number, share.share_count).read_text("utf-8")
                other = share_from_text(text)
            except (OSError, UnicodeDecodeError, CollisionBoundsError):
                return []
        if (other.number, other.share_count, other.identity) != (number, share.share_count, share.identity):
            return []
        shares.append(other)
    _print_refusal(next((each.refusal for each in shares if each.refusal), ""))
    return shares


def _scan_share(scene: Any, settings: Any, options: argparse.Namespace, line: ProgressLine | None) -> int:
    """Scan a share of the frames, and write what it has found."""
    from ..scene.animation.scan_shares import share_as_text
    from ..scene.jobs.frame_shares import scan_frame_share

    share = run_job(scan_frame_share(scene, settings, *options.frame_share), line)
    write_text(_share_path(options, *options.frame_share), share_as_text(share))
    _print_refusal(share.refusal)
    return DONE


def _can_be_shared(scene: Any, settings: Any) -> bool:
    """Return whether the frames of a scan can be shared; print why a long animation cannot be divided."""
    from ..scene.animation.scan_shares import has_sections, refusal_of

    if not has_sections(scene, settings):
        return False
    refusal = refusal_of(scene)
    _print_refusal(refusal)
    return not refusal


def _read_shares(options: argparse.Namespace) -> list[ScanShare]:
    """Read the files of all shares to join; an empty list without --join-shares."""
    from ..scene.animation.scan_shares import share_from_text

    shares = []
    for number in range(options.join_shares or 0):
        path = _share_path(options, number, options.join_shares)
        name = single_line(str(path))
        try:
            shares.append(share_from_text(path.read_text("utf-8")))
        except FileNotFoundError:
            remedy = f"write it with --frame-share {number + 1}/{options.join_shares}"
            raise UsageError(f"{name}: does not exist; {remedy}") from None
        except (OSError, UnicodeDecodeError, CollisionBoundsError) as error:
            raise UsageError(f"{name}: cannot be joined ({error})") from None
    _print_refusal(next((share.refusal for share in shares if share.refusal), ""))
    return shares


def _share_path(options: argparse.Namespace, number: int, count: int) -> Path:
    """Return the file of a share, by its number from 0."""
    return Path(f"{options.output}.{number + 1}-of-{count}")


def _print_refusal(refusal: str) -> None:
    if refusal:
        print(f"{PROGRAM}: not split: {single_line(refusal)}", file=sys.stderr)


def check_colliders_command(options: argparse.Namespace, out: TextIO) -> int:
    """Run `check-colliders`: check collider objects, and the meshes that they enclose."""
    scene, _ = _open_scene(options)
    from ..scene.blender.frames import advance_to
    from ..scene.blender.names import name_of
    from ..scene.blender.simulation import Simulations
    from ..scene.colliders.check import check_colliders
    from ..scene.settings import ColliderCheckSettings

    frame = _restarted(scene)
    if frame is not None:
        advance_to(scene, frame, Simulations.of(scene), None)
    document = check_colliders(scene, _settings(ColliderCheckSettings(), scene, options)).document(
        name_of(scene)
    )
    write_report(document, options, out, collider_check_table(document))
    return PROBLEMS_FOUND if document["problems"] else DONE


def _load_baseline(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the document of --baseline; None without one."""
    if options.baseline is None:
        if options.fail_on_new:
            raise UsageError("--fail-on-new needs --baseline OLD.json")
        return None
    name = single_line(str(options.baseline))
    if options.output not in (None, "-"):
        with contextlib.suppress(OSError):  # one of them does not exist
            if Path(options.output).samefile(options.baseline):
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
        if "file" in options:
            _require_other_file(options.output, options.file)
    _require_blender()
    import bpy

    from ..scene.blender import object_properties
    from ..scene.blender.parts import known_rows

    object_properties.attach()
    known_rows.attach()
    if "file" in options:
        from ..scene.open_file import open_scene

        for problem in open_scene(options.file, options.enable_autoexec):
            print_warning(problem)
    elif not bpy.data.filepath:
        # Blender continues with its start-up scene if it cannot open a file: that is not the requested scene.
        raise UsageError(f"{_scene_argument()}: Blender has no scene file open")
    elif options.output is not None:
        _require_other_file(options.output, bpy.data.filepath)
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
    from ..scene.blender.frames import playhead, restart_simulations
    from ..scene.blender.simulation import Simulations

    simulations = Simulations.of(scene)
    if simulations.first_frame is None:
        return frame
    saved = playhead(scene)
    restart_simulations(scene, simulations)
    return saved if frame is None else frame


def _require_blender() -> None:
    """Raise UsageError if Blender's module cannot be imported."""
    create_session_folder_parent()
    try:
        import bpy  # noqa: F401
    except ImportError as error:
        reason = "is not installed in this Python" if error.name == "bpy" else f"cannot be imported ({error})"
        raise UsageError(
            f"the module bpy {reason}: install it with {sys.executable} -m pip install bpy, or run the "
            "script in Blender (blender -b --python-exit-code 3 --python SCRIPT -- COMMAND SCENE)"
        ) from None


def _require_other_file(output: str, opened: str | Path) -> None:
    """Raise UsageError if the output is the file that is opened, also through links."""
    with contextlib.suppress(OSError):  # one of them does not exist
        if Path(output).samefile(opened):
            raise UsageError(f"{output}: is the scene file itself; choose another name")


def _scene_argument() -> str:
    """Guess the scene file named on Blender's own command line."""
    before = itertools.takewhile(lambda argument: argument not in {"-c", "--command", "--"}, sys.argv[1:])
    names = [argument for argument in before if Path(argument).suffix and not argument.startswith("-")]
    scenes = [name for name in names if not name.endswith(".py")]
    return scenes[-1] if scenes else "SCENE.blend"


def _settings(settings: _Settings, scene: Any, options: argparse.Namespace, **more: Any) -> _Settings:
    """Return settings with the options; in --objects, the objects below an armature or empty stand for it."""
    from ..scene.options import with_options
    from ..scene.subjects.selection import patterns_with_objects_below

    objects = patterns_with_objects_below(scene, options.objects)
    return with_options(settings, {**options.given, "objects": objects, **more})


def _progress_line(options: argparse.Namespace) -> ProgressLine | None:
    return ProgressLine(sys.stderr) if sys.stderr.isatty() and not options.quiet else None
