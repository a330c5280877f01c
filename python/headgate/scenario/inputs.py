"""Reads the files that a scenario names: traces and captures."""

from collections.abc import Callable
from pathlib import Path

from headgate import guarded


def files_in(folder: Path) -> Callable[[str], bytes]:
    """Reads the files that a scenario in `folder` names."""
    return lambda path: guarded.read_bytes(folder / path, guarded.INPUT)
