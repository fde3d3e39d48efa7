"""Workers who err together: machine judges are warned of, crowds are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from assay.crowd.shared_errors import errors_of_workers, looks_like_judges, shared_errors, shared_errors_remark
from assay.studies import simulate


def test_correlations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(4, 50))
    assert shared_errors(errors, tuple("abcd")).correlation == pytest.approx(np.corrcoef(errors))
    errors[0, :10] = np.nan
    found = shared_errors(errors, tuple("abcd"))
    assert found.correlation[0, 1] == pytest.approx(np.asarray(np.corrcoef(errors[:2, 10:]))[0, 1])
    assert found.docs == 40


def test_the_effective_number_is_a_ratio_of_variances() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(size=5000)
    errors = common + rng.normal(size=(5, 5000))
    found = shared_errors(errors, tuple("abcde"))
    assert found.effective == pytest.approx(5 / (1 + 4 * 0.5), rel=0.05)
    assert found.mean == pytest.approx(0.5, abs=0.03)
    assert "worth about 1.7 independent ones" in str(found.warning())


def test_machine_judges_are_warned_of_and_crowds_are_not() -> None:
    made = simulate(topics=8, docs=150, depth=40, runs_per_group=1)
    assert looks_like_judges(made.machine)
    assert not looks_like_judges(made.labels)
    assert shared_errors_remark(made.labels, None) is None
    assert "as machine judges do" in str(shared_errors_remark(made.machine, None))
    found = errors_of_workers(made.machine, made.qrels)
    assert found is not None
    assert [pair[:2] for pair in found.copies()] == [("lenient", "twin")]
