"""What do the runs score? Computed once per run, version of judgments, measure and policy, and kept."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.tex import tex
from assay.data import Qrels, ScoreMatrix, Scores
from assay.data.aligned import Match
from assay.data.averages import averaged
from assay.measures import Measure
from assay.scoring import Policy
from assay.scoring.policy import chosen_policy, refuse_unscorable
from assay.scoring.run_scores import RunScores, joined_run, parsed, score_matrices, scores_of
from assay.store.database import Database
from assay.store.qrels_versions import QrelsVersion, QrelsVersions
from assay.store.schema import matches, results, runs, sa, scores
from assay.store.stored_collections import Collections, batches
from assay.store.stored_runs import StoredRun, StoredRuns, names_of

LOOKED_AT = 10
"""First ranks of each topic in which unjudged docs are counted."""
ADDRESS = 32
"""Characters of the address of a certified score."""


@dataclass(frozen=True)
class RunMatch:
    """A run beside a version of judgments: topics that it lacks, and docs of its first ranks that nobody judged."""

    run: StoredRun
    missing: tuple[str, ...]
    seen: int
    unjudged: int

    @property
    def unjudged_share(self) -> float | None:
        """Share of unjudged docs in the first ranks (LOOKED_AT) of the judged topics; None where there are no docs."""
        return self.unjudged / self.seen if self.seen else None


@dataclass(frozen=True)
class Certificate:
    """A score with all that it rests on, at an address that stays."""

    address: str
    run: StoredRun
    qrels: QrelsVersion
    measure: str
    policy: Mapping[str, Any]
    signature: str
    score: float
    made: float

    def bibtex(self) -> str:
        """An entry to cite the score with; its key is the beginning of the address."""
        title = f"{self.measure} of run {self.run.tag} on {self.run.collection}"
        note = f"run {self.run.hash}, qrels {self.qrels.hash}, {self.signature}, score {self.score:.4f}"
        author = self.run.team or self.run.owner or "unknown"
        year = time.gmtime(self.made).tm_year
        fields = {"author": author, "title": title, "year": str(year), "note": note}
        lines = [f"  {name} = {{{{{tex(text)}}}}}," for name, text in fields.items()]
        return "\n".join([f"@misc{{assay-{self.address[:10]},", *lines, "}"])


class StoredScores:
    """The scores of a store."""

    def __init__(self, database: Database, known: Collections, qrels: QrelsVersions, stored: StoredRuns) -> None:
        self._db = database
        self._collections = known
        self._qrels = qrels
        self._runs = stored

    def of(
        self,
        collection: str,
        measures: str | Measure | Sequence[str | Measure] | None = None,
        *,
        qrels: int | str | None = None,
        runs: Sequence[StoredRun] | None = None,
        policy: Policy | None = None,
        jobs: int = 1,
        progress: Progress = silent,
        **choices: Any,
    ) -> Scores:
        """The scores of runs, one matrix per measure; what was scored before is not scored again.

        measures: by default the collection's. qrels: version, hash or label; by default the newest. runs: by default
        all of the collection. Choices are those of `assay.evaluate`. Runs have the names of `names_of`.
        """
        own = self._collections[collection]
        version = self._qrels.version(collection, qrels)
        chosen_runs = self._runs.listed(collection) if runs is None else list(runs)
        if not chosen_runs:
            raise UsageError(f"no run of {collection!r} to score; add runs, or choose others")
        wanted = parsed(own.measure if measures is None else measures)
        chosen = chosen_policy(policy, choices)
        judgments = chosen.judgments(self._qrels.read_version(version))
        rules = chosen.on(judgments)
        refuse_unscorable(wanted, rules, judgments)
        kept = self._kept(version, chosen_runs, wanted, rules)
        lacking = [run for run in chosen_runs if len(kept[run.id]) < len(wanted)]
        if lacking:
            self._score(version, lacking, judgments, wanted, rules, jobs, progress)
            kept |= self._kept(version, lacking, wanted, rules)
        absent = self._missing(version, chosen_runs)
        found = []
        for run in chosen_runs:
            values = np.array([per_topic for per_topic, _ in kept[run.id]])
            ties = tuple(ties for _, ties in kept[run.id])
            found.append(RunScores(run.tag, values, absent[run.id], ties))
        return score_matrices(found, judgments, wanted, rules, names_of(chosen_runs))

    def matrix(self, collection: str, measure: str | Measure | None = None, **how: Any) -> ScoreMatrix:
        """The scores by one measure; as `of`."""
        return self.of(collection, measure, **how)[0]

    def matched(
        self, collection: str, *, qrels: int | str | None = None, runs: Sequence[StoredRun] | None = None
    ) -> list[RunMatch]:
        """For each run what it lacks and what is unjudged in it."""
        version = self._qrels.version(collection, qrels)
        chosen = self._runs.listed(collection) if runs is None else list(runs)
        rows = self._matches(version, chosen)
        lacking = [run for run in chosen if run.id not in rows]
        if lacking:
            self.of(collection, qrels=version.hash, runs=lacking)
            rows |= self._matches(version, lacking)
        topics = np.array(self._qrels.read_version(version).topics, dtype=object)
        found = []
        for run in chosen:
            row = rows[run.id]
            absent = np.frombuffer(row.missing, dtype=bool)
            seen = int(np.frombuffer(row.seen, dtype="<i4").sum())
            unjudged = int(np.frombuffer(row.unjudged, dtype="<i4").sum())
            found.append(RunMatch(run, tuple(topics[absent].tolist()), seen, unjudged))
        return found

    def certify(
        self,
        run: str,
        measure: str | Measure | None = None,
        *,
        qrels: int | str | None = None,
        policy: Policy | None = None,
        **choices: Any,
    ) -> Certificate:
        """The score of a run at an address that stays: the hash of run, judgments, measure and policy."""
        known = self._runs[run]
        version = self._qrels.version(known.collection, qrels)
        chosen = chosen_policy(policy, choices)
        scored = self.of(known.collection, measure, qrels=version.hash, runs=[known], policy=chosen)
        matrix = scored[0]
        score = averaged(matrix.values[0], scored.aggregates[0])
        address = address_of(known.hash, version.hash, matrix.signature, chosen.seed)
        values = {
            "address": address,
            "run_id": known.id,
            "qrels_id": version.id,
            "measure": matrix.measure,
            "policy": asdict(chosen),
            "signature": matrix.signature,
            "score": float(score),
            "made": time.time(),
        }
        with self._db.writing() as connection:
            connection.execute(self._db.new(results).values(values).on_conflict_do_nothing())
        return self.certificate(address)

    def certificate(self, address: str) -> Certificate:
        """The certified score at an address."""
        joined = sa.select(results, runs.c.hash.label("run_hash")).join_from(results, runs)
        with self._db.reading() as connection:
            row = connection.execute(joined.where(results.c.address == address)).mappings().first()
        if row is None:
            raise UsageError(f"no certified score at {address!r}; the address is {ADDRESS} characters long")
        run = self._runs[row["run_hash"]]
        version = next(one for one in self._qrels.listed(run.collection) if one.id == row["qrels_id"])
        facts = {name: row[name] for name in ("address", "measure", "policy", "signature", "score", "made")}
        return Certificate(run=run, qrels=version, **facts)

    def _kept(
        self, version: QrelsVersion, listed: Sequence[StoredRun], wanted: Sequence[Measure], rules: Policy
    ) -> dict[int, list[tuple[Any, str]]]:
        """{run: (scores per topic, what was done with ties) of each measure}; shorter where something is lacking."""
        keys = [settings_of(measure, rules) for measure in wanted]
        rows: dict[tuple[int, str], Any] = {}
        columns = (scores.c.run_id, scores.c.settings, scores.c.ties, scores.c.per_topic)
        of_version = sa.select(*columns).where(scores.c.qrels_id == version.id, scores.c.settings.in_(keys))
        with self._db.reading() as connection:
            for some in batches([run.id for run in listed], 500):
                for row in connection.execute(of_version.where(scores.c.run_id.in_(some))):
                    per_topic = np.frombuffer(row.per_topic, dtype="<f8")
                    rows[row.run_id, row.settings] = per_topic, row.ties
        kept = {}
        for run in listed:
            kept[run.id] = [rows[run.id, key] for key in keys if (run.id, key) in rows]
        return kept

    def _score(
        self,
        version: QrelsVersion,
        lacking: Sequence[StoredRun],
        judgments: Qrels,
        wanted: Sequence[Measure],
        rules: Policy,
        jobs: int,
        progress: Progress,
    ) -> None:
        """Score runs and keep the scores; each run is kept as soon as it is scored."""

        def scored(file: Path) -> tuple[RunScores, tuple[bytes, bytes, bytes]]:
            joined = joined_run(file, judgments, rules, 1)
            return scores_of(joined, wanted, rules, None), _match_columns(joined)

        for some in batches(lacking, 32):
            files = [self._runs.file_of(run) for run in some]
            found = ordered_map(scored, files, jobs=jobs, forks=True, progress=progress)
            with self._db.writing() as connection:
                for run, (of_run, facts) in zip(some, found, strict=True):
                    self._keep(connection, version, run, of_run, facts, [settings_of(m, rules) for m in wanted])

    def _keep(
        self,
        connection: sa.Connection,
        version: QrelsVersion,
        run: StoredRun,
        of_run: RunScores,
        facts: tuple[bytes, bytes, bytes],
        keys: Sequence[str],
    ) -> None:
        missing, seen, unjudged = facts
        both = {"run_id": run.id, "qrels_id": version.id}
        match = {**both, "missing": missing, "seen": seen, "unjudged": unjudged}
        connection.execute(self._db.new(matches).values(match).on_conflict_do_nothing())
        for key, values, ties in zip(keys, of_run.values, of_run.ties, strict=True):
            row = {**both, "settings": key, "ties": ties, "per_topic": values.astype("<f8").tobytes()}
            connection.execute(self._db.new(scores).values(row).on_conflict_do_nothing())

    def _matches(self, version: QrelsVersion, listed: Sequence[StoredRun]) -> dict[int, Any]:
        rows: dict[int, Any] = {}
        with self._db.reading() as connection:
            for some in batches([run.id for run in listed], 500):
                wanted = sa.select(matches).where(matches.c.qrels_id == version.id, matches.c.run_id.in_(some))
                rows |= {row.run_id: row for row in connection.execute(wanted)}
        return rows

    def _missing(self, version: QrelsVersion, listed: Sequence[StoredRun]) -> dict[int, Any]:
        rows = self._matches(version, listed)
        return {run.id: np.frombuffer(rows[run.id].missing, dtype=bool) for run in listed}


def settings_of(measure: Measure, rules: Policy) -> str:
    """What a kept score rests on beside run and judgments. Which topics are dropped is decided when it is read.

    >>> from assay.measures import parse
    >>> settings_of(parse("AP"), Policy(missing="drop"))
    'AP|ties:docid|missing:zero|unjudged:0|assay:0.1'
    """
    signature = replace(rules, missing="zero").signature(measure)
    return signature if not rules.seed else f"{signature}|seed:{rules.seed}"


def address_of(run_hash: str, qrels_hash: str, signature: str, seed: int = 0) -> str:
    """The address of a result: a hash of what it rests on.

    >>> len(address_of("ab", "cd", "AP|ties:docid"))
    32
    """
    parts = "\n".join((run_hash, qrels_hash, signature, str(seed)))
    return hashlib.sha256(parts.encode()).hexdigest()[:ADDRESS]


def _match_columns(joined: Match) -> tuple[bytes, bytes, bytes]:
    """For each topic of the judgments: is it missing, docs in the first ranks, unjudged docs among them."""
    missing = joined.topic_in_run < 0
    grades = joined.grades()
    inside = grades.inside(LOOKED_AT)
    unjudged = inside & ~grades.judged(LOOKED_AT)
    seen = inside.sum(axis=1).astype("<i4")
    return missing.astype(bool).tobytes(), seen.tobytes(), unjudged.sum(axis=1).astype("<i4").tobytes()
