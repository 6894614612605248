"""The dictionaries have exactly the texts of the interface, in each language."""

from __future__ import annotations

import json
import string
from itertools import groupby

import pytest

from addon import registration, translations
from addon.core.messages import message
from addon.scene.errors import SceneError
from addon.ui import result_texts
from addon.ui import texts as ui_texts
from addon.ui.texts import wrapped_lines
from tests.paths import TOP
from tests.ui.interface_texts import faults, texts

LANGUAGES = sorted(translations.LANGUAGES)


@pytest.fixture(scope="module", autouse=True)
def _enabled():
    registration.register()
    texts(), faults()
    yield
    registration.unregister()


def dictionary_of(context: str, language: str) -> dict[str, str]:
    words = translations.LANGUAGES[language]
    return words["meanings"] if context == translations.CONTEXT else words["messages"]


def placeholders(text: str) -> list[tuple[str, str, str]]:
    """Return name, format and conversion of each placeholder, sorted; braces alone are text."""
    parts = [part[1:] for part in string.Formatter().parse(text) if part[1] is not None]
    return sorted((str(name), str(form), str(conversion)) for name, form, conversion in parts)


@pytest.mark.smoke
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_of_the_interface_has_a_translation(language):
    lacks = [
        f"    {json.dumps(text, ensure_ascii=False)}: TRANSLATION,  # {source}"
        for (context, text), source in sorted(texts().items())
        if text not in dictionary_of(context, language)
    ]
    file = f"addon/translations/{language}.json"
    assert not lacks, f"\n{file} lacks, of messages or meanings:\n" + "\n".join(lacks)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_entry_is_a_text_of_the_interface(language):
    known, words = set(texts()), translations.LANGUAGES[language]
    surplus = [text for text in words["messages"] if ("*", text) not in known]
    surplus += [text for text in words["meanings"] if (translations.CONTEXT, text) not in known]
    file = f"addon/translations/{language}.json"
    assert not surplus, f"\nremove from {file}:\n" + "\n".join(map(json.dumps, surplus))


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_placeholders_and_line_breaks_of_the_text(language):
    words = translations.LANGUAGES[language]
    for text, entry in (*words["messages"].items(), *words["meanings"].items()):
        assert placeholders(entry) == placeholders(text), entry
        assert entry.count("\n") == text.count("\n"), entry
        assert entry.endswith("...") == text.endswith("..."), entry
        assert entry and entry.strip() == entry, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_warnings_of_panels_have_a_colon_at_which_they_are_divided(language):
    warnings = [
        *result_texts._WARNING_TEXTS.values(),
        "Found with other settings: find contacts again",
        "Stopped at frame {frame:g}: later contacts unknown",
        "Swept bounds out of date: compute them again",
        "The scene changed: find contacts again",
        "Without restored pairs: find contacts again",
    ]
    for text in warnings:
        assert ": " in translations.LANGUAGES[language]["messages"][text]


@pytest.mark.parametrize("language", LANGUAGES)
def test_entries_are_sorted_and_unique(language):
    lines = (TOP / f"addon/translations/{language}.json").read_text("utf-8").splitlines()
    tables = [list(table) for is_entry, table in groupby(lines, lambda line: line[0] == " ") if is_entry]
    assert len(tables) == 2
    for table in tables:
        keys = [json.loads("{" + line.rstrip(",") + "}").popitem()[0] for line in table]
        assert keys == sorted(set(keys))


def test_no_text_is_glued_from_pieces_and_names_are_not_translated():
    lines = [f"{source}: {remedy}" for source, remedy in faults()]
    assert not lines, "\n" + "\n".join(lines)


def test_dictionaries_are_registered_for_languages_without_countries():
    found = translations.dictionaries()
    assert sorted(found) == LANGUAGES
    entry = translations.LANGUAGES["de"]["messages"]["Compute Bounds"]
    assert found["de"]["*", "Compute Bounds"] == found["de"]["Operator", "Compute Bounds"] == entry


@pytest.mark.smoke
def test_error_is_translated_with_its_values_and_those_that_are_messages(monkeypatch):
    german = translations.LANGUAGES["de"]["messages"]
    monkeypatch.setattr(ui_texts, "pgettext_rpt", lambda text: german.get(text, text))
    reason = message("is larger than {size:g} MB", size=12.0)
    error = SceneError(message("{name}: {reason}", name="Cube {0}", reason=reason))
    assert str(error) == "Cube {0}: is larger than 12 MB"
    assert ui_texts.error_text(error) == "Cube {0}: ist größer als 12 MB"
    # A name that is a word of the dictionary is data.
    assert ui_texts.rpt_("{name} is hidden", name="Box") == "Box ist verborgen"
    # Messages without a template stay as they are.
    assert ui_texts.error_text(SceneError("radius -1: must be positive")) == "radius -1: must be positive"


def test_number_chooses_the_whole_sentence():
    one, many = "{count} pair restored", "{count} pairs restored"
    assert ui_texts.rpt_count(1, one, many) == "1 pair restored"
    assert ui_texts.rpt_count(0, one, many) == "0 pairs restored"


def test_text_without_spaces_is_wrapped_between_characters():
    lines = [*wrapped_lines("閉じていません: 面が1つだけの辺があります", lambda text: len(text) <= 8)]
    assert "".join(lines) == "閉じていません:面が1つだけの辺があります"
    assert all(len(line) <= 8 for line in lines)
    # Words of languages with spaces stay whole.
    assert [*wrapped_lines("has extraordinarily many", lambda text: len(text) <= 8)] == [
        "has",
        "extraordinarily",
        "many",
    ]
