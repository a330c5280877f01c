"""The option `--l4s` of `headgate evaluate`, and the options that go with it."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from headgate.errors import UsageError
from headgate.experiment.running import RunOptions
from headgate.style import FigureFiles
from headgate.terminal.console import console
from headgate.terminal.options import print_json, tell_files, watcher
from headgate.units import Units


class HeatMapOptions(NamedTuple):
    """The options of the heat map's cells, as the user wrote them."""

    rate: Sequence[str]
    rtt: Sequence[str]
    buffer: float | None
    classic_ecn: bool
    no_fallback: bool
    profile: str | None

    def refuse_any(self) -> None:
        """Raises `UsageError` if one is given: without `--l4s` they have no meaning."""
        without = HeatMapOptions((), (), None, classic_ecn=False, no_fallback=False, profile=None)
        given = [name for name, mine, usual in zip(self._fields, self, without, strict=True) if mine != usual]
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} is an option of heat maps: add --l4s")


def carry_out(
    specs: Sequence[str],
    asked: HeatMapOptions,
    out: Path,
    options: RunOptions,
    wanted: FigureFiles,
    *,
    as_json: bool,
) -> None:
    """Makes the heat maps of some disciplines, by default `grid.QDISCS`, and prints the page or the document."""
    from headgate.evaluate.candidates import named
    from headgate.evaluate.coexistence import grid, page, record, show

    given = grid.Grid(
        _axis("--rate", asked.rate, Units.RATE) or grid.RATES_BPS,
        _axis("--rtt", asked.rtt, Units.TIME) or grid.RTTS_MS,
        _buffer(asked.buffer),
        asked.classic_ecn,
        not asked.no_fallback,
        asked.profile or "rfc",
    )
    stored = record.carry_out(given, named(specs or grid.QDISCS), out, options, watcher(as_json))
    written = page.write_figures(stored.document, stored.path, wanted) if wanted.formats else []
    if as_json:
        print_json(stored.document)
        return
    console().print(show.page(stored.document))
    typer.echo(f"report  {stored.path / record.PAGE}\nfolder  {stored.path}")
    tell_files(written)


def _axis(option: str, written: Sequence[str], unit: Units) -> tuple[float, ...]:
    """The values of an axis, ascending, each once."""
    values: set[float] = set()
    for text in written:
        try:
            value = unit.read(text)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from None
        if not 0 < value < math.inf:
            raise UsageError(f"{option} {text}: give a number above 0")
        values.add(value)
    return tuple(sorted(values))


def _buffer(bdps: float | None) -> float | None:
    if bdps is not None and not 0 < bdps < math.inf:
        raise UsageError(f"--buffer {bdps:g}: give a number of bandwidth-delay products above 0, such as 2")
    return bdps
