"""Carterette & Allan 2007, Tables 2 to 6 and Figures 1 to 4: their statements on three collections of public runs.

In the commands `dl19`, `dl21` and `covid` are folders with the unpacked runs of TREC 2019 and 2021 Deep Learning
(passages) and of TREC-COVID round 1; lists are cut at 100 docs, as in the paper.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats
from assay.data import Qrels, Run
from assay.data.lists import Lists
from assay.io import read_info, read_qrels, read_run
from assay.nojudgments import predicted
from assay.nojudgments.after_reweighting import ReweightedRanking, reweighted_ranking
from assay.nojudgments.basis import comparable
from assay.nojudgments.expected import emap_calibration, expected_ap, relevance
from assay.rankings import kendall_tau_b
from assay.scoring import evaluate
from assay.studies import exchange_study, method_test, similarity_study
from assay.studies.run_similarity import RunSimilarityStudy
from reproduction.carterette import NO_RUNS
from reproduction.files import add
from reproduction.items import Line, data_folder, missing, reproduces, statement
from reproduction.places import CARTERETTE

FOLDERS = {"dl19": "trec-dl-2019-passage", "dl21": "trec-dl-2021-passage", "covid": "trec-covid-round1"}
MEASURE = {"dl19": "AP(rel=2)", "dl21": "AP(rel=2)", "covid": "AP"}
"""What MAP is here: the passage tasks count grades 2 and 3 as relevant."""
PUBLIC = tuple(FOLDERS.values())
OTHERS = f"{NO_RUNS}; below are the statements on public runs"
OTHER_RUNS = "other runs"
DEPTH = 100
COLLECTIONS = """--collection dl19 dl19.qrels dl19 \\
  --collection dl21 dl21.qrels dl21 --collection covid covid.qrels covid"""


def _data(name: str, file: str) -> str:
    return (data_folder() / FOLDERS[name] / file).read_text(encoding="utf-8")


for _name, _folder in FOLDERS.items():
    add(f"{_name}.qrels", f"judgments of {_folder}", lambda name=_name: _data(name, "qrels.txt"))  # type: ignore[misc]
add("covid-runs.csv", "what is known of the runs of TREC-COVID round 1", lambda: _data("covid", "leaderboard.csv"))
add("covid-manual.txt", "the manual runs of TREC-COVID round 1", lambda: "\n".join([*types_of_runs()["manual"], ""]))


@dataclass(frozen=True)
class Public:
    """A collection whose runs are public."""

    runs: list[Run]
    qrels: Qrels
    lists: Lists
    map: Floats

    def tau(self, scores: Floats) -> float:
        """Kendall's τ of these scores of the runs with MAP."""
        return kendall_tau_b(scores, self.map)

    def emap(self, weights: Floats | None = None) -> Floats:
        """EMAP of every run, without judgments."""
        p = relevance(self.lists, weights=weights)
        return np.asarray(expected_ap(self.lists, p).mean(axis=1))


@cache
def public(name: str) -> Public:
    """One of the three collections."""
    folder = data_folder() / FOLDERS[name]
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(folder / "runs.tar.xz") as archive:
            archive.extractall(unpacked, filter="data")
        runs = [read_run(path) for path in sorted((Path(unpacked) / "runs").iterdir())]
    qrels = read_qrels(folder / "qrels.txt")
    lists = comparable(runs, depth=DEPTH, topics=qrels.topics)
    return Public(runs, qrels, lists, evaluate(runs, qrels, MEASURE[name])[0].averages())


def types_of_runs() -> dict[str, list[str]]:
    """Automatic and manual runs of TREC-COVID, as its leaderboard has them."""
    info = read_info(data_folder() / FOLDERS["covid"] / "leaderboard.csv")
    return info.groups("type", [run.name for run in public("covid").runs])


def outside(what: str, printed: str, value: float, low: float, high: float, reason: str = OTHER_RUNS) -> Line:
    """A number of other runs beside the range of those printed."""
    within = low <= value <= high
    return statement(what, printed, f"{value:.3f}", within, because="" if within else reason)


