"""Every name of trec_eval, ir_measures, ranx and cwl_eval gives here the number that it gives there, or is refused.

The names come from the registries of the tools themselves. ranx needs a compiler of its own: its names stand in a
table, which is compared with ranx where it is installed. Runs have no ties, which the tools break in several ways.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import pkgutil
import re
import tarfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cwl.ruler.measures
import ir_measures
import numpy as np
import pytest
import pytrec_eval
from cwl.ruler.measures.cwl_metrics import CWLMetric
from cwl.ruler.measures.cwl_umeasure import UMeasureCWLMetric
from cwl.ruler.ranking import Ranking

from assay.core.errors import UsageError
from assay.data import Run
from assay.data.grades import grades
from assay.data.intents import IntentQrels
from assay.io import read_qrels, read_run
from assay.measures import MEASURES, parse
from assay.measures.other_names import ALIASES, OTHER_MEANINGS, RANX_NAMES, REFUSED, SHAPES
from assay.measures.translation import of_ir_measures
from assay.measures.trec_names import ROOTS
from assay.scoring import evaluate
from tests.conftest import real_data

logging.getLogger("cwl").disabled = True
logging.getLogger("ir_measures.cwl_eval").disabled = True

TOP = 4
QrelsDict = dict[str, dict[str, int]]
RunDict = dict[str, dict[str, float]]


def collection(seed: int, topics: int = 25) -> tuple[RunDict, QrelsDict]:
    """Random lists without ties and random grades from 0 to 4; every topic has a doc of each kind and a list."""
    rng = np.random.default_rng(seed)
    run: RunDict = {}
    judged: QrelsDict = {}
    for topic in range(1, topics + 1):
        docs = [f"d{i}" for i in range(40)]
        rng.shuffle(docs)
        # Accuracy of ir_measures divides by the docs that are not relevant: the third is never judged
        listed = [*docs[:2], "unknown", *docs[2 : rng.integers(2, 25)]]
        run[str(topic)] = {doc: float(len(listed) - i) for i, doc in enumerate(listed)}
        rng.shuffle(docs)
        known = docs[: rng.integers(3, 30)]
        judged[str(topic)] = {doc: int(rng.choice([0, 0, 0, 1, 1, 2, 3, 4])) for doc in known}
        judged[str(topic)] |= {known[0]: 0, known[1]: 1, known[2]: TOP}
    return run, judged


def ours(text: str, run: RunDict, judged: Any) -> dict[str, float]:
    """Scores by topic."""
    matrix = evaluate([Run.from_dict("run", run)], judged, text)[0]
    return dict(zip(matrix.topics, matrix.values[0].tolist(), strict=True))


# ir_measures -----------------------------------------------------------------

SAMPLES: dict[str, Any] = {
    "cutoff": 5, "rel": 2, "judged_only": True, "p": 0.7, "T": 2.0, "gains": {1: 3, 2: 9}, "dcg": "exp-log2",
    "beta": 0.7, "alpha": 0.25, "relative": True, "normalize": False, "min_rel": 1, "max_rel": TOP, "recall": 0.4,
}  # fmt: skip
DIVERSE = {"ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"}


NEEDED: dict[str, dict[str, Any]] = {
    "RBP": {"rel": 1},
    **{name: {"cutoff": 5} for name in ("ERR", "ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "P_IA", "StRecall")},
}
"""Parameters without which no provider of ir_measures has a number."""


def ways_to_write() -> Iterator[str]:
    """Every measure of ir_measures under every name, plainly and with each of its parameters."""
    for name, measure in ir_measures.measures.registry.items():
        parameters = measure.SUPPORTED_PARAMS
        needed = {key: SAMPLES[key] for key, info in parameters.items() if info.required}
        needed |= NEEDED.get(measure.NAME, {})
        for extra in [None, *parameters]:
            given = needed if extra is None else {**needed, extra: SAMPLES[extra]}
            if given.get("dcg") == "exp-log2":
                # gdeval has a cutoff always, and SDCG has one form of DCG
                given = {**given, "cutoff": 5} if measure.NAME == "nDCG" else {**given, "dcg": "log2"}
            written = str(measure(**given))
            yield written if measure.params else re.sub(rf"^{measure.NAME}", name, written)


def is_diverse(text: str) -> bool:
    """Whether it is a measure of intents."""
    return ir_measures.parse_measure(text).NAME in DIVERSE


TEXTS = sorted(set(ways_to_write()))


def test_the_registry_of_ir_measures_is_covered() -> None:
    assert len(ir_measures.measures.registry) >= 51
    assert len(TEXTS) >= 130
    assert {re.split(r"[(@]", text)[0] for text in TEXTS} >= set(ir_measures.measures.registry) - {
        "SetRelP",
        "NumRelRet",
    }


def of_ir(measure: Any, run: Any, judged: Any) -> dict[str, float]:
    """Scores by topic. One measure at a time: asked for several, ir_measures mixes up their judged_only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {found.query_id: float(found.value) for found in ir_measures.iter_calc([measure], judged, run)}


