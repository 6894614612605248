"""The page about a run over many files in a browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from tests.report.conftest import extent_of_first_bound, pixels_of_bounds, settle
from tests.report.documents import write_batch, write_document

pytestmark = pytest.mark.long

HOSTILE = "<script>window.stolen = 1</script>"


@pytest.fixture(scope="module")
def page(open_page, tmp_path_factory) -> Page:
    folder = tmp_path_factory.mktemp("batch") / "results"
    folder.mkdir()
    return open_page(write_batch(folder))


def test_files_are_listed_with_state_and_reason(page):
    texts = [row.inner_text() for row in page.locator("#files .tabulator-row").all()]
    assert len(texts) == 5
    assert any("hang.blend" in text and "failed" in text and "took more than 600 s" in text for text in texts)
    assert "The run was stopped" in page.locator("header").inner_text()
    page.locator("#files").get_by_label("State").select_option("failed")
    assert page.locator("#files .tabulator-row").count() == 2
    page.locator("#files").get_by_label("State").select_option("all")


def test_contacts_of_all_files_are_in_one_table_and_a_file_selects_its_first(page):
    assert page.locator("#contacts .count").inner_text() == "7 of 8"  # 3 and 4 contacts, 1 near miss
    page.locator("#files .tabulator-row", has_text="shot.blend").locator(".tabulator-cell").nth(1).click()
    settle(page)
    assert "show/shot.blend" in page.locator("#details").inner_text()


def test_view_draws_both_bounds_at_first_contact(page):
    page.locator("#contacts .tabulator-row", has_text="Dot").first.locator(".tabulator-cell").nth(1).click()
    settle(page)
    assert "Bounds at frame 10, " in page.locator("#view .caption").inner_text()
    # The track has the cube Dot around x = -1 at frame 10.
    assert extent_of_first_bound(page) == [-1.5, -0.5]
    assert min(pixels_of_bounds(page)) > 1000


def test_view_draws_boxes_of_contacts_of_meshes(open_page, tmp_path):
    """Documents have no triangles."""
    folder = tmp_path / "results"
    folder.mkdir()
    write_batch(folder)
    for path in (path for path in folder.rglob("*.json") if path.name != "summary.json"):
        document = json.loads(path.read_text("utf-8"))
        for found in document["contacts"]:
            found["shape"] = "mesh"
        write_document(path, document)
    page = open_page(folder)
    page.locator("#contacts .tabulator-row", has_text="Dot").first.locator(".tabulator-cell").nth(1).click()
    settle(page)
    caption = page.locator("#view .caption").inner_text()
    assert "Bounds at frame 10, " in caption and "The contact was tested with meshes." in caption
    assert extent_of_first_bound(page) == [-1.5, -0.5]


def test_hostile_names_of_files_stay_texts_and_links_stay_in_the_folder(page):
    assert page.evaluate("window.stolen") is None
    assert page.locator("script").count() == 4
    assert page.locator("#files .tabulator-row", has_text=f"{HOSTILE}.blend").count() == 1
    links = {link.get_attribute("href") or "" for link in page.locator("#files a").all()}
    # The page is in a folder next to that of the results.
    names = ("show/shot.blend", "quiet.blend", "%3Cscript%3Ewindow.stolen%20%3D%201%3C_script%3E.blend")
    assert len(links) == 3
    assert all(any(link.endswith(f"/results/{name}.json") for link in links) for name in names)
