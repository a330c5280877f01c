"""The heat map in the terminal: a table of ratios, and one of delays, for each discipline."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate import style
from headgate.evaluate import words
from headgate.evaluate.coexistence import heatmap
from headgate.evaluate.coexistence.grid import CLASSIC, SCALABLE
from headgate.evaluate.coexistence.page import answer
from headgate.terminal import layout


def page(document: Mapping[str, Any]) -> Group:
    """The page: the ratios and the delays of each discipline."""
    seeds = document["seeds"]
    runs = "one seed" if seeds == 1 else f"{seeds} seeds"
    parts: list[RenderableType] = [
        Text(f"Goodput of Prague over CUBIC's, {runs} of {document['duration_s']} s", style="bold"),
        Text(f"{document['pair']}. In parentheses: mean queueing delay of Prague and CUBIC, ms", style="dim"),
    ]
    for each in document["disciplines"]:
        parts += [Text(f"\n{each['label']}", style="bold"), _table(document, each["spec"])]
    parts.append(Text(f"\n{answer(document)}.", style="bold"))
    return Group(*parts)


def _table(document: Mapping[str, Any], spec: str) -> Table:
    heads = [f"{style.plain(rtt)} ms" for rtt in document["rtts_ms"]]
    drawn = layout.table([*layout.text_columns("rate"), *layout.text_columns(*heads, justify="right")])
    for row in heatmap.table(document, spec):
        drawn.add_row(f"{style.plain(row[0]['rate_bps'] / 1e6)} Mbit/s", *map(_cell, row))
    return drawn


def _cell(cell: Mapping[str, Any]) -> Text:
    delays = ", ".join(words.mean(cell["values"][f"{flow}_delay_ms_mean"]) for flow in (SCALABLE, CLASSIC))
    return Text(heatmap.shown(cell["ratio"]), style="bold").append(f"\n({delays})", style="dim")
