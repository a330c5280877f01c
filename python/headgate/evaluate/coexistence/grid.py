"""The cells of a heat map, and the scenario and the measures of each.

Rates and base round-trip times are those of the published heat maps of DualPI2 (De Schepper, Albisser, Tilmans,
Briscoe, "Dual Queue Coupled AQM: Deployable Very Low Queuing Delay for All", arXiv 2209.01078).
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from headgate import style
from headgate.build import parts
from headgate.evaluate.network import PACKET_BYTES, buffer_packets
from headgate.experiment.declare import Case, grid
from headgate.experiment.measures import RunFunction, goodput, group_delay_ms, idle, path_delay_ms
from headgate.scenario import Scenario
from headgate.scenario.network import Dumbbell

RATES_BPS = (4e6, 12e6, 40e6, 120e6, 200e6)
RTTS_MS = (5.0, 10.0, 20.0, 50.0, 100.0)
QDISCS = ("dualpi2", "fq_codel", "codel")

#: Length of a run and of its warm-up, in seconds. CUBIC's curve takes 11 s at 200 Mbit/s and 100 ms (RFC 9438: K).
TIMES, QUICK_TIMES = (180, 60), (30, 10)
SEEDS, QUICK_SEEDS = 5, 1

#: Without a given buffer, the queue has room for so much time at the link's rate. The disciplines hold it far shorter.
ROOM_S = 0.25

#: The flows. Their names are those of their congestion control.
SCALABLE, CLASSIC = "prague", "cubic"

#: Measures of a cell: of each flow goodput in Mbit/s and queueing delay in ms, and the link's idle time in percent.
MEASURES: dict[str, RunFunction] = {"idle_percent": idle()}
for _flow in (SCALABLE, CLASSIC):
    MEASURES[f"{_flow}_mbps"] = goodput(_flow) * 1e-6
    MEASURES[f"{_flow}_delay_ms_mean"] = path_delay_ms(_flow)
    MEASURES[f"{_flow}_delay_ms_p99"] = group_delay_ms(_flow, 0.99)


class Grid(NamedTuple):
    """The cells, and how both flows use ECN.

    `buffer_bdp` is the queue's limit in bandwidth-delay products; without it, the limit is `ROOM_S` at the link's rate.
    With `classic_ecn`, CUBIC accepts marks (RFC 3168); the published heat maps have CUBIC without. Without `fallback`,
    Prague takes no queue for a classic one, as is Linux's default. `profile` is that of both flows.
    """

    rates_bps: tuple[float, ...] = RATES_BPS
    rtts_ms: tuple[float, ...] = RTTS_MS
    buffer_bdp: float | None = None
    classic_ecn: bool = False
    fallback: bool = True
    profile: str = "rfc"

    def cells(self) -> tuple[Case, ...]:
        """Rate and round-trip time of each cell."""
        return grid(rate_bps=self.rates_bps, rtt_ms=self.rtts_ms)

    def limit_packets(self, rate_bps: float, rtt_ms: float) -> int:
        """The limit of the queue in a cell."""
        if self.buffer_bdp is None:
            return math.ceil(rate_bps * ROOM_S / 8 / PACKET_BYTES)
        return max(1, round(self.buffer_bdp * buffer_packets(rate_bps, rtt_ms)))

    def scenario(self, cell: Case, spec: str, times: tuple[int, int], seeds: int) -> Scenario:
        """The scenario of a cell with one discipline; `times` are the run's length and its warm-up in seconds."""
        rate_bps, rtt_ms = float(cell["rate_bps"]), float(cell["rtt_ms"])
        # The access links make up the rest of the round trip. They have ten times the bottleneck's rate.
        common: dict[str, Any] = {"profile": self.profile, "rtt": f"{rtt_ms:g}ms", "start": "0s..1s"}
        flows = (
            parts.tcp(name=SCALABLE, cc=SCALABLE, classic_fallback=self.fallback, **common),
            parts.tcp(name=CLASSIC, cc=CLASSIC, ecn=self.classic_ecn, **common),
        )
        duration, warmup = (f"{each}s" for each in times)
        return Dumbbell(
            name="coexistence",
            rate=rate_bps,
            delay="100us",
            limit=f"{self.limit_packets(rate_bps, rtt_ms)}p",
            flows=flows,
            qdiscs=[spec],
            duration=duration,
            warmup=warmup,
        ).changed(seeds=seeds)

    def words(self) -> str:
        """How both flows use ECN, and the buffer, in a sentence's end."""
        ecn = "with classic ECN" if self.classic_ecn else "without ECN"
        fallback = "" if self.fallback else " without its fall-back on classic queues"
        room = f"{1e3 * ROOM_S:g} ms" if self.buffer_bdp is None else f"{style.plain(self.buffer_bdp)} BDP"
        profile = "" if self.profile == "rfc" else f" (profile {self.profile})"
        return f"Prague{fallback} beside CUBIC {ecn}{profile}, buffer of {room}"

    def name_parts(self) -> Iterator[str]:
        """The parts of a folder's name that stand for other cells and settings than the default ones."""
        if self.rates_bps != RATES_BPS:
            yield "-".join(f"{rate * 1e-6:g}M" for rate in self.rates_bps)
        if self.rtts_ms != RTTS_MS:
            yield "-".join(f"{rtt:g}ms" for rtt in self.rtts_ms)
        if self.buffer_bdp is not None:
            yield f"{self.buffer_bdp:g}bdp"
        if self.classic_ecn:
            yield "classic-ecn"
        if not self.fallback:
            yield "no-fallback"
        if self.profile != "rfc":
            yield self.profile
