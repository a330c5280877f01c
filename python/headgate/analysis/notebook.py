"""A result as HTML for a notebook: the verdict, and goodput and delay of each group."""

from collections.abc import Iterator, Sequence
from html import escape

from headgate import style
from headgate.analysis import findings, verdict
from headgate.analysis.spread import Estimate, half
from headgate.analysis.summary import summarize
from headgate.files.result_tables import ResultTables


def html(result: ResultTables) -> str:
    """The HTML of a result. It takes the notebook's own colors, so that it is legible on light and dark pages."""
    scenario = result.scenario
    unit, scale = style.unit_of(scenario.rate_bps)
    names = [group.name for group in scenario.groups]
    heads = ["discipline", *(f"{name} {unit}" for name in names), *(f"{name} p95 ms" for name in names)]
    entries = summarize(result)
    looks = style.looks([entry["qdisc"] for entry in entries])
    rows = [
        [
            looks[entry["qdisc"]].label,
            *(_number(group["goodput_bps"], 1 / scale) for group in entry["groups"]),
            *(_number(group["queue_delay_ms"]["p95"]) for group in entry["groups"]),
        ]
        for entry in entries
    ]
    seeds = len(scenario.seeds)
    spread = f"mean of {seeds} seeds ± margin of error (95 %)" if seeds > 1 else "one seed"
    note = f"{scenario.name}: {spread}. Goodput of all flows of a group, and 95th percentile of their queueing delay."
    answer = verdict.of(result, findings.of(result))
    table = "".join(_table(heads, rows))
    return f"<p><strong>{escape(answer)}.</strong></p>\n{table}<p><small>{escape(note)}</small></p>\n"


def _number(measured: Estimate, scale: float = 1.0) -> str:
    mean = measured["mean"]
    if mean is None:
        return style.MISSING
    return str(style.estimated(mean * scale, half(measured) * scale))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "<table>\n<thead><tr>"
    yield from (f'<th scope="col">{escape(head)}</th>' for head in heads)
    yield "</tr></thead>\n<tbody>\n"
    for name, *cells in rows:
        yield f'<tr><th scope="row">{escape(name)}</th>'
        yield from (f"<td>{escape(cell)}</td>" for cell in cells)
        yield "</tr>\n"
    yield "</tbody></table>\n"
