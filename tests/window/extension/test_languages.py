"""The interface in other languages, in a Blender that has its own translations; pip's bpy has none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.tiers import is_full
from tests.window.harness import Recording, run_blender

pytestmark = pytest.mark.long

LANGUAGES = {"de_DE": "German", "ja_JP": "Japanese"}


@pytest.fixture(scope="module")
def read(installed: Path, example: Path) -> dict[str, dict[str, str]]:
    """Texts that Blender shows in each language, without a window."""
    script = Path(__file__).with_name("read_translations.py")
    ended = run_blender(installed, "-b", example, "--python-exit-code", "3", "--python", script)
    assert ended.returncode == 0, ended.stderr
    line = next(line for line in ended.stdout.splitlines() if line.startswith("{"))
    found: dict[str, dict[str, str]] = json.loads(line)
    return found


def test_labels_reports_errors_and_tooltips_are_in_the_language(read: dict[str, dict[str, str]]) -> None:
    assert read["en_US"]["operator"] == "Compute Bounds"
    assert read["de_DE"]["operator"] == "Begrenzungen berechnen"
    assert read["ja_JP"]["operator"] == "バウンドを計算"
    assert read["de_DE"]["report"].endswith("Begrenzung von 1 Objekt")
    assert read["ja_JP"]["report"].endswith("1 個のオブジェクトのバウンド")
    assert read["de_DE"]["tooltip"] == "Zur nächsten Zeile der Liste springen und ihr Paar auswählen"
    missing = "/nowhere/missing.json"
    assert read["en_US"]["error"] == f"{missing}: the folder /nowhere does not exist"
    assert read["de_DE"]["error"] == f"{missing}: Der Ordner /nowhere existiert nicht"
    # Words that Blender translates with another meaning.
    assert read["de_DE"]["box"] == "Box"
    assert read["ja_JP"]["add"] == "追加"


def test_blender_shows_each_entry_of_the_dictionaries(read: dict[str, dict[str, str]]) -> None:
    for language, name in LANGUAGES.items():
        assert not read[language]["other"], f"Blender's own words in {name} differ: {read[language]['other']}"


def test_nothing_is_translated_after_the_extension_is_disabled(read: dict[str, dict[str, str]]) -> None:
    assert read["disabled"]["operator"] == "Compute Bounds"


@pytest.mark.skipif(not is_full(), reason="the full tier takes pictures to look at")
@pytest.mark.parametrize("language", LANGUAGES)
def test_pictures_of_panels_in_the_language(
    run_drive_script: Callable[..., Recording], language: str
) -> None:
    recording = run_drive_script(
        "extension/drive_languages.py", more=(language,), size=(1600, 875), variant=f"-{language}"
    )
    assert recording.notes["locale"] == language
    target = TOP / "build" / "pictures" / language
    target.mkdir(parents=True, exist_ok=True)
    for name in recording.notes["pictures"]:
        shutil.copyfile(recording.folder / f"{name}.png", target / f"{name}.png")
    assert len(recording.notes["pictures"]) == 13
