"""The timings themselves are no test: only what is done with them."""

from __future__ import annotations

import pytest

import bench
from benchmarks import TABLES
from benchmarks.tables import Competitor, Measured, Row, Table, Target, duration, measure, written

TEXT = "before\n<!-- table: a -->\nold\n<!-- end -->\nbetween\n<!-- table: b -->\n<!-- end -->\nafter\n"


def test_tables_are_replaced_and_prose_is_kept():
    text = bench.with_tables(TEXT, {"b": "| new \\1 |\n"})
    assert text == TEXT.replace("table: b -->\n", "table: b -->\n| new \\1 |\n")
    assert bench.with_tables(text, {"a": "", "b": ""}) == TEXT.replace("old\n", "")


@pytest.mark.parametrize("text", [TEXT, TEXT + "<!-- table: c -->\n<!-- end -->\n" * 2])
def test_a_table_without_its_one_place_is_refused(text):
    with pytest.raises(ValueError, match="'c', not 1"):
        bench.with_tables(text, {"c": ""})


def test_every_table_has_its_place_in_the_document():
    bench.with_tables(bench.DOCUMENT.read_text(encoding="utf-8"), dict.fromkeys(TABLES, ""))


def test_a_missing_peer_is_named_and_the_rest_is_measured():
    def missing(_):
        raise ImportError("no wheels")

    table = Table(
        "t",
        "case",
        (Competitor("ours", lambda case: lambda: case), Competitor("peer", missing)),
        [Row("one", lambda: 1, 1, targets=[Target(2, "peer", faster=True)])],
    )
    measured, left_out = measure(table)
    assert measured[0].times.keys() == {"ours"}
    assert written(table, measured, left_out).endswith("Left out: peer (missing: no wheels).\n")


def test_ratios_growth_and_wishes_are_told():
    table = Table("t", "n", (Competitor("ours", lambda _: print), Competitor("peer", lambda _: print)), [])
    wishes = [Target(3, "peer", faster=True), Target(0.5, "peer"), Target(1e-3)]
    rows = [
        Measured(Row("10", int, 10, targets=wishes, series="s"), {"ours": 2e-3, "peer": 8e-3}, ""),
        Measured(Row("100", int, 100, series="s"), {"ours": 30e-3}, "odd"),
    ]
    assert written(table, rows, {}) == (
        "| n | ours | peer | growth | wanted | answers |\n"
        "| --- | ---: | ---: | ---: | --- | --- |\n"
        "| 10 | 2.00 ms | 8.00 ms (4.0x) | 1.00 | at least 3 x peer: 4, reached;"
        " at most 0.5 x peer: 0.25, reached; at most 1.00 ms: 2.00 ms, **not reached** |  |\n"
        "| 100 | 30.0 ms | – | 1.50 |  | odd |\n"
    )


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "0.00 ns"), (2.345e-8, "23.4 ns"), (1.5e-5, "15.0 us"), (0.1234, "123 ms"), (12.0, "12.0 s")],
)
def test_durations_have_the_unit_that_suits(seconds, told):
    assert duration(seconds) == told
