"""What is a report made of? The files' contents, and every result that more than one section needs, computed once.

Where it stands: runs, judgments, scores, labels → **material** → sections → page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.engine import Progress, ordered_map, silent, thread_map
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.data.scores import ScoreMatrix
from assay.io import read_runs
from assay.io.column_names import Named
from assay.io.run_files import distinct_names
from assay.scoring import Aligned

if TYPE_CHECKING:
    from assay.agreement.result import AgreementResult
    from assay.agreement.scales import Scale
    from assay.board import Board
    from assay.check import Findings
    from assay.core.tables import Table
    from assay.crowd.quality import WorkerQuality
    from assay.data import Labels, Qrels, Run
    from assay.judges.audit import JudgeAudit
    from assay.measures import Measure
    from assay.plan.audits import Audit
    from assay.pooling import KnownPool, LeftOut
    from assay.report.figure import Figure
    from assay.scoring import Policy, ScoreBounds
    from assay.similarity.matrix import SimilarityMatrix
    from assay.stats.leaderboard import Leaderboard

DEPTHS = (5, 10, 20, 50, 100)
MOST_TOPICS = 10_000
"""Topics that have a mark or a row each on the page; more are summarised."""
COMPARED_RUNS = 60
"""Runs, best first, that are compared list by list."""
COMPARED_DEPTH = 200
"""Docs of each list that are compared: at p = .9 all that come after weigh less than a billionth."""


@dataclass(frozen=True, eq=False)
class Material:
    """All that the sections draw on; what was not given is empty or None."""

    aligned: Aligned | None = None
    qrels: Qrels | None = None
    pool_runs: tuple[Run, ...] | None = None
    """The runs that were pooled, where somebody knows."""
    matrices: tuple[ScoreMatrix, ...] = ()
    collections: Mapping[str, ScoreMatrix] = field(default_factory=dict)
    """{collection: scores}, where a report is about many collections."""
    labels: Labels | None = None
    scale: Scale | None = None
    machine: Labels | None = None
    """Labels of machine judges, to be held against the judgments."""
    files: tuple[Path, ...] = ()
    qrels_file: Path | None = None
    baseline: str | None = None
    top: int = 30
    alpha: float = 0.05
    seed: int = 0
    jobs: int = 1
    dropped: tuple[str, ...] = ()
    """Lines that lenient reading left out, in words."""
    charts: bool = True
    """Whether charts are wanted; tables alone need no chart library."""

    def __post_init__(self) -> None:
        if self.baseline is not None and self.matrices:
            self.matrices[0].of_run(self.baseline)
        if self.collections:
            from assay.board.common_set import common_set

            systems = common_set(self.collections).systems
            if self.baseline is not None and self.baseline not in systems:
                near = did_you_mean(self.baseline, systems)
                raise UsageError(f"no system {self.baseline!r} on all collections{near}")

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, under the names that their scores have."""
        return () if self.aligned is None else self.aligned.runs

    @property
    def main(self) -> ScoreMatrix:
        """The matrix of the first measure."""
        if not self.matrices:
            raise UsageError("there are no scores; give runs with --qrels, or score files")
        return self.matrices[0]

    @property
    def summarised(self) -> bool:
        """Whether the topics are too many for a mark or a row each."""
        return len(self.main.topics) > MOST_TOPICS

    def has(self, need: str) -> bool:
        """Whether there is what a section needs: scores, runs, collections, labels, files or nothing."""
        given = {
            "scores": bool(self.matrices),
            "runs": self.aligned is not None,
            "collections": bool(self.collections),
            "labels": self.labels is not None,
            "machine": self.machine is not None,
            "": True,
        }
        return given[need] if need in given else bool(self.files or self.qrels_file or self.dropped)

    def drawing(self, draw: Callable[..., Figure], *args: object, **how: object) -> Iterator[Figure]:
        """The chart, where charts are wanted."""
        if self.charts:
            yield draw(*args, **how)

    @cached_property
    def boards(self) -> tuple[Leaderboard, ...]:
        """The leaderboard of every measure."""
        from assay.stats import compare

        return tuple(compare(m, baseline=self.baseline, alpha=self.alpha, seed=self.seed) for m in self.matrices)

    @cached_property
    def over_collections(self) -> Board:
        """The systems over all collections."""
        from assay.board import board

        return board(self.collections, level=1 - self.alpha, seed=self.seed)

    @cached_property
    def pair(self) -> tuple[str, str]:
        """The two runs that are looked at closely: the baseline and the best other run, or the two best."""
        runs = self.main.by_average().runs
        if len(runs) < 2:
            raise UsageError("one run alone cannot be compared; give at least two")
        if self.baseline is None:
            return runs[0], runs[1]
        return next(r for r in runs if r != self.baseline), self.baseline

    @cached_property
    def audit(self) -> Audit:
        """What the topics can find, on the first measure, by tests at the level of the report."""
        from assay.plan import TTest, audit

        return audit(self.main, test=TTest(alpha=self.alpha))

    @property
    def detectable(self) -> float | None:
        """The difference that the topics find with power .8; None where no difference varies from topic to topic."""
        if self.main.aggregate != "mean":  # an audit is of differences of means
            return None
        return self.audit.detectable() or None

    @cached_property
    def best_runs(self) -> tuple[Run, ...]:
        """The runs, best first by the first measure, as many as are compared list by list."""
        place = {name: i for i, name in enumerate(self.main.by_average().runs)}
        return tuple(sorted(self.runs, key=lambda r: place.get(r.name, len(place)))[:COMPARED_RUNS])

    @cached_property
    def similarity(self) -> SimilarityMatrix:
        """RBO of the best runs."""
        from assay.similarity.matrix import rbo_matrix

        return rbo_matrix([run.cut(COMPARED_DEPTH) for run in self.best_runs], jobs=self.jobs)

    @cached_property
    def judged(self) -> tuple[ScoreMatrix, ...]:
        """The share of judged docs at each of DEPTHS."""
        return tuple(self._aligned.scores([f"Judged@{d}" for d in DEPTHS]))

    @cached_property
    def bounds(self) -> ScoreBounds:
        """Between which scores judging the unjudged docs would leave the runs."""
        from assay.scoring import bounds

        return bounds(self._aligned, [m.measure for m in self.matrices], jobs=self.jobs)

    @cached_property
    def pool(self) -> KnownPool:
        """What is known of the pool that the judgments come from."""
        from assay.pooling import known_pool

        aligned = self._aligned
        return known_pool(self.runs, aligned.qrels, pool_runs=self.pool_runs, matches=aligned.matches)

    @cached_property
    def left_out(self) -> LeftOut | None:
        """Every pooled run, or group where groups are known, left out of the pool; None where the pool is not known."""
        from assay.pooling import left_out

        pool = self.pool
        if pool.lists is None or pool.depth is None or len(pool.runs) < 2:
            return None
        by = "group" if len({r.info.group for r in self.runs if r.info.group}) > 1 else "run"
        return left_out(pool.lists.select(pool.runs), self.main.measure, depth=pool.depth, by=by)

    @cached_property
    def ties(self) -> Table:
        """How far each run's means could move by the order of tied docs, the most movable first."""
        from assay.check import tie_sensitivity, ties_table

        measures = [m.measure for m in self.matrices]
        averaged = self._aligned.under(ties="average")
        pairs = zip(averaged.matches, averaged.names, strict=True)
        tied = [(joined, name) for joined, name in pairs if joined.run.tied().any()]
        found = ordered_map(
            lambda pair: tie_sensitivity(pair[0].grades(), pair[1], measures), tied, jobs=self.jobs, forks=True
        )
        rows = sorted((row for table in found for row in table.rows), key=lambda row: -row[-1])
        return ties_table(rows)

    @cached_property
    def findings(self) -> Findings:
        """What is odd in the files."""
        from assay.check import Finding, Findings, check_qrels
        from assay.report.oddities import odd_in_run

        found = list(check_qrels(self.qrels_file)) if self.qrels_file else []
        found += [Finding(what, None, "remark", "bad line left out", "bad lines") for what in self.dropped]
        joined = self._aligned.matches if self.files else ()
        pairs = list(zip(self.files, joined, strict=True))
        parts = ordered_map(lambda pair: odd_in_run(*pair), pairs, jobs=self.jobs, forks=True)
        return Findings((*found, *(f for part in parts for f in part)))

    @cached_property
    def workers(self) -> WorkerQuality:
        """Each worker of the labels."""
        from assay.crowd.quality import worker_quality

        return worker_quality(self._labels, scale=self.scale)

    @cached_property
    def agreement(self) -> AgreementResult:
        """How far the workers agree, in all and per topic."""
        from assay.agreement.result import agreement

        names = ["alpha", "fleiss"]
        return agreement(self._labels, measures=names, scale=self.used_scale)

    @cached_property
    def judges(self) -> JudgeAudit:
        """The machine judges against the judgments, with the runs where there are any."""
        from assay.judges import judge

        if self.machine is None or self.qrels is None:
            raise UsageError("there are no machine labels with judgments; give --judge and --qrels")
        runs = list(self.runs) or None
        measure = self.main.measure if self.matrices else "nDCG@10"
        return judge(
            self.qrels, self.machine, runs, measure=measure, level=1 - self.alpha, seed=self.seed, jobs=self.jobs
        )

    @property
    def used_scale(self) -> Scale:
        """The scale of the labels: the one that was given, or what they look like."""
        from assay.agreement.scales import scale_in

        return self.scale or scale_in(self._labels)

    @property
    def _labels(self) -> Labels:
        if self.labels is None:
            raise UsageError("there are no crowd labels; give --labels")
        return self.labels

    @property
    def _aligned(self) -> Aligned:
        if self.aligned is None:
            raise UsageError("there are no runs with judgments; give run files and --qrels")
        return self.aligned


