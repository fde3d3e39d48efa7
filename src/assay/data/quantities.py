"""Do two sets of scores hold the same quantity? Measure and policy, read off their names and signatures."""

from __future__ import annotations

from assay.core.errors import UsageError
from assay.core.registry import parse_call

UNNAMED = "score"
"""The measure of scores that nobody named."""
NOT_POLICY = ("assay", "aggregate", "reference", "forced")
"""Parts of a signature that say where scores come from, not what they are: two that differ only there are the same."""
STANDARDIZATION = ("std", "smoothing")
"""Parts of a signature that standardization adds."""


def same_quantity(first: tuple[str, str], second: tuple[str, str], *, force: str | None = None) -> None:
    """An error that names both unless two pairs (measure, signature) are one measure under one policy.

    An unknown policy goes with any. force: the measure that a person says both are; then nothing is checked.
    """
    if force is not None or _quantity(*first) == _quantity(*second):
        return
    way_out = "--force-measure NAME says that they are"
    if not same_measure(first, second):
        names = " and ".join(_shown_measure(measure) for measure, _ in (first, second))
        raise UsageError.with_way_out(f"{names} are not the same measure", f"; {way_out}")
    if not _go_together(policy_of(first[1]), policy_of(second[1])):
        what = f"{first[0]}: the scores do not rest on the same policy: {first[1]} and {second[1]}"
        raise UsageError.with_way_out(f"{what}; score both alike", f", or {way_out}")


def same_measure(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Whether two pairs (measure, signature) are of one measure, whatever its spelling and the policies."""
    return canonical(first[0]) == canonical(second[0]) or _quantity(*first) == _quantity(*second)


def _quantity(measure: str, signature: str) -> tuple[str, frozenset[str]]:
    """What scores are, so that equal ones are recognised: the measure in one spelling, and the policy."""
    policy = policy_of(signature)
    name = signature.partition("|")[0] if policy else measure
    return canonical(name), policy


def _go_together(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two policies are one, as far as they are known; standardized and how is known always."""
    first_form = {part for part in first if part.partition(":")[0] in STANDARDIZATION}
    second_form = {part for part in second if part.partition(":")[0] in STANDARDIZATION}
    first_scoring, second_scoring = first - first_form, second - second_form
    scored_alike = first_scoring == second_scoring or not first_scoring or not second_scoring
    return scored_alike and first_form == second_form


def policy_of(signature: str) -> frozenset[str]:
    """The parts of a signature that make two scores differ; none where the policy is not known."""
    parts = signature.split("|")[1:]
    kept = [part for part in parts if part.partition(":")[0] not in NOT_POLICY]
    # whether an average over ties is exact or sampled hangs on the data, and both estimate the same number
    return frozenset(part.partition("(")[0] if part.startswith("ties:") else part for part in kept)


def canonical(measure: str) -> str:
    """A measure's name in one spelling: blanks, the order of its parameters and the writing of numbers do not matter.

    >>> canonical("RBP( p=.80 )"), canonical("z(AP)")
    ('RBP(p=0.8)', 'z(AP)')
    """
    text = measure.strip()
    try:
        name, parameters = parse_call(text)
    except UsageError:
        return text
    if not parameters:
        return name
    return f"{name}({', '.join(f'{key}={parameters[key]}' for key in sorted(parameters))})"


def _shown_measure(measure: str) -> str:
    return "scores of no named measure" if measure == UNNAMED else measure
