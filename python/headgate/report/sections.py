"""The parts of the page, each a function from a result to HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.plot import data, figures, render
from headgate.plot.division import Division, divisions, headline
from headgate.report import classes, settings
from headgate.report.markup import NONE, Html, join, picture, table, tag, text
from headgate.report.numbers import Column, cells

if TYPE_CHECKING:
    from headgate.results import Result

_CLASS_NAMES = {classes.TCP: "TCP", classes.UNRESPONSIVE: "Unresponsive"}


def answer(result: Result) -> str:
    """The headline, in plain text."""
    return headline(divisions(result), result.scenario.rate_bps)


def pictures(result: Result) -> dict[str, Html]:
    """Every figure by name, ready for the page; all but the overview, whose title is the page's, with a heading."""
    found = divisions(result)
    drawn = {}
    for name, figure in figures(result).items():
        title = " ".join(figure.get_suptitle().split())
        figure.suptitle("")
        alternative = _alternative(name, result, found)
        shown = picture(render(figure, "svg"), render(figure, "png"), alternative)
        drawn[name] = shown if name == "overview" else join([tag("h3", text(title)), shown])
    return drawn


def _alternative(name: str, result: Result, found: list[Division]) -> str:
    if name == "overview":
        unit, scale = style.unit_of(result.scenario.rate_bps)
        said = "; ".join(
            f"{style.printed(division.qdisc)}: "
            + ", ".join(f"{part.name} {style.number(part.goodput_bps / scale, 2)}" for part in division.parts)
            for division in found
        )
        return f"Bars of goodput in {unit} for each discipline. {said}. The table below has the same numbers and more."
    return {
        "goodput": "Bars of goodput for each flow beside its max-min fair share, one panel a discipline.",
        "delay": "Curves of the share of packets against the time they waited at most, one a discipline; the table "
        "above has the delays at 50, 95 and 99 %.",
        "queue": "Queue length in packets over simulated time, one panel a discipline.",
        "gauges": "The quantities that each discipline watches and controls over simulated time.",
    }[name]


def summary(result: Result) -> Html:
    """The table of figures of merit: a row a discipline."""
    known = data.qdiscs(result)
    shown = [cells(column) for column in _columns(result, known)]
    names = [text(label) for label in labels(known)]
    titles = ["Discipline", *(column.title for column in _columns(result, known))]
    return table(_caption(result), titles, zip(names, *shown, strict=True))


def _caption(result: Result) -> str:
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± half the 95 % interval" if seeds > 1 else "One seed"
    return f"{spread}. Bold: the best of its column."


def _columns(result: Result, known: list[str]) -> list[Column]:
    unit, scale = style.unit_of(result.scenario.rate_bps)
    entries = {entry["qdisc"]: entry for entry in result.summary()}
    bottleneck = [entries[qdisc]["bottleneck"] for qdisc in known]
    columns = []
    merits = {kind: [classes.of_class(result, qdisc, kind) for qdisc in known] for kind in classes.kinds(result)}
    for kind, found in merits.items():
        name, best = _CLASS_NAMES[kind], "most" if kind == classes.TCP else ""
        columns.append(Column(f"{name} goodput ({unit})", 1 / scale, best, [each.goodput_bps for each in found]))
        columns.append(Column(f"{name} share of fair (%)", 100, "", [each.share_of_fair for each in found]))
    columns.append(Column("Jain's index", 1, "most", [entries[qdisc]["jain"] for qdisc in known]))
    columns.append(Column("Utilisation (%)", 100, "most", [each["utilisation"] for each in bottleneck]))
    for kind, found in merits.items():
        name, best = _CLASS_NAMES[kind], "least" if kind == classes.TCP else ""
        columns.append(Column(f"{name} loss (%)", 100, best, [each.loss_rate for each in found]))
        if any(each.mark_rate["mean"] for each in found):
            columns.append(Column(f"{name} marked (%)", 100, "", [each.mark_rate for each in found]))
    for point in ("p50", "p95", "p99"):
        waits = [each["queue_delay_ms"][point] for each in bottleneck]
        columns.append(Column(f"Delay {point} (ms)", 1, "least", waits))
    return columns


def labels(known: list[str]) -> list[str]:
    """Disciplines as a reader knows them."""
    return [style.printed(qdisc) for qdisc in known]


def reasons(result: Result) -> Html:
    """Packets dropped and marked by reason, a row for each discipline and class."""
    known = data.qdiscs(result)
    found = {(qdisc, kind): classes.by_reason(result, qdisc, kind) for qdisc in known for kind in classes.kinds(result)}
    every = [name for name in result.flows.column_names if any(name in counts for counts in found.values())]
    if not every:
        return tag("p", text("No packet was dropped or marked after the warm-up."))
    rows = [
        [
            text(f"{style.printed(qdisc)}, {_CLASS_NAMES[kind]}"),
            *(text(style.fixed(counts[name], 0) if name in counts else style.MISSING) for name in every),
        ]
        for (qdisc, kind), counts in found.items()
    ]
    titles = [name.replace("_", " ", 1).replace("_", " ") for name in every]
    return table("Packets a run, mean over seeds, after the warm-up.", ["Discipline and class", *titles], rows)


def disciplines(result: Result) -> Html:
    """Every setting of each discipline, those written in the scenario in bold."""
    return join(_discipline(qdisc) for qdisc in data.qdiscs(result))


def _discipline(qdisc: str) -> Html:
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
    heading = tag("summary", join([tag("strong", text(style.printed(qdisc))), text(about.summary)]))
    return tag("details", join([heading, tag("p", text(about.citation)), listed]))
