"""The parts of the page as values for its template."""

from typing import NamedTuple

import numpy as np

from headgate import style
from headgate.analysis import data
from headgate.analysis.division import divisions
from headgate.report import settings
from headgate.report.tables import Cell, Table
from headgate.results import Result
from headgate.terminal import table as terminal


def alternatives(result: Result) -> dict[str, str]:
    """What stands for each figure, by its name, where it is not seen."""
    unit, scale = style.unit_of(result.scenario.rate_bps)
    shares = "; ".join(
        f"{division.label}: "
        + ", ".join(f"{part.name} {style.number(part.goodput_bps / scale, 2)}" for part in division.parts)
        for division in divisions(result)
    )
    return {
        "overview": f"Bars of goodput in {unit} for each discipline. {shares}. The table below has the same numbers "
        "and more.",
        "goodput": "Bars of goodput for each flow beside its max-min fair share, one panel a discipline.",
        "delay": "Curves of the share of packets against the time they waited at most, one a discipline; the table "
        "above has the delays at 50, 95 and 99 %.",
        "tradeoff": "Dots of goodput against mean time in the queue, one a discipline and seed.",
        "fairness": "Lines of Jain's index against the time over which goodput is compared, one a discipline.",
        "completion": "Completion times of transfers against their size, and the share finished within a time.",
        "queue": "Queue length in packets over simulated time, one panel a discipline.",
        "gauges": "The quantities that each discipline watches and controls over simulated time.",
        "pair": "Goodput by group, queue length and gauges over simulated time, a column for each discipline.",
    }


def summary(result: Result) -> list[Table]:
    """The table of the terminal, a row a discipline, and one for each further link."""
    found = terminal.rows(result)
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± half the 95 % interval" if seeds > 1 else "One seed"
    delays = "p50, p95, p99: time in the queue."
    if not terminal.several(found):
        return [_table(f"{spread}. {delays}", terminal.columns(result.scenario, found), found)]
    listed = terminal.link_columns(found)
    links = (_table(f"Link {place.label}. {spread}. {delays}", listed, rows) for place, rows in terminal.by_link(found))
    return [_table(f"{spread}.", terminal.columns(result.scenario, found), found), *links]


def _table(caption: str, columns: list[terminal.Column], found: list[terminal.Row]) -> Table:
    shown = [_column(column, found) for column in columns]
    names = [look.label for look in style.looks([row.entry["qdisc"] for row in found]).values()]
    head = ["Discipline", *(" ".join(column.title.split()) for column in columns)]
    rows = [(name, list(cells)) for name, *cells in zip(names, *shown, strict=True)]
    return Table(f"{caption} Bold: the best of its column.", head, rows)


def _column(column: terminal.Column, found: list[terminal.Row]) -> list[Cell]:
    best = terminal.best_shown(column, found)
    return [Cell.of(column.figure(row), column.show, best=best) for row in found]


class Reasons(NamedTuple):
    """Packets dropped and marked by reason."""

    head: list[str]
    rows: list[list[str]]


def reasons(result: Result) -> Reasons | None:
    """A row for each discipline and class, a column for each reason; None if no packet was dropped or marked."""
    looks = style.looks(data.qdiscs(result))
    found = {(qdisc, kind): by_reason(result, qdisc, kind) for qdisc in looks for kind in _kinds(result)}
    every = [name for name in result.flows.column_names if any(name in counts for counts in found.values())]
    if not every:
        return None
    rows = [
        [f"{looks[qdisc].label}, {terminal.KINDS[kind]}", *(_packets(counts.get(name)) for name in every)]
        for (qdisc, kind), counts in found.items()
    ]
    return Reasons(["Discipline and class", *(name.replace("_", " ") for name in every)], rows)


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


def disciplines(result: Result) -> list[tuple[str, settings.About]]:
    """Each discipline's label, and its settings."""
    return [(look.label, settings.of(qdisc)) for qdisc, look in style.looks(data.qdiscs(result)).items()]
