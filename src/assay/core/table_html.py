"""How does a table look in a notebook? HTML in which every name is text, whatever it says.

Styles stand on the elements themselves: notebooks have style sheets of their own, and drop those of an output.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.core.tables import Table

MOST_ROWS = 200
"""Rows that are shown in a notebook; a file of it keeps all that is shown."""
SCROLLS = 25
"""Rows from which on a table scrolls within a window of its own."""
WINDOW = "max-height: 34em; overflow: auto"
WIDE = "max-width: 100%; overflow-x: auto"
HEAD = "position: sticky; top: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"
CAPTION = "caption-side: top; text-align: left; font-weight: 600; padding: 0 0 .4em 0; white-space: normal"
NOTE = "margin: .3em 0; font-size: .9em; opacity: .8; max-width: 60em; overflow-wrap: anywhere"


def table_html(table: Table) -> str:
    """The table as an HTML element: at most MOST_ROWS rows, in a window that scrolls where there are many.

    >>> from assay.core.tables import Table
    >>> "<td style=\\"text-align: left\\">&lt;b&gt;</td>" in table_html(Table.of({"run": ""}, [("<b>",)]))
    True
    """
    cells = table.cells()
    sides = ["right" if format else "left" for format in table.formats]
    caption = f'<caption style="{CAPTION}">{escape(table.caption)}</caption>' if table.caption else ""
    head = _row("th", table.columns, sides, more=HEAD)
    body = "".join(_row("td", row, sides) for row in cells[:MOST_ROWS])
    window = WINDOW if len(cells) > SCROLLS else WIDE
    notes = [note for note in table.notes if note]
    if len(cells) > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS} of {len(cells):,} rows; all of them with .to_pandas() or .csv().")
    said = "".join(f'<p style="{NOTE}">{escape(note)}</p>' for note in notes)
    rows = f"<thead>{head}</thead><tbody>{body}</tbody>"
    return f'<div style="{window}"><table>{caption}{rows}</table></div>{said}'


def _row(tag: str, texts: Sequence[str], sides: Sequence[str], *, more: str = "") -> str:
    """One row of cells, words on the left and numbers on the right."""
    style = f"; {more}" if more else ""
    cells = []
    for text, side in zip(texts, sides, strict=True):
        cells.append(f'<{tag} style="text-align: {side}{style}">{escape(text)}</{tag}>')
    return f"<tr>{''.join(cells)}</tr>"
