"""Results as data files of flent (Høiland-Jørgensen et al., VALUETOOLS 2017), one for each discipline and seed.

The format is that of flent 2.3.0: `ResultSet.serialize` in flent/resultset.py, format version 4. Series and test
parameters have the names of flent's tests tcp_nup and udp_flood and of qdisc_stats.inc, so flent can draw the plots of
these tests.
"""

import gzip
import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core
from headgate.analysis.links import LinkDirection, compared
from headgate.errors import UsageError
from headgate.files.store import slug
from headgate.results import Result
from headgate.scenario import RunKey, Scenario
from headgate.scenario.queues import Way
from headgate.sweeps.dataset import MANIFEST
from headgate.units import Units

VERSION = 4
SUFFIX = ".flent.gz"
PING = "Ping (ms) ICMP"

#: The date of every file: flent needs one, but a run's clock begins at 0. A fixed date keeps the bytes equal.
_BEGIN = "1970-01-01T00:00:00.000000Z"
_NOTE = (
    "Exported from Headgate. A stream is a group of flows. 'Ping (ms) ICMP' is the time that the mean queue of an "
    "interval takes to be sent at the link's rate, over all links where disciplines are compared, without the path's "
    "own delay."
)

SeriesValues = list[float | None]


class FlentSeries(NamedTuple):
    """Values at every time of a file."""

    unit: str
    values: SeriesValues


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """A file for each run of the result in the folder `path`."""
    if (path / MANIFEST).exists():
        raise UsageError(f"{path} is the dataset of a sweep, and flent takes single results: use --format csv")
    result = Result.load(path)
    for run in result.scenario.runs:
        text = json.dumps(document(result, run), indent=2, sort_keys=True, allow_nan=False)
        yield f"{slug(run)}{SUFFIX}", gzip.compress(text.encode(), mtime=0)


def document(result: Result, run: RunKey) -> dict[str, Any]:
    """The content of the file of one run."""
    scenario, intervals = result.scenario, _RunIntervals(result, run)
    directions = compared(result)
    series = _goodput(scenario, intervals) | _losses(scenario, intervals)
    queues = {
        f"qdisc_stats_{link_direction.label}": _queue(scenario, link_direction, intervals, alone=len(directions) == 1)
        for link_direction in directions
    }
    delays = {name: queue["delay"] for name, queue in queues.items() if "delay" in queue}
    series |= {f"{name}::delay": FlentSeries("ms", delay) for name, delay in delays.items()}
    if len(delays) == len(directions):
        series[PING] = FlentSeries("ms", _sum([*delays.values()]))
    raw = {name: _raw(intervals.times, queue) for name, queue in queues.items()}
    raw |= {name: _raw(intervals.times, {"val": each.values}) for name, each in series.items()}
    return {
        "version": VERSION,
        "metadata": _metadata(scenario, run, directions, series),
        "x_values": intervals.times,
        "results": {name: each.values for name, each in series.items()},
        "raw_values": raw,
    }


def rate_bps(scenario: Scenario, link_direction: LinkDirection) -> float | None:
    """The rate of a direction of a link in bit/s; None where it changes over time."""
    links = tomllib.loads(scenario.to_toml())["link"]
    (link,) = (each for each in (links if isinstance(links, list) else [links]) if each["name"] == link_direction.link)
    direction_keys = link if link_direction.direction == "forward" else link["reverse"]
    return None if {"schedule", "trace"} & direction_keys.keys() else Units.RATE.read(direction_keys["rate"])


class _RunIntervals:
    """The intervals of one run: values by metric, link and group, at common times."""

    def __init__(self, result: Result, run: RunKey) -> None:
        self._values: dict[tuple[str | None, ...], dict[float, float]] = {}
        for row in result.run("intervals", run).to_pylist():
            of = (row["metric"], row["link"], row["direction"], row["group"])
            self._values.setdefault(of, {})[row["time_s"]] = row["value"]
        self.times = sorted({time for values in self._values.values() for time in values})

    def of(
        self, metric: str, link: str | None = None, direction: str | None = None, group: str | None = None
    ) -> SeriesValues:
        """The values of a metric at every time; None for a missing value."""
        values = self._values.get((metric, link, direction, group), {})
        return [values.get(time) for time in self.times]


