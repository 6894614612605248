"""Animations in Godot itself: objects touch at the `seconds` of a document, if Godot keeps all keys."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.from_blender import EMPTY_ANIMATION, SETUP, in_blender
from tests.engines.godot.program import new_project, run_godot

pytestmark = pytest.mark.long

# Each moves by 1 m in a frame. Turner turns back at frame 14, 0.2 m inside of its wall. Stopper stops at
# frame 10, and Odd turns at frame 13.
_SCENE = (
    EMPTY_ANIMATION
    + """
for action in list(bpy.data.actions):
    bpy.data.actions.remove(action)
scene.frame_start, scene.frame_end = 1, 30
turner = put(mesh("Turner", (0.5, 0.5, 0.5)))
animate(turner, "location", {1: (0, 0, 0), 14: (13, 0, 0), 27: (0, 0, 0)})
put(mesh("Wall", (0.5, 1, 1)), (13.8, 0, 0))
stopper = put(mesh("Stopper", (0.5, 0.5, 0.5)))
animate(stopper, "location", {1: (0, 9, 0), 10: (9, 9, 0), 30: (9, 9, 0)})
put(mesh("Gate", (0.5, 1, 1)), (9.25, 9, 0))
odd = put(mesh("Odd", (0.5, 0.5, 0.5)))
animate(odd, "location", {1: (0, 20, 0), 13: (12, 20, 0), 25: (0, 20, 0)})
animate(put(mesh("Spin"), (0, 30, 0)), "rotation_euler", {1: (0, 0, 0), 13: (0, 0, 30), 25: (0, 0, 0)})
"""
)
_FILES = (
    SETUP
    + """
for base in (1.0, 1.001):
    scene.render.fps_base = base
    options = ("--shape", "obb", "--preset", "gltf", "--decimals", "9")
    export_document(f"contacts_{base}.json", "contacts", *options)
    export(f"{folder}/anim_{base}.glb", export_animation_mode="SCENE", export_anim_scene_split_object=False)
