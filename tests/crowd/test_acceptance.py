"""Accepted labels, rejected tasks, bonus; how tasks went; profiles of files: by hand, on real labels, by command."""

from __future__ import annotations

import csv
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.crowd.acceptance import acceptance
from assay.crowd.conduct import conduct, gold_docs
from assay.crowd.label_profiles import LabelProfile
from assay.crowd.protocol import Protocol, check_protocol
from assay.crowd.quality import worker_quality
from assay.data import Labels
from assay.io import read_labels
from assay.io.labels import write_labels
from tests.conftest import real_data
from tests.hostile.calls import call


def campaign() -> Labels:
    """Eight workers, one task of six docs each, two of them gold; w6 fails the test question, w7 mistakes the gold."""
    rng = np.random.default_rng(1)
    rows = []
    extra: dict[str, list[float]] = {"gold": [], "attempt": [], "back": [], "tested": [], "seconds": [], "position": []}
    for w in range(8):
        for d in range(6):
            label = min(100.0, 20.0 * d + rng.integers(0, 5))
            if w == 7:
                label = 100 - 20.0 * d
            rows.append(("1", f"d{d}", f"w{w}", label))
            extra["gold"].append({0: 0.0, 5: 100.0}.get(d, np.nan))
            extra["attempt"].append(2 if w == 3 else 1)
            extra["back"].append(1 if (w == 2 and d == 4) or (w == 4 and d > 3) else 0)
            extra["tested"].append(0.0 if w == 6 else 1.0)
            extra["seconds"].append(30.0)
            extra["position"].append(d + 1)
    whole = ("attempt", "back", "position")
    columns: dict[str, Any] = {}
    for name, values in extra.items():
        columns[name] = np.array(values, dtype=np.int64 if name in whole else float)
    return Labels.from_rows(rows, **columns)


def test_how_tasks_went() -> None:
    found = {(row.fact, row.value): (row.tasks, row.share) for row in conduct(campaign()).rows}
    assert found == {
        ("attempts", "1"): (7, 7 / 8),
        ("attempts", "2"): (1, 1 / 8),
        ("back actions", "none"): (6, 6 / 8),
        ("back actions", "one"): (1, 1 / 8),
        ("back actions", "two or more"): (1, 1 / 8),
        ("test question", "right"): (7, 7 / 8),
        ("test question", "wrong"): (1, 1 / 8),
        ("gold docs", "in order"): (7, 7 / 8),
        ("gold docs", "out of order"): (1, 1 / 8),
    }
    gold = gold_docs(campaign())
    assert gold is not None
    assert gold.items == (("1", "d0"), ("1", "d5"))
    assert gold.misordered.tolist() == [1, 1]
    assert gold.quartiles[0, 1] == np.median(campaign().label[campaign().doc == 0])


def test_failed_tasks_are_rejected_with_all_their_reasons() -> None:
    labels = campaign()
    check = check_protocol(labels, Protocol(docs=6, gold=2, attempts=1, test_question=True))
    found = acceptance(labels, check, worker_quality(labels, scale="S100"), share=0.4)
    reasons = {task.worker: task.reasons for task in found.rejected}
    assert set(reasons) == {"w3", "w6", "w7"}
    assert reasons["w6"] == ("test question: answered wrong",)
    assert reasons["w3"] == ("attempts: 2 attempts",)
    assert len(found.accepted) == 5 * 6
    assert set(np.unique(found.accepted.worker).tolist()) == {0, 1, 2, 4, 5}
    # Of the five workers that are left those without a reason of suspicion, the better 40 % by agreement.
    quality = worker_quality(labels, scale="S100")
    fit = [w for w in (0, 1, 2, 4, 5) if not quality.reasons[w]]
    best = sorted(fit, key=lambda w: -quality.facts["agreement"][w])[: ceil(0.4 * len(fit))]
    assert len(fit) < 5
    assert [worker.worker for worker in found.bonus] == [f"w{w}" for w in best]


