"""`assay topics` good, clusters, growth and simulate: what random subsets, clusters and simulated topics show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import TARGET, KnownWord, RegistryOption
from assay.cli.inputs import numbers, one_matrix, scores_input
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options, output_options, seed_option
from assay.cli.topic_options import (
    COUNT,
    at_option,
    criterion_option,
    problem_options,
    refuse,
    repetitions_option,
    runs_option,
    scale_option,
    thresholds_of,
    top_option,
)
from assay.cli.topics import command
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.topics.problem import Problem

Matrices = list["ScoreMatrix"]


@command.command()
@scores_input
@click.option(
    "--good", "thresholds", cls=RegistryOption, registry="assay.topics.criteria:CRITERIA", multiple=True,
    metavar="NAME=VALUE", default=("tau=0.85", "pearson=0.96"), show_default=True,
    help="Value of a criterion that a good subset reaches; several must be reached at once. Criteria: {names}.",
)  # fmt: skip
@scale_option
@top_option
@runs_option
@at_option
@repetitions_option
@seed_option
@output_and_figure_options
def good(
    matrices: Matrices, thresholds: tuple[str, ...], scale: str, top: float, runs: int | None, at: str | None,
    repetitions: int, seed: int, out: Output,
) -> None:  # fmt: skip
    """How many random subsets are good enough, by one criterion or by several at once?

    \b
    assay topics good scores.csv --good tau=0.85 --good pearson=0.96 --runs 96
    """
    from assay.topics import good_subsets

    with out.progress("drawing") as progress:
        result = good_subsets(
            one_matrix(matrices), thresholds_of(thresholds), scale=scale, top=top, runs=runs,
            cardinalities=tuple(numbers(at or "")), repetitions=repetitions, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


@command.command()
@problem_options
@click.option(
    "--linkage", cls=RegistryOption, registry="assay.topics.clusters:LINKAGES", default="complete", show_default=True,
    metavar="NAME", help="How clusters are joined, or k-means, one of: {names}.",
)  # fmt: skip
@click.option(
    "--metric", cls=RegistryOption, registry="assay.topics.clusters:METRICS", metavar="NAME",
    help="One of: {names}.  [default: euclidean for {assay.topics.clusters:EUCLIDEAN_ONLY}, else cosine]",
)  # fmt: skip
@click.option("--pca", type=int, help="Cluster by this number of principal components.")
@click.option(
    "--pca-columns", type=KnownWord("assay.topics.clusters:PCA_COLUMNS"), default="standardized", show_default=True,
    help="With --pca: scores of each run divided by their sd over the topics, or centred alone.",
)  # fmt: skip
@click.option("--clusters", type=int, help="A fixed number of clusters.  [default: as many as topics wanted]")
@click.option("--list", "listed", is_flag=True, help="List the topics of each of --clusters, with silhouettes.")
@click.option("--weighted", is_flag=True, help="Weigh topics by the size of their cluster (WMAP).")
@click.option("--repetitions", type=COUNT, default=1000, show_default=True, help="Random choices.")
@seed_option
@output_and_figure_options
def clusters(
    ready: Problem, linkage: str, metric: str | None, pca: int | None, pca_columns: str, clusters: int | None,
    listed: bool, weighted: bool, repetitions: int, seed: int, out: Output,
) -> None:  # fmt: skip
    """One topic from each cluster of similar topics, against random topics; or the clusters themselves.

    \b
    assay topics clusters scores.csv --pca 3
    assay topics clusters scores.csv --linkage k-means --clusters 9 --list
    """
    from assay.topics import cluster_series
    from assay.topics.clusters import cluster_list

    if pca is None and is_given("pca_columns"):
        raise UsageError("--pca-columns is about principal components; give their number with --pca")
    if listed:
        if clusters is None:
            raise UsageError("--list shows the topics of each cluster; give the number of clusters with --clusters")
        refuse("--list", "weighted", "repetitions", "criterion", "scale")
        members = cluster_list(
            ready.matrix, clusters, linkage=linkage, metric=metric, pca=pca, pca_columns=pca_columns, seed=seed
        )
        out.write(members.table(), of=members)
        return
    with out.progress("drawing") as progress:
        result = cluster_series(
            ready, linkage=linkage, metric=metric, pca=pca, pca_columns=pca_columns, clusters=clusters,
            weighted=weighted, repetitions=repetitions, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


@command.command()
@scores_input
@click.option("--sizes", required=True, metavar="LIST", help="Topics in the ground truth, e.g. 50,100,150.")
@click.option("--draws", type=COUNT, default=20, show_default=True, help="Random draws per size.")
@criterion_option
@scale_option
@top_option
@runs_option
@click.option(
    "--search", cls=RegistryOption, registry="assay.topics.search:SEARCHES", metavar="NAME",
    help="One of: {names}.  [default: a quick form of swap]",
)  # fmt: skip
@seed_option
@output_and_figure_options
def growth(
    matrices: Matrices, sizes: str, draws: int, criterion: str, scale: str, top: float, runs: int | None,
    search: str | None, seed: int, out: Output,
) -> None:  # fmt: skip
    """What does a larger ground truth change? Series for random parts of a large collection.

    \b
    assay topics growth robust.csv --sizes 50,100,150,200
    assay topics growth robust.csv --sizes 50,100 --runs 82 --scale logit --search 'swap+sweep'
    """
    from assay.topics import growth as grown
    from assay.topics.synthetic import QUICK_SEARCH

    with out.progress("searching") as progress:
        result = grown(
            one_matrix(matrices), sizes=tuple(numbers(sizes)), draws=draws, criterion=criterion, scale=scale, top=top,
            runs=runs, search=search or QUICK_SEARCH, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


@command.command()
@scores_input
@click.option(
    "--kind", cls=RegistryOption, registry="assay.topics.synthetic:KINDS", default="resampled", show_default=True,
    metavar="NAME", help="How to draw the scores, one of: {names}.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=3), default=50, show_default=True, help="Runs to make.")
@click.option("--topics", type=click.IntRange(min=2), default=100, show_default=True, help="Topics to make.")
@click.option("--save", type=TARGET, required=True, help="Write the matrix here.")
@seed_option
@output_options
def simulate(matrices: Matrices, kind: str, runs: int, topics: int, save: Path, seed: int, out: Output) -> None:
    """Simulate scores with the distribution of real ones but without their structure; also tests normality.

    With --kind planted the topics lie in clusters around real ones, and the runs are the real ones.

    \b
    assay topics simulate scores.csv --runs 50 --topics 1000 --save made.csv
    assay topics simulate scores.csv --kind 'planted(seeds=15, around=10, radius=0.02)' --save planted.csv
    assay topics best made.csv
    """
    from assay.io.scores import write_scores
    from assay.topics import synthetic

    like = one_matrix(matrices)
    entry = synthetic.KINDS.entry(kind)
    for option in ("runs", "topics"):
        if is_given(option) and option not in entry.parameters:
            raise UsageError(f"--{option} has no effect with --kind {entry.name}, which makes its own; leave it out")
    made = synthetic.KINDS.call(kind, like, runs=runs, topics=topics, seed=seed)
    out.write(synthetic.normality(like).table())  # before anything is saved: it may have something against the scores
    write_scores(save, [made], shape="matrix")
    out.say(f"{len(made.runs)} runs × {len(made.topics)} topics written to {save}")