@reproduces(
    CARTERETTE,
    "Table 2",
    "share of relevant docs by the probability that preferences give them",
    command="""assay predict calibration dl19 --qrels dl19.qrels -m 'AP(rel=2)'
assay predict calibration dl21 --qrels dl21.qrels -m 'AP(rel=2)'
assay predict calibration covid --qrels covid.qrels -m AP --figure calibration.svg""",
    needs=PUBLIC,
    slow=True,
)
def table_2() -> Iterator[Line]:
    yield missing("all cells of TREC-3 to TREC-8", ".003 to .545", OTHERS)
    not_defined = "here the share that a logistic regression on the log-odds explains; the paper does not define it"
    for name in FOLDERS:
        found = emap_calibration(public(name).lists, public(name).qrels, MEASURE[name])
        share = found.relevant / np.maximum(found.docs, 1)
        rising = bool((np.diff(share[4:]) > 0).all())
        shares = " ".join(f"{value:.3f}" for value in share[4:])
        yield statement(f"{name}: share of relevant docs, p from .4 on", "tends to increase with p", shares, rising)
        within = [place for place in range(2, 10) if found.docs[place] and share[place] >= place / 10]
        yield statement(f"{name}: bins whose share lies within them", "none", str(len(within) or "none"), not within)
        few = float(found.docs[:2].sum() / found.docs.sum())
        is_none = few < 0.0005
        because = "" if is_none else "few; with --preferences both a fifth of the docs and more"
        yield statement(f"{name}: docs with p below .2", "none", f"{few:.1%}", is_none, because=because)
        yield outside(f"{name}: R²", ".066 to .123", found.r2, 0.066, 0.123)
        yield outside(f"{name}: deviance", ".100 to .172", found.deviance, 0.1, 0.172, not_defined)


@reproduces(
    CARTERETTE,
    "Table 3",
    "τ with MAP without judgments: preferences, and Soboroff et al.",
    command="""assay predict accuracy dl19 --qrels dl19.qrels -m 'AP(rel=2)' --depth 100 --method emap --method soboroff
assay predict accuracy dl21 --qrels dl21.qrels -m 'AP(rel=2)' --depth 100 --method emap --method soboroff
assay predict accuracy covid --qrels covid.qrels -m AP --depth 100 --method emap --method soboroff""",
    needs=PUBLIC,
    slow=True,
)
def table_3() -> Iterator[Line]:
    yield missing("preferences, TREC-3 to TREC-8", ".528 .591 .355 .425 .416 .500", OTHERS)
    yield missing("Soboroff et al., without and with duplicates", ".369 to .571", "numbers of another paper")
    for name in FOLDERS:
        case = public(name)
        tau = case.tau(case.emap())
        plain = case.tau(predicted(case.lists, "soboroff").averages())
        doubled = case.tau(predicted(case.lists, "soboroff(duplicates=true)").averages())
        yield statement(f"{name}: τ of EMAP with MAP", "positive", f"{tau:.3f}", tau > 0)
        yield statement(
            f"{name}: EMAP against sampling without duplicates",
            "higher in four of five collections",
            f"{tau:.3f} against {plain:.3f} (with duplicates {doubled:.3f})",
            tau > plain,
        )


@cache
def similarity_of_runs(name: str) -> RunSimilarityStudy:
    """Similarity of the runs beside their MAP."""
    case = public(name)
    groups = types_of_runs() if name == "covid" else {}
    return similarity_study(case.runs, case.qrels, measure=MEASURE[name], groups=groups)


@reproduces(
    CARTERETTE,
    "Table 4",
    "mean similarity of runs by shared preferences, and its correlation with MAP",
    command="""assay study similarity dl19 --qrels dl19.qrels -m 'AP(rel=2)'
assay study similarity dl21 --qrels dl21.qrels -m 'AP(rel=2)'
assay study similarity covid --qrels covid.qrels --info covid-runs.csv --by type --figure similarity.svg""",
    needs=PUBLIC,
    slow=True,
)
def table_4() -> Iterator[Line]:
    yield missing("all cells of TREC-3 to TREC-8", ".092 to .967", OTHERS)
    for name in FOLDERS:
        found = similarity_of_runs(name)
        rows = {row.which: row for row in found.rows}
        everything = rows["all runs"]
        yield outside(f"{name}: mean similarity", ".124 to .216", everything.similarity or 0.0, 0.124, 0.216)
        yield outside(f"{name}: ρ of similarity with MAP", ".577 to .838", everything.correlation or 0.0, 0.577, 0.838)
        with_emap = found.emap_correlation or 0.0
        because = "other runs; above .9 on all three. With --preferences both it is .73, .19 and .73"
        yield outside(f"{name}: ρ of similarity with EMAP (Section 5.1)", "0.988", with_emap, 0.9875, 1.0, because)
        ratio = found.relevant_ratio or 0.0
        about_two = 1.5 <= ratio < 2.5
        yield statement(
            f"{name}: similarity on relevant docs to that on others",
            "about two to one",
            f"{ratio:.1f}",
            about_two,
            because="" if about_two else "other runs; here relevant docs are agreed on even more",
        )
    by_type = {row.which: row for row in similarity_of_runs("covid").rows}
    for kind, low, high in (("automatic", 0.698, 0.967), ("manual", 0.171, 0.867)):
        found_of_type = by_type[kind]
        printed = f"{low:.3f} to {high:.3f}"
        what = f"covid: ρ of {kind} runs (similarity {found_of_type.similarity:.3f})"
        yield outside(what, printed, found_of_type.correlation or 0.0, low, high)


