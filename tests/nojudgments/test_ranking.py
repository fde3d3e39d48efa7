"""The ranking that the command shows: ranks, marks, cautions, accuracy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run, RunInfo
from assay.nojudgments.against_truth import accuracy, correlations
from assay.nojudgments.basis import comparable
from assay.nojudgments.cautions import outliers
from assay.nojudgments.combine import combined_means
from assay.nojudgments.inject import injected
from assay.nojudgments.learn import Collection, Lessons, judged_collection, learned
from assay.nojudgments.predictors import predictions, short_name
from assay.nojudgments.ranking import places, ranked
from assay.scoring import evaluate
from tests.nojudgments.test_predictors import made

RELEVANT = {str(t): {f"d{i:02d}": int(i < 10) for i in range(30)} for t in range(3)}


def test_table_puts_the_best_first() -> None:
    result = ranked(made())
    table = result.table()
    assert table.columns[:4] == ("rank", "run", "kind", "combined")
    assert table.column("combined") == sorted(table.column("combined"), reverse=True)
    assert table.column("rank")[0] == 1
    wide = result.table(wide=True)
    found = dict(zip(wide.column("run"), wide.column("SNC"), strict=True))
    assert [found[r] for r in result.runs] == places(result.predictions[0].averages()).tolist()


def test_many_methods_are_summed_up_so_that_the_table_fits_a_terminal() -> None:
    runs = [replace(run, name=f"{run.name}_a_run_of_20chars") for run in made()]
    (truth,) = evaluate(runs, Qrels.from_dict(RELEVANT), "nDCG@10")
    result = ranked(runs, truth=truth)
    table, wide = result.table(), result.table(wide=True)
    assert table.columns[4:7] == ("median rank", "best", "worst")
    assert max(map(len, table.text().splitlines()[: len(runs) + 4])) <= 100
    by_method = np.array([row[4:-2] for row in wide.rows])
    assert by_method.shape == (8, 18)
    assert table.column("median rank") == np.median(by_method, axis=1).tolist()
    assert table.column("best") == by_method.min(axis=1).tolist()
    assert table.column("worst") == by_method.max(axis=1).tolist()
    assert ranked(runs, ["emap", "sakai-lin"]).table().columns[4:] == ("EMAP", "SL")


def test_a_method_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'emap' is there twice"):
        ranked(made(), ["emap", "emap"])


def lessons(year: int = 2001) -> Lessons:
    """What a collection of the same kind taught, a year before."""
    rng = np.random.default_rng(9)
    runs = []
    for r in range(8):
        merit = rng.normal(size=(3, 30)) + (r / 3) * (np.arange(30) < 10)
        runs.append(Run.from_lists(f"old{r}", {str(t): [f"d{i:02d}" for i in np.argsort(-merit[t])] for t in range(3)}))
    methods = ["sakai-lin", "emap"]
    return Lessons((judged_collection("old", 2000, runs, Qrels.from_dict(RELEVANT), methods),), year)


def test_a_model_trained_on_an_earlier_collection_combines() -> None:
    runs = made()
    (truth,) = evaluate(runs, Qrels.from_dict(RELEVANT), "AP")
    result = ranked(runs, ["sakai-lin", "wu-crestani-v4", "emap"], combine="ridge", lessons=lessons(), truth=truth)
    target = Collection("these runs", 2001, tuple(predictions(runs, ["sakai-lin", "emap"])))
    wanted = learned(target, lessons().earlier, "ridge")
    np.testing.assert_array_equal(result.combined, wanted.averages())
    np.testing.assert_array_equal(result.by_topic().values, wanted.values)
    assert "ridge trained on old (2000) of 2 methods (without wu-crestani-v4)" in result.notes[0]
    assert result.accuracies[-1].method == "combined (ridge)"


def test_models_and_lessons_go_together() -> None:
    with pytest.raises(UsageError, match="svr learns from earlier collections"):
        ranked(made(), ["emap"], combine="svr")
    with pytest.raises(UsageError, match="'average' is none; known: linear"):
        ranked(made(), ["sakai-lin", "emap"], lessons=lessons())
    with pytest.raises(DataError, match="'old' is not earlier than 'these runs'"):
        ranked(made(), ["sakai-lin", "emap"], combine="linear", lessons=lessons(2000))
    with pytest.raises(DataError, match="none of the 1 topics"):
        judged_collection("old", 2000, made(), Qrels.from_dict({"99": {"a": 1}}), ["emap"])


def test_judged_topics_take_the_place_of_predicted_ones() -> None:
    runs, methods = made(), ["sakai-lin", "emap"]
    (judged,) = evaluate(runs, Qrels.from_dict({"1": RELEVANT["1"]}), "AP")
    result = ranked(runs, methods, judged=judged)
    alone = ranked(runs, methods)
    mixed = injected(alone.by_topic(), judged, ["1"], mix="weighted")
    np.testing.assert_allclose(result.combined, mixed.averages())
    np.testing.assert_array_equal(result.by_topic().select(topics=["1"]).values, judged.values)
    assert "no judgments used" in alone.notes[0]
    assert "no judgments used" not in result.notes[0]
    assert "True AP on 1 of 3 topics" in result.notes[1]
    shown = dict(zip(result.table().column("run"), result.table().column("judged AP"), strict=True))
    assert [shown[r] for r in judged.runs] == judged.averages().tolist()
    assert result.table().caption == "Runs ranked with some judged topics"
    with pytest.raises(DataError, match="no topic of the runs is judged"):
        ranked(runs, methods, judged=replace(judged, topics=("9",)))


def test_weak_method_is_left_out_of_the_combination() -> None:
    runs = made()
    result = ranked(runs, ["wu-crestani", "wu-crestani-v4", "sakai-lin"])
    kept = predictions(runs, ["wu-crestani", "sakai-lin"])
    np.testing.assert_array_equal(result.combined, combined_means(kept, "average"))
    assert "without wu-crestani-v4" in result.notes[0]
    alone = ranked(runs, ["wu-crestani-v4"])
    assert np.ptp(alone.combined) > 0


def test_accuracy_of_methods_and_combination() -> None:
    runs, qrels = made(), Qrels.from_dict(RELEVANT)
    (truth,) = evaluate(runs, qrels, "AP")
    result = ranked(runs, ["sakai-lin", "emap"], truth=truth, combine="borda")
    assert [a.method for a in result.accuracies] == ["sakai-lin", "emap", "combined (borda)"]
    assert result.accuracies[0] == accuracy(result.predictions[0], truth)
    assert result.accuracies[2].values == correlations(truth.averages(), result.combined)
    shown = result.accuracy().table().text()
    assert "combined (borda)" in shown
    assert "mean AP" in shown
    assert result.table().columns[-2:] == ("true rank", "mean AP")


def test_accuracy_is_of_the_judged_topics() -> None:
    runs, qrels = made(), Qrels.from_dict({"1": RELEVANT["1"]})
    (truth,) = evaluate(runs, qrels, "AP")
    result = ranked(runs, ["sakai-lin", "aslam-savell"], truth=truth)
    scores = combined_means([p.select(topics=["1"]) for p in result.predictions])
    assert result.accuracies[-1].values == correlations(truth.averages(), scores)


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
        ranked(runs, ["sakai-lin"]).accuracy()


def test_short_names() -> None:
    assert short_name("wu-crestani-v1") == "WUCv1"
    assert short_name("emap(alpha=2)") == "EMAP(alpha=2)"
