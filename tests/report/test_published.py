"""Published scores over the years: pairs joined, the original runs as lines."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.report.figures import figure
from assay.report.published import published, read_published
from tests.conftest import real_data

ROWS = [
    (2001.0, 0.20, "baseline", "a"), (2001.0, 0.25, "improved", "a"), (2005.0, 0.22, "baseline", "b"),
    (2005.0, 0.31, "improved", "b"), (2006.0, 0.24, "improved", ""),
]  # fmt: skip


def test_lines_are_best_third_quartile_and_median_of_the_runs() -> None:
    found = published(ROWS, runs=[0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.lines() == [("best run of the track", 0.5), ("third quartile", 0.4), ("median", 0.3)]
    table = found.table()
    assert table.column("n") == [2, 3]
    assert table.column("≥ median") == [0, 1]
    assert table.column("mean")[0] == pytest.approx(0.21)


def test_runs_may_stand_in_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("year,score,kind,paper\n2004,.2,baseline,x\n2004,.3,improved,x\n,.25,run,\n,.35,run,\n")
    found = read_published(path)
    assert found.runs.tolist() == [0.25, 0.35]
    drawing = figure(found)
    assert drawing.spec["datasets"]["pairs"] == [{"from": 2004.0, "to": 2004.0, "low": 0.2, "high": 0.3}]
    assert [row["line"] for row in drawing.spec["datasets"]["levels"]] == [n for n, _ in found.lines()]
    assert drawing.description == (
        "1 baselines and 1 improved scores; 0 of the improved scores beat the best original run (0.3500)."
    )


def test_without_runs_there_are_no_lines() -> None:
    found = published(ROWS)
    assert found.lines() == []
    assert found.table().notes == ("no original runs to compare with",)
    assert figure(found).description == "2 baselines and 3 improved scores."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("year,score\n2004,.2\n", "no column 'kind'"),
        ("year,score,kind\n2004,NA,baseline\n", "score is not a number"),
        ("year,score,kind\n2004,.2,better\n", "kind is 'better'"),
        ("year,score,kind\n,.2,run\n", "no published score"),
        ("score,kind\n.2,baseline\n", "no column 'year'"),
    ],
)
def test_bad_tables_are_errors_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_published(path)


def test_lines_of_trec_8_ad_hoc() -> None:
    """129 runs; the best MAP is .4692 (READWARE2), the published values of NIST."""
    raw = lzma.decompress(real_data("trec-published-means/published.tsv.xz").read_bytes()).decode()
    header, *lines = raw.splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    values = [float(r["value"]) for r in rows if (r["trec"], r["track"], r["measure"]) == ("trec8", "adhoc", "map")]
    assert len(values) == 129
    found = published(ROWS, runs=values)
    best, third, median = (value for _, value in found.lines())
    assert best == pytest.approx(0.4692)
    assert best > third > median > np.min(values)
