"""Loads or runs the two results that `headgate compare` compares. Imports no module that starts threads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headgate.errors import UsageError
from headgate.live import worlds
from headgate.terminal.options import reading, watcher

if TYPE_CHECKING:
    from headgate.compare.gaps import Comparison


def compare_folders(one: Path, other: Path, allow: Iterable[str]) -> Comparison:
    """Compares two result folders."""
    from headgate.api import load
    from headgate.compare.gaps import compare

    return compare(load(one), load(other), allow)


def compare_file(
    file: Path, out: Path, where: str, changes: Iterable[str], then: Iterable[str], *, quiet: bool
) -> Comparison:
    """Runs a scenario twice into `out`, in the worlds of `where`, and compares the results.

    `changes` apply to both runs, `then` to the second. Keys that `then` changes may differ.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder: compare takes two result folders, or one scenario file")
    with reading(file):
        scenarios, left_out = worlds.scenarios(file, worlds.read(where), changes, then)
    for sentence in left_out:
        typer.echo(f"left out: {sentence}", err=True)
    # Imported here: numpy starts threads.
    from headgate.api import run_into
    from headgate.compare.agree import differences
    from headgate.compare.gaps import compare
    from headgate.files.store import folder_name

    one, other = (run_into(out / folder_name(each), each, watcher=watcher(quiet)) for each in scenarios)
    return compare(one, other, [difference.key for difference in differences(*scenarios)])
