"""The values of a sweep, from a scenario file's `[sweep]` or from Python's arguments.

`grid` is every combination. `list` is read row by row. `latin` is a Latin hypercube (McKay, Beckman and Conover,
Technometrics 21, 1979): each range is divided into one part for each sample, with one sample in each part. The three
are combined with each other, with the scenario's disciplines and with its seeds.
"""

import math
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from headgate import _core
from headgate.errors import UsageError, did_you_mean
from headgate.sweeps.quantity import WHOLE, SweptRange, Value, number

#: One value for each swept key.
SweptValues = tuple[tuple[str, Value], ...]

#: The keys of `[sweep]` besides the three tables of swept keys.
SAMPLES, SEED, KEPT = "samples", "latin_seed", "tables"
TABLES = ("grid", "list", "latin")
_KNOWN = (*TABLES, SAMPLES, SEED, KEPT)
_RANGE = ("from", "to", "steps", "scale")
_MOST_STEPS = 100_000


class SweepSpec(NamedTuple):
    """The values of a sweep: lists by key for `grid` and `rows`, ranges (or lists) by key for `latin`.

    `tables` are kept of each run; None for all.
    """

    grid: Mapping[str, Sequence[Value]]
    rows: Mapping[str, Sequence[Value]]
    latin: Mapping[str, SweptRange | Sequence[Value]]
    samples: int = 0
    seed: int = 1
    tables: Sequence[str] | None = None

    @property
    def keys(self) -> list[str]:
        """Every swept key, in the order in which they are written."""
        return [*self.grid, *self.rows, *self.latin]

    def settings(self) -> Iterator[SweptValues]:
        """Every combination; the first key changes slowest."""
        axes: list[list[SweptValues]] = [[((key, value),) for value in values] for key, values in self.grid.items()]
        for columns in (self.rows, {key: [*self._column(key, given)] for key, given in self.latin.items()}):
            if columns:
                axes.append([tuple(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
        for parts in product(*axes):
            yield tuple(setting for part in parts for setting in part)

    def _column(self, key: str, given: SweptRange | Sequence[Value]) -> Iterator[Value]:
        """The samples of one key. Its random stream depends on seed and key only, so further keys do not change it."""
        draws = random.Random(f"{self.seed} latin {key}")  # noqa: S311 - chance is to be repeated
        parts = sorted(range(self.samples), key=lambda _: draws.random())
        for part in parts:
            share = (part + draws.random()) / self.samples
            yield given.at(share) if isinstance(given, SweptRange) else given[int(share * len(given))]


def read(text: str, file: str) -> SweepSpec:
    """Reads the `[sweep]` of a scenario file's text. `UsageError` if it is missing or wrong."""
    table = tomllib.loads(text).get("sweep")
    if table is None:
        raise UsageError(f"{file} has no [sweep] section: docs/guide/sweeps.md shows how to write one")
    try:
        return _read(table)
    except UsageError as error:
        raise UsageError(f"{error}\n --> {file}") from None


def position_in_file(text: str, key: str) -> tuple[int, int] | None:
    """Line and column at which the `[sweep]` of a scenario file's text has a key."""
    positions = (_core.key_position(text, f"sweep.{name}.{key}") for name in TABLES)
    return next((each for each in positions if each is not None), None)


def _read(table: Mapping[str, Any]) -> SweepSpec:
    for key in table:
        if key not in _KNOWN:
            raise UsageError(f"unknown key `{key}` in [sweep]{did_you_mean(key, _KNOWN)} Known: {', '.join(_KNOWN)}")
    grid, rows, latin = (table.get(name, {}) for name in TABLES)
    return spec(grid, rows, latin, table.get(SAMPLES), table.get(SEED, 1), table.get(KEPT))


def spec(grid: Any, rows: Any, latin: Any, samples: Any = None, seed: Any = 1, tables: Any = None) -> SweepSpec:
    """A checked `SweepSpec` of these tables, whose keys may be nested (`link.rate`) as TOML reads them."""
    swept = SweepSpec(
        {key: _values(f"grid: `{key}`", given) for key, given in _flat("grid", grid)},
        {key: _values(f"list: `{key}`", given) for key, given in _flat("list", rows)},
        {key: _range_or_list(f"latin: `{key}`", given) for key, given in _flat("latin", latin)},
        _count(SAMPLES, 0 if samples is None else samples, 1 if latin else 0),
        _count(SEED, seed, 0),
        _names(tables),
    )
    _check(swept, samples)
    return swept


def _check(swept: SweepSpec, samples: Any) -> None:
    """Checks that the tables and `samples` fit together."""
    keys = swept.keys
    if not keys:
        raise UsageError("[sweep] names no key: give one a list of values, such as `link.rate = [...]` in [sweep.grid]")
    for key in keys:
        if keys.count(key) > 1:
            raise UsageError(f"`{key}` is swept twice in [sweep]")
        if key in ("qdiscs", "seeds"):
            raise UsageError(f"`{key}` is swept by the scenario's own `{key}`: leave it out of [sweep]")
    if samples is not None and not swept.latin:
        raise UsageError("[sweep] has `samples`, but no keys in [sweep.latin]")
    lengths = {key: len(values) for key, values in swept.rows.items()}
    if len(set(lengths.values())) > 1:
        lengths_shown = ", ".join(f"`{key}` has {length}" for key, length in lengths.items())
        raise UsageError(f"[sweep.list] is read row by row, so all its lists must be of one length: {lengths_shown}")


def _flat(name: str, table: Any, outer: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a table with their values. Keys of nested tables become paths, such as `link.rate`."""
    if not isinstance(table, Mapping):
        raise UsageError(f"[sweep] {name}{outer and f': `{outer[:-1]}`'}: expected a list of values or a range "
                         f"{{ from = .., to = .. }}, found {table!r}")  # fmt: skip
    for key, given in table.items():
        path = f"{outer}{key}"
        if isinstance(given, list | tuple | SweptRange) or _is_range(given):
            yield path, given
        else:
            yield from _flat(name, given, f"{path}.")


def _is_range(given: Any) -> bool:
    """Whether a table is a range with `from` and `to`. If these are lists, they are two keys of a link instead."""
    ends = isinstance(given, Mapping) and any(end in given for end in _RANGE[:2])
    return ends and not any(isinstance(given.get(end), list | Mapping) for end in _RANGE[:2])


def _values(where: str, given: Any) -> Sequence[Value]:
    """A list of values, or a range in steps."""
    if isinstance(given, Mapping):
        between = _range(where, given, ("steps",))
        steps = _count(f"{where}: `steps`", given.get("steps"), 2)
        return [between.at(step / (steps - 1)) for step in range(steps)]
    if not given:
        raise UsageError(f"[sweep] {where}: the list is empty")
    return list(given)


def _range_or_list(where: str, given: Any) -> SweptRange | Sequence[Value]:
    """A range, or a list of values."""
    return _range(where, given, ()) if isinstance(given, Mapping) else _values(where, given)


def _range(where: str, table: Mapping[str, Any], further: tuple[str, ...]) -> SweptRange:
    known = ("from", "to", "scale", *further)
    for key in table:
        if key not in known:
            raise UsageError(f"[sweep] {where}: unknown key `{key}` of a range{did_you_mean(key, known)}")
    low, high = (number(table[end]) if end in table else None for end in ("from", "to"))
    finite = all(end is not None and math.isfinite(end.amount) for end in (low, high))
    if low is None or high is None or low.unit != high.unit or not finite:
        raise UsageError(f"[sweep] {where}: `from` and `to` must be numbers of one kind, such as "
                         f'"1ms" and "1s", found {table.get("from")!r} and {table.get("to")!r}')  # fmt: skip
    scale = table.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise UsageError(f'[sweep] {where}: `scale` is "linear" or "log", found {scale!r}')
    if not low.amount < high.amount or (scale == "log" and low.amount <= 0):
        above = " and above 0, for a range on a log scale" if scale == "log" else ""
        raise UsageError(f"[sweep] {where}: `from` must be less than `to`{above}")
    whole = low.unit in WHOLE or all(isinstance(table[end], int) for end in ("from", "to"))
    return SweptRange(low, high, whole, scale == "log")


def _names(tables: Any) -> Sequence[str] | None:
    if tables is not None and not (isinstance(tables, list | tuple) and all(isinstance(name, str) for name in tables)):
        raise UsageError(f'[sweep] {KEPT}: expected a list of names, such as ["links", "flows"], found {tables!r}')
    return tables


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_STEPS:
        raise UsageError(f"[sweep] {name} must be a whole number from {least} to {_MOST_STEPS}, found {value!r}")
    return value
