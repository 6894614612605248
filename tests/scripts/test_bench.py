"""Tables of timings: measurement, Markdown and document. The times themselves are not tested."""

from __future__ import annotations

import pytest

import bench
from benchmarks import TABLES
from benchmarks.tables import (
    Competitor,
    Row,
    RowTimes,
    Table,
    Target,
    format_duration,
    measure,
    to_markdown,
    to_ratios,
)

TEXT = "before\n<!-- table: a -->\nold\n<!-- end -->\nbetween\n<!-- table: b -->\n<!-- end -->\nafter\n"


def test_tables_are_replaced_and_prose_is_kept():
    text = bench.with_tables(TEXT, {"b": "| new \\1 |\n"})
    assert text == TEXT.replace("table: b -->\n", "table: b -->\n| new \\1 |\n")
    assert bench.with_tables(text, {"a": "", "b": ""}) == TEXT.replace("old\n", "")


@pytest.mark.parametrize("text", [TEXT, TEXT + "<!-- table: c -->\n<!-- end -->\n" * 2])
def test_table_without_exactly_one_place_is_rejected(text):
    with pytest.raises(ValueError, match="'c', not 1"):
        bench.with_tables(text, {"c": ""})


def test_every_table_has_a_place_in_the_document():
    bench.with_tables(bench.DOCUMENT.read_text(encoding="utf-8"), dict.fromkeys([*TABLES, "machine"], ""))


def test_missing_peer_is_reported_and_the_others_are_measured():
    def missing(_):
        raise ImportError("no wheels")

    table = Table(
        "t",
        "case",
        (Competitor("project", lambda case: lambda: case), Competitor("peer", missing)),
        [Row("one", lambda: 1, 1, targets=[Target(2, "peer", faster=True)])],
    )
    measured, skipped = measure(table)
    assert measured[0].times.keys() == {"project"}
    assert to_markdown(table, measured, skipped).endswith("Skipped: peer (missing: no wheels).\n")


def test_table_has_ratios_growth_and_goals():
    table = Table("t", "n", (Competitor("project", lambda _: print), Competitor("peer", lambda _: print)), [])
    targets = [Target(3, "peer", faster=True), Target(0.5, "peer"), Target(1e-3)]
    rows = [
        RowTimes(Row("10", int, 10, targets=targets, series="s"), {"project": 2e-3, "peer": 8e-3}, ""),
        RowTimes(Row("100", int, 100, series="s"), {"project": 30e-3}, "odd"),
    ]
    assert to_markdown(table, rows, {}) == (
        "| n | project | peer | growth | goal | results |\n"
        "| --- | ---: | ---: | ---: | --- | --- |\n"
        "| 10 | 2.00 ms | 8.00 ms (4.0x) | 1.00 | at least 3 x peer: 4, reached;"
        " at most 0.5 x peer: 0.25, reached; at most 1.00 ms: 2.00 ms, **not reached** |  |\n"
        "| 100 | 30.0 ms | – | 1.50 |  | odd |\n"
    )


def test_ratios_have_one_row_of_a_series_and_the_factor_of_the_worst_goal():
    table = Table("t", "n", (Competitor("project", lambda _: print), Competitor("peer", lambda _: print)), [])
    targets = [Target(3, "peer", faster=True), Target(0.5, "peer"), Target(1e-3)]
    rows = [
        RowTimes(Row("1", int, 1, series="s"), {"project": 2e-3, "peer": 8e-3}, ""),
        RowTimes(Row("10", int, 10, targets=targets, series="s"), {"project": 2e-3, "peer": 8e-3}, "odd"),
        RowTimes(Row("50", int, 50, series="s"), {"project": 2e-3}, ""),
        RowTimes(Row("20", int, 20, targets=targets[:2]), {"project": 2e-3, "peer": 8e-3}, ""),
        RowTimes(Row("100", int, 100), {"project": 30e-3}, ""),
    ]
    assert to_ratios(table, rows) == (
        "| n | peer | goal |\n| --- | ---: | --- |\n"
        "| 10 | 4.0x | missed by 2.00x |\n| 20 | 4.0x | reached |\n| 100 | – |  |\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.00 ns"), (2.345e-8, "23.4 ns"), (1.5e-5, "15.0 us"), (0.1234, "123 ms"), (12.0, "12.0 s")],
)
def test_duration_has_a_suitable_unit(seconds, text):
    assert format_duration(seconds) == text
