"""Which run is best? `predict`: runs in, a ranking out, with whatever is judged already.

Where the flow stands: runs (+ judgments of some or all topics, + earlier collections) → **ranking of the runs**.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run
from assay.io.brought import plain_qrels_of, run_list
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.nojudgments.basis import comparable
from assay.nojudgments.learn import Lessons, judged_collection
from assay.nojudgments.predictors import METHODS, draws_from_judgments
from assay.nojudgments.ranking import RunRanking, ranked, taken
from assay.scoring import evaluate

Earlier = tuple[str, int, Sequence[Run], Qrels]
"""A judged collection of an earlier year: its name, the year, its runs and its judgments."""


def predict(
    runs: Any,
    method: str | Sequence[str] | None = None,
    *,
    combine: str | None = None,
    judged: Any = None,
    mix: str | None = None,
    qrels: Any = None,
    measure: str = "AP",
    manual: Iterable[str] = (),
    earlier: Sequence[Earlier] = (),
    year: int | None = None,
    nearest: int | None = None,
    depth: int = 1000,
    scale: str = "none",
    columns: Named = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> RunRanking:
    """The runs ranked without judgments, by one method, by several or (None) by all, and by their combination.

    combine: a fusion (`average` by default) or, with `earlier` collections and the `year` of these runs, a model that
    learns from them (`svr` by default). judged: judgments of some topics, whose true scores take the place of the
    predicted ones; mix: what those become beside them, one of MIXTURES (`weighted` by default). qrels: judgments of all
    topics, to say how good the prediction was. manual: names of the runs made with a person's help. Runs and judgments
    are dicts, paths, data frames or our own types, as in `assay.evaluate`;
    columns: our column → that of the tables which have it.

    >>> runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in [("a", "xyz"), ("b", "xyw"), ("c", "qrs")]]
    >>> predict(runs, ["wu-crestani", "aslam-savell"]).table().column("run")
    ['a', 'b', 'c']
    """
    if bool(earlier) != (year is not None):
        raise UsageError(
            "earlier collections and the year of the runs go together: a model is trained on earlier years only; "
            "give both or neither"
        )
    if nearest is not None and not earlier:
        raise UsageError("nearest chooses among earlier collections, and there are none")
    if mix is not None and judged is None:
        raise UsageError("mix says how predicted topics go beside judged ones, and none are judged; give judgments")
    methods = [method] if isinstance(method, str) else method
    shared = shared_columns(columns)
    marked = _marked(run_list(runs, columns=shared), list(manual))
    drawing = [name for name in methods or () if draws_from_judgments(name)]
    if drawing and qrels is None:
        raise UsageError(f"{drawing[0]} draws from judgments, and there are none; give qrels")
    lists = comparable(marked, depth=depth, qrels=plain_qrels_of(qrels, columns=shared) if drawing else None)
    lessons = None
    if year is not None:
        names = taken(methods or METHODS.names())
        collections = []
        for name, when, its_runs, its_qrels in earlier:
            collection = judged_collection(
                name, when, its_runs, its_qrels, names, measure=measure, depth=depth, seed=seed, jobs=jobs
            )
            collections.append(collection)
        lessons = Lessons(tuple(collections), year, nearest)
    of_judged = None if judged is None else evaluate(marked, judged, measure, columns=shared)[0]
    truth = None if qrels is None else evaluate(marked, qrels, measure, columns=shared)[0]
    refuse_unused(shared, columns)
    return ranked(
        lists,
        methods,
        combine=combine or ("svr" if earlier else "average"),
        lessons=lessons,
        judged=of_judged,
        mix=mix or "weighted",
        truth=truth,
        scale=scale,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )


def _marked(runs: Sequence[Run], manual: Sequence[str]) -> list[Run]:
    """The runs, those named marked as manual."""
    known = [run.name for run in runs]
    for name in manual:
        if name not in known:
            raise UsageError(f"manual runs: no run {name!r}{did_you_mean(name, known)}")
    marked = []
    for run in runs:
        if run.name in manual:
            run = replace(run, info=replace(run.info, manual=True))
        marked.append(run)
    return marked
