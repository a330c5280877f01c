"""Finds experiments: each is a file of a package, and nothing lists them."""

import pkgutil
import re
from functools import cache
from importlib import import_module


@cache
def files(package: str) -> tuple[str, ...]:
    """The experiments of a package, figures before tables; files that begin with `_` are what they share."""
    found = (module.name for module in pkgutil.iter_modules(import_module(package).__path__))
    return tuple(sorted((name for name in found if not name.startswith("_")), key=_order))


def _order(name: str) -> list[tuple[str, int]]:
    """Words as words, numbers as numbers."""
    return [(word, int(number or 0)) for word, number in re.findall(r"([a-z_]+)(\d*)", name)]
