"""Libraries that only some functions need, and that an extra of the package installs.

A function that needs one calls `require` and then imports it. No module imports one at its top, so all other functions
work without them.
"""

from __future__ import annotations

from importlib import import_module

from headgate.errors import UsageError

#: The extra that installs each library, by the name of its module.
EXTRAS = {
    "distributed": "cluster",
    "duckdb": "query",
    "fsspec": "cluster",
    "ipywidgets": "notebook",
    "optuna": "tune",
    "pandas": "pandas",
    "polars": "polars",
    "xarray": "xarray",
}


def require(module: str, need: str) -> None:
    """Raises `UsageError` if a module of an optional library cannot be imported.

    `need` begins the message, as in "tuning needs Optuna". The rest says how to install the library.
    """
    try:
        import_module(module)
    except ImportError as error:
        extra = EXTRAS[module.partition(".")[0]]
        # A library that is installed but broken needs its own message beside ours.
        why = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise UsageError(f'{need}{why}: pip install "headgate-aqm[{extra}]"') from None
