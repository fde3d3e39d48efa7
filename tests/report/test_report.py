"""The report says what there is to say, with the numbers of the library, and no more than the data allow."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.board import board
from assay.core.errors import DataError, MissingExtra, UsageError
from assay.core.tables import Table, p_value
from assay.data import Qrels, Run
from assay.data.scores import ScoreMatrix
from assay.report import figure
from assay.report.figure import Figure
from assay.report.material import Material, material
from assay.report.page import chart_library, report_page
from assay.report.sections import ORDER, SECTIONS, chosen, made
from assay.report.summaries import compared, decimal, summary
from assay.report.write import report, write_tables
from assay.stats import compare
from assay.stats.leaderboard import Leaderboard
from tests.board.test_board import made as made_board
from tests.report.zoo import collection, scores


@pytest.fixture(scope="module")
def whole() -> Material:
    c = collection()
    return material(runs=c.runs, qrels=c.qrels, labels=c.labels, machine=c.machine, collections=made_board())


def test_every_section_is_made_and_none_says_why_it_is_not_there(whole: Material) -> None:
    seen: list[tuple[int, int]] = []
    sections = made(whole, progress=lambda done, total: seen.append((done, total)))
    assert [s.name for s in sections] == [n for n in ORDER if n != "files"]
    assert seen[-1] == (len(sections), len(sections))
    for section in sections:
        assert section.blocks, section.name
        assert not [b for b in section.blocks if isinstance(b, str) and b.startswith("Not shown")], section.name
    assert set(ORDER) == set(SECTIONS.names())


def test_what_a_section_needs(whole: Material) -> None:
    only_scores = material(matrices=scores())
    assert chosen(only_scores) == ["summary", "leaderboard", "comparison", "topics", "power", "method", "cite"]
    only_labels = material(labels=collection().labels)
    assert chosen(only_labels) == ["summary", "crowd", "agreement", "method", "cite"]
    assert chosen(whole, ["power", "summary"]) == ["power", "summary"]
    with pytest.raises(UsageError, match="'pool' needs run files"):
        chosen(only_scores, ["pool"])
    with pytest.raises(UsageError, match="'board' needs score files of several collections and --board"):
        chosen(only_scores, ["board"])
    of_many = material(collections=made_board())
    assert chosen(of_many) == ["summary", "board", "effects", "collections", "method", "cite"]
    with pytest.raises(UsageError, match="did you mean leaderboard"):
        chosen(whole, ["leaderbord"])
    with pytest.raises(UsageError, match="nothing to report on"):
        material()
    with pytest.raises(UsageError, match="no run 'nobody'"):
        material(matrices=scores(), baseline="nobody")


def test_sections_show_the_tables_of_the_library(whole: Material) -> None:
    by_name = {s.name: s for s in made(whole, ["leaderboard", "power", "pool", "similarity"])}
    assert by_name["leaderboard"].tables()[0].rows == compare(whole.main).table().rows
    assert by_name["power"].tables()[0].rows == whole.audit.table().rows
    assert whole.left_out is not None
    assert by_name["pool"].tables()[-1].rows == whole.left_out.table().rows
    assert by_name["similarity"].tables()[0].rows == whole.similarity.pairs().rows
    assert sum(isinstance(b, Figure) for s in by_name.values() for b in s.blocks) >= 9


def test_a_report_on_many_collections_has_the_board_the_map_and_the_forest(tmp_path: Path) -> None:
    collections = made_board()
    collections["c1"] = collections["c1"].select(runs=["run1", "run2", "run3", "run5"])
    found = material(collections=collections, baseline="run1")
    sections = {section.name: section for section in made(found)}
    names = [block.name for block in sections["board"].blocks if isinstance(block, Figure)]
    assert names == ["rank-intervals", "collection-map"]
    collection_map = sections["board"].blocks[-1]
    assert isinstance(collection_map, Figure)
    assert [row["system"] for row in collection_map.spec["datasets"]["absent"]] == ["run4"]
    assert [block.name for block in sections["effects"].blocks if isinstance(block, Figure)] == ["forest", "forest"]
    expected = board(collections)
    assert expected.best(30).table() in sections["board"].tables()
    assert f"{expected.verdict}." in summary(found)
    assert "1 of 30 cells are missing" in summary(found)[-1]
    path = report(collections=collections, path=tmp_path / "board.html", sections=["board"])
    assert "Ranks that" in path.read_text()
    with pytest.raises(UsageError, match="no system 'run4' on all collections"):
        material(collections=collections, baseline="run4")
    with pytest.raises(DataError, match="1 systems are on all 6 collections"):
        material(collections={name: matrix.select(runs=["run1"]) for name, matrix in collections.items()})


def test_the_sentence_that_is_quoted() -> None:
    """Differences 0, .1, .2, .3: mean .15, sd .1291, t(3) = 2.3238, p = .1027, interval .15 ± 3.1824 · .06455."""
    m = ScoreMatrix.of([[0.5, 0.6, 0.7, 0.8], [0.5, 0.5, 0.5, 0.5]], runs=["new", "old"], measure="AP")
    board = compare(m, baseline="old")
    assert compared(board, "new", "old") == (
        "AP: new and old are not shown to differ: +.150 [−.055, .355], p = .1027 (paired t test, 4 topics); 4 topics "
        "find .275 with power .8; differences above .355 are ruled out."
    )
    assert "old and new are not shown to differ: −.150 [−.355, .055]" in compared(board, "old", "new")
    sure = ScoreMatrix.of([[0.51, 0.62, 0.73, 0.84], [0.1, 0.2, 0.3, 0.4]], runs=["new", "old"], measure="AP")
    assert compared(compare(sure, baseline="old"), "old", "new").startswith("AP: new beats old")


@pytest.mark.parametrize("baseline", ["new", "old"])
def test_the_better_run_is_better_by_a_positive_difference(baseline: str) -> None:
    sure = ScoreMatrix.of([[0.51, 0.62, 0.73, 0.84], [0.1, 0.2, 0.3, 0.4]], runs=["new", "old"], measure="AP")
    said = "AP: new beats old: +.425 [.404, .446], p < .0001 (paired t test, 4 topics)."
    for pair in (("new", "old"), ("old", "new")):
        assert compared(compare(sure, baseline=baseline), *pair) == said


def test_the_other_run_is_named_and_is_not_the_baseline() -> None:
    """Of two runs the better one is compared with the baseline: "the other run" would be the baseline itself."""
    sure = ScoreMatrix.of([[0.51, 0.62, 0.73, 0.84], [0.1, 0.2, 0.3, 0.4]], runs=["new", "old"], measure="AP")
    said = " ".join(summary(material(matrices=[sure], baseline="old")))
    assert "(95 % interval, 4 topics). new beats old: +.425" in said
    assert "the other run" not in said
    said = " ".join(summary(material(matrices=[sure], baseline="new")))
    assert "(95 % interval, 4 topics). old is worse than new: −.425" in said


def test_ties_that_move_no_digit_are_not_worth_a_sentence() -> None:
    """Two nonrelevant docs of equal score: their order moves no score, while tied relevant docs move AP by .5."""
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 0}})
    plain = Run.from_dict("plain", {"1": {"a": 3.0, "b": 2.0, "c": 1.0}})
    harmless = Run.from_dict("harmless", {"1": {"a": 3.0, "b": 1.0, "c": 1.0}})
    harmful = Run.from_dict("harmful", {"1": {"a": 3.0, "b": 3.0, "c": 1.0}})
    said = " ".join(summary(material(runs=[plain, harmless], qrels=qrels)))
    assert "equal score" not in said
    assert "by .0000" not in said
    assert "3 judged docs of which 1 is relevant" in said
    said = " ".join(summary(material(runs=[plain, harmful], qrels=qrels)))
    assert "1 of 2 runs have docs of equal score; their order could move the mean AP of harmful by .5000" in said


def test_one_chart_shows_one_family_of_tests() -> None:
    """Letters that join two runs never stand beside a colour that calls the pair significantly different."""
    rng = np.random.default_rng(2)
    topic = rng.normal(0.3, 0.15, 50)
    values = [topic + shift + rng.normal(0, 0.1, 50) for shift in np.linspace(0, 0.09, 12)]
    matrix = ScoreMatrix.of(values, measure="AP")
    two_families = compare(matrix, baseline="run1")
    assert _joined_and_different(two_families)
    assert "letters:N" not in _texts(two_families.figure())
    for one_family in (compare(matrix, baseline="run1", test="tukey"), compare(matrix)):
        assert not _joined_and_different(one_family)
        assert "letters:N" in _texts(one_family.figure())


def _joined_and_different(board: Leaderboard) -> list[str]:
    """Runs that share a letter with the baseline and are significantly different from it."""
    assert board.letters is not None
    letters = dict(zip(board.matrix.runs, map(set, board.letters.labels), strict=True))
    rows = board.record()["rows"]
    different = [row["run"] for row in rows if row["p_corrected"] is not None and row["p_corrected"] < board.alpha]
    return [run for run in different if letters[run] & letters[board.baseline]]


def _texts(figure: Figure) -> str:
    """What the texts of a chart are made of, as field:type."""
    fields = []
    for layer in figure.spec["layer"]:
        text = layer.get("encoding", {}).get("text")
        if text is not None:
            fields.append(f"{text['field']}:{text['type'][0].upper()}")
    return " ".join(fields)


def test_two_runs_are_no_crowd() -> None:
    """Of a single pair nothing is said that takes several: the most alike, the share of pairs, the least judged."""
    qrels = Qrels.from_dict({t: {"a": 1, "b": 0, "c": 0.5, "d": -1} for t in "123"})
    one = Run.from_lists("one", {"1": "abc", "2": "acb", "3": "bca"})
    other = Run.from_lists("other", {"1": "bac", "2": "abc", "3": "acb"})
    said = " ".join(summary(material(runs=[one, other], qrels=qrels)))
    assert "2 runs on 3 topics, 9 judged docs of which 3 are relevant" in said
    assert "other and one are alike by RBO" in said
    assert "most alike" not in said
    assert "pairs of runs" not in said
    assert "Of the first 10 docs 100.0 % are judged in every run." in said


def test_summary_has_the_numbers_of_the_results(whole: Material) -> None:
    said = " ".join(summary(whole))
    board = whole.boards[0]
    assert f"{board.matrix.runs[0]}: {decimal(board.matrix.averages()[0])}" in said
    assert f"a true difference of {decimal(whole.audit.detectable())} in AP is found with power .8" in said
    assert whole.left_out is not None
    assert f"{decimal(-float(whole.left_out.loss.mean()), 4)} AP on average lower" in said
    alpha = whole.agreement.rows[0].value
    assert alpha is not None
    assert f"Krippendorff's α (ordinal) = {decimal(alpha)}" in said
    first, second = whole.pair
    assert f"{first} and {second} are not significantly different" in said or "is significantly better than" in said
    assert f"{len(whole.workers.suspects())} of {len(whole.workers.workers)} workers deserve a second look" in said


def test_numbers_as_papers_print_them() -> None:
    assert [decimal(x) for x in (0.0, -0.00001, -1.25, 0.9996)] == [".000", ".000", "−1.250", "1.000"]
    assert [p_value(p) for p in (0.00001, 0.5, 1.0)] == ["p < .0001", "p = .5000", "p = 1.0000"]


def test_the_baseline_is_compared_with_the_best_other_run() -> None:
    found = material(matrices=scores(), baseline="cygnus1")
    best = found.main.by_average().runs[0]
    assert found.pair == (best, "cygnus1")
    assert material(matrices=scores(), baseline=best).pair[1] == best
    assert material(matrices=scores()).pair == found.main.by_average().runs[:2]


def test_one_run_and_one_topic_give_a_page_that_says_so() -> None:
    alone = material(matrices=[ScoreMatrix.of([[0.1, 0.4, 0.2]], runs=["only"], measure="AP")])
    text = report_page(made(alone), title="t").replace(chart_library(), "")
    assert "1 run on 3 topics" in text
    assert "Not shown: one run alone cannot be compared" in text
    short = material(matrices=[ScoreMatrix.of([[0.1], [0.4], [0.2]], measure="AP")])
    text = report_page(made(short), title="t").replace(chart_library(), "")
    assert "Not shown: " in text
    assert "leaves nothing to be tested: means only" in text
    assert ">0.4000<" in text
    assert "nan" not in text.lower().replace("nano", "").split()


def test_the_level_of_the_report_is_that_of_its_power() -> None:
    strict, usual = (material(matrices=scores(), alpha=a) for a in (0.01, 0.05))
    assert strict.audit.test.alpha == 0.01
    assert strict.audit.detectable() > usual.audit.detectable()
    assert any("α = 0.01" in note for note in made(strict, ["power"])[0].tables()[0].notes)


def test_scores_without_spread_say_nothing_of_power() -> None:
    """Two runs that differ by .1 on every topic: no σ, so no "detects .000 with power .8"."""
    flat = material(matrices=[ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]], runs=["a", "b"], measure="AP")])
    said = " ".join(summary(flat))
    assert flat.detectable is None
    assert "these scores say nothing of power" in said
    assert "detects" not in said
    assert "b and a are not shown to differ: +.100 [" in said
    text = report_page(made(flat), title="t").replace(chart_library(), "")
    assert "0.0000 in AP is found" not in text


def test_equal_runs_and_empty_judgments_do_not_break_it() -> None:
    same = [Run.from_lists(n, {"1": ["a", "b"], "2": ["c", "a"]}) for n in ("x", "y", "z")]
    qrels = Qrels.from_dict({"1": {"a": 0, "b": 0}, "2": {"c": 0}})
    text = report_page(made(material(runs=same, qrels=qrels)), title="t")
    assert "Leaderboard" in text


def test_tables_as_files(tmp_path: Path, whole: Material) -> None:
    some = ["summary", "leaderboard", "method"]
    written = write_tables(tmp_path / "csv", whole, sections=some)
    names = [p.name for p in written]
    assert names == [
        "01-summary.txt", "02-leaderboard-1.csv", "02-leaderboard-2.csv", "02-leaderboard.txt", "03-method-1.csv",
        "03-method-2.csv", "03-method.txt",
    ]  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "csv" / "02-leaderboard-1.csv").read_text().splitlines()))
    assert float(rows[0]["mean"]) == pytest.approx(whole.boards[0].matrix.averages()[0])
    write_tables(tmp_path / "json", whole, format="json", sections=some)
    assert len(json.loads((tmp_path / "json" / "02-leaderboard-1.json").read_text())["rows"]) == len(whole.main.runs)
    write_tables(tmp_path / "latex", whole, format="latex", sections=some)
    assert r"\begin{tabular}" in (tmp_path / "latex" / "02-leaderboard-1.tex").read_text()
    with pytest.raises(UsageError, match="no format for tables 'xml'"):
        write_tables(tmp_path / "xml", whole, format="xml")


def test_tables_need_no_chart_library(tmp_path: Path, whole: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)
    written = write_tables(tmp_path / "csv", whole)
    assert len([p for p in written if p.suffix == ".csv"]) > 20
    assert not [p for p in written if p.suffix == ".txt" and "Not shown" in p.read_text()]
    with pytest.raises(MissingExtra, match=r"pip install 'assay-ir\[report\]'"):
        figure(scores()[0])


@pytest.mark.parametrize(("runs", "topics"), [(10, 1000), (143, 30), (143, 1000)])
def test_a_report_stays_below_five_megabytes_beside_the_library(tmp_path: Path, runs: int, topics: int) -> None:
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal(0.3, 0.15, (runs, topics)) + rng.normal(0, 0.1, topics), 0, 1)
    matrix = ScoreMatrix.of(values, measure="AP")
    report(matrix, path=tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size - len(chart_library().encode()) < 5_000_000


def test_findings_of_files_are_shown(tmp_path: Path) -> None:
    from assay.io import read_qrels, write_qrels, write_run

    c = collection()
    write_qrels(tmp_path / "qrels.txt", c.qrels)
    for run in c.runs[:3]:
        write_run(tmp_path / f"{run.name}.run", run)
    files = sorted(tmp_path.glob("*.run"))
    qrels = read_qrels(tmp_path / "qrels.txt")
    found = material(runs=c.runs[:3], qrels=qrels, files=files, qrels_file=tmp_path / "qrels.txt")
    [section] = made(found, ["files"])
    table = section.tables()[0]
    assert table.columns == ("where", "level", "what")
    assert any("tied" in str(row[2]) for row in table.rows)
    assert any("oddities were found" in s for s in summary(found))


def test_a_table_block_is_a_table_and_errors_end_a_section() -> None:
    from assay.report.sections import _blocks

    def source() -> object:
        yield Table.of({"a": ""}, [("x",)])
        raise DataError("the rest is missing")

    blocks = list(_blocks(source()))  # type: ignore[arg-type]
    assert isinstance(blocks[0], Table)
    assert blocks[1] == "Not shown: the rest is missing."
