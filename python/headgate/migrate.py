"""`headgate migrate`: rewrites scenario files with the current names of keys and values."""

from __future__ import annotations

import difflib
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from headgate import _core, guarded
from headgate.errors import UsageError
from headgate.scenario import Scenario
from headgate.scenario.inputs import files_in
from headgate.terminal.console import with_error_messages
from headgate.terminal.options import reading


@with_error_messages
def migrate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Scenario files.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the changes as a diff and write nothing.")] = False,
) -> None:
    """Rewrite scenario files with the current names of keys.

    Keys, values and metrics of `expect` lines that were renamed get their new names. Comments, order and layout stay.
    Old names are read for one release, with a warning.
    """
    # All are read before the first is written.
    for file, old, new, changes in [_migrated(file) for file in files]:
        if dry_run:
            lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(file), str(file))
            typer.echo("".join(lines), nl=False)
            continue
        if new != old:
            _write(file, new)
        for line, change in changes:
            typer.echo(f"{file}:{line}: {change}")
        if not changes:
            typer.echo(f"{file}: every name is current")


def _migrated(file: Path) -> tuple[Path, str, str, list[tuple[int, str]]]:
    with reading(file):
        data = guarded.read_bytes(file, guarded.SCENARIO)
    try:
        old = data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text: a scenario is a TOML file") from None
    new, changes = _core.migrated(old, str(file))
    for line, change, current in _expectations(new, file):
        # A line that TOML writes with escapes stays: it is read with a warning.
        for quote in "\"'":
            matches = re.finditer(re.escape(f"{quote}{line}{quote}"), new)
            changes += [(new.count("\n", 0, each.start()) + 1, change) for each in matches]
            new = new.replace(f"{quote}{line}{quote}", f"{quote}{current}{quote}")
    return file, old, new, sorted(changes)


def _expectations(text: str, file: Path) -> Iterator[tuple[str, str, str]]:
    """Each `expect` line that has an old metric: the line, the warning, the line with the current metric."""
    from headgate.analysis import metrics

    lines = tomllib.loads(text).get("expect")
    if not lines:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scenario = Scenario.parse(text, file=str(file), files=files_in(file.parent))
        except (_core.ScenarioError, OSError):
            return  # its keys can be renamed, its metrics cannot be read
    for line in dict.fromkeys(lines):
        owner, colon, bound = line.rpartition(":")
        with warnings.catch_warnings(record=True) as old:
            warnings.simplefilter("always")
            try:
                parsed = metrics.bound(bound.strip(), scenario)
            except UsageError:
                continue
        if old:
            written = bound[: bound.index(parsed.sign)].strip()
            yield line, str(old[0].message), f"{owner}{colon}{bound.replace(written, str(parsed.metric), 1)}"


def _write(file: Path, text: str) -> None:
    from headgate.files.store import not_writable, write_whole

    try:
        mode = file.stat().st_mode
        write_whole(file.resolve(), text)
        file.chmod(mode)
    except OSError as error:
        raise not_writable(file, error, "the scenario") from None
