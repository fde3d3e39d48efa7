"""Write the report: one HTML file, or its tables as files in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.engine import Progress, silent
from assay.core.registry import one_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.files import write_whole

if TYPE_CHECKING:
    from assay.data import Run
    from assay.data.scores import ScoreMatrix
    from assay.report.material import Material

TABLE_FORMATS = {"latex": "tex", "csv": "csv", "json": "json"}
ENDINGS = {"html": "html", **TABLE_FORMATS}
"""How a report may be written, and how its files end: one page, or a folder of tables."""
FORMATS = tuple(ENDINGS)


def report(
    runs: Any = (),
    qrels: Any = None,
    *,
    path: str | Path = "report.html",
    measures: str | Sequence[str] = ("AP", "nDCG@10"),
    collections: Mapping[str, Any] | None = None,
    labels: Any = None,
    judge: Any = None,
    pool_runs: Any = None,
    baseline: str | None = None,
    sections: Sequence[str] | None = None,
    title: str = "Evaluation report",
    top: int = 30,
    level: float = 0.95,
    columns: Named = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Path:
    """One self-contained HTML file of all that can be said about runs with judgments, scores, labels, or several.

    collections: {collection: scores} as in `assay.board`, for a report on who leads over many of them.

    Give runs with qrels, or scores, or labels (with qrels also against them), or with qrels the labels of machine
    judges (judge), each as a dict, a path, a data frame or
    one of our own types, as in `assay.evaluate`; without qrels, what stands in the place of runs holds scores.
    pool_runs: the runs from which the judged docs were pooled, where they are known. sections: names from SECTIONS, by
    default all for which there is something. top: runs in charts of means. level: of all intervals; tests are made at
    1 − level. columns: our column → that of the tables which have it. The path that was written is returned.

    >>> from assay.data import ScoreMatrix
    >>> scores = ScoreMatrix.of([[0.1, 0.3, 0.2], [0.2, 0.4, 0.5]], runs=["old", "new"], measure="AP")
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = report(scores, path=f"{folder}/report.html", sections=["summary"])
    ...     "new and old are not shown to differ" in written.read_text()
    True
    """
    from assay.board.common_set import checked
    from assay.data.scores import ScoreMatrix, Scores
    from assay.io.brought import labels_of, plain_qrels_of, run_list
    from assay.io.swapped import refuse_swapped
    from assay.report.material import material
    from assay.scoring.run_scores import parsed

    shared = shared_columns(columns)
    lists: Sequence[Run] = ()
    matrices: Sequence[ScoreMatrix] = ()
    is_nothing = isinstance(runs, list | tuple) and not runs
    if isinstance(runs, ScoreMatrix | Scores) or (qrels is None and _may_hold_scores(runs)):
        matrices = _scores(runs, shared)
    elif not is_nothing:
        lists = run_list(runs, columns=shared, ranks=True)
    judgments = None if qrels is None else plain_qrels_of(qrels, columns=shared)
    pooled = None if pool_runs is None else run_list(pool_runs, columns=shared)
    judged = None if labels is None else labels_of(labels, columns=shared)
    machine = None if judge is None else labels_of(judge, columns=shared)
    refuse_unused(shared, columns)
    refuse_swapped(runs, lists, qrels, judgments)
    found = material(
        runs=lists,
        qrels=judgments,
        pool_runs=pooled,
        matrices=matrices,
        collections=None if collections is None else checked(collections),
        labels=judged,
        machine=machine,
        measures=parsed(measures),
        jobs=jobs,
        baseline=baseline, top=top, alpha=1 - level, seed=seed,
    )  # fmt: skip
    write_page(path, found, sections=sections, title=title, progress=progress)
    return Path(path)


def _may_hold_scores(thing: Any) -> bool:
    """Whether this can be scores: a dict, a data frame, a path, or paths; runs are of no use without judgments."""
    from assay.core.dataframes import library_of

    if isinstance(thing, list | tuple):
        return bool(thing) and all(isinstance(part, str | Path) for part in thing)
    return isinstance(thing, Mapping | str | Path) or library_of(thing) is not None


def _scores(thing: Any, columns: Named) -> list[ScoreMatrix]:
    """The scores of a thing, or of several files: one matrix per measure, with the runs of all files."""
    from assay.data.scores import joined
    from assay.io.brought import scores_of

    if not isinstance(thing, list | tuple):
        return scores_of(thing, columns=columns)
    return joined([matrix for path in thing for matrix in scores_of(path, columns=columns)])


def write_report(
    path: str | Path | None,
    material: Material,
    *,
    format: str = "html",
    sections: Sequence[str] | None = None,
    title: str = "Evaluation report",
    progress: Progress = silent,
) -> Path:
    """The report in one of FORMATS: a page, by default report.html, or a folder of tables, by default report."""
    one_of("format for a report", format, FORMATS)
    if format == "html":
        target = Path(path or "report.html")
        write_page(target, material, sections=sections, title=title, progress=progress)
    else:
        target = Path(path or "report")
        write_tables(target, material, format=format, sections=sections, progress=progress)
    return target


def write_page(
    path: str | Path,
    material: Material,
    *,
    sections: Sequence[str] | None = None,
    title: str = "Evaluation report",
    progress: Progress = silent,
) -> None:
    """The HTML report of material that is ready."""
    from assay.report.page import report_page
    from assay.report.sections import made

    write_whole(path, report_page(made(material, sections, progress=progress), title=title))


def write_tables(
    folder: str | Path,
    material: Material,
    *,
    format: str = "csv",
    sections: Sequence[str] | None = None,
    progress: Progress = silent,
) -> list[Path]:
    """Every table of the report as a file of its own, `01-leaderboard-1.csv` and so on; the summary as a text."""
    one_of("format for tables", format, TABLE_FORMATS)
    from assay.core.tables import render
    from assay.report.sections import made

    base = Path(folder)
    base.mkdir(parents=True, exist_ok=True)
    written = []
    plain = replace(material, charts=False)
    for i, section in enumerate(made(plain, sections, progress=progress), start=1):
        texts = [b for b in section.blocks if isinstance(b, str)]
        stem, ending = f"{i:02d}-{section.name}", TABLE_FORMATS[format]
        parts = {f"{stem}-{j}.{ending}": render([t], format) for j, t in enumerate(section.tables(), 1)}
        if texts:
            parts[f"{stem}.txt"] = "\n\n".join(texts)
        for name, text in parts.items():
            write_whole(base / name, text + "\n")
            written.append(base / name)
    return written
