"""Numbers in forms: what is no number stays as it was typed, so that the form can be shown again with it."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import BaseModel, Field

from assay.core.errors import UsageError

Whole = Annotated[int | str, Field(union_mode="left_to_right")]
"""A whole number, or what was typed instead of one."""
MaybeWhole = Annotated[int | str | None, Field(union_mode="left_to_right")]
"""The same of a field that may be empty."""
Number = Annotated[float | str, Field(union_mode="left_to_right")]
"""Any number, or what was typed instead of one."""
MaybeNumber = Annotated[float | str | None, Field(union_mode="left_to_right")]
"""The same of a field that may be empty."""


def refuse_words_for_numbers(form: BaseModel) -> None:
    """An error for the first field of a form that should be a number and is not."""
    for name, field in type(form).model_fields.items():
        kinds = get_args(field.annotation)
        value = getattr(form, name)
        if str in kinds and isinstance(value, str):
            raise UsageError(f"{name}: {value!r} is no {'whole number' if int in kinds else 'number'}")
