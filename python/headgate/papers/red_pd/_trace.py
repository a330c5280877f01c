"""The skew of flow sizes in a packet trace (section 3), from the user or generated.

A flow has one set of addresses, ports and protocol. It ends after more than 64 s without a packet.

The paper's trace, an hour at the border of UC Berkeley in August 2000, was never published. A generated trace is built
to have the skew that the paper reports, so it cannot confirm the paper.
"""

import threading
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headgate import guarded
from headgate.errors import UsageError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

TIMEOUT_S = 64.0
#: Fractions of the flows, largest flows first, whose shares are computed.
FRACTIONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: Windows in seconds; the text names 5 s alone.
WINDOWS = (1, 5, 10, 30, 60)

#: New flows per second, and duration in seconds, of the generated trace.
ARRIVALS, DURATION = 80.0, 900.0
#: The number of packets of a flow is lognormal with median 1, rounded up. 1 % of such flows have 64 % of the packets.
SIZE_SIGMA = 2.8
#: A flow of n packets has packets of about 60 n^0.19 bytes, so that 1 % of the flows have 80 % of the bytes.
PACKET_BYTES, PACKET_POWER, PACKET_SIGMA = 60.0, 0.19, 0.5
#: The packets per second of a flow of n packets are lognormal with median 8 n^0.35, since larger flows are faster
#: (Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002). With this power, 1 % of the flows have about 50 % of the bytes of
#: 5 s.
RATE, RATE_POWER, RATE_SIGMA = 8.0, 0.35, 1.5
#: The smallest and the largest packet, in bytes.
SMALLEST, LARGEST = 40, 1500
#: Maximum number of packets of a flow, so that no single flow dominates the trace.
MOST_PACKETS = 50_000


class PacketTrace(NamedTuple):
    """Packets: for each the number of its flow, its arrival time in seconds, and its size in bytes."""

    flow: Integers
    time: Floats
    size: Floats


class TraceShares(NamedTuple):
    """Shares of the largest flows, one for each of `FRACTIONS`: of bytes, of packets, and of the next window's bytes.

    With windows, each share is a mean over windows, and a window's flows are ranked by their packets or bytes in it.
    Over the whole trace, there is no next window.
    """

    bytes: Floats
    packets: Floats
    following: Floats


def shares(path: Path | None, seed: int, windows: tuple[int | None, ...]) -> Mapping[int | None, TraceShares]:
    """The shares by window (None: the whole trace), for the trace at `path` or for one generated from `seed`."""
    with _LOCK:
        return _shares(path, seed if path is None else 0, windows)


def generated(seed: int) -> PacketTrace:
    """A trace with the published skew."""
    draws = np.random.default_rng(seed)
    flows = int(draws.poisson(ARRIVALS * DURATION))
    packets = np.ceil(draws.lognormal(0.0, SIZE_SIGMA, flows)).clip(1, MOST_PACKETS)
    size = (PACKET_BYTES * packets**PACKET_POWER * draws.lognormal(0.0, PACKET_SIGMA, flows)).clip(SMALLEST, LARGEST)
    rate = RATE * packets**RATE_POWER * draws.lognormal(0.0, RATE_SIGMA, flows)
    start = draws.uniform(0.0, DURATION, flows)
    count = packets.astype(np.int64)
    flow = np.repeat(np.arange(flows), count)
    number = np.arange(flow.size) - np.repeat(np.cumsum(count) - count, count)
    time = start[flow] + (number + np.where(number > 0, draws.uniform(0.0, 1.0, flow.size), 0.0)) / rate[flow]
    seen = time < DURATION
    return PacketTrace(flow[seen], time[seen], np.rint(size)[flow[seen]])


def read(path: Path) -> PacketTrace:
    """The IP packets of a capture (pcap or pcapng), with the sizes in their IP headers."""
    numbers: dict[Any, int] = {}
    rows = [(numbers.setdefault(key, len(numbers)), time, size) for key, time, size in _packets(path)]
    if not rows:
        raise UsageError(f"{path} holds no IP packets")
    flow, time, size = (np.array(column) for column in zip(*rows, strict=True))
    return PacketTrace(flow.astype(np.int64), time - time.min(), size.astype(np.float64))


def split_after_silence(trace: PacketTrace) -> PacketTrace:
    """The same packets in the order of time. After more than 64 s without a packet, a flow counts as a new flow."""
    order = np.lexsort((trace.time, trace.flow))
    flow, time, size = trace.flow[order], trace.time[order], trace.size[order]
    begins = np.ones(flow.size, dtype=bool)
    begins[1:] = (flow[1:] != flow[:-1]) | (np.diff(time) > TIMEOUT_S)
    number = np.cumsum(begins) - 1
    order = np.argsort(time, kind="stable")
    return PacketTrace(number[order], time[order], size[order])


