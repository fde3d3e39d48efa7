"""Table: what every result becomes, and its renderings as text, Markdown, CSV, JSON and LaTeX.

Rounding happens here and nowhere else: text, Markdown and LaTeX follow each column's format, CSV and JSON
keep all digits.
"""

from __future__ import annotations

import csv
import io
import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import UsageError

FORMATS = ("text", "csv", "json", "latex", "markdown")
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """Named columns with a format each, rows of plain values, a caption and notes.

    A format is a Python format such as `.4f`, or `p` for a p-value, or empty for text. None is shown as a dash.

    >>> print(Table.of({"run": "", "AP": ".3f"}, [("bm25", 1/3), ("dpr", None)]).text())
    run      AP
    ----  -----
    bm25  0.333
    dpr       –
    """

    columns: tuple[str, ...]
    formats: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]],
        *,
        caption: str = "",
        notes: Iterable[str] = (),
    ) -> Table:
        """A table from column → format and the rows."""
        plain = tuple(tuple(_plain(v) for v in row) for row in rows)
        for row in plain:
            if len(row) != len(columns):
                raise UsageError(f"a row of {len(row)} values in a table of {len(columns)} columns")
        return cls(tuple(columns), tuple(columns.values()), plain, caption, tuple(notes))

    def column(self, name: str) -> list[Any]:
        """The values of one column.

        >>> Table.of({"a": "", "b": "d"}, [("x", 1), ("y", 2)]).column("b")
        [1, 2]
        """
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def cells(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[shown(v, f) for v, f in zip(row, self.formats, strict=True)] for row in self.rows]

    def text(self) -> str:
        """Aligned columns for a terminal."""
        cells = self.cells()
        widths = [max([_width(c), *(_width(r[i]) for r in cells)]) for i, c in enumerate(self.columns)]
        rule = ["-" * w for w in widths]
        lines = [self._line(row, widths) for row in [list(self.columns), rule, *cells]]
        return "\n".join([*([self.caption, ""] if self.caption else []), *lines, *self.notes])

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        padded = [
            " " * (w - _width(c)) + c if f else c + " " * (w - _width(c))
            for c, w, f in zip(row, widths, self.formats, strict=True)
        ]
        return "  ".join(padded).rstrip()

    def markdown(self) -> str:
        """A Markdown table, its caption above and its notes below."""
        rule = ["---:" if f else "---" for f in self.formats]
        lines = [
            "| " + " | ".join(c.replace("|", "\\|") for c in row) + " |"
            for row in [list(self.columns), rule, *self.cells()]
        ]
        head = [f"**{self.caption}**", ""] if self.caption else []
        tail = ["", *(f"{n}  " for n in self.notes if n)] if self.notes else []
        return "\n".join([*head, *lines, *tail]).rstrip()

    def csv(self) -> str:
        """Comma-separated values with a header and all digits; no caption, no notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue().rstrip("\n")

    def record(self) -> dict[str, Any]:
        """The table as plain data, for JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"caption": self.caption, "notes": [n for n in self.notes if n], "rows": rows}

    def latex(self) -> str:
        """A booktabs table, ready for a paper."""
        spec = "".join("r" if f else "l" for f in self.formats)
        body = [" & ".join(map(_tex, row)) + r" \\" for row in self.cells()]
        head = " & ".join(map(_tex, self.columns)) + r" \\"
        caption = [rf"\caption{{{_tex(self.caption)}}}"] if self.caption else []
        notes = [rf"\par\footnotesize {_tex(n)}" for n in self.notes if n]
        inner = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        return "\n".join([r"\begin{table}", r"\centering", *caption, *inner, r"\end{tabular}", *notes, r"\end{table}"])


def render(tables: Sequence[Table], format: str = "text") -> str:
    """One or several tables in one of FORMATS; several are parted by a blank line, in JSON they are a list."""
    if format == "json":
        records = [t.record() for t in tables]
        return json.dumps(records[0] if len(records) == 1 else records, ensure_ascii=False, indent=2, allow_nan=False)
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}; known: {', '.join(FORMATS)}")
    return "\n\n".join(str(getattr(t, format)()) for t in tables)


def shown(value: Any, format: str) -> str:
    """A value as a person reads it.

    >>> shown(0.00001, "p"), shown(0.0312, "p"), shown(None, ".3f"), shown(-0.00001, "+.3f")
    ('<.0001', '.0312', '–', '0.000')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool) or not format or isinstance(value, str):
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    if format == "p":
        return "<.0001" if value < 0.00005 else f"{value:.4f}".removeprefix("0")
    text = f"{value:{format}}"
    zero = text.strip("+-0.%") == ""
    return text.lstrip("+-") if zero else text.replace("-", "−") if "e" not in text else text


def _plain(value: Any) -> Any:
    """numpy scalars become Python ones; NaN and infinities become None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "Δ": r"$\Delta$", "τ": r"$\tau$", "σ": r"$\sigma$",
    "α": r"$\alpha$", "η": r"$\eta$", "ω": r"$\omega$", "κ": r"$\kappa$", "ρ": r"$\rho$", "φ": r"$\phi$",
    "Φ": r"$\Phi$", "χ": r"$\chi$", "δ": r"$\delta$", "μ": r"$\mu$", "²": r"$^2$", "≥": r"$\ge$",
    "≤": r"$\le$", "×": r"$\times$", "±": r"$\pm$", "→": r"$\to$", "…": r"\dots{}", "β": r"$\beta$",
    "λ": r"$\lambda$", "√": r"$\surd$", "₁": r"$_1$", "·": r"$\cdot$", "∞": r"$\infty$", "θ": r"$\theta$",
    "≈": r"$\approx$", "γ": r"$\gamma$", "ε": r"$\varepsilon$", "π": r"$\pi$", "Π": r"$\Pi$", "Σ": r"$\Sigma$",
    "′": r"$'$", "₂": r"$_2$", "ⁿ": r"$^n$", "∝": r"$\propto$", "∩": r"$\cap$", "∪": r"$\cup$",
    "↓": r"$\downarrow$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "⌈": r"$\lceil$", "⌉": r"$\rceil$",
    "“": "``", "”": "''", "ν": r"$\nu$", "ψ": r"$\psi$", "⁴": r"$^4$", "₀": r"$_0$", "∈": r"$\in$",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)
