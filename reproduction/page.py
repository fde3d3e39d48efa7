"""Write docs/reproduction.md: every table and figure of the works with printed value, ours, the command, the verdict.

`python -m reproduction.page` makes every item; `python -m reproduction.page "Webber 2010, Table 4.2"` shows one.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections import Counter

import reproduction
from reproduction.files import FILES
from reproduction.items import AS_PRINTED, DIFFERS, ITEMS, MISSING, ROOT, Item, Line
from reproduction.places import OPEN, WORKS, Work

PAGE = ROOT / "docs" / "reproduction.md"


def loaded() -> list[Item]:
    """Every item of every work, in the order of works and places; sections of a text come last."""
    for module in pkgutil.iter_modules(reproduction.__path__):
        importlib.import_module(f"reproduction.{module.name}")
    works = list(WORKS)

    def order(item: Item) -> tuple[int, int, tuple[object, ...]]:
        kinds = ("Table", "Figure")
        kind = item.place.split()[0]
        numbers = tuple(int(n) for n in re.findall(r"\d+", item.place))
        return works.index(item.work), kinds.index(kind) if kind in kinds else len(kinds), numbers

    return sorted(ITEMS, key=order)


def page(items: list[Item]) -> str:
    """The whole page."""
    made = {item.key: item.made() for item in items}
    count = Counter(line.verdict for lines in made.values() for line in lines)
    numbers = count[AS_PRINTED] + count[DIFFERS]
    without = sum(not item.command for item in items)
    parts = [
        "# Reproduction of the literature\n",
        "Every table and figure of the works behind assay, made again from public data by the code of this version: "
        "the printed value, ours, the command, and one of three verdicts. What differs says why; what cannot be had "
        "says what is missing. `make reproduce` makes this page, and the tests hold it to what the code gives.\n",
        f"**{count[AS_PRINTED]} of {numbers} numbers and statements come out as printed**; {count[DIFFERS]} differ, "
        f"each with its reason; {count[MISSING] - without} more numbers and {without} whole tables and figures cannot "
        f"be had; {sum(map(len, OPEN.values()))} tables and figures are not made again yet.\n",
        "The commands name files. `python -m reproduction.files FOLDER` writes all of them there from the public data "
        "in the folder `ASSAY_DATA`; what each one is stands at the end of this page.\n",
    ]
    for work in WORKS:
        parts.append(_work(work, [item for item in items if item.work == work], made))
    parts.append(_files())
    return "\n".join(parts)


def _files() -> str:
    """The files that commands name."""
    rows = [f"| `{name}` | {file.about} |" for name, file in FILES.items()]
    table = "\n".join(["| file | holds |", "|---|---|", *rows])
    others = "`covid/` is the folder `trec-covid-round1` of the public data, its runs unpacked."
    return f"## Files\n\n{table}\n\n{others}\n"


def _work(work: Work, items: list[Item], made: dict[str, list[Line]]) -> str:
    parts = [f"## {work.name}\n", f"{work.full}\n"]
    parts += [section(item, made[item.key]) for item in items if item.command]
    absent = [item for item in items if not item.command]
    if absent:
        parts.append("### What cannot be had\n")
        rows = [f"| {item.place} | {item.title} | {made[item.key][0].because} |" for item in absent]
        parts.append("\n".join(["| place | shows | because |", "|---|---|---|", *rows]) + "\n")
    if work.name in OPEN:
        parts.append(f"### Not made again yet\n\n{', '.join(OPEN[work.name])}.\n")
    return "\n".join(parts)


def section(item: Item, lines: list[Line]) -> str:
    """One table or figure: its command, its lines, and the reasons below."""
    reasons = list(dict.fromkeys(line.because for line in lines if line.because))
    rows = ["| what | printed | ours | verdict |", "|---|---|---|---|"]
    for line in lines:
        mark = f" ({reasons.index(line.because) + 1})" if line.because else ""
        rows.append(f"| {line.what} | {line.printed} | {line.ours} | {line.verdict}{mark} |")
    notes = "".join(f"\n{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    command = f"```text\n{item.command.strip()}\n```\n"
    return f"### {item.place}: {item.title}\n\n{command}\n" + "\n".join(rows) + "\n" + (f"{notes}\n" if notes else "")


def main(keys: list[str]) -> None:
    """Write the page, or print the sections of the items that are named."""
    items = loaded()
    if not keys:
        PAGE.write_text(page(items))
        return
    unknown = set(keys) - {item.key for item in items}
    if unknown:
        sys.exit(f"reproduction: no item {min(unknown)!r}; items are named as in 'Webber 2010, Table 4.2'")
    for item in items:
        if item.key in keys:
            print(section(item, item.made()))


if __name__ == "__main__":
    main(sys.argv[1:])