def _goodput(scenario: Scenario, intervals: _RunIntervals) -> dict[str, FlentSeries]:
    """Goodput of every group, numbered for TCP as flent numbers streams, and together in each direction."""
    rates: dict[str, SeriesValues] = {}
    for way in scenario.ways:
        load = _load(way)
        goodputs = [(group, _scaled(intervals.of("goodput_bps", group=group.name), 1e6)) for group in way.groups]
        if tcp := [each for group, each in goodputs if group.kind == "tcp"]:
            rates |= {f"TCP {load}::{number}": each for number, each in enumerate(tcp, 1)}
            rates |= {f"TCP {load} sum": _sum(tcp), f"TCP {load} avg": _scaled(_sum(tcp), len(tcp))}
        if udp := {group.name: each for group, each in goodputs if group.kind == "udp"}:
            rates |= {f"UDP {load}::{name}": each for name, each in udp.items()}
            rates |= {f"UDP {load}": _sum(list(udp.values()))}
    return {name: FlentSeries("Mbits/s", each) for name, each in rates.items()}


def _load(way: Way) -> str:
    """Flent's word for data in this direction, seen from the sender of forward data."""
    return "download" if way.direction == "reverse" else "upload"


def _losses(scenario: Scenario, intervals: _RunIntervals) -> dict[str, FlentSeries]:
    """Packets that were dropped and marked in each interval, by group."""
    return {
        f"{title}::{group.name}": FlentSeries("packets", intervals.of(metric, group=group.name))
        for title, metric in (("Drops", "drops"), ("ECN marks", "marks"))
        for group in scenario.groups
    }


def _queue(
    scenario: Scenario, link_direction: LinkDirection, intervals: _RunIntervals, *, alone: bool
) -> dict[str, SeriesValues]:
    """The data of a queue by flent's names. Drops are not kept by link, so only a single link has them."""
    queue = intervals.of("queue_bytes", *link_direction)
    values = {"backlog_bytes": queue, "backlog_pkts": intervals.of("queue_packets", *link_direction)}
    if (rate := rate_bps(scenario, link_direction)) is not None:
        values["delay"] = [None if each is None else each * 8 / rate * 1e3 for each in queue]
    if alone:
        for name, metric in (("dropped", "drops"), ("ecn_mark", "marks")):
            values[name] = _sum([intervals.of(metric, group=group.name) for group in scenario.groups])
    return values


def _scaled(values: SeriesValues, by: float) -> SeriesValues:
    return [None if each is None else each / by for each in values]


def _sum(many: Sequence[SeriesValues]) -> SeriesValues:
    """The sum at every time; None if all values are missing."""
    known = ([each for each in at if each is not None] for at in zip(*many, strict=True))
    return [sum(each) if each else None for each in known]


def _raw(times: Sequence[float], columns: dict[str, SeriesValues]) -> list[dict[str, float]]:
    """An entry for each time, without missing values."""
    rows = (zip(columns, row, strict=True) for row in zip(*columns.values(), strict=True))
    known = ({name: value for name, value in row if value is not None} for row in rows)
    return [{"t": time, **entry} for time, entry in zip(times, known, strict=True) if entry]


def _metadata(
    scenario: Scenario, run: RunKey, directions: list[LinkDirection], series: dict[str, FlentSeries]
) -> dict[str, Any]:
    tcp = {_load(way): [group.name for group in way.groups if group.kind == "tcp"] for way in scenario.ways}
    names = {f"TCP {load}::{number}": name for load, of_way in tcp.items() for number, name in enumerate(of_way, 1)}
    interval = tomllib.loads(scenario.to_toml())["record"]["interval"]
    return {
        "NAME": "tcp_nup" if names else "udp_flood",
        "TITLE": f"{scenario.name}: {run.qdisc}, seed {run.seed}",
        "NOTE": _NOTE,
        "TIME": _BEGIN,
        "T0": _BEGIN,
        "LENGTH": scenario.duration_s,
        "TOTAL_LENGTH": scenario.duration_s,
        "STEP_SIZE": Units.TIME.read(interval) / 1e3,
        "HOST": scenario.bottleneck[0],
        "HOSTS": [scenario.bottleneck[0]],
        "LOCAL_HOST": "headgate",
        "DATA_FILENAME": f"{slug(run)}{SUFFIX}",
        "TEST_PARAMETERS": {
            **{f"{load}_streams": str(len(of_way)) for load, of_way in tcp.items()},
            "qdisc_stats_hosts": ",".join(link_direction.label for link_direction in directions),
            "qdisc_stats_interfaces": ",".join(link_direction.direction for link_direction in directions),
        },
        "SERIES_META": {
            name: {"UNITS": each.unit, "ID": names.get(name, name.partition("::")[2])} for name, each in series.items()
        },
        "HEADGATE": {
            "VERSION": _core.VERSION,
            "CONFIG_HASH": scenario.config_hash,
            "QDISC": run.qdisc,
            "SEED": run.seed,
            "WORLD": str(scenario.world),
        },
    }