def test_the_command_writes_the_lists_and_a_profile(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels.csv", campaign())
    asked = ["crowd", "check", f"{tmp_path}/labels.csv", "--scale", "S100", "--docs", "6", "--test-question",
             "--accepted", f"{tmp_path}/ok.jsonl", "--rejected", f"{tmp_path}/no.csv", "--bonus",
             f"{tmp_path}/bonus.tsv", "--bonus-share", "0.5", "--save-profile", f"{tmp_path}/p.toml",
             "--figure", f"{tmp_path}/f.svg"]  # fmt: skip
    done = call(asked)
    assert done.code == 0, done.err
    assert "test question  wrong" in done.out
    accepted = read_labels(tmp_path / "ok.jsonl")
    assert len(accepted) == 36
    assert accepted.back is not None
    assert accepted.back.sum() == 3
    with (tmp_path / "no.csv").open() as file:
        rejected = {row["worker"]: row["reasons"] for row in csv.DictReader(file)}
    assert rejected["w6"] == "test question: answered wrong"
    assert rejected["w7"].startswith("gold order: gold doc d5 got 0")
    assert len((tmp_path / "bonus.tsv").read_text().splitlines()) == 1 + 3
    assert len(list(tmp_path.glob("f-*.svg"))) == 5
    again = call(["crowd", "check", f"{tmp_path}/labels.csv", "--profile", f"{tmp_path}/p.toml", "--show", "topics"])
    assert (again.code, again.err) == (0, "")
    refused = call(["crowd", "check", f"{tmp_path}/labels.csv", "--docs", "9", "--accepted", f"{tmp_path}/x.csv"])
    assert (refused.code, "none of 8 tasks passes the checks" in refused.err) == (2, True)
    assert not (tmp_path / "x.csv").exists()
    refused = call(["crowd", "check", f"{tmp_path}/labels.csv", "--bonus-share", "0.5"])
    assert (refused.code, "--bonus-share has no effect without --bonus" in refused.err) == (2, True)


def test_lists_of_the_trec8_labels(tmp_path: Path) -> None:
    folder = real_data("crowd-s100-trec8")
    done = call(["crowd", "check", f"{folder}/judgments.tsv.xz", "--scale", "S100", "--times", "100", "--gold",
                 f"{folder}/trec8-qrels.txt", "--start", "50", "--moved", "4", "--show", "accepted", "--format", "csv",
                 "--accepted", f"{tmp_path}/ok.csv"])  # fmt: skip
    assert done.code == 0, done.err
    counts = dict(row for row in csv.reader(done.out.splitlines()[1:]))
    assert counts["tasks rejected"] == "4"
    assert counts["labels accepted"] == "52567"
    assert len(read_labels(tmp_path / "ok.csv")) == 52567


def test_a_profile_reads_as_the_options_do(tmp_path: Path) -> None:
    profile = LabelProfile("no<maybe<yes", columns={"label": 'what "he" said'}, where={"pilot": "a=b"}, topic="7")
    profile.write(tmp_path / "p.toml")
    assert LabelProfile.read(tmp_path / "p.toml") == profile
    (tmp_path / "l.csv").write_text('doc,worker,"what ""he"" said",pilot\nd,w,maybe,a=b\nd,v,yes,c\n')
    labels = profile.labels(tmp_path / "l.csv")
    assert (labels.topics, labels.label.tolist()) == (("7",), [1.0])
    done = call(["crowd", "check", f"{tmp_path}/l.csv", "--profile", f"{tmp_path}/p.toml", "--show", "topics"])
    assert done.code == 0, done.err
    assert done.out.splitlines()[4].split()[:2] == ["7", "1"]
    # An option that is given counts more than the profile.
    done = call(["crowd", "check", f"{tmp_path}/l.csv", "--profile", f"{tmp_path}/p.toml", "--topic", "8", "--show",
                 "topics"])  # fmt: skip
    assert done.out.splitlines()[4].split()[0] == "8"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scales = 'S100'", "there is no entry 'scales'; did you mean scale?"),
        ("times = 'a'", "times is 'a'; it must be a number"),
        ("[grades]\nyes = 'x'", "must be a table [grades] of numbers"),
        ("scale", "not a TOML file"),
    ],
)
def test_bad_profiles_are_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(DataError) as error:
        LabelProfile.read(tmp_path / "p.toml")
    assert says in str(error.value)
    done = call(["crowd", "check", "labels.csv", "--profile", f"{tmp_path}/p.toml"])
    assert (done.code, says in done.err) == (2, True)
    assert len(done.err.splitlines()) == 1
