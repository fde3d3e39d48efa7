"""The best, median and worst cuts of each topic: against plain loops, and on the labels of TREC-8."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from assay.agreement import agreement
from assay.agreement.scales import S100, Scale
from assay.core.errors import UsageError
from assay.crowd.cutgroups import GROUPS, cut_groups
from assay.data import Labels, Qrels
from assay.io import read_labels, read_qrels, write_qrels
from tests.conftest import real_data
from tests.hostile.calls import call


def small() -> Labels:
    rng = np.random.default_rng(3)
    rows = [(t, f"d{d}", f"w{w}", float(np.clip(d + rng.integers(-1, 2), 0, 9)))
            for t in ("1", "2") for d in range(10) for w in range(4)]  # fmt: skip
    return Labels.from_rows(rows)


def _alpha(labels: Labels) -> float:
    value = agreement(labels, measures="alpha(level=interval)").rows[0].value
    assert value is not None
    return value


def test_groups_are_those_of_all_cuts_in_order() -> None:
    """α of every cut of a scale of ten levels by the plain measure of agreement."""
    labels = small()
    found = cut_groups(labels, levels=3, source=Scale.interval(0, 9), size=5)
    assert [(group.topic, group.group) for group in found.groups] == [(t, g) for t in ("1", "2") for g in GROUPS]
    of_topic = labels.select(labels.topic == 0)
    alphas: dict[tuple[int, ...], float] = {}
    for cut in combinations(range(9), 2):
        above = (of_topic.label[:, None] > np.array(cut)).sum(axis=1)
        rows = [
            (t, d, w, int(level)) for t, d, w, level in zip(*list(of_topic.to_dict().values())[:3], above, strict=True)
        ]
        alphas[cut] = _alpha(Labels.from_rows(rows))
    best_first = sorted(alphas.values(), reverse=True)
    middle = (36 - 5) // 2
    expected = {"best": best_first[:5], "median": best_first[middle : middle + 5], "worst": best_first[-5:]}
    for group in found.groups[:3]:
        assert group.alpha == pytest.approx(expected[group.group])
        for cut, alpha in zip(group.cuts.tolist(), group.alpha.tolist(), strict=True):
            assert alphas[tuple(int(point) for point in cut)] == pytest.approx(alpha)
        assert group.width == pytest.approx(np.mean([cut[1] - cut[0] for cut in group.cuts.tolist()]))


@pytest.fixture(scope="module")
def nist() -> Qrels:
    return read_qrels(real_data("crowd-s100-trec8") / "trec8-qrels.txt")


def test_cuts_of_the_trec8_labels(nist: Qrels) -> None:
    """Roitero 2020, Figure 10.10: best cuts vary little, the worst are narrow where much is relevant."""
    labels = read_labels(real_data("crowd-s100-trec8") / "judgments.tsv.xz", times=100)
    raised = Qrels.from_dict({t: {d: 3 * g for d, g in docs.items()} for t, docs in nist.to_dict().items()})
    found = cut_groups(labels, "D_a+t", source=S100, target=raised, reference=nist)
    assert len(found.groups) == 54
    assert found.relevant["421"] == pytest.approx(34 / 342, abs=0.02)
    spread = {g: np.mean([group.cuts.std(axis=0).mean() for group in found.groups if group.group == g]) for g in GROUPS}
    assert 2 * spread["best"] < spread["median"]
    by_group = {correlation.group: correlation for correlation in found.correlations()}
    assert by_group["worst"].r == pytest.approx(-0.472, abs=0.001)
    assert by_group["worst"].p < 0.05
    assert by_group["median"].r > 0


def test_the_command_draws_them(nist: Qrels, tmp_path: Path) -> None:
    labels = real_data("crowd-s100-trec8") / "judgments.tsv.xz"
    write_qrels(tmp_path / "nist", nist)
    asked = ["crowd", "cut-groups", str(labels), "--scale", "S100", "--times", "100"]
    done = call([*asked, "--reference", f"{tmp_path}/nist", "--figure", f"{tmp_path}/groups.svg", "--quiet"])
    assert done.code == 0, done.err
    assert "1000 of 161700 cuts in each group" in done.out
    assert "Width of cuts and share of relevant docs" in done.out
    assert (tmp_path / "groups.svg").read_text().count("topic: 421") >= 9
    refused = call([*asked, "--rel", "2"])
    assert (refused.code, "--rel has no effect without --reference" in refused.err) == (2, True)
    refused = call([*asked, "--levels", "2", "--size", "40"])
    assert (refused.code, "of 100 cuts a group has from 1 to 33" in refused.err) == (2, True)


def test_groups_that_would_overlap_are_refused() -> None:
    with pytest.raises(UsageError, match="groups of 13 cuts; of 36 cuts a group has from 1 to 12"):
        cut_groups(small(), levels=3, source=Scale.interval(0, 9), size=13)
