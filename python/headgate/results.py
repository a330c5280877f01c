"""A result: the tables of all runs, and summaries of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headgate.extras import require
from headgate.files.result_tables import ResultTables

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray


class Result(ResultTables):
    """The tables of a scenario's runs as `pyarrow.Table`, which pandas and polars read without a copy.

    Rows are sorted by discipline, in the scenario's order, then by seed. Tables cover the time after the warm-up;
    `intervals` and `events` cover the whole run. docs/reference/tables.md explains every column.
    """

    def to_pandas(self, table: str = "flows") -> pd.DataFrame:
        """A table by name as a pandas data frame; `UsageError` if there is none, or no pandas."""
        from headgate.analysis import frames

        rows = frames.table(self, table)
        require("pandas", "a data frame needs pandas")
        return rows.to_pandas()

    def to_polars(self, table: str = "flows") -> pl.DataFrame:
        """A table by name as a polars data frame; `UsageError` if there is none, or no polars."""
        from headgate.analysis import frames

        rows = frames.table(self, table)
        require("polars", "a polars data frame needs polars")
        import polars as pl

        return pl.DataFrame(rows)

    def to_xarray(self) -> xarray.Dataset:
        """The intervals as an xarray dataset: each metric over discipline, seed, link or group, and time in seconds.

        Missing values are NaN. `UsageError` if there is no xarray.
        """
        from headgate.analysis import frames

        return frames.dataset(self)

    def summary(self) -> list[dict[str, Any]]:
        """One entry for each discipline: the `results` of the JSON document (docs/reference/json.md)."""
        from headgate.analysis.summary import summarize

        return summarize(self)

    def document(self) -> dict[str, Any]:
        """The JSON document that `headgate run --json` prints (docs/reference/json.md)."""
        from headgate.analysis.summary import document

        return document(self)

    def _repr_html_(self) -> str:
        """The verdict and a table, as a notebook shows a result."""
        from headgate.analysis.notebook import html

        return html(self)
