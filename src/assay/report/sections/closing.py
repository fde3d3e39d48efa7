"""The sections that close a report: what was odd in the files, how every number was made, how to cite."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.tables import Table
from assay.report.material import Material
from assay.report.sections import SECTIONS, Block
from assay.version import __version__

WORKS = {
    "scores": (
        "Webber, W. Measurement in Information Retrieval Evaluation. PhD thesis, University of Melbourne, 2010 "
        "(power, standardization).",
        "Sakai, T. Laboratory Experiments in Information Retrieval. Springer, 2018 (tests, effect sizes).",
        "Romano, J. P., Wolf, M. Exact and approximate stepdown methods for multiple hypothesis testing. JASA 100, "
        "2005.",
        "Hsu, J. C. Multiple Comparisons: Theory and Methods. Chapman & Hall, 1996 (runs that may be the best).",
        "Holm, S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.",
    ),
    "collections": (
        "Webber, W., Moffat, A., Zobel, J. Score standardization for inter-collection comparison of retrieval systems. "
        "SIGIR 2008.",
        "Mogstad, M., Romano, J. P., Shaikh, A. M., Wilhelm, D. Inference for ranks with applications to mobility "
        "across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1), 2024.",
        "Hartung, J., Knapp, G. A refined method for the meta-analysis of controlled clinical trials with binary "
        "outcome. Statistics in Medicine 20(24), 2001.",
    ),
    "runs": (
        "Webber, W., Moffat, A., Zobel, J. A similarity measure for indefinite rankings. ACM TOIS 28(4), 2010 (RBO).",
        "Zobel, J. How reliable are the results of large-scale information retrieval experiments? SIGIR 1998 "
        "(leave one out).",
    ),
    "labels": ("Krippendorff, K. Content Analysis: An Introduction to Its Methodology. Sage, 2004 (α).",),
}


@SECTIONS.register("files", title="What was odd in the files", need="files")
def files_section(m: Material) -> Iterator[Block]:
    """Findings with file and line."""
    found = m.findings
    if not found.found:
        yield "Nothing odd was found in the files."
        return
    yield f"{found.errors} errors and {len(found.found) - found.errors} remarks. Nothing was repaired silently."
    yield found.table()


@SECTIONS.register("method", title="Method", need="")
def method_section(m: Material) -> Iterator[Block]:
    """The signature of every score and the choices behind every number."""
    yield (
        f"Made by assay {__version__}, seed {m.seed}. Every table carries its own recipe below it; a signature names "
        "all that a score rests on, so that the same files and the same signature give the same number."
    )
    if m.matrices:
        rows = [(x.measure, *x.shape, x.signature) for x in m.matrices]
        columns = {"measure": "", "runs": "d", "topics": "d", "signature": ""}
        yield Table.of(columns, rows, caption="Signatures")
        yield (
            f"Differences: two-sided paired t test over topics, α = {m.alpha:g}; p and intervals hold for "
            f"{_family(m.baseline)} together, by step-down max-t over sign flips of topics (Holm below 10 topics)."
        )
    if m.collections:
        rows = [(name, *x.shape, x.signature) for name, x in m.collections.items()]
        columns = {"collection": "", "systems": "d", "topics": "d", "signature": ""}
        yield Table.of(columns, rows, caption="Collections")
    if m.aligned is not None:
        p = m.aligned.policy
        depth = f"; docs beyond rank {p.depth} left out" if p.depth else ""
        yield (
            f"Ties in score: {p.ties}. Topics that a run lacks: {p.missing}. Unjudged docs: "
            f"{'removed' if p.condensed else 'not relevant'}. Compatibility: {p.compat or 'none'}{depth}."
        )
        if p.binary is not None:
            yield f"Judgments are binary: relevant from grade {p.binary:g} on, whatever the measure."
    if m.labels is not None:
        scale = m.used_scale
        yield f"Scale of the labels: {scale.name}, {scale.described()}."


def _family(baseline: str | None) -> str:
    """Which differences hold together."""
    return "all pairs of runs" if baseline is None else f"all differences from {baseline}"


@SECTIONS.register("cite", title="How to cite", need="")
def cite_section(m: Material) -> Iterator[Block]:
    """What to write in a paper, and the works that the methods come from."""
    signature = f" ({m.main.signature})" if m.matrices else ""
    yield f"“Scores and tests were computed with assay {__version__}{signature}.”"
    works = [(need, work) for need, all_ in WORKS.items() if m.has(need) for work in all_]
    yield Table.of({"for": "", "work": ""}, works, caption="Works that the methods come from")