def supported(texts: list[str]) -> list[str]:
    """Those that ir_measures can compute here: its ranx and trectools are not asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline: Any = ir_measures.DefaultPipeline
        return [text for text in texts if pipeline.supports(ir_measures.parse_measure(text))]


@pytest.mark.parametrize("seed", [1, 2])
def test_ir_measures(seed: int) -> None:
    run, judged = collection(seed)
    texts = supported([text for text in TEXTS if not is_diverse(text)])
    assert len(texts) >= 100
    compare_with_ir_measures(texts, run, judged)


def test_ir_measures_on_real_data(tmp_path: Path) -> None:
    """The first run of TREC 2019 Deep Learning, its ties taken out, with all names."""
    qrels = read_qrels(real_data("trec-dl-2019-passage/qrels.txt"))
    with tarfile.open(real_data("trec-dl-2019-passage/runs.tar.xz")) as archive:
        first = min((member for member in archive if member.isfile()), key=lambda member: member.name)
        archive.extract(first, tmp_path, filter="data")
    run = read_run(tmp_path / first.name)
    judged = {topic: {doc: int(grade) for doc, grade in docs.items()} for topic, docs in qrels.to_dict().items()}
    untied: RunDict = {}
    for topic in judged:
        docs = run.ranking(topic)
        untied[topic] = {doc: float(len(docs) - i) for i, doc in enumerate(docs)}
    # a list of relevant docs alone, which this run has, is a division by 0 in Accuracy
    texts = supported([text for text in TEXTS if not is_diverse(text) and not text.startswith("Accuracy")])
    compare_with_ir_measures(texts, untied, judged)


def compare_with_ir_measures(texts: list[str], run: RunDict, judged: QrelsDict) -> None:
    for text in texts:
        measure = ir_measures.parse_measure(text)
        assert parse(of_ir_measures(str(measure))) == parse(of_ir_measures(text))
        here = ours(of_ir_measures(text), run, judged)
        theirs = of_ir(measure, run, judged)
        # gdeval prints five decimals
        decimals = 1e-5 if measure.NAME == "ERR" or "exp-log2" in text else 1e-9
        for topic in run:
            if measure.NAME == "Accuracy" and topic not in theirs:
                assert here[topic] == 0
            else:
                assert here[topic] == pytest.approx(theirs[topic], abs=decimals), (text, topic)


def test_ir_measures_on_intents() -> None:
    rng = np.random.default_rng(3)
    rows = []
    run: RunDict = {}
    for topic in ("1", "2", "3"):
        docs = [f"d{i}" for i in range(30)]
        rng.shuffle(docs)
        run[topic] = {doc: float(20 - i) for i, doc in enumerate(docs[:20])}
        for intent in ("1", "2", "3"):
            rng.shuffle(docs)
            rows += [(topic, intent, doc, int(rng.integers(0, 4))) for doc in docs[:12]]
            rows.append((topic, intent, f"only{intent}", 3))
    # its judged_only fails here: it reads the lists as a generator and then by place
    texts = supported([text for text in TEXTS if is_diverse(text) and "judged_only" not in text])
    assert len(texts) >= 30
    qrels = [ir_measures.Qrel(t, d, g, i) for t, i, d, g in rows]
    listed = [ir_measures.ScoredDoc(t, d, s) for t, docs in run.items() for d, s in docs.items()]
    for text in texts:
        here = ours(text, run, IntentQrels.from_rows(rows))
        theirs = of_ir(ir_measures.parse_measure(text), listed, qrels)
        assert here == pytest.approx(theirs, abs=1e-9), text


# cwl_eval --------------------------------------------------------------------


def cwl_measures() -> dict[str, Any]:
    """One measure of every class of cwl_eval, by the name that it prints, made as its defaults are or with 10."""
    found = {}
    for module in pkgutil.iter_modules(cwl.ruler.measures.__path__, "cwl.ruler.measures."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, CWLMetric) and kind is not CWLMetric:
                signature = inspect.signature(kind).parameters.values()
                needed = [10 for parameter in signature if parameter.default is parameter.empty]
                # to a U-measure of cwl_eval the last of its 1,000 ranks has no weight: it must not get that far
                made: Any = kind(50) if kind is UMeasureCWLMetric else kind(*needed)
                made.residuals = False  # TrAP does not set it
                found[made.name().strip()] = made
    return found


CWL = cwl_measures()
CWL_MEANINGS = {"AP": "CWLAP", "RR": "CWLRR", "P@10": "CWLP@10"}


def test_all_classes_of_cwl_eval_are_there() -> None:
    assert len(CWL) == 21


@pytest.mark.parametrize("name", CWL)
def test_cwl_eval(name: str) -> None:
    if name.startswith("BPM-Dynamic"):
        with pytest.raises(UsageError, match="leaves hc without effect"):
            parse(name)
        name, text = name, f"{name[: name.index('-hc=')]}-hc=0.0"
    else:
        text = CWL_MEANINGS.get(name, name)
    rng = np.random.default_rng(7)
    for _ in range(30):
        ranked = [int(g) for g in rng.choice([0, 0, 1, 2, 4], size=rng.integers(1, 15))]
        ranking = Ranking("1", np.array(ranked) / TOP, np.full(len(ranked), np.nan))
        ranking.total_qrel_rels = sum(g > 0 for g in ranked) + 2
        g = grades(ranked, judged=[*ranked, 4, 1], top=TOP)
        measure = parse(text)
        if measure.uses_lengths:
            g = with_lengths(g)
        assert measure(g)[0] == pytest.approx(CWL[name].measure(ranking), abs=1e-9), name


def with_lengths(g: Any) -> Any:
    """Docs of length 1, which is what cwl_eval takes without costs."""
    return replace(g, lengths=np.ones(g.ranked.shape))


# trec_eval -------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ROOTS))
def test_trec_eval(name: str) -> None:
    """Values are compared in test_differential; here every name leads somewhere, in any case."""
    for line in ROOTS[name].lines(ROOTS[name].parameters):
        if line.judgments in ("prefs", "qrels_jg"):
            with pytest.raises(UsageError, match="needs judgments by group"):
                parse(line.name)
        elif name in ("runid", "relstring"):
            with pytest.raises(UsageError, match="--format trec_eval prints it"):
                parse(line.name)
        else:
            assert parse(line.name.upper() if name != "Rprec_mult" else line.name) is not None
            assert parse(str(parse(line.name))) == parse(line.name)


def test_every_measure_of_pytrec_eval_is_known() -> None:
    assert set(pytrec_eval.supported_measures) <= set(ROOTS)


# ranx ------------------------------------------------------------------------

WITH_RANX = importlib.util.find_spec("ranx") is not None
RANX_TEXTS = [
    f"{name}{cutoff}{level}"
    for name in RANX_NAMES
    if name != "rbp"
    for cutoff in ("", "@5")
    for level in ("", "-l1", "-l2", "-l3")
    if not (cutoff and name in ("r-precision", "bpref"))
]
REFUSED_OF_RANX = ("rbp.95", "rbp.95-l2", "rbp@95", "ndcg_burges@5-l2", "dcg_burges-l3", "rank_biased_precision")


@pytest.mark.parametrize("text", RANX_TEXTS)
def test_names_of_ranx(text: str) -> None:
    if "burges" in text and "-l" in text:
        with pytest.raises(UsageError, match="write the gain of every grade"):
            parse(text)
    else:
        assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize("text", REFUSED_OF_RANX)
def test_names_of_ranx_that_mislead(text: str) -> None:
    with pytest.raises(UsageError, match="write"):
        parse(text)


@pytest.mark.skipif(not WITH_RANX, reason="ranx is not installed; it comes with the extra bench")
def test_ranx() -> None:
    import ranx
    from ranx.metrics import metric_switch

    functions = {metric_switch(name).__name__ for name in RANX_NAMES}
    assert functions == set(ranx.metrics.__all__) - {"get_hit_lists", "interpolated_precision_at_recall"}
    run, judged = collection(5)
    for text in RANX_TEXTS:
        if "burges" in text and "-l" in text:
            continue
        theirs = ranx.evaluate(ranx.Qrels(judged), ranx.Run(run), text, return_mean=False)
        here = ours(text, run, judged)
        wanted = dict(zip(sorted(run), theirs.tolist(), strict=True))
        assert here == pytest.approx(wanted, abs=1e-9), text


# all of them -----------------------------------------------------------------


@pytest.mark.parametrize("name", ALIASES)
def test_an_alias_is_read_in_any_case_and_prints_our_name(name: str) -> None:
    found = parse(name)
    assert found == parse(str(ALIASES[name]))
    assert parse(str(found)) == found
    for other in (name.lower(), name.upper(), name.title()):
        if other not in MEASURES and ALIASES.get(other, ALIASES[name]) == ALIASES[name]:
            assert parse(other) == found


def test_no_alias_hides_a_measure() -> None:
    assert {name for name in ALIASES if name in MEASURES} == set()
    ours_lower = {name.lower() for name in MEASURES.names()}
    assert {name for name in ALIASES if name.lower() in ours_lower} == set()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.example)
def test_a_shape_reads_its_example(shape: Any) -> None:
    found = parse(shape.example)
    assert parse(str(found)) == found


@pytest.mark.parametrize("refusal", REFUSED, ids=lambda r: r.example)
def test_a_refused_name_says_what_to_write(refusal: Any) -> None:
    with pytest.raises(UsageError, match=re.escape(refusal.example)):
        parse(refusal.example)


def test_exact_names_go_first() -> None:
    for name in MEASURES.names():
        needs_k = MEASURES[name].parameters.get("k", 0) is inspect.Parameter.empty
        assert parse(f"{name}@3" if needs_k else name).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "no measure 'nDGC'; did you mean nDCG"),
        ("MRRR", "no measure 'MRRR'; did you mean"),
        ("AP(cutoff=5)@10", "the cutoff is given twice"),
        ("nDCG(dcg=foo)", "no dcg 'foo'; known: log2, exp-log2"),
        ("AP(judged_only=2)", "judged_only=2 is not True or False"),
        ("INST(min_rel=2)", "min_rel=2 needs a larger max_rel"),
        ("map.100", "map has no parameter"),
        ("ndcg.10", "its parameters are gains"),
        ("MRR(foo=1)", "RR: no parameter 'foo'"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


# names that mean something else elsewhere ------------------------------------


def test_every_other_meaning_is_shown_below() -> None:
    assert {(m.name, m.tool) for m in OTHER_MEANINGS} == {
        ("ERR@k", "ir_measures"), ("RBP(p=…,rel=1)", "ir_measures"), ("Judged@k", "ir_measures"),
        ("Accuracy", "ir_measures"), ("NumQ, NumRel", "ir_measures"), ("ERR_IA@1, alpha_DCG@1", "ir_measures"),
        ("AP", "cwl_eval"), ("P@k", "cwl_eval"), ("RR", "cwl_eval"), ("bpref", "ranx"),
    }  # fmt: skip


def test_err_of_gdeval_has_the_top_grade_4() -> None:
    run, judged = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1, "b": 2}}
    theirs = ir_measures.calc_aggregate([ir_measures.ERR @ 5], judged, run)[ir_measures.ERR @ 5]
    assert ours("ERR(top=4)@5", run, judged)["1"] == pytest.approx(theirs, abs=1e-5)
    assert ours("ERR@5", run, judged)["1"] > 2 * theirs
    measure: Any = ir_measures.ERR @ 5
    assert evaluate(run, judged, measure).measures == ("ERR(top=4)@5",)


def test_rbp_of_ir_measures_ends_at_rank_1000() -> None:
    run, judged = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1, "b": 2}}
    measure = ir_measures.RBP(p=0.999, rel=1)
    theirs = float(ir_measures.calc_aggregate([measure], judged, run)[measure])
    assert ours("CWLRBP(p=0.999,gain=binary)", run, judged)["1"] == pytest.approx(theirs, abs=1e-12)
    assert ours("RBP(p=0.999,rel=1)", run, judged)["1"] == pytest.approx(theirs * (1 - 0.999**1000), abs=1e-12)


def test_a_negative_grade_is_judged_to_ir_measures_alone() -> None:
    run, judged = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1, "b": -1}}
    assert ir_measures.calc_aggregate([ir_measures.Judged @ 2], judged, run)[ir_measures.Judged @ 2] == 1
    assert ours("Judged@2", run, judged)["1"] == 0.5


def test_topics_that_ir_measures_leaves_out() -> None:
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"x": 1.0}}
    judged = {"1": {"a": 1, "b": 0}, "2": {"c": 1}, "3": {"d": 1}}
    theirs = ir_measures.calc_aggregate([ir_measures.NumQ, ir_measures.NumRel], judged, run)
    alone = ir_measures.calc_aggregate([ir_measures.Accuracy], judged, run)
    matrices = evaluate(run, judged, "Accuracy NumQ NumRel")
    assert alone[ir_measures.Accuracy] == 1
    assert list(matrices.averages()[0]) == [pytest.approx(1 / 3)]
    assert (theirs[ir_measures.NumQ], theirs[ir_measures.NumRel]) == (2, 2)
    assert [list(row) for row in matrices.averages()[1:]] == [[3.0], [3.0]]
    assert evaluate(run, judged, "NumQ", missing="drop").averages()[0] == [2.0]


def test_ndeval_does_not_divide_at_rank_1() -> None:
    rows = [("1", "1", "a", 1), ("1", "2", "b", 1), ("1", "3", "c", 1)]
    qrels = [ir_measures.Qrel(t, d, g, i) for t, i, d, g in rows]
    theirs = of_ir(ir_measures.ERR_IA @ 1, [ir_measures.ScoredDoc("1", "a", 1.0)], qrels)
    assert theirs == {"1": 1}
    assert ours("ERR_IA@1", {"1": {"a": 1.0}}, IntentQrels.from_rows(rows))["1"] == pytest.approx(1 / 3)


def test_names_of_cwl_eval_that_are_ours() -> None:
    """On graded gains, and with a relevant doc that was not retrieved, its AP, P and RR are other numbers."""
    g = grades([0, 2, 4], judged=[4, 4, 2, 1], top=TOP)
    ranking = Ranking("1", np.array([0, 0.5, 1.0]), np.full(3, np.nan))
    for name, here in (("AP", "AP"), ("P@10", "P@10"), ("RR", "RR")):
        assert parse(here)(g)[0] != pytest.approx(CWL[name].measure(ranking), abs=0.01)


@pytest.mark.skipif(not WITH_RANX, reason="ranx is not installed; it comes with the extra bench")
def test_bpref_of_ranx_without_nonrelevant_docs() -> None:
    import ranx

    run, judged = {"1": {"a": 1.0}}, {"1": {"a": 1}}
    with np.errstate(invalid="ignore"):
        assert np.isnan(ranx.evaluate(ranx.Qrels(judged), ranx.Run(run), "bpref"))
    assert ours("bpref", run, judged)["1"] == 1
