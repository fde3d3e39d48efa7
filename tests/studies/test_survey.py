"""Surveys of published scores: strongest baseline, best improved score, within one collection; lines; counts."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau

from assay.cli.study import command
from assay.core.errors import DataError, UsageError
from assay.data import ScoreMatrix
from assay.data.published import PublishedScore
from assay.io.published import read_published
from assay.io.scores import write_scores
from assay.report.figures import figure
from assay.report.figures.studies import published_scores
from assay.studies.survey import survey, trend
from tests.conftest import real_data

PAPERS = """paper,venue,year,collection,query type,baseline,improved,significant,excluded
Adams,SIGIR,2001,TREC-7,short,.10,.15,yes,
Adams,SIGIR,2001,TREC-7,short,.26,.30,,
Adams,SIGIR,2001,TREC-8,short,.20,.22,no,
Brown,CIKM,2003,TREC-7,long,.22,.24,,
Brown,CIKM,2003,TREC-7,short,.12,,,
Clark,SIGIR,2005,TREC-7,short,.18,.19,no,
Drake,SIGIR,2006,TREC-7,short,.30,.55,yes,trained on the test topics
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    path = tmp_path / "papers.csv"
    path.write_text(PAPERS)
    return path


def track(*means: float, measure: str = "AP") -> ScoreMatrix:
    return ScoreMatrix.of([[mean, mean] for mean in means], runs=[f"r{i}" for i in range(len(means))], measure=measure)


def test_the_strongest_baseline_is_joined_to_the_best_improved_score(papers: Path) -> None:
    found = survey(read_published(papers))
    adams = next(e for e in found.on("TREC-7") if e.paper == "Adams")
    assert (adams.baseline, adams.improved) == (0.26, 0.30)
    assert adams.gain == pytest.approx(0.04)
    assert adams.significant is True


def test_nothing_is_joined_across_collections_or_query_types(papers: Path) -> None:
    found = survey(read_published(papers))
    assert found.collections == ("TREC-7", "TREC-8")
    assert [(e.paper, e.query_type) for e in found.on("TREC-7")] == [
        ("Adams", "short"), ("Brown", "long"), ("Brown", "short"), ("Clark", "short"),
    ]  # fmt: skip
    assert [e.gain for e in found.on("TREC-7")][2] is None


def test_lines_are_those_of_the_collection_alone(papers: Path) -> None:
    found = survey(read_published(papers), tracks={"TREC-7": [track(0.1, 0.2, 0.3, 0.4, 0.5)], "TREC-8": [0.21, 0.23]})
    assert found.lines("TREC-7", "AP") == {"best run": 0.5, "third quartile": 0.4, "median": 0.3}
    assert found.lines("TREC-8", "AP")["best run"] == 0.23
    summary = found.table()
    assert summary.column("weak baselines") == [4, 1]
    assert summary.column("baselines ≥ third quartile") == [0, 0]
    assert summary.column("improved > best run") == [0, 0]
    assert summary.column("papers") == [3, 1]
    assert summary.column("% claim significance") == [pytest.approx(100 / 3), 0]
    assert summary.column("mean improved")[0] == pytest.approx((0.30 + 0.24 + 0.19) / 3)


def test_all_score_tables_of_a_track_are_used(papers: Path, tmp_path: Path) -> None:
    for name, matrix in (("a", track(0.2, 0.3)), ("b", track(0.6))):
        write_scores(tmp_path / f"{name}.csv", [matrix])
    words = [str(papers), "--track", "TREC-7", str(tmp_path / "a.csv"), "--track", "TREC-7", str(tmp_path / "b.csv")]
    done = CliRunner().invoke(command, ["survey", *words, "--format", "csv"], catch_exceptions=False)
    assert done.stdout.splitlines()[1].split(",")[7:10] == ["0", "4", "0"]
    whole = CliRunner().invoke(command, ["survey", *words], catch_exceptions=False)
    assert "TREC-7, AP: 3 original runs, best run 0.6000, third quartile 0.4500, median 0.3000" in whole.stdout
    assert "1 paper excluded: trained on the test topics" in whole.stdout


def test_a_year_splits_the_means(papers: Path) -> None:
    summary = survey(read_published(papers), split=2003).table()
    assert summary.column("improved before 2003")[0] == pytest.approx(0.30)
    assert summary.column("improved from 2003")[0] == pytest.approx((0.24 + 0.19) / 2)
    assert summary.column("baseline from 2003")[1] is None