def aligned_files(
    paths: Sequence[Path],
    qrels: Qrels,
    *,
    policy: Policy | None = None,
    lenient: bool = False,
    groups: Mapping[str, str] | None = None,
    columns: Named = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> tuple[Aligned, tuple[str, ...]]:
    """Run files read and aligned once, with their ranks and groups; and in words the lines that `lenient` dropped."""
    from assay.check import read_run_leniently

    def read(path: Path) -> tuple[list[Run], list[str]]:
        if lenient:
            run, bad = read_run_leniently(path, columns=columns)
            return [run], [f"{path}:{problem.line}: {problem.what}" for problem in bad]
        return read_runs(path, ranks=True, columns=columns), []

    found = thread_map(read, paths, threads=jobs, progress=progress)
    runs = [run for of_file, _ in found for run in of_file]
    files = [path for path, (of_file, _) in zip(paths, found, strict=True) for _ in of_file]
    names = distinct_names([run.name for run in runs], files)
    known = groups or {}
    named = [
        replace(run, name=name, info=replace(run.info, group=known.get(run.name, run.info.group)))
        for run, name in zip(runs, names, strict=True)
    ]
    aligned = Aligned.of(named, qrels, policy=policy, jobs=jobs)
    return aligned, tuple(line for _, dropped in found for line in dropped)


def material(
    *,
    runs: Aligned | Sequence[Run] = (),
    qrels: Qrels | None = None,
    pool_runs: Sequence[Run] | None = None,
    matrices: Sequence[ScoreMatrix] = (),
    collections: Mapping[str, ScoreMatrix] | None = None,
    labels: Labels | None = None,
    machine: Labels | None = None,
    measures: Sequence[str | Measure] = ("AP", "nDCG@10"),
    scale: Scale | None = None,
    files: Sequence[Path] = (),
    qrels_file: Path | None = None,
    baseline: str | None = None,
    top: int = 30,
    alpha: float = 0.05,
    seed: int = 0,
    jobs: int = 1,
    dropped: Sequence[str] = (),
) -> Material:
    """Material from what there is; runs with judgments are aligned once, and scored by the measures.

    files: the files that the runs come from, in their order.
    """
    aligned: Aligned | None = None
    if isinstance(runs, Aligned):
        aligned = runs
    elif runs and qrels is not None:
        aligned = Aligned.of(runs, qrels, jobs=jobs)
    if aligned is not None:
        qrels = aligned.qrels
        matrices = matrices or aligned.scores(measures, jobs=jobs)
    matrices = _best_first(matrices)
    if machine is not None and qrels is None:
        raise UsageError("machine labels are held against judgments of people; give them (--qrels)")
    if not matrices and not collections and labels is None and machine is None:
        raise UsageError("nothing to report on; give runs with qrels, score files, or labels")
    return Material(
        aligned=aligned, qrels=qrels, pool_runs=None if pool_runs is None else tuple(pool_runs),
        matrices=tuple(matrices), collections=dict(collections or {}), labels=labels, machine=machine, scale=scale,
        files=tuple(files), qrels_file=qrels_file, baseline=baseline, top=top, alpha=alpha, seed=seed, jobs=jobs,
        dropped=tuple(dropped),
    )  # fmt: skip


def _best_first(matrices: Sequence[ScoreMatrix]) -> Sequence[ScoreMatrix]:
    """Scores of very many topics with the best run first, so that no leaderboard needs a copy in another order."""
    if not matrices or len(matrices[0].topics) <= MOST_TOPICS:
        return matrices
    order = matrices[0].by_average().runs
    return [matrix.select(runs=order) for matrix in matrices]
