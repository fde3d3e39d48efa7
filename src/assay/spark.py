"""Scores of runs that are Spark tables: `assay.spark.score` gives a Spark table, part by part, by `score_part`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.io.column_names import OF_QRELS, OF_RUNS, Named, column_places
from assay.measures import Measure
from assay.scoring.part_scores import score_part, with_top_of
from assay.scoring.policy import Policy, chosen_policy
from assay.scoring.run_scores import parsed

if TYPE_CHECKING:
    from pyarrow import Table
    from pyspark.sql import DataFrame

__all__ = ["score"]

PARTS_PER_CORE = 4
"""Parts that wait for each core, so that cores end at about the same time."""
ONLY_RUN = "run"
"""The name of the run where the table has no column for it."""


def score(
    run_table: DataFrame,
    qrels_table: DataFrame,
    measures: str | Measure | Sequence[str | Measure],
    *,
    policy: Policy | None = None,
    columns: Named = None,
    parts: int | None = None,
    **choices: Any,
) -> DataFrame:
    """The scores of every run on every judged topic: a Spark table with run, topic and a column for each measure.

    run_table: columns topic, doc, score and, for several runs, run; qrels_table: topic, doc, grade; under their usual
    names, or those in `columns` (ours → theirs). policy, and its choices by name: as `assay.evaluate`. A topic that a
    run lacks scores 0; with missing="drop" a topic that any run lacks is left out.

    Topics are put into `parts` by a hash, all rows of a topic into one; a part is scored by one task and has to fit
    into its memory. By default there are 4 for each core: give more for large tables. The bits are those of
    `assay.evaluate`. The names of the runs and the top grade are looked up at once, the scores when they are asked for.

    >>> from pyspark.sql import SparkSession                      # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()                # doctest: +SKIP
    >>> run = spark.createDataFrame([("1", "a", 2.5), ("1", "b", 1.5)], "topic string, doc string, score double")
    ...                                                           # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("1", "b", 1)], "topic string, doc string, grade int")   # doctest: +SKIP
    >>> score(run, qrels, "RR").collect()                         # doctest: +SKIP
    [Row(run='run', topic='1', RR=0.5)]
    """
    wanted = parsed(measures)
    chosen = chosen_policy(policy, choices)
    runs = _selected(run_table, OF_RUNS, ("topic", "doc", "score"), ("run",), columns, "runs")
    qrels = _selected(qrels_table, OF_QRELS, ("topic", "doc", "grade"), (), columns, "judgments")
    names = _names(runs)
    chosen = with_top_of(chosen, _top_grade(qrels))
    count = parts or PARTS_PER_CORE * _cores(run_table)
    if count < 1:
        raise UsageError(f"{count} parts; at least 1 is needed")
    scored = _scorer([str(measure) for measure in wanted], chosen, names)
    kinds = ["run string", "topic string", *(f"`{measure}` double" for measure in wanted)]
    by_part = _by_part(runs, count).cogroup(_by_part(qrels, count))
    return by_part.applyInArrow(scored, ", ".join(kinds))


def _selected(
    table: Any, known: Sequence[str], needed: Sequence[str], optional: Sequence[str], columns: Named, what: str
) -> Any:
    """The columns of a table that matter, under our names and as texts and numbers."""
    from pyspark.sql import functions as f

    where = f"the Spark table of {what}"
    places = column_places(table.columns, known, columns, what, where)
    lacking = [name for name in needed if name not in places]
    if lacking:
        there = ", ".join(table.columns)
        raise DataError(f"{where} has no column {lacking[0]!r} (it has {there}); name it by columns=")
    taken = []
    for name in (*optional, *needed):
        if name in places:
            kind = "double" if name in ("score", "grade") else "string"
            taken.append(f.col(f"`{table.columns[places[name]]}`").cast(kind).alias(name))
    selected = table.select(*taken)
    if "run" in optional and "run" not in places:
        selected = selected.withColumn("run", f.lit(ONLY_RUN))
    return selected


def _names(runs: Any) -> list[str]:
    """The names of all runs: a part without docs of a run still has scores of it."""
    names = sorted(row.run for row in runs.select("run").distinct().collect())
    if not names:
        raise DataError("the Spark table of runs is empty; there is nothing to score")
    return names


def _top_grade(qrels: Any) -> float:
    from pyspark.sql import functions as f

    top = qrels.agg(f.max("grade").alias("top")).collect()[0].top
    if top is None:
        raise DataError("the Spark table of judgments is empty; there is nothing to score by")
    return float(top)


def _cores(table: Any) -> int:
    """How many tasks run at once; a session over the network does not say, and counts as two."""
    try:
        return max(1, int(table.sparkSession.sparkContext.defaultParallelism))
    except Exception:
        return 2


def _by_part(table: Any, parts: int) -> Any:
    """The rows by the part of their topic."""
    from pyspark.sql import functions as f

    return table.withColumn("part", f.pmod(f.hash("topic"), f.lit(parts))).groupBy("part")


def _scorer(measures: list[str], policy: Policy, names: list[str]) -> Callable[[Table, Table], Table]:
    """What Spark calls with the runs and the judgments of a part."""

    def scored(runs: Table, qrels: Table) -> Table:
        import pyarrow

        names_of_columns = [("run", pyarrow.string()), ("topic", pyarrow.string()), ("missing", pyarrow.bool_())]
        schema = pyarrow.schema([*names_of_columns, *((measure, pyarrow.float64()) for measure in measures)])
        tables = [schema.empty_table()]
        if qrels.num_rows:  # else nobody judged a topic of this part
            found = _scores_of_runs(runs, qrels, measures, policy, names)
            # Texts come as views, which not every step of Arrow and of Spark takes.
            tables = [pyarrow.table(of_run).cast(schema) for of_run in found]
        if policy.missing == "drop":
            tables = _of_topics_that_all_have(tables)
        return pyarrow.concat_tables(tables).drop_columns(["missing"])

    return scored


def _scores_of_runs(runs: Table, qrels: Table, measures: list[str], policy: Policy, names: list[str]) -> list[Any]:
    """The scores of each run on the topics of a part."""
    from assay.data import Run
    from assay.io.brought import run_list

    found = {run.name: run for run in run_list(runs.drop_columns(["part"]))} if runs.num_rows else {}
    judged = qrels.drop_columns(["part"])
    return [score_part(found.get(name) or Run.from_dict(name, {}), judged, measures, policy) for name in names]


def _of_topics_that_all_have(tables: list[Table]) -> list[Table]:
    """The rows of topics that no run lacks; the topics stand in the same order in each table."""
    import pyarrow.compute as compute

    lacking = tables[0]["missing"]
    for table in tables[1:]:
        lacking = compute.or_(lacking, table["missing"])
    return [table.filter(compute.invert(lacking)) for table in tables]
