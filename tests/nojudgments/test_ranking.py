"""The ranking that the command shows: ranks, marks, cautions, accuracy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.data import Qrels, Run, RunInfo
from assay.errors import DataError
from assay.nojudgments.accuracy import accuracy, correlations
from assay.nojudgments.basis import comparable
from assay.nojudgments.combine import combined_means
from assay.nojudgments.methods import predictions
from assay.nojudgments.ranking import outliers, places, ranked, short_name
from assay.scoring import evaluate
from tests.nojudgments.test_methods import made

RELEVANT = {str(t): {f"d{i:02d}": int(i < 10) for i in range(30)} for t in range(3)}


def test_table_puts_the_best_first() -> None:
    result = ranked(made())
    table = result.table()
    assert table.columns[:4] == ("rank", "run", "kind", "combined")
    assert table.column("combined") == sorted(table.column("combined"), reverse=True)
    assert table.column("rank")[0] == 1
    found = dict(zip(table.column("run"), table.column("SNC"), strict=True))
    assert [found[r] for r in result.runs] == places(result.predictions[0].means()).tolist()


def test_weak_method_is_left_out_of_the_combination() -> None:
    runs = made()
    result = ranked(runs, ["wu-crestani", "wu-crestani-v4", "sakai-lin"])
    kept = predictions(runs, ["wu-crestani", "sakai-lin"])
    np.testing.assert_array_equal(result.combined, combined_means(kept, "average"))
    assert "without WUCv4" in result.notes[0]
    alone = ranked(runs, ["wu-crestani-v4"])
    assert np.ptp(alone.combined) > 0


def test_accuracy_of_methods_and_combination() -> None:
    runs, qrels = made(), Qrels.from_dict(RELEVANT)
    (truth,) = evaluate(runs, qrels, "AP")
    result = ranked(runs, ["sakai-lin", "emap"], truth=truth, combine="borda")
    assert [a.method for a in result.accuracies] == ["sakai-lin", "emap", "combined (borda)"]
    assert result.accuracies[0] == accuracy(result.predictions[0], truth)
    assert result.accuracies[2].values == correlations(truth.means(), result.combined)
    shown = result.accuracy_table().text()
    assert "combined (borda)" in shown
    assert "mean AP" in shown
    assert result.table().columns[-2:] == ("true rank", "mean AP")


def test_accuracy_is_of_the_judged_topics() -> None:
    runs, qrels = made(), Qrels.from_dict({"1": RELEVANT["1"]})
    (truth,) = evaluate(runs, qrels, "AP")
    result = ranked(runs, ["sakai-lin", "aslam-savell"], truth=truth)
    scores = combined_means([p.select(topics=["1"]) for p in result.predictions])
    assert result.accuracies[-1].values == correlations(truth.means(), scores)


def test_manual_runs_are_marked_and_warned_of() -> None:
    runs = made()
    runs[2] = replace(runs[2], info=RunInfo(manual=True))
    result = ranked(runs, ["sakai-lin"])
    assert result.kinds() == ["", "", "manual", "", "", "", "", ""]
    assert "1 manual (r2)" in result.notes[1]
    assert "Tyranny of the masses" in result.notes[1]
    assert not any("Tyranny" in n for n in ranked(made(), ["sakai-lin"]).notes)


def test_a_run_of_other_docs_is_outlying() -> None:
    runs = [*made()[:6], Run.from_lists("odd", {str(t): [f"x{i}" for i in range(12)] for t in range(3)})]
    assert outliers(comparable(runs)).tolist() == [False] * 6 + [True]
    result = ranked(runs, ["sakai-lin"])
    assert result.kinds()[-1] == "outlying"
    assert "1 outlying (odd)" in result.notes[1]
    assert not outliers(comparable(runs[-4:])).any()


def test_lonely_topics_and_no_overlap_are_told() -> None:
    runs = [Run.from_lists("a", {"1": ["x"], "2": ["x"]}), Run.from_lists("b", {"1": ["z"]})]
    notes = ranked(runs, ["wu-crestani"]).notes
    assert any("No doc was retrieved by two runs" in n for n in notes)
    assert any("one run alone answers it" in n and "topic 2" in n for n in notes)


def test_true_scores_must_have_every_run() -> None:
    runs = made()
    (truth,) = evaluate(runs[:-1], Qrels.from_dict(RELEVANT), "AP")
    with pytest.raises(DataError, match="no true scores of run 'r7'"):
        ranked(runs, ["sakai-lin"], truth=truth)
    with pytest.raises(DataError, match="give qrels"):
        ranked(runs, ["sakai-lin"]).accuracy_table()


def test_short_names() -> None:
    assert short_name("wu-crestani-v1") == "WUCv1"
    assert short_name("emap(alpha=2)") == "EMAP(alpha=2)"
