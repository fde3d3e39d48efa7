"""Factors and standardized scores of millions of topics, from a folder of scores to a folder of scores, block by block.

A topic's factors rest on its own scores alone, so that blocks of topics can be standardized one after the other by the
same functions as a whole matrix, and have the same bits. What rests on all topics (the average topic of the background
smoothing, the mean of the common runs) is made by a pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats, sealed
from assay.core.engine import Progress, silent
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import aggregate_of, averaged
from assay.data.quantities import same_quantity
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import refuse_other_averages
from assay.data.topic_names import TopicNames
from assay.io.files import write_whole
from assay.io.topic_scores import MEANS_FILE, TopicBlock, TopicScores, ids_of, write_description, write_part
from assay.parts.layout import check_target, made_whole
from assay.standard.before_after import side_by_side
from assay.standard.factors import FORM, FORMS, SMOOTHINGS, Factors, fit, signature_of, standard_values
from assay.standard.hybrid import check_alignment


@dataclass(frozen=True, eq=False)
class FactorsSummary(Result):
    """The factors of topics that are too many to be listed."""

    factors: Factors

    def table(self) -> Table:
        """One row: how many topics, the mean of their means, and between which sds they lie."""
        factors = self.factors
        quartiles = np.quantile(factors.sd, (0, 0.25, 0.5, 0.75, 1)).tolist()
        flat = int((factors.sd == 0).sum())
        mean, _ = factors.average_topic()
        row = (factors.measure, len(factors.topics), factors.counted(), mean, *quartiles, flat)
        formats = {"measure": "", "topics": "d", "runs": "", "mean": ".4f", "lowest sd": ".4f", "25 %": ".4f"}
        formats |= {"median sd": ".4f", "75 %": ".4f", "highest sd": ".4f", "sd 0": "d"}
        keys = {"25 %": "quartile_1", "75 %": "quartile_3", "sd 0": "flat"}
        notes = [
            "The topics are too many to be listed: --save FILE.parquet writes the factors of each.",
            "sd 0: topics on which every standardized score is average (0 by U, E and N).",
        ]
        caption = f"{factors.measure}: standardization factors of {len(factors.topics):,} topics"
        return Table.of(formats, [row], caption=caption, notes=notes, keys=keys)


@dataclass(frozen=True, eq=False)
class StandardizedTopics(Result):
    """The means of runs before and after standardization, by one measure; the topics are in a folder."""

    runs: tuple[str, ...]
    raw_measure: str
    measure: str
    signature: str
    raw_means: Floats
    means: Floats
    folder: str
    topics: int

    def table(self) -> Table:
        """One row per run, best standardized mean first, with its rank by raw scores."""
        names = (self.raw_measure, self.measure)
        return side_by_side(self.runs, names, self.raw_means, self.means, self.signature)

    def record(self) -> dict[str, Any]:
        """The rows, and where the scores of the topics are."""
        return {"folder": self.folder, "n": self.topics} | super().record()


def fit_topics(scores: TopicScores, *, progress: Progress = silent) -> list[Factors]:
    """Mean and population sd of every topic over the runs of a folder of scores, for each measure.

    Memory: the names of the topics, and 16 bytes for each topic and measure.
    """
    _refuse_other_means(scores)
    means = {measure: np.empty(scores.topics) for measure in scores.measures}
    sds = {measure: np.empty(scores.topics) for measure in scores.measures}
    for block in scores.blocks():
        for measure in scores.measures:
            of_block = fit(_matrix(scores, block, measure))
            means[measure][block.rows] = of_block.mean
            sds[measure][block.rows] = of_block.sd
        progress(block.rows.stop, scores.topics)
    counts = np.broadcast_to(np.int64(len(scores.runs)), scores.topics)
    names: Any = scores.names
    factors = []
    for measure, signature in zip(scores.measures, scores.signatures, strict=True):
        of_measure = Factors(
            measure=measure,
            topics=names,
            mean=means[measure],
            sd=sds[measure],
            runs=counts,
            signature=signature,
        )
        factors.append(of_measure)
    return factors


def standardize_topics(
    scores: TopicScores,
    to: str | Path,
    *,
    by: Mapping[str, Factors] | None = None,
    form: str = FORM,
    smoothing: str | None = None,
    common: Sequence[str] | None = None,
    progress: Progress = silent,
) -> list[StandardizedTopics]:
    """The scores of a folder standardized into another folder, which is new or empty; one result per measure.

    by: the factors of each measure, as in `standardize`; by default those of the runs themselves.
    common: runs whose mean z becomes 0, as in `standard.hybrid.aligned`. What every topic gets has the same bits as by
    `standardize` of the whole matrix. Memory: a block of scores, the names of the topics, the factors that were given,
    and eight bytes for each topic and common run.
    """
    target = Path(to)
    check_target(target)
    _refuse_other_means(scores)
    if common is not None:
        check_alignment(scores.measures[0], scores.runs, common, form)
    assert len(scores.names) == scores.topics  # looked at first: a topic that is there twice is an error
    references = {}
    for measure, signature in zip(scores.measures, scores.signatures, strict=True):
        given = None if by is None else by[measure]
        references[measure] = _reference(scores, measure, signature, given, form, smoothing)
    levels = dict.fromkeys(scores.measures, 0.0)
    if common is not None:
        plain_z = f"z(sd={FORMS.given(form).get('sd', 'population')})"
        levels = _levels(scores, references, plain_z, smoothing, common)
    names = [f"{form}({measure})" for measure in scores.measures]
    aligned = "" if common is None else f"|aligned:{len(common)} common runs"
    signatures = []
    for measure, signature in zip(scores.measures, scores.signatures, strict=True):
        how = f"std:{form}|reference:{references[measure].counted} runs|smoothing:{smoothing or 'none'}{aligned}"
        signatures.append(signature_of(measure, signature, form, how))
    with made_whole(target) as made:

        def standard(measure: str, block: TopicBlock) -> Floats:
            used = references[measure].of(_matrix(scores, block, measure), block.rows)
            x = block.values[measure]
            return standard_values(x, used, form=form, smoothing=smoothing, moved=levels[measure])

        parts = _write_blocks(scores, made, names, standard, progress)
        write_description(
            made, runs=scores.runs, measures=names, signatures=signatures, topics=scores.topics, parts=parts
        )
        results = _results(scores, TopicScores.of(made), str(to))
        write_whole(made / MEANS_FILE, _means_table(results).csv() + "\n")
    return results


def _write_blocks(
    scores: TopicScores,
    made: Path,
    names: Sequence[str],
    standard: Callable[[str, TopicBlock], Floats],
    progress: Progress,
) -> int:
    """Write every block as a part of the new folder; the number of parts."""
    parts = 0
    for block in scores.blocks(missing=True):
        values = [standard(measure, block) for measure in scores.measures]
        for row, run in enumerate(scores.runs):
            of_run = [of_measure[row] for of_measure in values]
            write_part(made, run, parts, block.topics, block.missing[run], names, of_run)
        parts += 1
        progress(block.rows.stop, scores.topics)
    return parts


@dataclass(frozen=True, eq=False)
class _Reference:
    """The factors of one measure: given for all topics in their order, or fitted to each block."""

    given: Factors | None
    overall: tuple[float, float] | None
    keep_scores: bool
    counted: str

    def of(self, matrix: ScoreMatrix, rows: slice) -> Factors:
        """The factors of the topics in these rows, whose scores are in the matrix."""
        if self.given is not None:
            return self.given.part(rows)
        return replace(fit(matrix, keep_scores=self.keep_scores), overall=self.overall)


def _reference(
    scores: TopicScores, measure: str, signature: str, given: Factors | None, form: str, smoothing: str | None
) -> _Reference:
    """The factors that were given, on the topics of the folder; or what the runs themselves are a reference of."""
    keep_scores = bool(FORMS.entry(form).facts["needs_scores"])
    if given is not None:
        same_quantity((measure, signature), (given.measure, given.signature))
        topics: Any = scores.names
        used = given.of(topics)
        return _Reference(used, None, keep_scores, used.counted())
    overall = None
    if smoothing is not None and SMOOTHINGS.entry(smoothing).facts.get("of_all_topics"):
        column = scores.columns[scores.measures.index(measure)]
        [whole] = fit_topics(replace(scores, measures=(measure,), signatures=(signature,), columns=(column,)))
        overall = whole.average_topic()
    return _Reference(None, overall, keep_scores, str(len(scores.runs)))


def _levels(
    scores: TopicScores,
    references: Mapping[str, _Reference],
    form: str,
    smoothing: str | None,
    common: Sequence[str],
) -> dict[str, float]:
    """The mean z of the common runs over all topics, by measure."""
    places = [scores.runs.index(run) for run in common]
    levels = {}
    for measure in scores.measures:
        z = np.empty((len(places), scores.topics))
        for block in scores.blocks():
            used = references[measure].of(_matrix(scores, block, measure), block.rows)
            of_block = standard_values(block.values[measure], used, form=form, smoothing=smoothing)
            z[:, block.rows] = of_block[places]
        levels[measure] = float(z.mean())
    return levels


def _results(scores: TopicScores, after: TopicScores, folder: str) -> list[StandardizedTopics]:
    """The means of the runs before and after, read row by row: they are those of a whole matrix to the bit."""
    results = []
    for raw_measure, measure, signature in zip(scores.measures, after.measures, after.signatures, strict=True):
        raw_means = [averaged(scores.row(run, raw_measure)) for run in scores.runs]
        means = [averaged(after.row(run, measure)) for run in scores.runs]
        result = StandardizedTopics(
            runs=scores.runs,
            raw_measure=raw_measure,
            measure=measure,
            signature=signature,
            raw_means=np.array(raw_means),
            means=np.array(means),
            folder=folder,
            topics=scores.topics,
        )
        results.append(result)
    return results


def _means_table(results: Sequence[StandardizedTopics]) -> Table:
    """The mean of every run by every measure, best first on the first."""
    best_first = np.argsort(-results[0].means, kind="stable").tolist()
    rows = []
    for run in best_first:
        rows.append((results[0].runs[run], *(float(result.means[run]) for result in results)))
    formats = {"run": ""} | {result.measure: ".4f" for result in results}
    return Table.of(formats, rows)


def _matrix(scores: TopicScores, block: TopicBlock, measure: str) -> ScoreMatrix:
    """The scores of a block by one measure; an error where one of them is no finite number."""
    signature = scores.signatures[scores.measures.index(measure)]
    topics: Any = TopicNames(ids_of(block.topics))
    return ScoreMatrix(scores.runs, topics, sealed(block.values[measure]), measure, signature)


def _refuse_other_means(scores: TopicScores) -> None:
    for measure, signature in zip(scores.measures, scores.signatures, strict=True):
        refuse_other_averages(measure, aggregate_of(measure, signature), "standardization")