@reproduces(
    CARTERETTE,
    "Table 5",
    "similarity and its correlation with MAP, docs exchanged at random and in order",
    command="""assay study exchange dl19 --qrels dl19.qrels --rel 2
assay study exchange dl21 --qrels dl21.qrels --rel 2
assay study exchange covid --qrels covid.qrels --figure exchanged.svg""",
    needs=PUBLIC,
    slow=True,
)
def table_5() -> Iterator[Line]:
    yield missing("all cells of TREC-3 to TREC-8", "−.049 to .967", OTHERS)
    for name in FOLDERS:
        found = exchange_study(public(name).runs, public(name).qrels, rel=2 if name != "covid" else 1)
        real, at_random, in_order = found.rows
        means = [row.similarity for row in (at_random, real, in_order)]
        yield statement(
            f"{name}: mean similarity at random, as it is, in order",
            "falls dramatically at random, rises dramatically in order",
            ", ".join(f"{mean:.3f}" for mean in means),
            means == sorted(means) and means[2] > 0.65,
        )
        rhos = [row.correlation or 0.0 for row in (at_random, real, in_order)]
        moves = rhos == sorted(rhos, reverse=True) and rhos[0] > 0.84 and rhos[2] < 0.61
        yield statement(
            f"{name}: ρ with MAP at random, as it is, in order",
            "rises above .84, falls below .61",
            ", ".join(f"{value:.3f}" for value in rhos),
            moves,
            because=""
            if moves
            else "three of these runs hold 20 to 50 docs a topic; without them it rises from .76 to .91",
        )
        ratios = [row.relevant / row.nonrelevant for row in (at_random, real, in_order)]
        yield statement(
            f"{name}: similarity on relevant docs to that on others, in the same order",
            "rises to nearly three to one at random, falls below one in order",
            ", ".join(f"{ratio:.2f}" for ratio in ratios),
            ratios[0] > ratios[1] > 1 > ratios[2],
        )


@reproduces(
    CARTERETTE,
    "Table 6",
    "no judgments against reweighting, and EMAP against MAP after it, subsets of 10 runs",
    command=f"""assay study methods 'predict(method=emap)' reweight --sizes 10 --subsets 30 {COLLECTIONS}
assay study methods reweight 'reweight(score=ap)' --sizes 10 --subsets 30 {COLLECTIONS}""",
    needs=PUBLIC,
    slow=True,
)
def table_6() -> Iterator[Line]:
    yield missing("all cells of TREC-3 to TREC-8", ".339 to .575", OTHERS)
    for title, first, second in (
        ("no judgments against reweighting", "predict(method=emap)", "reweight"),
        ("after reweighting, EMAP against MAP", "reweight", "reweight(score=ap)"),
    ):
        found = method_test(first, second, cases(), sizes=[10], subsets=30)
        shown = [f"{r.collection} {r.tau[0].mean():.3f} {r.tau[1].mean():.3f} (p {r.p:.3f})" for r in found.results]
        gains = [float((r.tau[1] - r.tau[0]).mean()) for r in found.results]
        yield statement(
            f"{title}, mean τ",
            "varies over data sets: better on some, worse on others",
            "; ".join(shown),
            min(gains) < 0 < max(gains),
        )


def cases() -> dict[str, tuple[list[Run], Qrels]]:
    """The three collections for a test of methods."""
    return {name: (public(name).runs, public(name).qrels) for name in FOLDERS}


