"""The list of measures, and one of them explained."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.measures import MEASURES
from assay.measures.explained import MeasureList, explained


def test_every_measure_is_listed_in_the_order_of_the_alphabet() -> None:
    names = MeasureList().table().column("measure")
    assert set(MEASURES.names()) < set(names)
    assert names == sorted(names, key=str.lower)


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG", "RBP(p=0.8)", "prefs_simp"])
def test_one_is_explained_as_text_and_as_a_table(name: str) -> None:
    found = explained(name)
    assert found.form.startswith(name.partition("@")[0].partition("(")[0])
    assert found.text().startswith(f"{found.form}\n\n")
    assert ">>>" not in found.what
    assert found.table().column("measure") == [found.form]


def test_a_name_that_is_no_measure() -> None:
    with pytest.raises(UsageError, match="did you mean nDCG"):
        explained("nDGC")
