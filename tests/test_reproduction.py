"""The page of the literature's numbers: nothing is left out, and what it says is what the code gives."""

from __future__ import annotations

import pytest
from reproduction.items import MISSING, Item, line
from reproduction.page import PAGE, loaded, section
from reproduction.places import OPEN, WORKS, Work

from tests.conftest import real_data

ITEMS = loaded()


@pytest.mark.parametrize("item", [i for i in ITEMS if i.command and not i.slow], ids=lambda i: i.key)
def test_the_page_says_what_comes_out(item: Item) -> None:
    for name in item.needs:
        real_data(name)
    assert section(item, item.made()) in PAGE.read_text()


@pytest.mark.parametrize("item", [i for i in ITEMS if i.command and i.slow], ids=lambda i: i.key)
def test_slow_items_stand_on_the_page(item: Item) -> None:
    assert f"### {item.place}: {item.title}\n" in PAGE.read_text()


@pytest.mark.parametrize("work", WORKS, ids=lambda w: w.name)
def test_every_table_and_figure_has_a_verdict_or_is_named_as_open(work: Work) -> None:
    places = [item.place for item in ITEMS if item.work == work]
    open_places = set(OPEN.get(work.name, ()))
    assert set(work.places) - set(places) == open_places
    assert len(set(places)) == len(places), "a place stands twice"


def test_what_cannot_be_had_says_why() -> None:
    for item in ITEMS:
        if not item.command:
            assert all(made.verdict == MISSING and len(made.because) > 10 for made in item.made())


def test_the_verdict_is_decided_by_the_printed_digits() -> None:
    assert line("x", ".048", 0.0479).verdict == "as printed"
    assert line("x", ".048", 0.0484999).ours == ".048"
    with pytest.raises(ValueError, match="needs a reason"):
        line("x", ".048", 0.0486)
    assert line("x", "54 %", 53.4, because="fewer runs").ours == "53.4 %"
    with pytest.raises(ValueError, match="out of date"):
        line("x", "186", 186.2, because="fewer runs")
