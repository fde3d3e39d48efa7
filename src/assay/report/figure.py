"""Figure: one Vega-Lite chart with its title and its text alternative; for notebooks, SVG, PNG, PDF and HTML.

Where it stands: result → **figure** → file or page. Rows of data are kept beside the chart under a name, so that
nothing that comes from a file can ever become part of an expression.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from assay.core.errors import MissingExtra, UsageError
from assay.report.paper import DOTS_PER_POINT, SCREEN, Paper, fitted, in_grey, wrapped
from assay.report.theme import FONT_SIZE, TITLE_SIZE, WIDTH, config

ENDINGS = ("svg", "png", "pdf", "html", "json")
SVG = "image/svg+xml"
"""What a notebook calls a picture."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart: `spec` is Vega-Lite without a theme; `title` says what it is about, `description` what it shows.

    Results make figures of themselves; a figure shows itself in a notebook, and `save` writes it.

    >>> from assay.data import ScoreMatrix
    >>> from assay.report import figure
    >>> drawn = figure(ScoreMatrix.of([[0.1, 0.3], [0.2, 0.4]], measure="AP"))
    >>> drawn.title, drawn.rendered("svg")[:4]
    ('AP of 2 runs on 2 topics', '<svg')
    """

    name: str
    title: str
    description: str
    spec: dict[str, Any]
    note: str = ""
    """How to read what the picture itself does not explain; it stands below the title."""

    def standalone(self, paper: Paper = SCREEN) -> dict[str, Any]:
        """The specification with theme, title and a fixed width, as it is saved."""
        spec = {**_wide(self.spec), "description": self.in_words, "config": config()}
        if paper.title:
            spec["title"] = {"text": wrapped(self.title, paper.layout_width, TITLE_SIZE)}
            if self.note:
                spec["title"]["subtitle"] = wrapped(self.note, paper.layout_width, FONT_SIZE)
        if paper.greyscale:
            spec = in_grey(spec)
        return fitted(spec, paper, _svg) if paper.has_size else spec

    @property
    def in_words(self) -> str:
        """What the picture shows, for who does not see it."""
        return f"{self.description} {self.note}".strip()

    def embedded(self) -> dict[str, Any]:
        """The specification for the page, which gives it theme, title and width."""
        return {**self.spec, "description": self.in_words}

    def chart(self) -> Any:
        """The same as an altair chart, to be changed at will."""
        return altair().Chart.from_dict(self.standalone())

    def save(
        self,
        path: str | Path,
        *,
        width: float | None = None,
        height: float | None = None,
        font_size: float | None = None,
        title: bool = True,
        greyscale: bool = False,
    ) -> None:
        """Write the chart in the format of the path's ending: .svg, .png, .pdf, .html or .json (the specification).

        For a paper: width and height of the whole picture in centimetres, font_size of its letters in points (8 where a
        width or height is given), title=False where the caption says it, greyscale=True for print without colour.
        """
        from assay.io.files import write_whole

        paper = Paper(width, height, font_size, title, greyscale)
        write_whole(path, self.rendered(ending_of(path), paper))

    def rendered(self, ending: str, paper: Paper = SCREEN) -> str | bytes:
        """The chart in one of ENDINGS, as it is on the screen or for a paper."""
        if ending not in ENDINGS:
            raise UsageError(f"a figure is written as {', '.join('.' + e for e in ENDINGS)}, not as {ending!r}")
        if ending == "html":
            from assay.report.page import figure_page

            refuse_paper(paper)
            return figure_page([self])
        spec = self.standalone(paper)
        if ending == "json":
            return json.dumps(spec, ensure_ascii=False, allow_nan=False)
        if ending == "svg":
            return _svg(spec) if paper.is_screen else paper.on_page(_svg(spec))
        if ending == "pdf":
            # a PDF takes numbers without a unit as points
            return bytes(vl_convert().svg_to_pdf(paper.on_page(_svg(spec), unit="")))
        dots = 2 if paper.is_screen else DOTS_PER_POINT * paper.scale
        return bytes(vl_convert().vegalite_to_png(spec, scale=dots))

    def __repr__(self) -> str:
        return f"Figure({self.title!r})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the chart itself where it can draw Vega-Lite, else the picture, else the title.

        The picture is also what is seen where the notebook is exported, printed or shown on a page of code.
        """
        bundle: dict[str, Any] = {"text/plain": repr(self), vega_lite_name(self.spec): self.standalone()}
        if SVG in (include or [SVG]) and SVG not in (exclude or []):
            with suppress(MissingExtra):  # without the package for pictures there is still the chart
                bundle[SVG] = self._notebook_svg
        return bundle

    @cached_property
    def _notebook_svg(self) -> str:
        """The picture, not wider than the cell, with ids that no other picture on the page has."""
        text = str(self.rendered("svg"))
        own = sha256(text.encode()).hexdigest()[:8]
        text = re.sub(r'(?<=\bid=")|(?<=\burl\(#)', f"{own}-", text)
        return text.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)


