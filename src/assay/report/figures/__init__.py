"""Which picture belongs to which result? `figure(result)` draws it, `save_figure(result, path)` writes it.

Pictures of a package's results live in the module of its name here. A drawing function is registered beside its
definition with the package and class that it draws, and its module is imported when the first such result is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from assay.core.errors import UsageError
from assay.report.figure import Figure, ending_of
from assay.report.paper import SCREEN, Paper

F = TypeVar("F", bound=Callable[..., Figure])

DRAWINGS: dict[str, Callable[..., Figure]] = {}
"""Package and class of a result, `stats.Leaderboard` → the function that draws it."""
PACKAGES = (
    "agreement", "board", "crowd", "data", "gate", "hierarchy", "interleaving", "judges", "measures", "nojudgments",
    "plan", "pooling", "replication", "scoring", "similarity", "standard", "stats", "store", "studies", "topics",
)  # fmt: skip
"""Packages whose results have pictures."""


def draws(kind: str) -> Callable[[F], F]:
    """Decorator: this function draws the results of that package and class, e.g. "stats.Leaderboard"."""

    def add(function: F) -> F:
        if kind in DRAWINGS:
            raise UsageError(f"two functions draw {kind!r}")
        DRAWINGS[kind] = function
        return function

    return add


def figure(result: Any, **options: Any) -> Figure:
    """The picture of a result; options go to the function that draws it.

    >>> from assay.data import ScoreMatrix
    >>> figure(ScoreMatrix.of([[0.1, 0.3], [0.2, 0.4]], measure="AP")).title
    'AP of 2 runs on 2 topics'
    """
    if isinstance(result, Figure):
        return result
    for kind in type(result).__mro__:
        package = kind.__module__.split(".")[1] if kind.__module__.startswith("assay.") else ""
        if package in PACKAGES:
            import_module(f"assay.report.figures.{package}")
        draw = DRAWINGS.get(f"{package}.{kind.__qualname__}")
        if draw is not None:
            return draw(result, **options)
    what = "this command" if result is None else f"a {type(result).__name__}"
    raise UsageError(f"there is no figure of {what}; leave --figure out")


def drawings() -> dict[str, Callable[..., Figure]]:
    """All drawing functions by what they draw."""
    for package in PACKAGES:
        import_module(f"assay.report.figures.{package}")
    import_module("assay.report.curves")
    return dict(DRAWINGS)


def save_figure(result: Any, path: str | Path) -> None:
    """Draw a result, or several, in the format of the path's ending: .svg, .png, .pdf, .html or .json.

    >>> import tempfile
    >>> from assay.data import ScoreMatrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(ScoreMatrix.of([[0.1, 0.3], [0.2, 0.4]], measure="AP"), f"{folder}/ap.svg")
    ...     Path(folder, "ap.svg").read_text()[:4]
    '<svg'
    """
    from assay.io.files import write_whole

    for target, chart in rendered_figures(result, path).items():
        write_whole(target, chart)


def rendered_figures(result: Any, path: str | Path, paper: Paper | None = None) -> dict[Path, str | bytes]:
    """The files that save_figure writes: one, or for several results (a list) one each, name-1.png, name-2.png …

    Several results in .html are one page. paper: how large, with or without title and colours.
    """
    paper = paper or SCREEN
    target, ending = Path(path), ending_of(path)
    drawings = [figure(r) for r in result] if isinstance(result, Sequence) else [figure(result)]
    if len(drawings) == 1:
        return {target: drawings[0].rendered(ending, paper)}
    if ending == "html":
        from assay.report.page import figure_page

        return {target: figure_page(drawings)}
    places = [target.with_stem(f"{target.stem}-{i}") for i in range(1, len(drawings) + 1)]
    return {place: drawing.rendered(ending, paper) for place, drawing in zip(places, drawings, strict=True)}
