"""The rows of a table as numpy arrays.

Arrow's own functions select rows too, but they load pyarrow.compute and pandas, which takes longer than a summary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Words(NamedTuple):
    """A column of text: the number of each row's word in `words`, or -1 for null."""

    words: list[str]
    numbers: Indices


class ColumnArrays:
    """Some rows of a table; `selected` are their numbers, None for all rows. A column is converted at its first use."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._selected: Indices | None = None
        self._whole: dict[str, Any] = {}
        """The converted columns with all rows of the table, shared by all selections of it."""

    @classmethod
    def of(cls, result: Any, name: str) -> ColumnArrays:
        """A table of a result. A column that several summaries use is converted once."""
        converted: dict[str, ColumnArrays] = vars(result).setdefault("_columns", {})
        table = getattr(result, name)
        if name not in converted or converted[name]._table is not table:
            converted[name] = cls(table)
        return converted[name]

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        names: list[str] = self._table.column_names
        return names

    @property
    def numeric(self) -> list[str]:
        """The names of the columns of numbers."""
        types = zip(self.names, self._table.schema.types, strict=True)
        return [name for name, kind in types if pa.types.is_integer(kind) or pa.types.is_floating(kind)]

    def __len__(self) -> int:
        return int(self._table.num_rows if self._selected is None else len(self._selected))

    def __getitem__(self, name: str) -> Array:
        """A column of numbers; NaN for null."""
        if name not in self._whole:
            self._whole[name] = _numbers(self._table.column(name), np.float64)
        values: Array = self._of_selected(self._whole[name])
        return values

    def words(self, name: str) -> list[str | None]:
        """A column of text."""
        column = self._text(name)
        return [None if number < 0 else column.words[number] for number in self._of_selected(column.numbers)]

    def where(self, **equal: str) -> ColumnArrays:
        """The rows whose columns of text have these words."""
        rows = self
        for name, word in equal.items():
            column = rows._text(name)
            number = column.words.index(word) if word in column.words else -2
            rows = rows.only(rows._of_selected(column.numbers) == number)
        return rows

    def of_seed(self, seed: int) -> ColumnArrays:
        """The rows of one seed."""
        if "seed, exact" not in self._whole:  # a seed has up to 64 bits, a float 53
            self._whole["seed, exact"] = _numbers(self._table.column("seed"), np.uint64)
        return self.only(self._of_selected(self._whole["seed, exact"]) == np.uint64(seed))

    def only(self, mask: npt.NDArray[np.bool_]) -> ColumnArrays:
        """The rows at which `mask` is true."""
        chosen = np.flatnonzero(mask)
        return self._with(chosen if self._selected is None else self._selected[chosen])

    def _with(self, selected: Indices) -> ColumnArrays:
        rows = ColumnArrays(self._table)
        rows._selected, rows._whole = selected, self._whole
        return rows

    def _of_selected(self, whole: Any) -> Any:
        return whole if self._selected is None else whole[self._selected]

    def _text(self, name: str) -> Words:
        if name not in self._whole:
            self._whole[name] = _words(self._table.column(name).chunks)
        column: Words = self._whole[name]
        return column

    @classmethod
    def joined(cls, parts: Iterable[ColumnArrays]) -> ColumnArrays:
        """The rows of several selections of one table, in their order."""
        every = list(parts)
        return every[0]._with(np.concatenate([part._numbers for part in every]))

    @property
    def _numbers(self) -> Indices:
        return np.arange(self._table.num_rows) if self._selected is None else self._selected


def _numbers(column: pa.ChunkedArray, kind: Any) -> npt.NDArray[Any]:
    """A column of numbers."""
    chunks = [_array(chunk).astype(kind, copy=False) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, kind), *chunks])


def _array(chunk: pa.Array) -> npt.NDArray[Any]:
    """Numbers or truth values; NaN for null.

    It reads Arrow's buffers (Arrow Columnar Format, fixed-size primitive layout): `Array.to_numpy` imports pandas.
    """
    if len(chunk) == 0:
        return np.empty(0)
    known, values = chunk.buffers()
    if pa.types.is_boolean(chunk.type):
        array = _bits(values, chunk)
    else:
        kind = f"{str(chunk.type)[0]}{chunk.type.bit_width // 8}".replace("d", "f")  # `double` is Arrow's float64
        array = np.frombuffer(values, kind, len(chunk), chunk.offset * chunk.type.bit_width // 8)
    return array if chunk.null_count == 0 else np.where(_bits(known, chunk), array, np.nan)


def _bits(buffer: pa.Buffer, chunk: pa.Array) -> npt.NDArray[Any]:
    """The bits of a chunk in one of its buffers, the least significant of each byte first."""
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")
    return bits[chunk.offset : chunk.offset + len(chunk)]


def _words(chunks: Iterable[Any]) -> Words:
    """A column of text from its chunks, each with a dictionary of its own."""
    known: dict[str, int] = {}
    numbers = [np.empty(0, dtype=np.int64)]
    for chunk in chunks:
        encoded = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
        # The last number is that of null, whose index is -1.
        mine = [*(known.setdefault(word, len(known)) for word in encoded.dictionary.to_pylist()), -1]
        indices = np.nan_to_num(_array(encoded.indices), nan=-1).astype(np.int64)
        numbers.append(np.array(mine)[indices])
    return Words(list(known), np.concatenate(numbers))
