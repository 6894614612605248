"""The page about a document in a browser: it sorts, filters, and draws what the document says."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.paths import TOP
from tests.report.conftest import extent_of_first_bound, pixels_of_bounds, settle
from tests.report.documents import (
    HOSTILE,
    box_object,
    contact,
    hostile_document,
    make_document,
    small_document,
    write_document,
)

pytestmark = pytest.mark.long

PIXELS = """
(names) => {
  const style = getComputedStyle(document.documentElement);
  const dot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const canvas = document.querySelector("#timeline canvas");
  const context = canvas.getContext("2d");
  return names.map((name, row) => {
    dot.fillStyle = style.getPropertyValue(`--${name}`).trim();
    dot.fillRect(0, 0, 1, 1);
    const wanted = dot.getImageData(0, 0, 1, 1).data;
    const { data, width } = context.getImageData(0, (row * 20 + 10) * devicePixelRatio, canvas.width, 1);
    const has = (x) => [0, 1, 2].every((part) => data[4 * x + part] === wanted[part]);
    const xs = [...Array(width).keys()].filter(has);
    return [xs[0], xs.at(-1) + 1];
  });
}
"""
"""First and last column with a color in each row of the timeline."""


@pytest.fixture(scope="module")
def page(open_page, tmp_path_factory) -> Page:
    return open_page(write_document(tmp_path_factory.mktemp("in") / "small.json", small_document()))


def shown(page: Page, section: str = "contacts") -> list[tuple[str, ...]]:
    """Return the texts of the first two cells of the rows in a table."""
    rows = page.locator(f"#{section} .tabulator-row").all()
    return [tuple(row.locator(".tabulator-cell").nth(index).inner_text() for index in (0, 1)) for row in rows]


def select(page: Page, a: str, b: str) -> None:
    rows = page.locator("#contacts .tabulator-row")
    rows.nth(shown(page).index((a, b))).click()
    settle(page)


def test_click_on_heading_sorts_by_number(page):
    depths = {("Crate", "Lid"): 0.25, ("Dot", "Wall"): 1, ("Crate", "Wall"): 0.1}
    heading = page.locator("#contacts .tabulator-col[tabulator-field=depth]")
    heading.click()
    first = shown(page)
    heading.click()
    second = shown(page)
    rising = sorted(depths, key=depths.__getitem__)
    assert {tuple(first), tuple(second)} == {tuple(rising), tuple(reversed(rising))}
    heading.click()
    assert shown(page) == [
        ("Crate", "Lid"),
        ("Dot", "Wall"),
        ("Crate", "Wall"),
    ]  # by time, as in the document


def test_search_and_menus_filter_table_and_timeline(page):
    search = page.locator("#contacts input[type=search]")
    search.fill("DOT")
    assert shown(page) == [("Dot", "Wall")]
    assert page.locator("#timeline .count").inner_text() == "1 rows"
    page.get_by_label("Kind").select_option("all")
    assert shown(page) == [("Dot", "Wall"), ("Dot", "Lid")]
    search.fill("")
    page.get_by_label("Kind").select_option("near miss")
    assert shown(page) == [("Dot", "Lid")]
    page.get_by_label("Kind").select_option("contact")
    page.get_by_label("State").select_option("tunnelling")
    assert shown(page) == [("Crate", "Wall")]
    page.get_by_label("State").select_option("all")
    assert len(shown(page)) == 3


def test_timeline_draws_intervals_where_their_frames_are(page):
    select(page, "Dot", "Wall")
    (start, end), (new_start, new_end), (brief, _) = page.evaluate(PIXELS, ["accepted", "new", "contact"])
    of_frame = (end - start) / 99  # from frame 1 to frame 100
    assert start + 9 * of_frame == pytest.approx(new_start, abs=2)
    assert start + 10 * of_frame == pytest.approx(new_end, abs=2)
    assert start + 23.3125 * of_frame == pytest.approx(brief, abs=2)


def test_keyboard_selects_the_next_row_in_all_parts_of_the_page(page):
    select(page, "Crate", "Lid")
    page.locator("#contacts .tabulator-tableholder").press("ArrowDown")
    settle(page)
    details = page.locator("#details").inner_text()
    assert "Dot" in details and "frame 10" in details and "10 to 11" in details
    assert page.locator("#separation").get_attribute("data-points") == "11:-1"


def test_contact_within_the_clearance_has_a_gap_and_no_negative_depth(open_page, tmp_path):
    near = contact("Crate", "Lid", 1, end=100, clearance=0.5)
    for entry in (near, *near["intervals"]):
        gap = {**entry.pop("deepest"), "gap": 0.25}
        entry["closest"] = {key: value for key, value in gap.items() if key != "depth"}
    document = make_document([box_object("Crate", 5.0), box_object("Lid", 5.5)], [near])
    page = open_page(write_document(tmp_path / "near.json", document))
    row = page.locator("#contacts .tabulator-row")
    assert row.locator(".tabulator-cell[tabulator-field=depth]").inner_text() == "gap 0.25"
    row.click()
    settle(page)
    details = page.locator("#details").inner_text()
    assert "0.25 m at frame" in details and "-0.25" not in details
    assert "Closest" in details and "Deepest" not in details
    assert page.locator("#separation").get_attribute("data-points").endswith(":0.25")


def test_contact_of_open_meshes_has_a_kind_of_overlap_and_no_depth(open_page, tmp_path):
    flat = contact("Crate", "Lid", 1, end=100, depth=None, shape="mesh")
    inside = contact("Dot", "Crate", 2, end=90, depth=0.25, shape="mesh")
    for found, kind in ((flat, "crosses"), (inside, "inside")):
        for entry in (found, *found["intervals"]):
            entry["deepest"]["overlap"] = kind
    objects = [box_object("Crate", 5.0), box_object("Lid", 5.5), box_object("Dot", 4.0)]
    page = open_page(write_document(tmp_path / "meshes.json", make_document(objects, [flat, inside])))
    cells = page.locator("#contacts .tabulator-row .tabulator-cell[tabulator-field=depth]")
    assert cells.all_inner_texts() == ["crosses", "0.25 inside"]
    for row, sentence in enumerate(("surfaces cross", "one is inside the other")):
        page.locator("#contacts .tabulator-row").nth(row).click()
        settle(page)
        details = page.locator("#details").inner_text()
        assert f"{sentence} at frame" in details and ("Deepest" in details) == bool(row)


def test_contacts_of_meshes_are_listed_as_such_and_the_view_draws_bounds(open_page, tmp_path):
    """Objects have no shape of that name: documents have no triangles."""
    contacts = [
        contact("Crate", "Lid", 1, end=100, shape="mesh"),
        contact("Dot", "Lid", 5.25, end=5.5, depth=0.0, shape="mesh"),
    ]
    objects = [box_object("Crate", 5.0), box_object("Lid", 5.5), box_object("Dot", 6.0)]
    page = open_page(write_document(tmp_path / "meshes.json", make_document(objects, contacts)))
    select(page, "Dot", "Lid")
    details = page.locator("#details").inner_text()
    assert "mesh, proven" in details and "0 m at frame 5.5" in details
    assert "Bounds at frame 1, " in page.locator("#view .caption").inner_text()
    assert extent_of_first_bound(page) == [5.5, 6.5]
    assert "Contacts of\nmeshes" in page.locator("header").inner_text()
    assert "The contact was tested with meshes." in page.locator("#view .caption").inner_text()


def test_view_draws_both_bounds_at_first_contact(page):
    select(page, "Dot", "Wall")
    assert "Bounds at frame 10, " in page.locator("#view .caption").inner_text()
    # The track has the cube Dot around x = -1 at frame 10.
    assert extent_of_first_bound(page) == [-1.5, -0.5]
    assert min(pixels_of_bounds(page)) > 1000


def test_page_lists_skipped_objects_warnings_and_settings(page):
    assert "Fence" in page.locator("#skipped").inner_text()
    assert "the file is missing" in page.locator("#warnings").inner_text()
    assert "new: 1; gone: 0; unchanged: 2" in page.locator("#settings").inner_text()
    facts = page.locator("header").inner_text()
    expected = ("1 to 100, at 24 frames per second", "bounds (aabb)", "right-handed")
    assert all(text in facts for text in expected)


def test_picture_of_the_page(page):
    """Write the picture of docs/pipelines.md, to copy to docs/images/report.png."""
    select(page, "Dot", "Wall")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    folder = TOP / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    picture = page.screenshot(path=folder / "report.png")
    assert 20_000 < len(picture) < 150_000
    assert (TOP / "docs" / "images" / "report.png").is_file()


def test_hostile_texts_stay_texts(open_page, tmp_path):
    page = open_page(write_document(tmp_path / "hostile.json", hostile_document()))
    for row in page.locator("#contacts .tabulator-row").all():
        row.click()
        settle(page)
    assert page.evaluate("window.stolen") is None
    assert page.title() == f"{HOSTILE[0]} – Collision Bounds"
    assert page.locator("img").count() == 0
    # The data, the modules, the program, and the map of imports that it adds.
    assert page.locator("script").count() == 4
    listed = page.locator("#skipped td:first-child").all_text_contents()
    assert HOSTILE[0] in listed and HOSTILE[1] in listed and HOSTILE[2] in listed
    assert shown(page)[0] == HOSTILE[:2]
