"""How is text written in LaTeX? Signs, rows and columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.core.markup import visible

PARAGRAPH = 50
"""Characters from which on a column of words is set as paragraphs."""

SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "Δ": r"$\Delta$", "τ": r"$\tau$", "σ": r"$\sigma$",
    "α": r"$\alpha$", "η": r"$\eta$", "ω": r"$\omega$", "κ": r"$\kappa$", "ρ": r"$\rho$", "φ": r"$\phi$",
    "Φ": r"$\Phi$", "χ": r"$\chi$", "δ": r"$\delta$", "μ": r"$\mu$", "²": r"$^2$", "≥": r"$\ge$",
    "≤": r"$\le$", "×": r"$\times$", "±": r"$\pm$", "→": r"$\to$", "§": r"\S{}", "…": r"\dots{}", "β": r"$\beta$",
    "λ": r"$\lambda$", "√": r"$\surd$", "₁": r"$_1$", "·": r"$\cdot$", "∞": r"$\infty$", "θ": r"$\theta$",
    "≈": r"$\approx$", "γ": r"$\gamma$", "ε": r"$\varepsilon$", "π": r"$\pi$", "Π": r"$\Pi$", "Σ": r"$\Sigma$",
    "′": r"$'$", "₂": r"$_2$", "ⁿ": r"$^n$", "∝": r"$\propto$", "∩": r"$\cap$", "∪": r"$\cup$",
    "↓": r"$\downarrow$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "⌈": r"$\lceil$", "⌉": r"$\rceil$",
    "|": r"\textbar{}\allowbreak{}",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "¶": r"\P{}", "‖": r"$\|$", "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$", "△": r"$\vartriangle$", "▽": r"$\triangledown$",
    "“": "``", "”": "''", "ν": r"$\nu$", "ψ": r"$\psi$", "⁴": r"$^4$", "₀": r"$_0$", "∈": r"$\in$", "₋": r"$_-$",
    "ᵀ": r"$^{\mathsf{T}}$", "ᵢ": r"$_i$", "₍": r"$_($", "₎": r"$_)$", "∘": r"$\circ$", "\u0304": r"\={}",
}  # fmt: skip
"""How a sign is written that LaTeX would not show as it is."""


def tex_columns(formats: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """r for numbers, l for words, and for long texts paragraphs that share six to eight tenths of the line."""
    is_long = [not format and width > PARAGRAPH for format, width in zip(formats, widths, strict=True)]
    paragraphs = sum(is_long)
    share = 0.6 if paragraphs == 1 else 0.8 / max(1, paragraphs)
    for format, long in zip(formats, is_long, strict=True):
        if format:
            yield "r"
        elif long:
            yield rf"p{{{share:.2g}\linewidth}}"
        else:
            yield "l"


def tex_row(cells: Iterable[str]) -> str:
    """A row of a tabular."""
    return " & ".join(map(tex, cells)) + r" \\"


def tex(text: str) -> str:
    r"""A text in which every sign stands for itself.

    >>> print(tex("50 % of Δ"))
    50 \% of $\Delta$
    """
    return "".join(SIGNS.get(c, c) for c in visible(text))


def tex_mark(mark: str) -> str:
    r"""A mark within mathematics, where it is raised: letters upright, signs as they are.

    >>> print(tex_mark("▲a"), tex_mark("†‡"))
    \blacktriangle\mathrm{a} \dagger\ddagger
    """
    parts = []
    for sign in mark:
        written = SIGNS.get(sign, sign).removeprefix("$").removesuffix("$").removesuffix("{}")
        parts.append(rf"\mathrm{{{sign}}}" if sign.isalnum() else written)
    return "".join(parts)
