"""Disciplines declared once, for Headgate and a peer."""

from __future__ import annotations

from peers.declare import Discipline, Settings
from peers.ns3 import QUEUE_DISC


def here(name: str, **settings: object) -> str:
    """A discipline as written on Headgate's command line."""

    def word(value: object) -> str:
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)

    text = ",".join(f"{key}={word(value)}" for key, value in settings.items())
    return f"{name}:{text}" if text else name


def droptail() -> Discipline:
    """ns-2's DropTail."""
    return Discipline(here("droptail"), "DropTail")


def fifo(limit: int) -> Discipline:
    """ns-3's FifoQueueDisc."""
    return Discipline(here("droptail"), "ns3::FifoQueueDisc", (("MaxSize", f"{limit}p"),))


#: Settings of every RED in ns-2: the queue counts packets, and marks replace every random drop.
RED_NS2: Settings = (
    ("bytes_", False),
    ("queue_in_bytes_", False),
    ("mean_pktsize_", 1000),
    ("use_mark_p_", False),
)


def red(
    minth: int, maxth: int, maxp: float, *, wq: float = 0.002, gentle: bool = True, ecn: bool = False
) -> Discipline:
    """RED of ns-2, with thresholds in packets."""
    settings: Settings = (
        *RED_NS2,
        ("thresh_", minth),
        ("maxthresh_", maxth),
        ("linterm_", 1 / maxp),
        ("q_weight_", wq),
        ("gentle_", gentle),
        ("setbit_", ecn),
    )
    return Discipline(red_here("red", minth, maxth, maxp, wq, gentle=gentle, ecn=ecn), "RED", settings)


def red_here(name: str, minth: int, maxth: int, maxp: float, wq: float, **more: object) -> str:
    """Headgate's RED with the rules of ns-2: spaced drops, and no drops while at most one packet is queued."""
    common: dict[str, object] = {"minth": f"{minth}p", "maxth": f"{maxth}p", "maxp": maxp, "wq": wq}
    return here(name, **common, spacing="wait", spare_first=True, spare_below=2, mean_packet="1000B", **more)


def red_ns3(minth: int, maxth: int, maxp: float, limit: int, *, wq: float = 0.002, ecn: bool = False) -> Discipline:
    """RED of ns-3, gentle, with thresholds in packets."""
    settings: Settings = (
        ("MinTh", minth),
        ("MaxTh", maxth),
        ("LInterm", 1 / maxp),
        ("QW", wq),
        ("MeanPktSize", 1500),
        ("MaxSize", f"{limit}p"),
        ("LinkBandwidth", "10Mbps"),
        ("UseEcn", ecn),
        ("UseHardDrop", False),
    )
    ours = red_here("red", minth, maxth, maxp, wq, gentle=True, ecn=ecn).replace("1000B", "1500B")
    return Discipline(ours, "ns3::RedQueueDisc", settings)


def sfq(limit: int, buckets: int) -> Discipline:
    """SFQ of ns-2."""
    ours = here("sfq", sharing="ns2", buckets=buckets, limit=f"{limit}p")
    return Discipline(ours, "SFQ", (("maxqueue_", limit), ("buckets_", buckets)), hashed=("sfq", buckets))


def drr(limit_bytes: int, buckets: int, quantum: int) -> Discipline:
    """DRR of ns-2, without collisions."""
    ours = here("drr", limit=f"{limit_bytes}B", quantum=f"{quantum}B", head_drop=True)
    settings: Settings = (("blimit_", limit_bytes), ("buckets_", buckets), ("quantum_", quantum))
    return Discipline(ours, "DRR", settings, hashed=("drr", buckets))


