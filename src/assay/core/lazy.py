"""Packages whose names are loaded when they are used, numpy among them, and packages that can be called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["callable_module", "loader", "np"]


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in its modules: homes maps a name to its module.

    Who asks for one name does not wait for the modules of the others.

    >>> loader("assay.core", {"Table": "tables"})("Table").__name__
    'Table'
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return attribute


class _CallableModule(ModuleType):
    """A module that is called like the function of its own name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def callable_module(name: str) -> None:
    """Make calling a module call its function of the same name: `assay.similarity(a, b)`.

    A command, its Python function and the package behind it have one name, and importing the package would hide the
    function; so the package answers for it.
    """
    sys.modules[name].__class__ = _CallableModule


class _LateModule(ModuleType):
    """A module that is imported when something of it is used for the first time."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # the next time it is there
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    # For modules whose names are listed more often than their formulas are computed: measures and what they stand on.
    # `assay measures` and the help of commands do not wait for numpy, which takes longer than all else in them.
    np = _LateModule("numpy")