def test_usage_counts_papers_by_year_and_rare_collections(papers: Path) -> None:
    usage = survey(read_published(papers)).shown("usage")
    assert usage.column("papers") == [3, 1]
    assert usage.column("2003") == [1, 0]
    assert usage.notes == (
        "2 collections, 4 uses; 4 uses (100 %) are of 2 collections that fewer than 5 papers use",
    )  # fmt: skip


def test_the_trend_is_kendalls_tau_with_its_p() -> None:
    rng = np.random.default_rng(3)
    scores = [
        PublishedScore("improved", float(s), paper=str(i), year=2000 + i % 7)
        for i, s in enumerate(rng.uniform(0.1, 0.4, 30))
    ]
    found = survey(scores)
    expected = kendalltau([s.year for s in scores], [s.score for s in scores])
    tau, p = trend(found.experiments)
    assert tau == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue)
    assert trend(found.experiments[:1]) == (None, None)


def test_one_score_a_row_and_runs_of_the_track_in_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("year,score,kind,pair\n2004,.2,baseline,x\n2004,.3,improved,x\n,.25,run,\n,.35,run,\n")
    found = survey(read_published(path))
    assert found.tracks["", "AP"].tolist() == [0.25, 0.35]
    drawing = figure(found)
    assert drawing.spec["datasets"]["pairs"] == [{"year": 2004.0, "low": 0.2, "high": 0.3}]
    assert [row["line"] for row in drawing.spec["datasets"]["levels"]] == ["best run", "third quartile", "median"]
    assert drawing.description == (
        "1 baselines and 1 improved scores; 0 of the improved scores beat the best original run (0.3500)."
    )


def test_scores_without_a_paper_stand_alone() -> None:
    scores = [PublishedScore("improved", score, year=2004) for score in (0.2, 0.3)]
    assert [e.improved for e in survey(scores).experiments] == [0.2, 0.3]


def test_each_collection_has_a_picture_of_its_own(papers: Path, tmp_path: Path) -> None:
    found = survey(read_published(papers))
    assert len(published_scores(found, collection="TREC-8").spec["datasets"]["pairs"]) == 1
    done = CliRunner().invoke(
        command, ["survey", str(papers), "--figure", str(tmp_path / "p.svg"), "--quiet"], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert len(list(tmp_path.glob("*.svg"))) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("year,score\n2004,.2\n", "no column 'kind'"),
        ("year,score,kind\n2004,NA,baseline\n", "score is not a number"),
        ("year,score,kind\n2004,nan,baseline\n", "baseline score is nan"),
        ("year,score,kind\n2004,.2,better\n", "kind is 'better'"),
        ("year,score,kind\n,.2,run\n", "no published score"),
        ("score,kind\n.2,baseline\n", "no year"),
        ("paper,year,baseline,improved\nx,2004,,\n", "neither a baseline nor an improved score"),
        ("paper,year,baseline\nx,2004,.2\n", "no column 'improved'"),
        ("paper,year,baseline,improved,significant\nx,2004,.1,.2,perhaps\n", "significant is 'perhaps'"),
    ],
)
def test_bad_tables_are_errors_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        survey(read_published(path))


def test_runs_of_another_collection_or_measure_are_errors(papers: Path) -> None:
    scores = read_published(papers)
    with pytest.raises(UsageError, match="original runs of 'TREC-9', on which no paper reports"):
        survey(scores, tracks={"TREC-9": [0.2]})
    with pytest.raises(UsageError, match="the original runs have P@10, the papers report AP"):
        survey(scores, tracks={"TREC-7": [track(0.2, measure="P@10")]})
    with pytest.raises(UsageError, match="no collection 'TREC-77'; did you mean"):
        survey(scores).only(["TREC-77"])


def test_lines_of_trec_8_ad_hoc() -> None:
    """129 runs; the best MAP is .4692 (READWARE2), the published values of NIST."""
    raw = lzma.decompress(real_data("trec-published-means/published.tsv.xz").read_bytes()).decode()
    header, *lines = raw.splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    values = [float(r["value"]) for r in rows if (r["trec"], r["track"], r["measure"]) == ("trec8", "adhoc", "map")]
    assert len(values) == 129
    found = survey(
        [PublishedScore("improved", 0.3, paper="x", year=2004, collection="TREC-8")], tracks={"TREC-8": values}
    )
    best, third, median = found.lines("TREC-8", "AP").values()
    assert best == pytest.approx(0.4692)
    assert best > third > median > np.min(values)


