"""Inputs of a scene that Blender did not read or run: scripts, libraries and files.

Blender replaces what is missing and continues: a driver that is not run keeps its value, a missing object is
an empty, a missing image displaces vertices wrongly. Results are then wrong without an error. The data-blocks
of a dependency graph are checked, so other scenes of the file do not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.messages import message
from ...formats import InputWarning
from ...formats.wording import pluralized, valid_text
from .instances import background_objects, full_name_of, name_of

_SHADING_ONLY = frozenset({"IMAGE", "LIGHT", "LINESTYLE", "MATERIAL", "SOUND", "WORLD"})
"""Types of data-blocks that bounds do not depend on; images that displace are looked for separately."""

_IMAGE_SOURCES = frozenset({"FILE", "SEQUENCE", "MOVIE"})
"""Sources of images that are read from one file."""

_FONTS = ("font", "font_bold", "font_italic", "font_bold_italic")
_BUILTIN_FONT = "<builtin>"

_of_imports: dict[int, tuple[InputWarning, ...]] = {}
"""Warnings of the importer by the scene's session_uid, which no other scene of the session gets."""


def add_missing_files(scene: bpy.types.Scene, path: Path, missing: Sequence[str]) -> None:
    """Add files that an imported file refers to and that cannot be read to the warnings of the scene."""
    folder = path.resolve().parent
    names = [Path(name) for name in missing]
    shown = [name.relative_to(folder) if name.is_relative_to(folder) else name for name in names]
    _of_imports[scene.session_uid] = tuple(
        InputWarning(
            "missingFile",
            valid_text(path.name),
            f"needs the file {valid_text(name.as_posix())}, which cannot be read",
        )
        for name in shown
    )


def input_warnings(depsgraph: bpy.types.Depsgraph) -> tuple[InputWarning, ...]:
    """Find what the evaluated scene depends on and Blender did not read or run.

    depsgraph : Evaluated, since Blender recognizes a driver that needs a script when it is first evaluated.
    """
    # Only those that shapes and motion can depend on.
    ids: list[Any] = [block.original for block in depsgraph.ids if block.id_type not in _SHADING_ONLY]
    found: list[InputWarning] = []
    version: Any = bpy.data.version
    saved, running = tuple(version)[:2], bpy.app.version[:2]
    if saved > running:
        # Data that this Blender does not know are lost.
        names = ["{}.{}".format(*version) for version in (saved, running)]
        text = f"was saved by Blender {names[0]}; Blender {names[1]} may have lost parts of it"
        found.append(InputWarning("newerFile", valid_text(Path(bpy.data.filepath).name), text))
    found += _of_imports.get(depsgraph.scene.original.session_uid, ())
    by_library: dict[bpy.types.Library, list[str]] = defaultdict(list)
    for item in ids:
        if item.is_missing and item.library is not None and item.library.is_missing:
            by_library[item.library].append(name_of(item))
        elif item.is_missing:
            source = "" if item.library is None else f" from library {valid_text(item.library.filepath)}"
            found.append(InputWarning("missingData", name_of(item), f"{_type_name(item)} is missing{source}"))
    for library, names in by_library.items():
        text = f"library cannot be read: {pluralized(len(names), 'data-block')} missing ({min(names)})"
        found.append(InputWarning("missingLibrary", valid_text(library.filepath), text))
    for user in _users_of_files(ids):
        owner = user.id_data
        if getattr(user, "packed_file", None) or getattr(user, "source", "FILE") not in _IMAGE_SOURCES:
            continue
        path = user.filepath
        if path != _BUILTIN_FONT and not Path(bpy.path.abspath(path, library=owner.library)).exists():
            text = f"needs the file {valid_text(path)}, which does not exist"
            found.append(InputWarning("missingFile", name_of(owner), text))
    for item in ids:
        for owner in (*item.modifiers, *item.particle_systems) if item.id_type == "OBJECT" else ():
            cache = getattr(owner, "point_cache", None)
            # Without its files Blender shows the object at rest. The text begins with their number of frames.
            if cache and cache.is_baked and cache.use_disk_cache and cache.info.startswith("0 "):
                text = f"needs the files of the cache of {name_of(owner)}"
                found.append(InputWarning("missingFile", name_of(item), text))
    # The viewport shows their surfaces with the scene.
    background = depsgraph.scene.background_set
    if background is not None and (names := [name_of(item) for item in background_objects(depsgraph)]):
        text = f"{pluralized(len(names), 'object')} of background scenes omitted ({min(names)})"
        found.append(InputWarning("backgroundScene", name_of(background), text))
    if bpy.app.autoexec_fail:
        found += blocked_drivers(depsgraph)
        # Texts that should be run when the file is opened.
        names = [name_of(script) for script in bpy.data.texts if script.use_module]
        reason = "was not run, because scripts are blocked"
        found += [InputWarning("blockedScript", name, reason) for name in names]
    return tuple(dict.fromkeys(found))


