"""Common to the FABA paper's experiments: disciplines, open parameters, and two networks (`mix` and `clients`)."""

from collections.abc import Iterable
from typing import Unpack

from headgate.build.keys import AccessKeys, DumbbellKeys, RecordKeys
from headgate.build.parts import ClassPart, FlowsPart, TcpPart, UdpPart, tcp, udp
from headgate.experiment import findings
from headgate.experiment.declare import OpenParameter, ScenarioValues
from headgate.experiment.measures import goodput
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: Bits of a packet on the wire (section 5).
PACKET_BITS = 512 * 8
#: A flow's own links, in every experiment: the paper's rates of the bottleneck go up to 45 Mbit/s.
ACCESS: AccessKeys = {"rate": "100Mbit/s"}
#: The buffer in packets: ten times the bandwidth-delay product of a flow (section 5.3).
BUFFER = 780

#: The disciplines that the paper calls "other queue management schemes". By section 5, RED and FRED have thresholds at
#: a quarter and a half of the buffer, and a maxp of 0.02.
OTHERS = {
    "RED": "red:minth=25%,maxth=50%,maxp=0.02",
    "CHOKe": "choke:minth=$choke_minth,maxth=50%,maxp=0.02",
    "FRED": "fred:minth=25%,maxth=50%,maxp=0.02",
}
FABA = {"FABA": "faba"}

#: Goodputs in Mbit/s.
GOODPUTS = {"cbr": goodput(kind="udp") * 1e-6, "tcp": goodput(kind="tcp") * 1e-6}

DURATION = OpenParameter("duration", "100s", "stated for figure 12 only; taken for all")
WINDOW = OpenParameter(
    "window",
    10000,
    "the paper states none; section 5.6 calls a flow with a limited window fragile. With ns-2's 20 packets, nine flows "
    "could not reach FRED's minth in a buffer of 780, and FRED's 0.961 in table 1 would be RED's number. The flow of "
    "200 ms in table 2 has a quarter of the goodput, which takes 122 packets on a full link",
    (20, 78),
)
RECOVERY = OpenParameter(
    "recovery",
    "newreno",
    "stated (section 5); other values show the effect of repairing one loss per round-trip time, as NewReno does",
    ("reno", "sack"),
)
STEADY = OpenParameter(
    "slow_but_steady", False, "RFC 6582's advice, and ns-2's default since May 2003; before, Slow-but-Steady", (True,)
)
DEFLATION = OpenParameter(
    "partial_deflation", True, "as in RFC 2582 and 6582, and ns-2's default since May 2003; before, none", (False,)
)
MIN_RTO = OpenParameter(
    "min_rto",
    "1s",
    "ns-2's default from May 2001 to October 2004 (its CHANGES.html); the paper appeared in February 2004",
    ("200ms",),
)
JITTER = OpenParameter("jitter", 0.1, "random sending times prevent lockstep; TCP sends with a delay of up to 200 us")
#: A buffer by the paper's rule: the bandwidth-delay products of all flows together (`packets_of_buffer`).
COMBINED = "combined"
#: The paper states the buffer for the experiments with `mix`. For others it is an open parameter.
MIX_BUFFER = OpenParameter("buffer", BUFFER, "ten bandwidth-delay products of a flow, as section 5.3 states")
SAME_BUFFER = OpenParameter(
    "buffer",
    BUFFER,
    "not stated for this figure; it has the ten flows for which section 5.3 states ten bandwidth-delay products",
    (78, 156, 390, 1560),
)
CLIENT_BUFFER = OpenParameter(
    "buffer",
    COMBINED,
    "not stated for this figure; by section 5.3's rule, a bandwidth-delay product for each flow: 10 packets a client",
    (BUFFER, 156, 1560),
)
CHOKE_MINTH = OpenParameter(
    "choke_minth", "25%", "section 5 states thresholds only for RED and FRED; CHOKe has the same", ("10%", "5%")
)

