"""A page with many contacts answers to keys and clicks at once."""

from __future__ import annotations

import pytest

from tests import tiers
from tests.report.documents import large_document, write_document

pytestmark = pytest.mark.long

COUNT = 10_000 if tiers.is_full() else 2_000
LIMIT = 200
"""Milliseconds of an interaction, with the picture after it."""

INTERACTIONS = """
async (count) => {
  const { contacts, objects, timeline } = collisionBoundsReport;
  const table = document.querySelector("#contacts .tabulator-tableholder");
  const search = document.querySelector("#contacts input[type=search]");
  const depth = document.querySelector("#contacts .tabulator-col[tabulator-field=depth]");
  const press = (key) => table.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const type = (text) => {
    search.value = text;
    search.dispatchEvent(new Event("input"));
  };
  const actions = {
    key: () => press("ArrowDown"),
    end: (turn) => press(turn % 2 ? "Home" : "End"),
    select: (turn) => contacts.select(Math.floor(turn * count / 8) + 20),
    object: (turn) => objects.select(Math.floor(turn * count / 8) + 3),
    scroll: () => (table.scrollTop += 3000),
    zoom: () => timeline.zoom(0.8),
    sort: () => depth.click(),
    search: (turn) => type(["9", "99", "999", "99", "9", "", "00"][turn]),
  };
  const picture = () => new Promise((end) => requestAnimationFrame(() => setTimeout(end)));
  const best = {};
  for (const [name, action] of Object.entries(actions)) {
    const times = [];
    for (let turn = 0; turn < 7; turn++) {
      await picture();
      const start = performance.now();
      action(turn);
      await picture();
      await picture();
      times.push(performance.now() - start);
    }
    best[name] = Math.min(...times);
  }
  return best;
}
"""
"""Least time of each interaction in seven turns, because other programs delay some of them."""


def test_many_contacts_sort_filter_and_draw_in_time(open_page, tmp_path):
    document = large_document(COUNT)
    page = open_page(write_document(tmp_path / "large.json", document))
    assert page.locator("#contacts .count").inner_text() == str(COUNT)
    times = page.evaluate(INTERACTIONS, COUNT)
    print({name: round(time) for name, time in times.items()})
    page.locator("#contacts input[type=search]").fill("Part 00042")
    assert page.locator("#contacts .count").inner_text() == f"2 of {COUNT}"
    # Other tests run at the same time on each push, so the limit of an idle machine is for releases only.
    limit = LIMIT if tiers.is_full() else 5 * LIMIT
    assert {name: time for name, time in times.items() if time > limit} == {}
