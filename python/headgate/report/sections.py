"""The parts of the page, each a function from a result to HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate import style
from headgate import table as terminal
from headgate.division import Division, divisions
from headgate.plot import data
from headgate.report import settings
from headgate.report.markup import NONE, Html, join, picture, table, tag, text

if TYPE_CHECKING:
    from headgate.plot import Picture
    from headgate.results import Result
    from headgate.spread import Figure


def pictures(result: Result, drawn: dict[str, Picture]) -> dict[str, Html]:
    """Every figure by name, ready for the page; all but the overview, whose title is the page's, with a heading."""
    found = divisions(result)
    shown = {}
    for name, each in drawn.items():
        alone = picture(each.untitled, _alternative(name, result, found))
        shown[name] = alone if name == "overview" else join([tag("h3", text(each.title)), alone])
    return shown


def _alternative(name: str, result: Result, found: list[Division]) -> str:
    if name == "overview":
        unit, scale = style.unit_of(result.scenario.rate_bps)
        said = "; ".join(
            f"{division.label}: "
            + ", ".join(f"{part.name} {style.number(part.goodput_bps / scale, 2)}" for part in division.parts)
            for division in found
        )
        return f"Bars of goodput in {unit} for each discipline. {said}. The table below has the same numbers and more."
    return {
        "goodput": "Bars of goodput for each flow beside its max-min fair share, one panel a discipline.",
        "delay": "Curves of the share of packets against the time they waited at most, one a discipline; the table "
        "above has the delays at 50, 95 and 99 %.",
        "tradeoff": "Dots of goodput against mean time in the queue, one a discipline and seed.",
        "fairness": "Lines of Jain's index against the time over which goodput is compared, one a discipline.",
        "completion": "Completion times of transfers against their size, and the share finished within a time.",
        "queue": "Queue length in packets over simulated time, one panel a discipline.",
        "gauges": "The quantities that each discipline watches and controls over simulated time.",
        "pair": "Goodput by group, queue length and gauges over simulated time, a column for each discipline.",
    }[name]


def summary(result: Result) -> Html:
    """The table of the terminal: a row a discipline, the best values set off."""
    found = terminal.rows(result)
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± half the 95 % interval" if seeds > 1 else "One seed"
    delays = "p50, p95, p99: time in the queue."
    if not terminal.several(found):
        return _compare(f"{spread}. {delays}", terminal.columns(result.scenario, found), found)
    listed = terminal.link_columns(found)
    links = (
        _compare(f"Link {place.label}. {spread}. {delays}", listed, rows) for place, rows in terminal.by_link(found)
    )
    return join([_compare(f"{spread}.", terminal.columns(result.scenario, found), found), *links])


def _compare(caption: str, columns: list[terminal.Column], found: list[terminal.Row]) -> Html:
    shown = [_column(column, found) for column in columns]
    names = [text(look.label) for look in style.looks([row.entry["qdisc"] for row in found]).values()]
    titles = ["Discipline", *(" ".join(column.title.split()) for column in columns)]
    return table(f"{caption} Bold: the best of its column.", titles, zip(names, *shown, strict=True))


def _column(column: terminal.Column, found: list[terminal.Row]) -> list[Html]:
    best = terminal.best_shown(column, found)
    return [_cell(column, column.figure(row), best) for row in found]


def _cell(column: terminal.Column, measured: Figure, best: str | None) -> Html:
    mean, high = measured["mean"], measured["high"]
    if mean is None or high is None:
        return text(style.MISSING)
    shown = text(column.show(mean))
    cell = tag("strong", shown) if shown == best else shown
    if len(measured["per_seed"]) < 2:
        return cell
    return join([cell, tag("small", text(f"± {column.show(high - mean)}"))])


def reasons(result: Result) -> Html:
    """Packets dropped and marked by reason, a row for each discipline and class."""
    looks = style.looks(data.qdiscs(result))
    found = {(qdisc, kind): by_reason(result, qdisc, kind) for qdisc in looks for kind in _kinds(result)}
    every = [name for name in result.flows.column_names if any(name in counts for counts in found.values())]
    if not every:
        return tag("p", text("No packet was dropped or marked after the warm-up."))
    rows = [
        [
            text(f"{looks[qdisc].label}, {terminal.KINDS[kind]}"),
            *(text(_packets(counts.get(name))) for name in every),
        ]
        for (qdisc, kind), counts in found.items()
    ]
    titles = [name.replace("_", " ", 1).replace("_", " ") for name in every]
    return table("Packets a run, mean over seeds, after the warm-up.", ["Discipline and class", *titles], rows)


def _packets(mean: float | None) -> str:
    """Packets a run; a decimal below ten, so that one packet in some of the runs does not read as none."""
    return style.MISSING if mean is None else style.fixed(mean, 0 if mean >= 10 else 1)


def by_reason(result: Result, qdisc: str, kind: str) -> dict[str, float]:
    """Packets dropped and marked, by column (`dropped_early`), as the mean over seeds; zeros are left out."""
    flows = data.rows(result.flows, qdisc=qdisc, kind=kind)
    seeds = len(np.unique(data.values(flows, "seed"))) or 1
    columns = [name for name in flows.column_names if name.startswith(("dropped_", "marked_"))]
    means = {name: float(data.values(flows, name).sum()) / seeds for name in columns}
    return {name: mean for name, mean in means.items() if mean > 0}


def _kinds(result: Result) -> list[str]:
    return [kind for kind in terminal.KINDS if any(group.kind == kind for group in result.scenario.groups)]


def disciplines(result: Result) -> Html:
    """Every setting of each discipline, those written in the scenario in bold."""
    return join(_discipline(qdisc, look.label) for qdisc, look in style.looks(data.qdiscs(result)).items())


def _discipline(qdisc: str, label: str) -> Html:
    about = settings.of(qdisc)
    rows = [
        [
            tag("code", text(each.name)),
            tag("strong", text(each.value)) if each.by_hand else text(each.value),
            text(each.meaning),
        ]
        for each in about.settings
    ]
    listed = table("Bold: set in the scenario.", ["Setting", "Value", "Meaning"], rows) if rows else NONE
    heading = tag("summary", join([tag("strong", text(label)), text(about.summary)]))
    return tag("details", join([heading, tag("p", text(about.citation)), listed]))