def shares_of(trace: PacketTrace, window_s: float | None = None) -> TraceShares:
    """The shares over the whole trace, or their means over its complete windows."""
    number = (
        np.zeros(trace.flow.size, dtype=np.int64) if window_s is None else (trace.time // window_s).astype(np.int64)
    )
    flows = int(trace.flow.max()) + 1
    # A row for each flow in each window, in the order of windows.
    keys, row = np.unique(number * flows + trace.flow, return_inverse=True)
    size, packets = _summed(row, trace.size), _summed(row, np.ones(row.size))
    following = _share_of_next(keys, size, flows)
    edges = np.searchsorted(keys // flows, np.arange(int(number[-1]) + 2))
    windows = [slice(first, last) for first, last in pairwise(edges) if last > first]
    if window_s is not None:
        # The last window is incomplete, and none follows it.
        windows = windows[:-1]
    curves = [
        (
            _top_sums(size[each], size[each]) / size[each].sum(),
            _top_sums(packets[each], packets[each]) / packets[each].sum(),
            _top_sums(size[each], following[each]),
        )
        for each in windows
    ]
    if not curves:
        return TraceShares(*(np.full(len(FRACTIONS), np.nan) for _ in TraceShares._fields))
    return TraceShares(*(np.mean(column, axis=0) for column in zip(*curves, strict=True)))


def _share_of_next(keys: Integers, size: Floats, flows: int) -> Floats:
    """For each flow in each window, its share of the bytes of the next window."""
    at = np.searchsorted(keys, keys + flows).clip(max=keys.size - 1)
    mine = np.where(keys[at] == keys + flows, size[at], 0.0)
    total = _summed(keys // flows, size)
    of_next = np.append(total[1:], 0.0)[keys // flows]
    share: Floats = np.divide(mine, of_next, out=np.zeros_like(mine), where=of_next > 0)
    return share


def _summed(row: Integers, what: Floats) -> Floats:
    return np.bincount(row, what).astype(np.float64)


def _top_sums(rank: Floats, what: Floats) -> Floats:
    """The sum of `what` over each of `FRACTIONS` of the flows, largest `rank` first; linear between whole flows."""
    summed = np.concatenate(([0.0], np.cumsum(what[np.argsort(-rank, kind="stable")])))
    sums: Floats = np.interp(np.array(FRACTIONS) * rank.size, np.arange(summed.size), summed)
    return sums


def _packets(path: Path) -> Iterator[tuple[Any, float, int]]:
    import dpkt

    raw = {12, 14, 101, 228, 229}  # numbers of link types of bare IP
    with guarded.open_file(path, guarded.CAPTURE) as file:
        try:
            capture = dpkt.pcap.UniversalReader(file)
            kind = capture.datalink()
            links = {1: dpkt.ethernet.Ethernet, 0: dpkt.loopback.Loopback, 113: dpkt.sll.SLL}
            if kind not in raw and kind not in links:
                raise UsageError(
                    f"{path} is of link type {kind}; known are Ethernet, Linux cooked, loopback and raw IP"
                )
            for time, frame in capture:
                packet = _bare(dpkt, frame) if kind in raw else links[kind](frame).data
                if isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6):
                    yield _key(dpkt, packet), float(time), _length(dpkt, packet)
        except (ValueError, dpkt.dpkt.Error) as error:
            raise UsageError(f"cannot read {path} as a capture (pcap, pcapng): {error}") from None


def _bare(dpkt: Any, frame: bytes) -> Any:
    return dpkt.ip6.IP6(frame) if frame[:1] and frame[0] >> 4 == 6 else dpkt.ip.IP(frame)


def _length(dpkt: Any, packet: Any) -> int:
    return int(packet.len if isinstance(packet, dpkt.ip.IP) else packet.plen + 40)


def _key(dpkt: Any, packet: Any) -> Any:
    """Addresses, protocol and ports. Ports are 0 if the packet has none or is not the first fragment."""
    inner = packet.data
    ports = (inner.sport, inner.dport) if isinstance(inner, dpkt.tcp.TCP | dpkt.udp.UDP) else (0, 0)
    return packet.src, packet.dst, packet.p, *ports


_LOCK = threading.Lock()


@cache
def _shares(path: Path | None, seed: int, windows: tuple[int | None, ...]) -> Mapping[int | None, TraceShares]:
    trace = split_after_silence(generated(seed) if path is None else read(path))
    return {window: shares_of(trace, window) for window in windows}
