"""Measured figures as they are written in a table: the mean, how far its 95 % interval reaches, the best set off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headgate import style
from headgate.report.markup import Html, join, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headgate.spread import Figure


class Column(NamedTuple):
    """One column of the summary."""

    title: str
    scale: float
    best: str
    """`most` or `least`: which value is the best; empty if neither is."""
    cells: Sequence[Figure]


def cells(column: Column) -> list[Html]:
    """The column's values, the best in bold."""
    means = [round_as_shown(cell, column.scale) for cell in column.cells]
    known = [mean for mean in means if mean is not None]
    best = {"most": max, "least": min}.get(column.best)
    wanted = best(known) if best and len(set(known)) > 1 else None
    return [
        _cell(cell, column.scale, mean is not None and mean == wanted)
        for mean, cell in zip(means, column.cells, strict=True)
    ]


def _cell(measured: Figure, scale: float, best: bool) -> Html:
    mean, spread = with_spread(measured, scale)
    shown = tag("strong", text(mean)) if best else text(mean)
    return join([shown, tag("small", text(f"± {spread}"))]) if spread else shown


def with_spread(measured: Figure, scale: float) -> tuple[str, str]:
    """Mean and half interval, `8.61` and `0.04`, with the decimals that three significant digits of the mean need.

    A dash if nothing was measured; no spread if there is only one seed.
    """
    mean, high = measured["mean"], measured["high"]
    if mean is None or high is None:
        return style.MISSING, ""
    decimals = style.decimals(mean * scale)
    spread = style.fixed((high - mean) * scale, decimals) if len(measured["per_seed"]) > 1 else ""
    return style.fixed(mean * scale, decimals), spread


def round_as_shown(measured: Figure, scale: float) -> float | None:
    """The mean as a reader sees it, so that values shown alike are equally good."""
    mean = measured["mean"]
    return None if mean is None else round(mean * scale, style.decimals(mean * scale))
