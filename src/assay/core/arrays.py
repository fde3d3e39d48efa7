"""The kinds of array that all modules speak of, and arrays that nobody can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from assay.core.lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]
    Words = npt.NDArray[np.uint64]
    Bytes = npt.NDArray[np.uint8]
    Codes = npt.NDArray[np.int32]
    Keys = npt.NDArray[np.uint32]
else:
    # Only type checkers read them; names of measures are listed without numpy.
    Floats = Ints = Bools = Words = Bytes = Codes = Keys = Any

A = TypeVar("A", bound="npt.NDArray[Any]")


def sealed(array: A) -> A:
    """The array itself, read-only from now on: for one that we made and that nobody else holds."""
    array.setflags(write=False)
    return array


def kept(array: A) -> A:
    """The array itself if nobody can write to it, else a read-only copy: a person's own array stays as it is.

    >>> mine = np.array([1, 2])
    >>> ours = kept(mine)
    >>> mine[0] = 9
    >>> ours.tolist(), kept(ours) is ours
    ([1, 2], True)
    """
    holder: Any = array
    while isinstance(holder, np.ndarray):  # a read-only view of an array that can be written is not safe
        if holder.flags.writeable:
            return sealed(array.copy())
        holder = holder.base
    return array


class Sealed:
    """Tables whose arrays are read-only in every copy too: pickle and deepcopy make arrays that can be written.

    >>> from copy import deepcopy
    >>> class Table(Sealed):
    ...     values = None
    >>> table = Table()
    >>> table.values = sealed(np.array([1, 2]))
    >>> deepcopy(table).values.flags.writeable
    False
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Nobody else holds the arrays of a copy that is being made, so they are sealed as they are."""
        for value in state.values():
            holder = value
            while isinstance(holder, np.ndarray):
                sealed(holder)
                holder = holder.base
        self.__dict__.update(state)


class Growing:
    """An array that is put together from pieces as they come, so that the memory of each serves for the next.

    >>> array = Growing(2, np.int64)
    >>> array.add(np.array([1, 2]))
    >>> array.add(np.array([3]))
    >>> array.whole().tolist()
    [1, 2, 3]
    """

    def __init__(self, pieces: int, kind: type[np.generic]) -> None:
        self._pieces = pieces
        self._array: npt.NDArray[Any] = np.zeros(0, kind)
        self._size = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Put the next piece behind the others, which are of the kind of the first; a single one is not copied."""
        if self._pieces == 1:
            self._array = values
        elif not self._size:
            self._array = np.empty(len(values) * self._pieces * 17 // 16, values.dtype)  # mostly they are alike in size
        end = self._size + len(values)
        if end > len(self._array):
            self._array.resize(end * 5 // 4, refcheck=False)
        if self._pieces > 1:
            self._array[self._size : end] = values
        self._size = end

    def whole(self) -> npt.NDArray[Any]:
        """All of it, which nobody else has."""
        if len(self._array) > self._size:
            self._array.resize(self._size, refcheck=False)
        return sealed(self._array)


def places_within(sizes: Ints) -> Ints:
    """For groups of these sizes that stand one after the other: the place of each member in its group, from 0.

    >>> places_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    starts = np.repeat(ends - sizes, sizes)
    return np.arange(len(starts)) - starts


def true_cells(table: Bools) -> tuple[Ints, Ints]:
    """The rows and the columns of the cells that are true, row after row: np.nonzero, at a sixth of its cost.

    >>> rows, columns = true_cells(np.array([[False, True], [True, True]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1, 1], [1, 0, 1])
    """
    places = np.flatnonzero(table)
    rows, columns = np.divmod(places, table.shape[1])
    return rows, columns
