"""Scales that meet: where crowd and reference are cut, targets that count from 1, fractions, words of preferences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.agreement.alpha import krippendorff_alpha
from assay.agreement.scales import S2, S100, Scale
from assay.core.errors import DataError
from assay.crowd import aggregate, best_cuts
from assay.crowd.reference_agreement import agreement_with_reference
from assay.data import Labels, Qrels
from assay.io import read_labels, read_qrels, write_qrels
from tests.conftest import real_data
from tests.hostile.calls import call


@pytest.fixture(scope="module")
def statements() -> Path:
    return real_data("crowd-truthfulness-scales") / "judgments.tsv"


def of_scale(path: Path, name: str) -> Labels:
    return read_labels(path, where={"scale": name}, topic="all")


def test_a_reference_on_the_scale_of_the_labels_is_cut_where_they_are(statements: Path, tmp_path: Path) -> None:
    reference = aggregate(of_scale(statements, "S100"), "mean", scale=S100).qrels()
    found = agreement_with_reference(of_scale(statements, "S100"), reference, ["mean"], scale=S100)
    assert (found.cut, found.rel) == (50, 50)
    # The mean against itself agrees throughout; cut at 1 the reference called nearly all true.
    assert found.table().column("accuracy")[1] == 1
    assert found.table().column("relevant from") == [50, 50]
    assert found.table().column("reference from") == [50, 50]
    assert "both are cut at the same place" in found.table().text()
    binary = agreement_with_reference(of_scale(statements, "S100"), reference, ["mean"], scale=S100, rel=1)
    assert binary.table().column("accuracy")[1] < 0.8

    write_qrels(tmp_path / "mean.qrels", reference)
    asked = ["crowd", "aggregate", str(statements), "--where", "scale=S100", "--topic", "all", "--scale", "S100",
             "--method", "mean", "--show", "reference", "--format", "json"]  # fmt: skip
    done = call([*asked, "--reference", f"{tmp_path}/mean.qrels", "--cut", "40", "--rel", "60"])
    assert done.code == 0, done.err
    (row, _) = json.loads(done.out)["rows"]
    assert (row["relevant_from"], row["reference_from"]) == (40, 60)
    for option in ("--cut", "--rel"):
        refused = call([*asked, option, "3"])
        assert (refused.code, "has no effect without --reference" in refused.err) == (2, True)


def test_a_binary_reference_of_numbers_stays_at_one() -> None:
    labels = read_labels(real_data("crowd-s100-trec8") / "judgments.tsv.xz", times=100)
    nist = read_qrels(real_data("crowd-s100-trec8") / "trec8-qrels.txt")
    found = agreement_with_reference(labels, nist, [], scale=S100)
    assert (found.cut, found.rel, found.same_scale) == (50, 1, False)


def test_transform_takes_what_aggregate_wrote_from_one_to_six(statements: Path, tmp_path: Path) -> None:
    rows = statements.read_text().splitlines()
    header = rows[0].split("\t")
    value, scale = header.index("value"), header.index("scale")
    shifted = [rows[0]]
    for line in rows[1:]:
        cells = line.split("\t")
        if cells[scale] == "S6":
            cells[value] = str(int(cells[value]) + 1)
            shifted.append("\t".join(cells))
    (tmp_path / "six.tsv").write_text("\n".join(shifted) + "\n")
    made = call(["crowd", "aggregate", f"{tmp_path}/six.tsv", "--topic", "all", "--scale", "1-6", "--method",
                 "median(ties=low)", "--qrels", f"{tmp_path}/six.qrels"])  # fmt: skip
    assert made.code == 0, made.err
    cut = call(["crowd", "transform", str(statements), "--where", "scale=S100", "--topic", "all", "--scale", "S100",
                "--levels", "6", "--way", "D_a+t", "--target", f"{tmp_path}/six.qrels", "--search", "climb",
                "--format", "json"])  # fmt: skip
    assert cut.code == 0, cut.err
    # The same as with the grades counted from 0.
    six = of_scale(statements, "S6")
    from_zero = aggregate(six, "median(ties=low)", scale=Scale.interval(0, 5)).qrels()
    fine = of_scale(statements, "S100")
    expected = best_cuts(fine, "D_a+t", levels=6, source=S100, target=from_zero, search="climb").cuts[0]
    (row,) = json.loads(cut.out)["rows"]
    assert row["alpha"] == pytest.approx(expected.alpha)
    assert row["cut"] == " ".join(f"{point:g}" for point in expected.points)


def test_fractions_of_a_target_count_as_they_are(statements: Path) -> None:
    target = aggregate(of_scale(statements, "S3"), "mean", scale=Scale.interval(0, 2)).qrels()
    labels = of_scale(statements, "S100")
    found = best_cuts(labels, "D_a+t", levels=3, source=S100, target=target)
    best = found.cuts[0]
    item, pairs = labels.items()
    values, items = [], []
    known = target.to_dict()["all"]
    for i, (_, doc) in enumerate(pairs):
        median = float(np.median(labels.label[item == i]))
        values += [float(np.sum(median > np.array(best.points))), known[doc]]
        items += [i, i]
    assert best.alpha == pytest.approx(krippendorff_alpha(items, values, level="interval"))
    with pytest.raises(DataError, match="α nominal needs whole grades"):
        best_cuts(labels, "D_a+t", levels=3, source=S100, target=target, level="nominal")


def test_expected_grades_are_fractions(tmp_path: Path) -> None:
    votes = real_data("crowd-trec2011") / "votes.tsv.xz"
    asked = ["crowd", "aggregate", str(votes), "--split", "_", "--scale", "S2", "--qrels", f"{tmp_path}/q"]
    assert call([*asked, "--method", "dawid-skene", "--give", "expected"]).code == 0
    grades = np.concatenate([list(of_topic.values()) for of_topic in read_qrels(tmp_path / "q").to_dict().values()])
    judged = aggregate(read_labels(votes, split="_"), "dawid-skene", scale=S2)
    assert np.sort(grades) == pytest.approx(np.sort(judged.estimate), abs=1e-8)
    assert ((grades > 0) & (grades < 1)).sum() > 1000
    refused = call([*asked, "--method", "mean", "--give", "expected"])
    assert (refused.code, "--give has no effect with mean" in refused.err) == (2, True)


@pytest.mark.parametrize("way", ["H_a+t", "D_a+t"])
def test_ties_that_decide_nothing_are_refused(way: str, tmp_path: Path) -> None:
    rows = [("1", f"d{d}", f"w{w}", float((d + w) % 4)) for d in range(6) for w in range(3)]
    (tmp_path / "l.csv").write_text("topic,doc,worker,label\n" + "".join(f"{t},{d},{w},{y}\n" for t, d, w, y in rows))
    write_qrels(tmp_path / "q", Qrels.from_dict({"1": {f"d{d}": d % 2 for d in range(6)}}))
    asked = ["crowd", "transform", f"{tmp_path}/l.csv", "--scale", "S4", "--way", way]
    if way.startswith("D"):
        asked += ["--target", f"{tmp_path}/q"]
    refused = call([*asked, "--ties", "high"])
    assert (refused.code, f"--ties has no effect with the way {way}" in refused.err) == (2, True)
    done = call(asked)
    assert "Median ties" not in done.out
    assert "Aggregate before cutting: median" in done.out


def test_preferences_have_the_options_that_their_errors_name(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("doc,other,worker,label,batch\na,b,w,this,1\na,c,w,tie,1\nb,c,v,,1\nb,c,u,other,2\n")
    asked = ["crowd", "preferences", str(path), "--topic", "7", "--format", "json"]
    refused = call(asked)
    assert (refused.code, "(--drop-empty)" in refused.err) == (2, True)
    done = call([*asked, "--drop-empty", "--where", "batch=1"])
    assert done.code == 0, done.err
    assert "1 rows without label left out: lines 4" in done.err
    docs = [row["doc"] for row in json.loads(done.out)[1]["rows"]]
    assert sorted(docs) == ["a", "b", "c"]
    path.write_text("topic,doc,other,worker,label\n1,a,b,w,yes\n")
    wrong = call(["crowd", "preferences", str(path)])
    assert "label 'yes' is neither a number nor a level (other, tie, this)" in wrong.err