def blocked_drivers(depsgraph: bpy.types.Depsgraph) -> Iterator[InputWarning]:
    """Find the data-blocks with drivers that Blender did not run because scripts are blocked."""
    for block in depsgraph.ids:
        entry: Any = block.original
        if entry.id_type in _SHADING_ONLY:
            continue
        animation = getattr(entry, "animation_data", None)
        curves = animation.drivers if animation is not None else ()
        count = sum(not curve.driver.is_valid for curve in curves)
        if count:
            drivers = pluralized(count, "driver") + (" of shape keys" if entry.id_type == "KEY" else "")
            text = f"{drivers} {'was' if count == 1 else 'were'} not run, because scripts are blocked"
            name = name_of(entry.user if entry.id_type == "KEY" else entry)
            yield InputWarning("blockedDriver", name, text)


def missing_reason(item: bpy.types.Object) -> str | None:
    """Return why an object or its data is missing, as a reason to skip the object; None if nothing is."""
    if item.is_missing:
        if item.library is None:
            return message("is missing")
        return message("is missing from library {library}", library=valid_text(item.library.filepath))
    data: Any = item.data
    if data is None and item.instance_type == "COLLECTION":
        data = item.instance_collection
    if data is not None and data.is_missing:
        values = {"type": _type_name(data), "name": name_of(data)}
        if data.library is None:
            return message("its {type} {name!r} is missing", **values)
        text = "its {type} {name!r} is missing from library {library}"
        return message(text, **values, library=valid_text(data.library.filepath))
    return None


def reasons_without_vertices() -> dict[str, str]:
    """Return why objects with missing data have no vertices, by their full names."""
    if not bpy.data.libraries:
        return {}
    reasons = ((full_name_of(item), missing_reason(item)) for item in bpy.data.objects)
    return {name: reason for name, reason in reasons if reason is not None}


def _type_name(entry: bpy.types.ID) -> str:
    return str(entry.id_type).lower().replace("_", " ").replace("nodetree", "node group")


def _users_of_files(ids: list[Any]) -> Iterator[Any]:
    """Yield the data-blocks and modifiers that name the files that shapes are read from."""
    for entry in ids:
        users: list[Any] = []
        if entry.id_type == "OBJECT":
            for each in (*entry.modifiers, *entry.constraints):
                users.append(each if each.type == "MESH_CACHE" else getattr(each, "cache_file", None))
                inputs = _node_inputs(each) if each.type == "NODES" else ()
                users += [value for value in inputs if isinstance(value, bpy.types.Image)]
        elif entry.id_type == "TEXTURE":
            users = [getattr(entry, "image", None)]
        elif entry.id_type == "NODETREE" and entry.type == "GEOMETRY":
            sockets = (socket for node in entry.nodes for socket in node.inputs)
            users = [socket.default_value for socket in sockets if socket.type == "IMAGE"]
        elif entry.id_type == "CURVE":
            users = [getattr(entry, name, None) for name in _FONTS]
        yield from filter(None, users)


def _node_inputs(modifier: bpy.types.Modifier) -> list[Any]:
    """Values of the inputs of a modifier with geometry nodes: custom properties before Blender 5.2."""
    inputs = getattr(getattr(modifier, "properties", None), "inputs", None)
    if inputs is None:
        return list(modifier.values())
    names = (entry.identifier for entry in inputs.bl_rna.properties if entry.type == "POINTER")
    return [getattr(getattr(inputs, name), "value", None) for name in names]
