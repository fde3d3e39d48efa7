"""`assay standardize fit` and `apply` on a folder of scores of topics: block by block, folder to folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.columns import named_columns
from assay.cli.options import Output
from assay.cli.reference_inputs import refuse_force_without
from assay.cli.score_folders import check_scores_target
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.io.topic_scores import TopicScores
    from assay.standard.factors import Factors


def fit_folder(folder: TopicScores, save: Path | None, keep_scores: bool, sd: str, out: Output) -> None:
    """Factors of the runs of a folder: a summary, and with --save those of every topic."""
    from assay.standard.factor_columns import check_factor_columns
    from assay.standard.factorfiles import write_factors
    from assay.standard.topic_folders import FactorsSummary, fit_topics

    if keep_scores:
        raise UsageError("--keep-scores is for files of few topics; give --reference FOLDER to standardize apply")
    if save is not None:
        check_factor_columns(save)
    with out.progress("fitting") as progress:
        factors = [of_measure.with_sd(sd) for of_measure in fit_topics(folder, progress=progress)]
    summaries = [FactorsSummary(of_measure) for of_measure in factors]
    out.write(*(summary.table() for summary in summaries), of=summaries)
    if save is not None:
        write_factors(save, factors)
        out.say(f"factors written to {save}")


def apply_to_folder(
    folder: TopicScores,
    save: Path | None,
    factors_path: Path | None,
    reference: Path | None,
    form: str,
    smoothing: str | None,
    align: str | None,
    force: str | None,
    out: Output,
) -> None:
    """Standardize the scores of a folder into another folder."""
    from assay.standard.topic_folders import standardize_topics

    if len(folder.measures) == 1:
        refuse_force_without(force, factors_path, reference)
    if save is None:
        raise UsageError(f"{folder.topics:,} topics are standardized into a folder; name it with --save FOLDER")
    check_scores_target(save, folder.topics)
    if out.figure is not None:
        raise UsageError("--figure shows every topic, and these are too many; make a report of the folder instead")
    by = _factors_of(folder, factors_path, reference, form, force)
    common = None if align is None else [run.strip() for run in align.split(",") if run.strip()]
    with out.progress("standardizing") as progress:
        results = standardize_topics(
            folder, save, by=by, form=form, smoothing=smoothing, common=common, progress=progress
        )
    out.write(*(result.table() for result in results), of=results)
    out.say(f"scores of {folder.topics:,} topics written to {save}")


def _factors_of(
    folder: TopicScores, factors_path: Path | None, reference: Path | None, form: str, force: str | None
) -> dict[str, Factors] | None:
    """The factors of each measure that --factors or --reference names; None where neither does."""
    if factors_path is not None and reference is not None:
        raise UsageError("give --factors or --reference, not both")
    if factors_path is None and reference is None:
        return None
    from assay.standard.factorfiles import read_factors_of, reference_scores
    from assay.standard.factors import FORMS, fit

    found = {}
    for measure in folder.measures:
        if factors_path is not None:
            found[measure] = read_factors_of([factors_path], measure, force=force)
        elif reference is not None:
            matrix = reference_scores(reference, measure, force=force, columns=named_columns())
            found[measure] = fit(matrix, keep_scores=FORMS.entry(form).facts["needs_scores"])
    return found
