"""How is text shown so that nothing in it is read as markup or as a command of the terminal? Also HTML tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

BLANKS = str.maketrans("\t\n\r\v\f\x85\u2028\u2029", " " * 8)
"""Signs that would end a line or a cell, as blanks."""
STYLE = (
    "<style>.assay{border-collapse:collapse;font:14px/1.4 system-ui,sans-serif}"
    ".assay caption{caption-side:top;text-align:left;font-weight:600;padding:0 0 6px}"
    ".assay th,.assay td{padding:3px 10px;text-align:left;vertical-align:top}"
    ".assay .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".assay thead th{border-top:2px solid;border-bottom:1px solid}"
    ".assay tbody:last-child tr:last-child td{border-bottom:2px solid}.assay sup{line-height:0}"
    ".assay tbody+tbody th{border-top:1px solid}"
    ".assay+.assay-notes{font:12px/1.5 system-ui,sans-serif;max-width:60em;margin:0 0 1.5em}"
    ".assay-notes p{margin:2px 0}</style>"
)
"""What a table looks like on a page that has no style of its own."""


def visible(text: str) -> str:
    r"""A text in one line whose control characters are written out, so that a terminal obeys none of them.

    Directions of writing that are turned in the middle of a line count among them.

    >>> print(visible("a\x1b[31mred\tb"))
    a\x1b[31mred b
    """
    if text.isprintable():
        return text
    return "".join(_written_out(c) for c in text.translate(BLANKS))


def _written_out(character: str) -> str:
    # Cc: control characters; Cf: invisible ones such as those that turn the direction of writing; Cs: half a pair
    if unicodedata.category(character) not in ("Cc", "Cf", "Cs"):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown_text(text: str, *, cell: bool = True) -> str:
    """A text in which no star, backtick or tag is read as markup, and in a cell no bar ends it."""
    signs = r"[|*`\\]" if cell else r"[*`\\]"
    return re.sub(rf"({signs})|<(?=[A-Za-z/!?])", lambda markup: "\\" + markup.group(), visible(text))


def html_text(text: str) -> str:
    """A text in which no sign is read as markup."""
    from html import escape

    return escape(visible(text))


def tagged(tag: str, texts: Iterable[str], numbers: Iterable[bool] | None = None) -> str:
    """Each text within an HTML element; those of numbers to the right."""
    listed = list(texts)
    right = [False] * len(listed) if numbers is None else list(numbers)
    parts = []
    for text, is_number in zip(listed, right, strict=True):
        kind = ' class="n"' if is_number else ""
        parts.append(f"<{tag}{kind}>{html_text(text)}</{tag}>")
    return "".join(parts)


def html_table(caption: str, head: str, bodies: Iterable[str], notes: Iterable[str]) -> str:
    """A table with a look of its own, from elements whose texts are escaped: caption, head, bodies and notes."""
    above = f"<caption>{caption}</caption>" if caption else ""
    parts = "".join(f"<tbody>{body}</tbody>" for body in bodies)
    table = f'<table class="assay">{above}<thead><tr>{head}</tr></thead>{parts}</table>'
    below = "".join(f"<p>{note}</p>" for note in notes)
    return f'{STYLE}{table}<div class="assay-notes">{below}</div>'


def html_page(*bodies: str) -> str:
    """A page that a browser opens from a file, from parts that are HTML already."""
    return '<!doctype html><meta charset="utf-8">\n' + "\n".join(bodies)
