"""`headgate link --check`: measures how accurately this machine emulates a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import _core
from headgate.analysis.accuracy import LATE_P50_MS, LATE_P99_MS, MOST_CPU
from headgate.live import options

if TYPE_CHECKING:
    from rich.table import Table

#: A packet in bytes, headers included: 10000 bits.
PACKET = 1250

#: Rates in Mbit/s that every machine must reach, with the seconds of each measurement.
REQUIRED_RATES = {1: 2.0, 10: 1.0, 100: 1.0}

#: Higher rates in Mbit/s, measured until one is not reached.
HIGHER_RATES = (200, 400, 600, 800, 1000, 1500, 2000, 3000, 4000)

#: Bound on a rate's relative error. The bounds of `analysis.accuracy` apply to the delay added at 10 Mbit/s, and to the
#: processor time of the forwarding thread at the rates of `REQUIRED_RATES`.
RATE_ERROR = 0.005

Measurement = Mapping[str, Any]


class CheckRow(NamedTuple):
    """One check: what is measured, the value, its bound, and whether it is within. None without a bound."""

    what: str
    measured: str
    bound: str
    good: bool | None


def rows(measure: Callable[[int, float, float], Measurement]) -> Iterator[CheckRow]:
    """Every check, from the measurements that `measure` makes."""
    floods = []
    for mbit, seconds in REQUIRED_RATES.items():
        floods.append(measure(mbit, 1.5, seconds))
        yield rate(mbit, floods[-1], required=True)
    yield from delay(measure(10, 0.5, 2.0))
    yield from outside_checks(floods)
    for mbit in HIGHER_RATES:
        row = rate(mbit, measure(mbit, 1.2, 1.0), required=False)
        yield row
        if "not reached" in row.measured:
            return


def rate(mbit: int, measurement: Measurement, *, required: bool) -> CheckRow:
    """The error of a rate. More is sent than the link carries, so it is busy from the first packet to the last."""
    packets, taken = measurement["timed"], measurement["taken_s"]
    measured = packets * PACKET * 8e-6 / taken if taken > 0 else 0.0
    error = measured / mbit - 1
    within = abs(error) <= RATE_ERROR
    shown = f"{measured:.3f} Mbit/s, {100 * error:+.3f} %" + ("" if within or required else ": not reached")
    return CheckRow(
        f"rate {mbit} Mbit/s", shown, f"{100 * RATE_ERROR} %" if required else "-", within if required else None
    )


def delay(measurement: Measurement) -> Iterator[CheckRow]:
    """The delay added to a packet's transmission time at 10 Mbit/s, from socket to socket."""
    nominal = PACKET * 8e-3 / 10
    for name, key, bound in (("median", "delay_ms_p50", LATE_P50_MS), ("p99", "delay_ms_p99", LATE_P99_MS)):
        added = measurement[key] - nominal if measurement[key] is not None else float("inf")
        yield CheckRow(f"added delay, {name}", f"{added:.3f} ms", f"{bound} ms", added <= bound)


def outside_checks(floods: list[Measurement]) -> Iterator[CheckRow]:
    """Whether only the discipline dropped packets, and whether the forwarding thread had time to spare."""
    gone = [lost_outside(flood) for flood in floods]
    yield CheckRow("packets lost outside the link", str(sum(gone)), "0", not any(gone))
    oversize = sum(count for flood in floods for name, count in flood["forward"]["not_ip"] if name == "oversize")
    yield CheckRow("packets longer than the MTU", str(oversize), "0", oversize == 0)
    stalls = sum(flood["forward"]["stalls"] for flood in floods)
    yield CheckRow("times the forwarding thread was late", str(stalls), "0", stalls == 0)
    # Over the time in which packets arrived: the idle time after the last one would lower the share.
    busiest = max(flood["cpu_s"] / flood["taken_s"] if flood["taken_s"] > 0 else 1.0 for flood in floods)
    share, bound = f"{100 * busiest:.0f} %", f"{100 * MOST_CPU:.0f} %"
    yield CheckRow("processor time of the thread, maximum", share, bound, busiest <= MOST_CPU)


def lost_outside(measurement: Measurement) -> int:
    """Packets counted at one point of the path but not at the next: socket, interface, link, interface, socket."""
    lane = measurement["forward"]
    steps = (
        (measurement["sent"], measurement["near_sent"]),
        (measurement["near_sent"], lane["offered"]),
        (lane["offered"], lane["sent"] + lane["dropped"]),
        (lane["delivered"], measurement["far_received"]),
        (measurement["far_received"], measurement["received"]),
    )
    missing: int = sum(abs(before - after) for before, after in steps)
    return missing + int(lane["no_slot"]) + int(lane["refused"])


def run() -> tuple[Table, bool]:
    """Checks this machine: the table, and whether every bound is kept."""
    return judged("check", rows(measure))


def judged(what: str, rows: Iterable[CheckRow]) -> tuple[Table, bool]:
    """The table of the checks, and whether every bound is kept."""
    from rich.table import Table

    table = Table(what, "measured", "at most", "", box=None, pad_edge=False)
    good = True
    for row in rows:
        table.add_row(row.what, row.measured, row.bound, {True: "good", False: "BAD", None: ""}[row.good])
        good = good and row.good is not False
    return table, good


def measure(mbit: int, share: float, seconds: float) -> Measurement:
    """Sends at `share` of the link's rate of `mbit` Mbit/s for `seconds`."""
    direction = options.scenario("forward", {"rate": f"{mbit}Mbit/s", "limit": "1000p"})
    return _core.measure(direction, round(mbit * 1e6 * share), PACKET, seconds)
