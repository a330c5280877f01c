"""The tables of a result by name, and its intervals as an xarray dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headgate.errors import UsageError, did_you_mean
from headgate.extras import require
from headgate.files.result_tables import ResultTables
from headgate.files.tables import NAMES, STREAMED

if TYPE_CHECKING:
    import xarray


def table(result: ResultTables, name: str) -> pa.Table:
    """The table called `name`; `UsageError` if there is none, or none in this result."""
    known = [*NAMES, *STREAMED]
    if name not in known:
        raise UsageError(f"no table is called {name!r}{did_you_mean(name, known)} Tables: {', '.join(known)}")
    rows: pa.Table | None = getattr(result, name)
    if rows is None:
        raise UsageError(f"this result has no {name}: ask for them in the scenario's [record]")
    return rows


def dataset(result: ResultTables) -> xarray.Dataset:
    """The intervals: a variable for each metric, over discipline, seed, link or group, and time.

    Runs without a value have NaN. The reverse direction of a link is named `bottleneck reverse`.
    """
    require("xarray", "a dataset needs xarray")
    import xarray

    whole = result.intervals.to_pandas()
    whole["link"] = [_label(*row) for row in zip(whole["link"], whole["direction"], strict=True)]
    dimensions: dict[str, list[Any]] = {
        "qdisc": result.scenario.qdiscs,
        "seed": result.scenario.seeds,
        "link": list(dict.fromkeys(whole["link"].dropna())),
        "group": list(dict.fromkeys(whole["group"].dropna())),
        "time_s": sorted(set(whole["time_s"])),
    }
    variables = {}
    for metric, rows in whole.groupby("metric", observed=True, sort=False):
        dims = [name for name in dimensions if rows[name].notna().all()]
        shape = [len(dimensions[name]) for name in dims]
        indices = tuple(_indices(rows[name], dimensions[name]) for name in dims)
        values = np.full(shape, np.nan)
        values[indices] = rows["value"]
        variables[metric] = (dims, values)
    attributes = {"scenario": result.scenario.name, "config_hash": result.scenario.config_hash}
    return xarray.Dataset(variables, dimensions, attributes)


def _label(link: Any, direction: Any) -> Any:
    """The label of a direction of a link; a null stays null."""
    return link if direction != "reverse" else f"{link} reverse"


def _indices(column: Any, labels: list[Any]) -> list[int]:
    """The index of each row in the labels of a dimension."""
    numbers = {label: number for number, label in enumerate(labels)}
    return [numbers[label] for label in column]