"""
)
FPS = 24
# Half of each object is 0.5 m.
WALLS = {"Turner": 13.8, "Stopper": 9.25}
_WHOLE = {"_subresources": '{"nodes": {"PATH:AnimationPlayer": {"optimizer/enabled": false}}}'}
OPTIONS = {
    "default": {},
    "optimized": {"animation/fps": 24},
    "24": {"animation/fps": 24, **_WHOLE},
    "48": {"animation/fps": 48, **_WHOLE},
    "60": {"animation/fps": 60, **_WHOLE},
    "trimmed": {"animation/fps": 24, "animation/trimming": "true", **_WHOLE},
}
"""Options of the importer by the name of a file."""
RATES = {"default at run time": [], "24 at run time": [24.0]}
DENSE = [k / 100 / FPS for k in range(3000)]


class Animations:
    """Results of Godot for each name in OPTIONS and RATES, and the `first` of contacts by object."""

    def __init__(self, folder: Path, results: dict[str, Any]) -> None:
        self._folder, self.results = folder, results

    def firsts(self, base: float = 1.0) -> dict[str, dict[str, float]]:
        """Return the first contact of each moving object with its wall."""
        document = json.loads((self._folder / f"contacts_{base}.json").read_text("utf-8"))
        return {
            next(name for name in (each["a"], each["b"]) if name in WALLS): each["first"]
            for each in document["contacts"]
        }

    def x(self, name: str, item: str, seconds: float | np.ndarray) -> Any:
        """Return where an object is along X, which is linear between dense times."""
        positions = np.array(self.results[name]["positions"][item])[:, 0]
        return np.interp(seconds, DENSE, positions)

    def gap(self, name: str, item: str, seconds: float) -> float:
        """Return the distance of an object from its wall."""
        return WALLS[item] - 0.5 - (self.x(name, item, seconds) + 0.5)


@pytest.fixture(scope="module")
def animations(godot: str, tmp_path_factory) -> Animations:
    folder = tmp_path_factory.mktemp("godot")
    in_blender(_SCENE + _FILES, folder)
    project = new_project(folder)
    tasks: list[dict[str, Any]] = []
    for name, options in OPTIONS.items():
        file = f"{name}.glb"
        shutil.copyfile(folder / "anim_1.0.glb", project / file)
        if options:
            lines = [f"{key}={value}" for key, value in options.items()]
            settings = '[remap]\n\nimporter="scene"\ntype="PackedScene"\n\n[params]\n\n' + "\n".join(lines)
            (project / f"{file}.import").write_text(settings + "\n", "utf-8")
        tasks.append({"name": name, "scene": file, "times": DENSE})
    for name, rates in RATES.items():
        tasks.append({"name": name, "scene": "default.glb", "rates": rates, "times": DENSE})
    shutil.copyfile(folder / "anim_1.001.glb", project / "film.glb")
    tasks.append({"name": "film", "scene": "film.glb", "rates": [24 * 1.001], "times": DENSE})
    (project / "tasks.json").write_text(json.dumps(tasks), "utf-8")
    shutil.copyfile(Path(__file__).parent / "animation.gd", project / "animation.gd")
    run_godot(godot, project, "--import")
    run_godot(godot, project, "--script", "animation.gd")
    return Animations(folder, json.loads((project / "animation.json").read_text("utf-8")))


def test_contacts_of_the_document_are_those_of_the_motion(animations):
    """Turner touches the wall after 12.8 m, and Stopper after 8.25 m, from frame 1 on."""
    frames = {item: first["frame"] for item, first in animations.firsts().items()}
    assert frames == {"Turner": pytest.approx(13.8, abs=1e-6), "Stopper": pytest.approx(9.25, abs=1e-6)}


@pytest.mark.parametrize("name", ["24", "48", "24 at run time"])
def test_objects_touch_at_the_seconds_of_contacts_at_the_rate_of_the_scene(animations, name):
    for item, first in animations.firsts().items():
        assert animations.gap(name, item, first["seconds"]) == pytest.approx(0, abs=2e-5), item


@pytest.mark.parametrize("name", ["default", "default at run time"])
def test_default_rate_of_godot_is_30_and_cuts_off_the_peak_of_a_motion(animations, name):
    """A sample is 0.4 frames before the turn, and one 0.4 frames after it: the wall is never reached."""
    assert 1 / animations.results[name]["step"] == pytest.approx(30, abs=1e-3)
    peak = animations.x(name, "Turner", np.array(DENSE)).max()
    assert peak == pytest.approx(13 - 0.4, abs=1e-4)
    assert animations.x(name, "Stopper", 10 / FPS) == pytest.approx(9 - 0.2, abs=1e-4)


@pytest.mark.parametrize("name", ["24", "48", "24 at run time"])
def test_objects_are_turned_as_in_blender_at_whole_frames_at_the_rate_of_the_scene(animations, name):
    """Spin turns by 2.5 radians in a frame around Blender's Z, which is Y in Godot."""
    found = np.array(animations.results[name]["rotations"]["Spin"])
    for frame in range(1, 26):
        half = 2.5 * (12 - abs(frame - 13)) / 2
        expected = np.array([0, np.sin(half), 0, np.cos(half)])
        assert abs(found[100 * frame] @ expected) == pytest.approx(1, abs=1e-6), frame


def test_optimizer_of_the_importer_drops_the_turn_of_a_motion(animations):
    """At the turn, the speed is the same before and after it. Godot turns a frame later, a meter less far."""
    places = animations.x("optimized", "Turner", np.array(DENSE))
    assert places.max() == pytest.approx(13 - 1, abs=1e-3)
    assert DENSE[places.argmax()] * FPS == pytest.approx(15, abs=0.02)
    assert animations.gap("optimized", "Turner", animations.firsts()["Turner"]["seconds"]) > 0.5


@pytest.mark.parametrize(("name", "missing"), [("24", 0), ("48", 0), ("60", 0.2)])
def test_rate_that_is_no_multiple_cuts_off_the_peak_at_odd_frames(animations, name, missing):
    peak = animations.x(name, "Odd", np.array(DENSE)).max()
    assert peak == pytest.approx(12 - missing, abs=1e-4)


def test_trimming_moves_contacts_to_the_first_key(animations):
    for item, first in animations.firsts().items():
        assert animations.gap("trimmed", item, first["seconds"] - 1 / FPS) == pytest.approx(0, abs=2e-5)


def test_blender_writes_frame_rates_with_a_base_the_wrong_way_around(animations):
    """The exporter multiplies by the base of the frame rate, by which Blender divides."""
    for item, first in animations.firsts(1.001).items():
        assert first["seconds"] == pytest.approx(first["frame"] * 1.001 / FPS, abs=1e-6)
        in_file = first["frame"] / (FPS * 1.001)
        assert animations.gap("film", item, in_file) == pytest.approx(0, abs=2e-5)
        assert abs(animations.gap("film", item, first["seconds"])) > 0.01


def test_one_animation_has_all_objects(animations):
    for result in animations.results.values():
        assert result["names"] == ["Scene"] and set(result["positions"]) == {*WALLS, "Odd"}