def vega_lite_name(spec: Mapping[str, Any]) -> str:
    """What a notebook calls a chart of Vega-Lite, which has the version in it.

    >>> vega_lite_name({"$schema": "https://vega.github.io/schema/vega-lite/v6.1.0.json"})
    'application/vnd.vegalite.v6+json'
    """
    version = re.search(r"/v(\d+)", spec.get("$schema", ""))
    major = version.group(1) if version else "6"
    return f"application/vnd.vegalite.v{major}+json"


def ending_of(path: str | Path) -> str:
    """The format that a path's ending asks for, one of ENDINGS, else an error.

    >>> ending_of("board.PNG")
    'png'
    """
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        raise UsageError(f"{path}: a figure is written as {', '.join('.' + e for e in ENDINGS)}; change the ending")
    return ending


def refuse_paper(paper: Paper) -> None:
    """An error where a size or the like is asked for and the chart is on a page, whose width it takes."""
    if not paper.is_screen:
        raise UsageError(
            "width, height, font size, title and greyscale are of .svg, .png and .pdf, not of a page (.html)"
        )


def _svg(spec: dict[str, Any]) -> str:
    return str(vl_convert().vegalite_to_svg(spec))


def altair() -> Any:
    """The altair module, or an error that says how to install it."""
    try:
        import altair as module
    except ImportError:
        raise MissingExtra("altair", "report") from None
    return module


def vl_convert() -> Any:
    """The vl_convert module, or an error that says how to install it."""
    try:
        import vl_convert as module
    except ImportError:
        raise MissingExtra("vl-convert-python", "report") from None
    return module


def chart(data: str | None = "rows") -> Any:
    """An empty chart of the rows of that name; of those of the chart around it with None."""
    alt = altair()
    return alt.Chart() if data is None else alt.Chart(alt.NamedData(name=data))


def drawn(
    made: Any, *, name: str, title: str, description: str, note: str = "", **data: Sequence[Mapping[str, Any]]
) -> Figure:
    """The finished figure of an altair chart and its named rows."""
    spec = made.to_dict(validate=False)
    # altair names a theme of its own; the theme is added when the figure is saved or put on a page
    kept = {k: v for k, v in spec.items() if k not in ("config", "datasets")}
    return Figure(name, title, description, {**kept, "datasets": {k: list(v) for k, v in data.items()}}, note)


def rows_of(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """Rows from columns: numpy values become plain, numbers that are not finite become nothing, long ones shorter.

    >>> rows_of(run=["a"], score=[1 / 3])
    [{'run': 'a', 'score': 0.333333}]
    """
    plain = {name: [plain_value(v) for v in values] for name, values in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def plain_value(value: Any) -> Any:
    """A value as JSON takes it, floats with six significant digits."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _wide(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with a width where it has none: of the whole, or of each panel."""
    if "facet" in spec:
        columns = spec.get("columns", 1)
        inner = {"width": round(WIDTH / columns - 30), "height": 200, **spec["spec"]}
        return {**spec, "spec": inner}
    return {"width": WIDTH, **spec}
