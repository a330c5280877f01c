"""Arrow arrays of Python values, made of their buffers (Arrow Columnar Format).

`pyarrow.array` imports pandas where it is installed. That takes longer than a sweep of a few short runs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

#: Arrow's type of Python values, and numpy's. A bool is an int too, so it comes first.
_KINDS = ((bool, pa.bool_(), None), (int, pa.int64(), np.int64), (int | float, pa.float64(), np.float64))


def array(values: Sequence[Any]) -> pa.Array:
    """An array of values of one kind: truth values, whole numbers, numbers or text. None becomes null."""
    known = [value for value in values if value is not None]
    if not known:
        return pa.nulls(len(values))
    for kind, arrow, of_numpy in _KINDS:
        if all(isinstance(value, kind) for value in known) and (kind is bool or bool not in map(type, known)):
            filled = [0 if value is None else value for value in values]
            return numbers(filled, arrow, of_numpy, [value is not None for value in values])
    return strings(values)


def numbers(values: Sequence[Any], arrow: pa.DataType, of_numpy: Any, known: Sequence[bool] | None = None) -> pa.Array:
    """An array of numbers, or of truth values if `of_numpy` is None; null where they are not `known`."""
    data = _bits(values) if of_numpy is None else pa.py_buffer(np.array(values, of_numpy))
    return pa.Array.from_buffers(arrow, len(values), [_validity(known), data])


def strings(values: Sequence[str | None]) -> pa.Array:
    """An array of text."""
    parts = [b"" if value is None else value.encode() for value in values]
    ends: npt.NDArray[np.int32] = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    known = [value is not None for value in values]
    buffers = [_validity(known), pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.string(), len(parts), buffers)


def _validity(known: Sequence[bool] | None) -> pa.Buffer | None:
    return None if known is None or all(known) else _bits(known)


def _bits(values: Sequence[bool]) -> pa.Buffer:
    """A bit for each value, the least significant of each byte first."""
    return pa.py_buffer(np.packbits(np.array(values, bool), bitorder="little"))