@reproduces(
    CARTERETTE,
    "Figure 1",
    "runs by MAP and by EMAP without judgments",
    command="""assay predict dl19 --qrels dl19.qrels -m 'AP(rel=2)' --depth 100 --method emap --figure dl19.svg
assay predict dl21 --qrels dl21.qrels -m 'AP(rel=2)' --depth 100 --method emap --figure dl21.svg
assay predict covid --qrels covid.qrels --depth 100 --method emap --figure covid.svg""",
    needs=PUBLIC,
    slow=True,
)
def figure_1() -> Iterator[Line]:
    yield missing("the six panels", "–", OTHERS)
    for name in FOLDERS:
        tau = public(name).tau(public(name).emap())
        yield statement(f"{name}: τ", "positive and significant", f"{tau:.3f}", tau > 0.25)


@reproduces(
    CARTERETTE,
    "Figure 2",
    "the same, manual runs weighted 8 to 16 times",
    command="""assay predict covid --qrels covid.qrels --depth 100 --method 'emap(manual=8)' \\
  --manual-list covid-manual.txt --figure manual.svg""",
    needs=PUBLIC,
    slow=True,
)
def figure_2() -> Iterator[Line]:
    yield missing("τ on TREC-3 to TREC-8", ".621 .633 .635 .635 .666 .691", OTHERS)
    case = public("covid")
    manual = set(types_of_runs()["manual"])
    is_manual = np.array([run.name in manual for run in case.runs])
    taus = [case.tau(case.emap(np.where(is_manual, weight, 1.0))) for weight in (1.0, 8.0, 16.0)]
    improves = taus[2] > taus[0]
    yield statement(
        "covid: τ with manual runs counted once, 8 and 16 times",
        "improves dramatically",
        ", ".join(f"{tau:.3f}" for tau in taus),
        improves,
        because="" if improves else "here a third of the runs is manual, and they are as like the others as these are",
    )


@cache
def after(name: str) -> ReweightedRanking:
    """The runs after ⌊ln runs⌋ judgments a topic."""
    groups = types_of_runs() if name == "covid" else {}
    return reweighted_ranking(public(name).runs, public(name).qrels, measure=MEASURE[name], groups=groups)


@reproduces(
    CARTERETTE,
    "Figure 3",
    "the same after ⌊ln runs⌋ judgments a topic and reweighting",
    command="""assay predict reweight dl19 --qrels dl19.qrels -m 'AP(rel=2)' --figure dl19.svg
assay predict reweight dl21 --qrels dl21.qrels -m 'AP(rel=2)' --figure dl21.svg
assay predict reweight covid --qrels covid.qrels --info covid-runs.csv --by type --figure covid.svg""",
    needs=PUBLIC,
    slow=True,
)
def figure_3() -> Iterator[Line]:
    yield missing("τ on TREC-3 to TREC-8", ".692 .595 .645 .667 .730 .731", OTHERS)
    for name in FOLDERS:
        taus = {way: tau or 0.0 for way, tau in after(name).taus().items()}
        before, now = taus["EMAP without judgments"], taus["EMAP after reweighting"]
        rises = now > before
        because = "" if rises else "other runs; Table 6 of the paper has collections on which judging makes it worse"
        yield statement(f"{name}: τ before and after", "rises", f"{before:.3f}, {now:.3f}", rises, because=because)
        weights = taus["weights"]
        never = "never better than about .3"
        yield outside(f"{name}: τ of the weights with MAP (Section 6.1)", never, weights, -1.0, 0.32)
    means = after("covid").mean_weights()
    yield statement(
        "covid: mean weight of automatic and manual runs (Section 6.1)",
        ".454 and .961: manual runs weigh more",
        f"{means['automatic']:.3f} and {means['manual']:.3f}",
        means["automatic"] < means["manual"],
    )


@reproduces(
    CARTERETTE,
    "Figure 4",
    "no judgments and reweighting on random subsets of 2 to 10 runs, and on all runs",
    command=f"""assay study methods 'predict(method=emap)' reweight --subsets 30 --figure subsets.svg {COLLECTIONS}""",
    needs=PUBLIC,
    slow=True,
)
def figure_4() -> Iterator[Line]:
    yield missing("the six panels", "–", OTHERS)
    found = method_test("predict(method=emap)", "reweight", cases(), subsets=30)
    full = {of_all.collection: of_all.tau for of_all in found.full}
    lower = 0
    for result in found.results:
        for taus, of_all in zip(result.tau, full[result.collection], strict=True):
            lower += bool(taus.mean() < of_all)
    cells = 2 * len(found.results)
    nearly_always = lower > 0.8 * cells
    yield statement(
        "mean τ of subsets below τ of all runs",
        "nearly always",
        f"{lower} of {cells}",
        nearly_always,
        because="" if nearly_always else "other runs; on Deep Learning 2021 few runs are ranked better than all",
    )
