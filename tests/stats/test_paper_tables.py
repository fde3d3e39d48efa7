"""The table of a paper: its numbers, its marks and what the notes say of them; and a LaTeX that takes it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import assay
from assay.core.errors import AssayError, DataError, UsageError
from assay.data.scores import ScoreMatrix, Scores
from assay.stats import paper_table
from assay.stats.paper_tables import DAGGERS
from tests.conftest import real_data

RUNS = ["bm25", "ql", "dense", "fusion"]
rng = np.random.default_rng(3)
TOPIC = rng.normal(0.4, 0.12, 40)
VALUES = [
    [np.clip(TOPIC + shift + rng.normal(0, 0.08, 40), 0, 1) for shift in (0.0, 0.01, 0.05, 0.09)] for _ in range(3)
]


def scores(*measures: str, runs: list[str] | None = None) -> Scores:
    names = measures or ("AP", "nDCG@10", "RR")
    matrices = [
        ScoreMatrix.of(values, runs=runs or RUNS, measure=name)
        for name, values in zip(names, VALUES, strict=False)
    ]  # fmt: skip
    return Scores(tuple(matrices))


def holm(values: list[float]) -> list[float]:
    """A plain loop: the smallest p times m, the next times m − 1, never below the one before."""
    out = [0.0] * len(values)
    worst = 0.0
    for step, at in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        worst = max(worst, min(1.0, values[at] * (len(values) - step)))
        out[at] = worst
    return out


@pytest.mark.parametrize("baselines", [["bm25"], ["bm25", "ql"], RUNS])
@pytest.mark.parametrize("family", ["table", "measure"])
def test_marks_are_what_scipy_and_holm_say(baselines: list[str], family: str) -> None:
    """Every distinct pair counts once; the family is all of the table, or each measure by itself."""
    table = paper_table(scores(), baseline=baselines, family=family, marks="letters", correction="holm")
    assert table.tests is not None
    pairs = [
        (measure, a, b)
        for measure in range(3) for i, a in enumerate(RUNS) for b in RUNS[:i] if a in baselines or b in baselines
    ]  # fmt: skip
    p = [stats.ttest_rel(VALUES[m][RUNS.index(a)], VALUES[m][RUNS.index(b)]).pvalue for m, a, b in pairs]
    if family == "table":
        expected = dict(zip(pairs, holm(p), strict=True))
    else:
        expected = {}
        for m in range(3):
            own = [at for at, pair in enumerate(pairs) if pair[0] == m]
            expected |= dict(zip([pairs[at] for at in own], holm([p[at] for at in own]), strict=True))
    names = table.scores.measures
    for test in table.tests.tests:
        m = names.index(test.measure)
        key = (m, test.run, test.baseline)
        known = expected[key] if key in expected else expected[m, test.baseline, test.run]
        assert test.corrected_p == pytest.approx(known, rel=1e-9)
    size = len(pairs) // (3 if family == "measure" else 1)
    which = "those of each measure by itself" if family == "measure" else "all comparisons that this table marks"
    assert f"holm over {size} tests" in " ".join(table.notes())
    assert f"the {size} tests are {which}" in " ".join(table.notes())
    for row in table.table().record()["rows"]:
        marked = [t for t in table.tests.tests if t.run == row["run"] and t.measure == "AP" and t.corrected_p < 0.05]
        assert row["AP_marks"].split() == [table.signs()[t.baseline] for t in marked]


def test_two_lines_make_the_table_of_runs_and_judgments() -> None:
    qrels = {str(t): {f"d{i}": int(i < 3) for i in range(10)} for t in range(12)}
    runs = {
        "bm25": {str(t): [f"d{(i + 5 + t % 3) % 10}" for i in range(10)] for t in range(12)},
        "dense": {str(t): [f"d{i}" for i in range(10)] for t in range(12)},
    }
    found = assay.paper_table(assay.evaluate(runs, qrels, ["nDCG@10", "AP", "RR"]), baseline="bm25")
    assert found.table().column("run") == ["bm25", "dense"]
    assert found.table().column("AP")[1] == 1.0
    assert r"\textbf{1.000} & $^{\dagger}$" in found.latex()
    assert "policy: missing:zero, ties:docid, unjudged:0" in found.notes()


def test_numbers_are_the_means_and_csv_has_all_digits() -> None:
    table = paper_table(scores(), baseline="bm25", digits=2)
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert list(rows[0]) == ["run", "AP", "AP_marks", "nDCG@10", "nDCG@10_marks", "RR", "RR_marks"]
    assert [float(row["AP"]) for row in rows] == [float(np.mean(v)) for v in VALUES[0]]
    assert rows[3]["AP_marks"] == "†"
    assert f"**{np.mean(VALUES[0][3]):.2f}**†" in table.text()
    record = json.loads(json.dumps(table.record(), allow_nan=False))
    assert record["result"] == "paper_table"
    assert len(record["tests"]) == 9
    assert record["tests"][0].keys() == {"measure", "run", "baseline", "delta", "p", "p_corrected"}


@pytest.mark.parametrize(
    ("digits", "leading_zero", "shown"), [(3, True, "−0.125"), (3, False, "−.125"), (1, False, "−.1"), (0, False, "0")]
)
def test_digits_zeros_and_minus_signs(digits: int, leading_zero: bool, shown: str) -> None:
    matrix = ScoreMatrix.of([[-0.25, 0.0], [-0.5, -0.5]], runs=["a", "b"], measure="gain of users")
    table = paper_table(matrix, digits=digits, leading_zero=leading_zero)
    cell = table.printed().blocks[0].rows[0][1]
    assert cell.text == shown
    if "−" in shown:
        assert rf"\textbf{{\boldmath$-${shown[1:]}}}" in table.latex()


def test_numbers_that_are_printed_alike_are_bold_alike() -> None:
    matrix = ScoreMatrix.of([[0.3124], [0.3116], [0.3], [0.2996], [0.1]], measure="AP")
    table = paper_table(matrix, underline=True)
    cells = [row[1] for row in table.printed().blocks[0].rows]
    assert [cell.bold for cell in cells] == [True, True, False, False, False]
    assert [cell.underlined for cell in cells] == [False, False, True, True, False]
    assert "**0.312**" in table.text()
    assert "<ins>0.300</ins>" in table.markdown()
    assert "<u>0.300</u>" in table.html()
    assert r"\underline{0.300}" in table.latex()
    assert "bold: the best of a column, underlined: the second best" in " ".join(table.notes())
    assert not any(cell.bold for _, cell in paper_table(matrix, bold=False).printed().blocks[0].rows)


def test_where_less_is_better_the_least_is_bold_and_the_arrows_turn() -> None:
    table = paper_table(scores("E", "AP"), baseline="bm25", marks="arrows")
    cells = {row[0].text: row[1:] for row in table.printed().blocks[0].rows}
    assert cells["bm25"][0].bold
    assert cells["fusion"][1].bold
    assert (cells["fusion"][0].mark, cells["fusion"][1].mark) == ("▼", "▲")
    assert "less is better: E" in " ".join(table.notes())
    better = paper_table(scores("E", "AP"), baseline="bm25", marks="arrows", alternative="greater")
    marks = {row[0].text: [cell.mark for cell in row[1:]] for row in better.printed().blocks[0].rows}
    assert marks["fusion"] == ["", "▲"]
    assert "one-sided, greater" in " ".join(better.notes())


def test_arrows_name_the_baseline_where_there_are_several_and_weak_ones_are_asked_for() -> None:
    one = paper_table(scores(), baseline="fusion", marks="arrows")
    assert "▼" in one.text()
    assert "△" not in one.text()
    two = paper_table(scores(), baseline=["bm25", "fusion"], marks="arrows", weak_alpha=0.99)
    names = [row[0].mark for row in two.printed().blocks[0].rows]
    assert names == ["a", "", "", "b"]
    marks = [row[1].mark for row in two.printed().blocks[0].rows]
    assert marks[0] == "▼b"
    assert marks[3] == "▲a"
    assert {"△", "▽"} & set("".join(marks))
    assert "△ better, ▽ worse at the weaker level 0.99" in " ".join(two.notes())
    assert r"\usepackage{amssymb}" in two.latex()
    assert "amssymb" not in paper_table(scores(), baseline="bm25").latex()


def test_means_and_counted_topics_that_contradict_have_no_arrow() -> None:
    """A sign test in which many small wins stand against one large loss."""
    first = [0.51] * 29 + [0.0]
    second = [0.50] * 29 + [1.0]
    matrix = ScoreMatrix.of([first, second], runs=["new", "old"], measure="AP")
    table = paper_table(matrix, baseline="old", marks="arrows", test="sign")
    assert table.table().column("AP marks") == ["", ""]
    assert "without an arrow, as means and single topics contradict each other: new on AP" in " ".join(table.notes())
    assert replace(table, marks="daggers").table().column("AP marks") == ["†", ""]


def test_rows_are_grouped_and_sorted() -> None:
    groups = {"neural": ["dense", "fusion"]}
    table = paper_table(scores(), baseline="bm25", groups=groups)
    assert [(b.title, [row[0].text for row in b.rows]) for b in table.printed().blocks] == [
        ("", ["bm25", "ql"]),
        ("neural", ["dense", "fusion"]),
    ]
    assert table.table().column("group") == ["", "", "neural", "neural"]
    best = paper_table(scores(), groups=groups, best_first=True)
    assert best.groups[1] == ("neural", ("fusion", "dense"))
    assert "| *neural* |  |  |  |" in table.markdown()
    assert '<th colspan="4">neural</th>' in table.html()
    assert "\\midrule\n\\multicolumn{7}{l}{\\textit{neural}} \\\\\n\\quad dense & " in table.latex()


def test_columns_are_chosen_and_ordered() -> None:
    assert paper_table(scores(), measures="RR AP").scores.measures == ("RR", "AP")
    assert paper_table(scores(), measures=["nDCG@10"]).scores.measures == ("nDCG@10",)
    shuffled = [scores()[0], scores()[1].select(runs=RUNS[::-1])]
    assert paper_table(shuffled).table().column("nDCG@10") == paper_table(scores()).table().column("nDCG@10")


def test_without_a_baseline_nothing_is_tested() -> None:
    table = paper_table(scores())
    assert table.tests is None
    assert "test" not in " ".join(table.notes())
    assert "significant" not in table.latex()
    assert paper_table(scores().select(runs=["bm25"])).text().count("**") == 0


def test_too_few_resamples_are_told() -> None:
    table = paper_table(scores(), baseline="bm25", test="randomisation", resamples=50)
    assert "too few resamples: holm over 9 tests lets no p below 0.05" in " ".join(table.notes())


def policies(*signatures: str) -> Scores:
    matrices = [ScoreMatrix.of([[0.1, 0.2], [0.3, 0.1]], measure=s.partition("|")[0], signature=s) for s in signatures]
    return Scores(tuple(matrices))


def test_a_measure_that_removes_unjudged_docs_may_stand_beside_one_that_does_not() -> None:
    paper_table(
        policies("AP|ties:docid|unjudged:0", "AP'|ties:docid|unjudged:removed", "nDCG@10|gain:grade|ties:docid")
    )


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (scores(), {"baseline": "bm52"}, "no run 'bm52' to be the baseline; did you mean bm25"),
    (scores(), {"baseline": ["bm25", "bm25"]}, "baseline 'bm25' is given twice"),
    (scores().select(runs=["bm25"]), {"baseline": "bm25"}, "1 run; a comparison needs at least two"),
    (scores(), {"groups": {"sparse": []}}, "group 'sparse' has no runs"),
    (scores(), {"groups": {" ": ["bm25"]}}, "group ' ' has no title"),
    (scores(), {"groups": {"sparse": "bm25"}}, "give its runs as a list"),
    (scores(), {"groups": {"a": ["bm25"], "b": ["bm25"]}}, "run 'bm25' is in the groups 'a' and 'b'"),
    (scores(), {"groups": {"sparse": ["bm26"]}}, "group 'sparse': no run 'bm26'; did you mean bm25"),
    (scores(), {"marks": "stars"}, "no marks 'stars'; known: daggers, letters, arrows"),
    (scores(), {"baseline": "bm25", "weak_alpha": 0.1}, "a weaker level has no effect"),
    (scores(), {"baseline": "bm25", "marks": "arrows", "weak_alpha": 0.01}, "must be above α = 0.05"),
    (scores(), {"digits": 13}, "digits must lie between 0 and 12, not 13"),
    (scores(), {"label": "tab:a}b"}, "label 'tab:a}b'"),
    (scores(), {"baseline": "bm25", "family": "all"}, "no family 'all'; known: table, measure"),
    (scores(), {"baseline": "bm25", "test": "tukey"}, "no test 'tukey'"),
    (scores(), {"measures": "P@10"}, "no scores of 'P@10'"),
    (scores(), {"measures": []}, "no measure; a table needs at least one column"),
    (Scores(()), {}, "no measure; a table needs at least one column"),
    (policies("AP|ties:docid", "RR|ties:average(exact)"), {}, "do not rest on one policy: AP|ties:docid and RR|ties:"),
    (policies("AP|unjudged:0", "RR|unjudged:removed"), {}, "score all of them alike"),
    (policies("AP|depth:10", "RR|depth:20"), {}, "AP|depth:10 and RR|depth:20"),
    ({"median(AP)": {"a": {"1": 0.1, "2": 0.2}, "b": {"1": 0.3, "2": 0.2}}}, {"baseline": "a"}, "nothing of medians"),
    ([scores()[0], scores()[1].select(runs=RUNS[:3])], {}, "run 'fusion' has scores of AP or nDCG@10, not in both"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "options", "message"), BAD, ids=[message[:40] for _, _, message in BAD])
def test_what_makes_no_table_is_refused(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=re.escape(message)):
        paper_table(given, **options)


def test_more_baselines_than_daggers_take_letters() -> None:
    many = ScoreMatrix.of(rng.random((30, 5)), measure="AP")
    with pytest.raises(UsageError, match="daggers are enough for 5 baselines, not for 6; take letters"):
        paper_table(many, baseline=many.runs[: len(DAGGERS) + 1])
    letters = paper_table(many, baseline=many.runs, marks="letters", correction="none", alpha=0.5)
    assert letters.signs()["run30"] == "ad"
    assert any("," in row[1].mark for row in letters.printed().blocks[0].rows)


HOSTILE = r"50 % of R&D_1 {x} #~^$\ <b>|*`"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)


def test_names_and_captions_are_no_markup() -> None:
    table = paper_table(
        scores(runs=[HOSTILE, "ql", "dense", "fusion"]),
        baseline=HOSTILE,
        groups={HOSTILE + "!": ["ql"]},
        caption=HOSTILE,
    )
    tags = Tags()
    tags.feed(table.html())
    assert tags.seen == {
        "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "sup", "div", "p",
    }  # fmt: skip
    [header, rule, *rows] = [line for line in table.markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in [header, rule, *rows]} == {5}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("marks", ["daggers", "letters", "arrows"])
def test_latex_takes_every_table(marks: str, tmp_path: Path) -> None:
    runs = [HOSTILE, "ql", "dense", "ünïcode"]
    tables = [
        paper_table(
            scores(runs=runs), baseline=runs[:2], marks=marks, groups={HOSTILE: runs[2:]}, caption=HOSTILE,
            label="tab:a_b", underline=True,
        ),
        paper_table(scores("AP"), baseline="bm25", marks=marks, leading_zero=False),
        paper_table(ScoreMatrix.of([[-0.5, 0.1], [-0.5, -0.6]], measure="Δ of τ"), caption="no marks"),
    ]  # fmt: skip
    body = "\n".join(table.latex() for table in tables)
    packages = r"\usepackage{booktabs}" + (r"\usepackage{amssymb}" if marks == "arrows" else "")
    (tmp_path / "t.tex").write_text(
        rf"\documentclass[twocolumn]{{article}}{packages}\begin{{document}}{body}\end{{document}}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-1500:]
    assert "Missing character" not in said
    assert (tmp_path / "t.pdf").stat().st_size > 5000


def test_a_track_in_one_table() -> None:
    """TREC-8: every run against one, on two measures, as the tests of each by itself say."""
    ap = assay.read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))[0]
    table = paper_table([ap], baseline="CL99XT", best_first=True)
    board = assay.compare(ap, baseline="CL99XT")
    p = dict(zip(board.table().column("run"), board.table().column("p_corrected"), strict=True))
    shown = table.table()
    for run, mark in zip(shown.column("run"), shown.column(f"{ap.measure} marks"), strict=True):
        assert mark == ("†" if run != "CL99XT" and p[run] < 0.05 else "")
    assert len(shown.rows) == 129


def test_scores_of_no_kind_are_refused() -> None:
    with pytest.raises((DataError, UsageError)):
        paper_table(7)
