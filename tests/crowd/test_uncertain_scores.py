"""Scores under uncertain judgments: certain judgments leave none, unsure ones an interval that holds the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assay.cli.compare import command as compare
from assay.cli.score import command as score
from assay.core.errors import UsageError
from assay.crowd.uncertain import Uncertain
from assay.crowd.uncertain_files import write_uncertain
from assay.crowd.uncertain_scores import score_uncertainty
from assay.data import Run
from assay.io import write_run
from assay.scoring import evaluate

ITEMS = [(str(t), d) for t in range(1, 9) for d in "abcdef"]
RUNS = [
    Run.from_lists("good", {str(t): list("abcdef") for t in range(1, 9)}),
    Run.from_lists("bad", {str(t): list("fedcba") for t in range(1, 9)}),
]


def judgments(certainty: float) -> Uncertain:
    """Docs a, b, c are relevant with that probability, the others with the rest."""
    posterior = [[1 - certainty, certainty] if d in "abc" else [certainty, 1 - certainty] for _, d in ITEMS]
    return Uncertain.of_posterior("demo", ITEMS, posterior, levels=[0, 1], labels=[5] * len(ITEMS))


def test_certain_judgments_leave_no_doubt() -> None:
    found = score_uncertainty(RUNS, judgments(1.0), "P@3", draws=20)
    assert found.low.tolist() == found.high.tolist() == [1.0, 0.0]
    assert np.ptp(found.judged, axis=0).tolist() == [0.0, 0.0]


def test_drawn_means_follow_the_posterior() -> None:
    found = score_uncertainty(RUNS, judgments(0.8), "P@3", draws=400, baseline="bad")
    np.testing.assert_allclose(found.judged.mean(axis=0), [0.8, 0.2], atol=0.01)
    np.testing.assert_allclose(found.judged.std(axis=0), np.sqrt(0.16 / 24), atol=0.01)
    assert (found.low <= found.matrix.averages()).all()
    row = found.differences().rows[0]
    assert row[0] == "good"
    assert row[2] < 0.6 < row[3]
    assert found.differences().columns == ("run", "Δ as if labels told all", "drawn low", "drawn high")
    again = score_uncertainty(RUNS, judgments(0.8), "P@3", draws=400, baseline="bad")
    np.testing.assert_array_equal(found.judged, again.judged)


def test_draws_spread_as_the_posterior_says() -> None:
    """Truths drawn from the posterior: the middle of the draws holds their mean score about 95 times in 100."""
    unsure, rng = judgments(0.7), np.random.default_rng(3)
    interval = np.quantile(score_uncertainty(RUNS, unsure, "nDCG@3", draws=400).judged[:, 0], [0.025, 0.975])
    truths = [evaluate(RUNS[:1], unsure.draw(rng), "nDCG@3")[0].averages()[0] for _ in range(300)]
    inside = np.mean([(interval[0] <= t) & (t <= interval[1]) for t in truths])
    assert 0.91 <= inside <= 0.985


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="too few"):
        score_uncertainty(RUNS, judgments(0.9), draws=3)
    with pytest.raises(UsageError, match="no run 'goood'; did you mean good"):
        score_uncertainty(RUNS, judgments(0.9), baseline="goood")
    with pytest.raises(UsageError, match="need a baseline"):
        score_uncertainty(RUNS, judgments(0.9), draws=20).differences()


def test_score_and_compare_show_it(tmp_path: Path) -> None:
    for run in RUNS:
        write_run(tmp_path / f"{run.name}.run", run)
    write_uncertain(tmp_path / "u.csv", judgments(0.8))
    files = [str(tmp_path / "good.run"), str(tmp_path / "bad.run"), "--uncertainty", str(tmp_path / "u.csv")]
    shown = CliRunner().invoke(score, [*files, "-m", "P@3"], catch_exceptions=False).stdout
    assert "How far uncertain judgments move P@3" in shown
    assert "no interval of the true score" in shown
    assert "probabilities: raw, as the method made them" in shown
    assert "with topics" not in shown
    words = ["uncertain", str(tmp_path / "u.csv"), *files[:2], "-m", "P@3", "--baseline", "bad"]
    shown = CliRunner().invoke(compare, words, catch_exceptions=False).stdout
    assert "P@3 against bad, uncertain judgments" in shown


@pytest.mark.parametrize("command", ["score", "compare"])
def test_gold_docs_give_intervals(command: str, tmp_path: Path) -> None:
    """Every gold doc was drawn with ½; the two runs are each other's reverse."""
    for run in RUNS:
        write_run(tmp_path / f"{run.name}.run", run)
    write_uncertain(tmp_path / "u.csv", judgments(0.8))
    lines = [f"{t} 0 {d} {int(d in 'abc') if i % 2 else -1} 0.5" for i, (t, d) in enumerate(ITEMS)]
    (tmp_path / "gold.qrels").write_text("\n".join(lines) + "\n")
    files = [str(tmp_path / "good.run"), str(tmp_path / "bad.run")]
    gold = ["-m", "P@3 DCG@3", "--reference", str(tmp_path / "gold.qrels")]
    if command == "score":
        done = CliRunner().invoke(score, [*files, "--uncertainty", str(tmp_path / "u.csv"), *gold])
        assert "P@3 from uncertain judgments and gold docs" in done.stdout
    else:
        done = CliRunner().invoke(compare, ["uncertain", str(tmp_path / "u.csv"), *files, *gold, "--baseline", "bad"])
        assert "P@3: good beats bad: +" in done.stdout
        assert "DCG@3 against bad from uncertain judgments and gold docs" in done.stdout
    assert done.exit_code == 0
    assert "probabilities: raw; 24 gold docs are too few to calibrate (80)" in done.stdout
    assert "t over 8 topics; gains rectified by 24 gold docs" in done.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--calibration", "platt"], "--calibration has no effect without --reference"),
        (["--reference", "{gold}", "--seed", "3"], "--seed has no effect with --reference"),
        (["--reference", "{gold}", "-m", "nDCG@10"], "take DCG with the same cutoff"),
        (["--reference", "{gold}"], "a calibration needs 80 gold docs; the reference has 8"),
    ],
)
def test_bad_gold_on_the_command_line(more: list[str], message: str, tmp_path: Path) -> None:
    write_run(tmp_path / "good.run", RUNS[0])
    write_uncertain(tmp_path / "u.csv", judgments(0.8))
    (tmp_path / "gold.qrels").write_text("".join(f"{t} 0 a 1\n" for t in range(1, 9)))
    words = [word.replace("{gold}", str(tmp_path / "gold.qrels")) for word in more]
    done = CliRunner().invoke(compare, ["uncertain", str(tmp_path / "u.csv"), str(tmp_path / "good.run"), *words])
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output
