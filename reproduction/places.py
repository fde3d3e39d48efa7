"""The works behind assay, and every table and figure of each: the page must have an answer to all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One work: how it is called here, in full, and its tables and figures."""

    name: str
    full: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """Every table and figure, as the page calls them."""
        return (*(f"Table {t}" for t in self.tables), *(f"Figure {f}" for f in self.figures))


def _numbered(chapter: int, last: int) -> tuple[str, ...]:
    """chapter.1 … chapter.last."""
    return tuple(f"{chapter}.{i}" for i in range(1, last + 1))


WEBBER = Work(
    "Webber 2010",
    "W. Webber: Measurement in Information Retrieval Evaluation. PhD thesis, University of Melbourne, 2010.",
    tables=("2.1", "3.1", "3.2", *_numbered(4, 13), *_numbered(5, 3), *_numbered(6, 5), *_numbered(7, 5)),
    figures=(
        *_numbered(1, 3), *_numbered(2, 5), *_numbered(3, 24), *_numbered(4, 14), *_numbered(5, 12), *_numbered(6, 5),
        *_numbered(7, 9), *_numbered(8, 7),
    ),
)  # fmt: skip
CARTERETTE = Work(
    "Carterette & Allan 2007",
    "B. Carterette, J. Allan: Research Methodology in Studies of Assessor Effort for Information Retrieval Evaluation. "
    "RIAO 2007.",
    tables=("1", "2", "3", "4", "5", "6"),
    figures=("1", "2", "3", "4"),
)
STANDARDIZATION = Work(
    "Webber, Moffat & Zobel 2008",
    "W. Webber, A. Moffat, J. Zobel: Score Standardization for Inter-Collection Comparison of Retrieval Systems. "
    "SIGIR 2008.",
    tables=("1", "2", "3", "4", "5", "6"),
    figures=("1", "2", "3", "4", "5", "6", "7"),
)
ROITERO = Work(
    "Roitero 2020",
    "K. Roitero: Cheap IR Evaluation: Fewer Topics, No Relevance Judgements, and Crowdsourced Assessments. PhD thesis, "
    "Università degli Studi di Udine, 2020.",
    tables=(
        "2.1", *_numbered(3, 4), *_numbered(4, 6), "5.1", *_numbered(6, 11), *_numbered(7, 2), "9.1", *_numbered(10, 4),
    ),
    figures=(
        *_numbered(2, 3), *_numbered(3, 5), *_numbered(4, 10), *_numbered(6, 8), *_numbered(7, 20), *_numbered(9, 12),
        *_numbered(10, 10),
    ),
)  # fmt: skip
SAKAI = Work(
    "Sakai 2013",
    "T. Sakai: Metrics, Statistics, Tests. PROMISE Winter School 2013 (slides without numbered tables).",
    tables=(),
    figures=(),
)
OPEN: dict[str, tuple[str, ...]] = {}
"""Tables and figures that public data allow and that are not made again yet; the page names them."""
WORKS = (WEBBER, ROITERO, CARTERETTE, STANDARDIZATION, SAKAI)
