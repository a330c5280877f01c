"""The output of the commands of a sweep: the plan, the cost, and query results."""

import json as jsons
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from headgate import style
from headgate.counting import agreeing, counted
from headgate.errors import UsageError
from headgate.files import store, tables
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.quantity import Value, toml
from headgate.sweeps.result import Sweep

#: Blanks between two columns of a query result.
_GAP = 2
#: Keys with more values than this are printed as a range.
_LISTED = 8


def plan(dataset: Dataset, left: int, seconds: float | None, where: str) -> str:
    """The swept values, the number of runs left, and the estimated time."""
    planned = dataset.plan
    total = len(planned.runs)
    lines = [f"{planned.base.name}: {counted(total, 'run')}"]
    for key in planned.spec.keys:
        given = (value for run in planned.runs for name, value in run.settings if name == key)
        values = list(dict.fromkeys(toml(value) for value in given))
        lines.append(f"  {key}: {_some(values)}")
    lines.append(f"  disciplines: {_some(planned.base.qdiscs)}")
    lines.append(f"  seeds: {_some(planned.base.seeds)}")
    if dataset.damaged:
        number = len(dataset.damaged)
        damaged = counted(number, "finished run is damaged and is", "finished runs are damaged and are")
        lines.append(f"  {damaged} run again: {dataset.damaged[0]}{'' if number == 1 else ' ..'}")
    if left < total:
        lines.append(f"  {counted(total - left, 'run')} {agreeing(total - left, 'is', 'are')} finished and reused")
    if left:
        about = "" if seconds is None else f": about {style.duration(seconds)}"
        lines.append(f"{counted(left, 'run')} left, {where}{about}")
    return "\n".join(lines)


def done(swept: Sweep, count: int) -> str:
    """The cost of the sweep, the place of its dataset, and an example of a query."""
    lines = []
    if swept.cost is not None and swept.cost.runs:
        runs, cpu_s, wall_s = swept.cost
        line = f"{counted(runs, 'run')} in {style.duration(wall_s)}"
        if count:
            line += f"; {counted(count, 'thread')}, {cpu_s / (wall_s * count):.0%} of their time spent simulating"
        lines.append(line)
    keys = "".join(f'"{key}", ' for key in swept.keys)
    figures = "avg(utilization), avg(queue_delay_ms_p95)"
    sql = f"select {keys}discipline, {figures} from points group by all order by all"  # noqa: S608 - it is shown
    return "\n".join([*lines, f"dataset  {swept.url}", f"query    headgate query {swept.url} '{sql}'"])


def columns(names: dict[str, list[str]]) -> Table:
    """Every table with its columns."""
    drawn = Table(Column(no_wrap=True), Column(overflow="fold"), box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, each in names.items():
        drawn.add_row(name, ", ".join(each))
    return drawn


def rows(answer: pa.Table, most: int, width: int) -> RenderableType:
    """A query result as a table; as records, a line for each column, if the table does not fit into `width` letters."""
    columns = [[_cell(value) for value in column.to_pylist()] for column in answer.slice(0, most).columns]
    heads = answer.column_names
    room = sum(max(map(len, [head, *cells])) + _GAP for head, cells in zip(heads, columns, strict=True))
    if room - _GAP > width:
        return _records(heads, list(zip(*columns, strict=True)))
    drawn = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for field in answer.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        drawn.add_column(field.name, justify="right" if number else "left", no_wrap=True)
    for row in zip(*columns, strict=True):
        drawn.add_row(*map(Text, row))
    return drawn


def _records(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Each row as lines of name and value below its number."""
    drawn = Table(Column(), Column(overflow="fold"), box=None, show_header=False, padding=(0, _GAP, 0, 0))
    for number, row in enumerate(rows, 1):
        drawn.add_row(Text(f"row {number}", style="bold"))
        for head, cell in zip(heads, row, strict=True):
            drawn.add_row(Text(f"  {head}"), Text(cell))
    return drawn


def json(answer: pa.Table) -> str:
    """A query result as a list of objects; numbers that are not finite are null."""
    return jsons.dumps(store.without_nan(answer.to_pylist()), indent=1, allow_nan=False, default=str)


def write(answer: pa.Table, file: Path) -> None:
    """Writes a query result to a Parquet file."""
    try:
        tables.write(file, answer)
    except OSError as error:
        raise store.not_writable(file, error) from None
    except pa.ArrowException as error:
        raise UsageError(f"the result cannot be written as Parquet: {error}") from None


def _some(values: Sequence[Value]) -> str:
    texts = [str(value) for value in values]
    return ", ".join(texts) if len(texts) <= _LISTED else f"{len(texts)} values, {texts[0]} .. {texts[-1]}"


def _cell(value: Any) -> str:
    if value is None:
        return style.MISSING
    return f"{value:.6g}" if isinstance(value, float) else str(value)