MEASURES = """paper,year,collection,query type,measure,baseline,improved
Adams,2001,TREC-8,title,AP,.20,.22
Adams,2001,TREC-8,title,P@10,.40,.44
Brown,2003,TREC-8,title,MAP,.24,.26
Clark,2005,TREC-8,title,AP,.26,.27
Clark,2005,TREC-8,title,nDCG@10,.50,.60
"""


def test_measures_are_never_averaged_with_each_other(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(MEASURES)
    tracks = {"TREC-8": [track(0.1, 0.2, 0.3), track(0.3, 0.41, measure="P_10")]}
    summary = survey(read_published(path), tracks=tracks).table()
    assert summary.column("measure") == ["AP", "P@10", "nDCG@10"]
    assert summary.column("mean improved") == [pytest.approx(0.25), 0.44, 0.60]
    assert summary.column("papers") == [3, 1, 1]
    assert summary.column("trend τ") == [1, None, None]
    assert summary.column("improved > best run") == [0, 1, None], "the lines of each measure are its own"
    assert "TREC-8, P@10: 2 original runs, best run 0.4100, third quartile 0.3825, median 0.3550" in summary.notes
    pairs = survey(read_published(path), tracks=tracks).pairs()
    assert pairs.column("beats the best run") == ["no", "yes", "no", "no", None]


def test_a_paper_in_another_measure_empties_nothing(papers: Path, tmp_path: Path) -> None:
    before = survey(read_published(papers), tracks={"TREC-7": [track(0.1, 0.2, 0.3)]}).table().rows
    one_more = PublishedScore("improved", 0.5, paper="Egan", year=2007, collection="TREC-7", measure="P@10")
    after = survey([*read_published(papers), one_more], tracks={"TREC-7": [track(0.1, 0.2, 0.3)]}).table().rows
    assert [row for row in after if row[1] == "AP"] == list(before)
    assert len(after) == len(before) + 1


def test_original_runs_are_held_against_papers_of_their_measure_alone(papers: Path) -> None:
    scores = read_published(papers)
    other = PublishedScore("improved", 0.5, paper="Egan", year=2007, collection="TREC-7", measure="P@10")
    with pytest.raises(UsageError, match="TREC-7: means of original runs without a measure"):
        survey([*scores, other], tracks={"TREC-7": [0.2, 0.3]})
    runs = [PublishedScore("run", x, collection="TREC-7", measure="RR") for x in (0.2, 0.3)]
    found = survey([*scores, *runs])
    assert not found.tracks
    assert "2 original runs in RR not used: no paper reports it on TREC-7" in found.table().notes


def test_each_measure_has_a_picture_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(MEASURES)
    done = CliRunner().invoke(
        command, ["survey", str(path), "--figure", str(tmp_path / "p.svg"), "--quiet"], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert len(list(tmp_path.glob("*.svg"))) == 3
    found = survey(read_published(path))
    assert len(published_scores(found).spec["datasets"]["pairs"]) == 3
    assert "Published P@10 on TREC-8" in str(published_scores(found, measure="P@10").title)
    with pytest.raises(UsageError, match="TREC-8: no paper reports 'RR'"):
        published_scores(found, measure="RR")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("paper,year,query,baseline,improved", "no column 'query' is known .*; did you mean .*query type"),
        ("paper,year,mesure,baseline,improved", "no column 'mesure' is known .*; did you mean measure"),
        ("paper,year,kind,baseline,improved", "no column 'kind' is known in a table of one experiment a row"),
        ("paper,year,kind,score,improved", "no column 'improved' is known in a table of one score a row"),
        ("paper,year,Paper,baseline,improved", "'paper' and 'Paper' are one column; keep one of them"),
        ("paper,year,pair,baseline,improved", "'paper' and 'pair' are one column; keep one of them"),
    ],
)
def test_a_column_that_nothing_reads_is_an_error(tmp_path: Path, header: str, message: str) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(f"{header}\nx,2004,baseline,.2,.3\n")
    with pytest.raises(DataError, match=message):
        read_published(path)
