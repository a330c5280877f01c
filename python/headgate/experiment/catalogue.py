"""Finds experiments: each is one file of a paper's package."""

import pkgutil
import re
from functools import cache
from importlib import import_module


@cache
def files(package: str) -> tuple[str, ...]:
    """The experiments of a package, figures before tables. Files that begin with `_` are shared code."""
    modules = (module.name for module in pkgutil.iter_modules(import_module(package).__path__))
    return tuple(sorted((name for name in modules if not name.startswith("_")), key=_order))


def _order(name: str) -> list[tuple[str, int]]:
    """The key for sorting: text by letters, numbers by value, so that `fig9` is before `fig10`."""
    return [(word, int(number or 0)) for word, number in re.findall(r"([a-z_]+)(\d*)", name)]
