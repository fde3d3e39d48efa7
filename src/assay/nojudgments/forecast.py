"""Which run is best? `predict`: runs in, a ranking out, with whatever is judged already.

Where the flow stands: runs (+ judgments of some or all topics, + earlier collections) → **ranking of the runs**.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run, ScoreMatrix
from assay.io.brought import plain_qrels_of, run_list
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.swapped import refuse_swapped
from assay.nojudgments.basis import comparable
from assay.nojudgments.learn import Lessons, judged_collection
from assay.nojudgments.predictors import METHODS, draws_from_judgments
from assay.nojudgments.ranking import RunRanking, ranked, taken
from assay.nojudgments.representatives import one_per_group
from assay.nojudgments.trained import TrainedModel, read_model
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
    measure: str | None = None,
    manual: Iterable[str] = (),
    groups: Mapping[str, str] | None = None,
    per_group: str | None = None,
    earlier: Sequence[Earlier] = (),
    year: int | None = None,
    nearest: int | None = None,
    saved: str | Path | TrainedModel | None = None,
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
    topics, to say how good the prediction was. measure: what is true (AP by default). manual: names of the runs made
    with a person's help. groups: {run: group}, to use one run of each group; per_group: which one, of REPRESENTATIVES
    (`first` by default). saved: a model that was trained before, or the file of one, in place of earlier collections.
    Runs and judgments are dicts, paths, data frames or our own types, as in `assay.evaluate`; columns: our column →
    that of the tables which have it.

    >>> runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in [("a", "xyz"), ("b", "xyw"), ("c", "qrs")]]
    >>> predict(runs, ["wu-crestani", "aslam-savell"]).table().column("run")
    ['a', 'b', 'c']
    """
    _refuse_without_effect(nearest=nearest, earlier=earlier, mix=mix, judged=judged, groups=groups, per_group=per_group)
    model = _saved_model(saved, method, combine, earlier, measure)
    if (bool(earlier) or model is not None) != (year is not None):
        raise UsageError(
            "earlier collections (or a saved model) and the year of the runs go together: a model is trained on "
            "earlier years only; give both or neither"
        )
    methods = [method] if isinstance(method, str) else method
    true_measure = measure or "AP"
    if model is not None:
        methods = list(model.methods)
        true_measure = model.measure
    shared = shared_columns(columns)
    marked = _marked(run_list(runs, columns=shared), list(manual))
    truth = None if qrels is None else _truth(runs, marked, qrels, true_measure, shared)
    used = marked
    if groups is not None:
        used = one_per_group(marked, groups, per_group or "first", truth=truth, seed=seed)
    drawing = [name for name in methods or () if draws_from_judgments(name)]
    if drawing and qrels is None:
        raise UsageError(f"{drawing[0]} draws from judgments, and there are none; give qrels")
    lists = comparable(used, depth=depth, qrels=plain_qrels_of(qrels, columns=shared) if drawing else None)
    lessons = None
    if year is not None:
        names = taken(methods or METHODS.names())
        make = partial(judged_collection, methods=names, measure=true_measure, depth=depth, seed=seed, jobs=jobs)
        lessons = Lessons(tuple(make(*of_earlier) for of_earlier in earlier), year, nearest, model)
    of_judged = None if judged is None else evaluate(used, judged, true_measure, columns=shared)[0]
    refuse_unused(shared, columns)
    ranking = ranked(
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
    if groups is None:
        return ranking
    return ranking.with_remark(_chosen_in_words(len(used), len(marked), per_group or "first", true_measure))


def _refuse_without_effect(
    *, nearest: int | None, earlier: Sequence[Earlier], mix: str | None, judged: Any, groups: Any, per_group: str | None
) -> None:
    """Refuse what has no effect because something else is missing."""
    if nearest is not None and not earlier:
        raise UsageError("nearest chooses among earlier collections, and there are none")
    if mix is not None and judged is None:
        raise UsageError("mix says how predicted topics go beside judged ones, and none are judged; give judgments")
    if per_group is not None and groups is None:
        raise UsageError("per_group chooses among the runs of a group, and no groups are known; give groups")


def _saved_model(
    saved: str | Path | TrainedModel | None,
    method: str | Sequence[str] | None,
    combine: str | None,
    earlier: Sequence[Earlier],
    measure: str | None,
) -> TrainedModel | None:
    """The model that was saved, read where it is a file; what it settles itself must not be given."""
    if saved is None:
        return None
    given = {"method": method is not None, "combine": combine is not None, "earlier": earlier, "measure": measure}
    for name, is_there in given.items():
        if is_there:
            raise UsageError(f"a saved model is trained, and has its methods and its measure; leave out {name}")
    return saved if isinstance(saved, TrainedModel) else read_model(saved)


def _chosen_in_words(used: int, given: int, per_group: str, measure: str) -> str:
    """Which runs were used, where one of each group was."""
    how = {
        "first": "the first given",
        "random": "drawn at random",
        "best": f"that of the highest true mean {measure}, so judgments chose the runs",
    }
    return f"One run of each group, {how[per_group]}: {used} of {given} runs."


def _truth(runs: Any, marked: list[Run], qrels: Any, measure: str, columns: Named) -> ScoreMatrix:
    """The scores of the runs on judgments, which were not given in their place."""
    refuse_swapped(runs, marked, qrels, plain_qrels_of(qrels, columns=columns))
    return evaluate(marked, qrels, measure, columns=columns)[0]


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