_MIX_DELAY = OpenParameter(
    "delay",
    "14ms",
    "our text has no figure 9; with links of 1 ms on both sides, the bandwidth-delay product is the 78 packets of "
    "section 5.3",
    ("4ms", "50ms"),
)
_CLIENT_DELAY = OpenParameter(
    "delay", "1ms", "as in figure 11; the round-trip time is then 4 ms, without queues", ("14ms",)
)
#: Open parameters of the flows in all experiments, in those with `mix`, and in those with `clients`.
FLOW_CHOICES = (DURATION, WINDOW, RECOVERY, STEADY, DEFLATION, MIN_RTO, JITTER)
MIX_CHOICES = (_MIX_DELAY, *FLOW_CHOICES)
CLIENT_CHOICES = (_CLIENT_DELAY, *FLOW_CHOICES)


def packets_of_buffer(buffer: int | str, rate_mbps: float, round_trips_ms: Iterable[float]) -> int:
    """The buffer in packets: a number, or the bandwidth-delay products of all flows if it is `COMBINED`.

    `round_trips_ms` has the round-trip time of each flow. Section 5.3 gives ten flows ten bandwidth-delay products.
    Section 5.4 calls that the bandwidth-delay product of all the flows combined.
    """
    if buffer != COMBINED:
        return int(buffer)
    return sum(round(rate_mbps * 1e3 * each / PACKET_BITS) for each in round_trips_ms)


def round_trip_ms(delay: str) -> float:
    """The round-trip time of a flow over the bottleneck and one link of 1 ms, as in figure 11."""
    return 2 * (float(delay.removesuffix("ms")) + 1)


def sender(v: ScenarioValues, flows: int = 1) -> TcpPart:
    """TCP flows of 512-byte packets that start in the first second."""
    return tcp(
        flows,
        profile="ns2",
        recovery=v.recovery,
        slow_but_steady=v.slow_but_steady,
        partial_deflation=v.partial_deflation,
        packet="512B",
        window=v.window,
        min_rto=v.min_rto,
        access=ACCESS,
        start="0s..1s",
        send_jitter="200us",
    )


def constant(rate: str, flows: int = 1) -> UdpPart:
    """Flows of a constant rate, the group `cbr`."""
    common = udp(rate, flows=flows, name="cbr", profile="ns2", packet="512B", jitter=0.1, start="0s..1s")
    return common.replace(access=ACCESS)


def network(
    v: ScenarioValues,
    name: str,
    about: str,
    flows: Iterable[FlowsPart],
    /,
    classes: Iterable[ClassPart] = (),
    **link: Unpack[DumbbellKeys],
) -> Dumbbell:
    """Flows over one link: 10 Mbit/s and a buffer of `v.buffer` packets unless `link` says otherwise."""
    given: DumbbellKeys = {
        "name": f"faba-{name}",
        "about": about,
        "duration": v.duration,
        "warmup": "20s",
        "rate": "10Mbit/s",
        "delay": "14ms",
        "limit": f"{v.buffer}p",
        **link,
    }
    return Dumbbell(flows=flows, classes=classes, qdiscs=v.qdiscs, **given)


def mix(v: ScenarioValues, **record: Unpack[RecordKeys]) -> Dumbbell:
    """The network of figure 9: nine TCP flows and a constant flow of 5 Mbit/s on 10 Mbit/s.

    Our text of the paper has no figure 9. A round-trip time of 2 x (1 + 14 + 1) ms gives the bandwidth-delay product
    of 78 packets that section 5.3 states.
    """
    about = "9 TCP flows and an unresponsive flow of 5 Mbit/s on 10 Mbit/s."
    return network(v, "mix", about, [sender(v, 9), constant("5Mbit/s")], delay=v.delay, record=record)


def clients(v: ScenarioValues, **record: Unpack[RecordKeys]) -> Dumbbell:
    """The network of figure 11: clients with links of 100 Mbit/s and 1 ms, and a bottleneck of 10 Mbit/s and 1 ms."""
    flows = sender(v, v.clients).replace(traffic=v.traffic, receiver={"delay": "0ms"})
    about = "Many clients of one kind on 10 Mbit/s."
    buffer = packets_of_buffer(v.buffer, 10, [round_trip_ms(v.delay)] * v.clients)
    return network(v, "clients", about, [flows], delay=v.delay, limit=f"{buffer}p", warmup="0s", record=record)