def pi(qref: int, a: float, b: float, w: float, *, ecn: bool = False) -> Discipline:
    """PI of ns-2, which counts its queue in packets."""
    settings: Settings = (
        ("bytes_", False),
        ("queue_in_bytes_", False),
        ("mean_pktsize_", 1000),
        ("qref_", qref),
        ("a_", a),
        ("b_", b),
        ("w_", w),
        ("setbit_", ecn),
    )
    return Discipline(here("pi", qref=f"{qref}p", a=a, b=b, w=w, ecn=ecn), "PI", settings)


def rem(gamma: float, bstar: int, *, ecn: bool = False) -> Discipline:
    """REM of ns-2. Drops count as arrivals there."""
    ours = here("rem", preset="ns2", gamma=gamma, bstar=f"{bstar}p", ecn=ecn)
    settings: Settings = (
        ("gamma_", gamma),
        ("pbo_", bstar),
        ("mean_pktsize_", 1000),
        ("markpkts_", ecn),
        ("qib_", False),
    )
    return Discipline(ours, "REM", settings)


def avq(gamma: float, *, ecn: bool = False) -> Discipline:
    """AVQ of ns-2, which counts the virtual queue in bytes."""
    settings: Settings = (("gamma_", gamma), ("mean_pktsize_", 1000), ("queue_in_bytes_", True), ("markpkts_", ecn))
    return Discipline(here("avq", preset="ns2", gamma=gamma, ecn=ecn), "Vq", settings)


def red_pd(minth: int, maxth: int, maxp: float, start: float, target_rtt: float = 0.04) -> Discipline:
    """RED-PD of ns-2, whose identification first runs after `start` seconds."""
    base = red(minth, maxth, maxp)
    rules = {"spare_unresponsive": False, "noidle": False, "target_rtt": f"{target_rtt}s", "start": f"{start}s"}
    ours = red_here("red_pd", minth, maxth, maxp, 0.002, gentle=True, **rules)
    engine = (start, target_rtt)
    return Discipline(ours, "RED/PD", base.settings, engine=engine)


def codel(limit: int, *, ecn: bool = False) -> Discipline:
    """CoDel of ns-3, which computes the square root as Linux does."""
    settings: Settings = (("MaxSize", f"{limit}p"), ("UseEcn", ecn))
    return Discipline(here("codel", square_root="newton", mtu="1500B", ecn=ecn), "ns3::CoDelQueueDisc", settings)


def pie(limit: int, *, ecn: bool = False) -> Discipline:
    """PIE of ns-3, with its delay measured by timestamps."""
    settings: Settings = (("MaxSize", f"{limit}p"), ("MeanPktSize", 1500), ("UseEcn", ecn))
    return Discipline(here("pie", packet="1500B", cap_increase=True, ecn=ecn), "ns3::PieQueueDisc", settings)


def fq_codel(limit: int, *, ecn: bool = False) -> Discipline:
    """FQ-CoDel of ns-3, with so many queues that no two flows share one.

    ns-3's quantum is the device's MTU of 1500 bytes, and it counts packets without the device's two bytes.
    """
    settings: Settings = (("MaxSize", f"{limit}p"), ("UseEcn", ecn), ("Flows", 65_536))
    ours = here("fq_codel", limit=f"{limit}p", square_root="newton", mtu="1500B", quantum="1502B", ecn=ecn, flows=65536)
    return Discipline(ours, "ns3::FqCoDelQueueDisc", settings)


def cobalt(limit: int, *, ecn: bool = False) -> Discipline:
    """COBALT of ns-3."""
    settings: Settings = (("MaxSize", f"{limit}p"), ("UseEcn", ecn))
    return Discipline(here("cobalt", preset="ns3", limit=f"{limit}p", ecn=ecn), "ns3::CobaltQueueDisc", settings)


def aqm(text: str, *, packet: int) -> Discipline:
    """One of Headgate's own disciplines, which ns-3 runs in our queue disc."""
    settings: Settings = (("Discipline", text), ("MeanPktSize", packet), ("LinkBandwidth", "10Mbps"))
    return Discipline(text, QUEUE_DISC, settings)
