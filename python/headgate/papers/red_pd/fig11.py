"""TCP and constant flows mixed: shares under RED and RED-PD."""

from headgate import style
from headgate.experiment.claims import above, below, every, m, near
from headgate.experiment.declare import Claim, Experiment, HeadlineMeasure, OpenParameter, QuickVariant
from headgate.experiment.layers import FlowLines, ReferenceLine
from headgate.experiment.measures import RunMeasure, average, share_of_fair, throughput, throughput_share
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.red_pd import _network as net

#: Flows 1 to 9 by round-trip time in ms, flows 10 to 12 by rate in Mbit/s.
TCP = {30: (1, 2, 3), 50: (4, 5, 6), 70: (7, 8, 9)}
CBR = {10: 5, 11: 3, 12: 1}
FLOWS = range(1, 13)
#: One twelfth of the link.
FAIR = 10 / 12


def _restricted(flow: int, rate_mbps: float) -> RunMeasure:
    """Throughput of a constant flow over f(40 ms, p), or over its own rate if that is less."""
    return throughput(f"flow{flow}") / RunMeasure(lambda run: min(net.target(run), rate_mbps * 1e6))


EXPERIMENT = Experiment(
    about="Nine TCP flows share 10 Mbit/s with unresponsive flows of 5, 3 and 1 Mbit/s. Three TCP flows each "
    "have round-trip times of about 30, 50 and 70 ms. RED-PD should hold the unresponsive flows near the "
    "rate of a TCP flow of 40 ms.",
    scenario=lambda v: net.network(
        v,
        "fig11",
        "Nine TCP flows with round-trip times of about 30, 50 and 70 ms beside flows of 5, 3 and 1 Mbit/s.",
        [
            *net.mix(v),
            *(
                net.constant(v, f"flow{n}", *ends).replace(rate=f"{rate}Mbit/s")
                for (n, rate), *ends in zip(CBR.items(), net.SENDERS, net.RECEIVERS, strict=True)
            ),
        ],
        warmup=v.warmup,
        duration="390s",
    ),
    qdiscs={"RED": net.RED, "RED-PD": net.RED_PD},
    measures={
        "ambient": net.ambient,
        "target": net.target,
        "tcp_share": share_of_fair(kind="tcp"),
        "cbr_share": throughput_share(kind="udp"),
        **{f"flow{n}": throughput(f"flow{n}") for n in FLOWS},
        **{f"tcp{rtt}": average(*(throughput(f"flow{n}") for n in flows)) for rtt, flows in TCP.items()},
        **{f"restricted{n}": _restricted(n, rate) for n, rate in CBR.items()},
        **{f"held_back{n}": net.held_back(f"flow{n}") for n in CBR},
        **{f"held_back_tcp{rtt}": net.held_back(*(f"flow{n}" for n in flows)) for rtt, flows in TCP.items()},
    },
    choices=(
        OpenParameter("warmup", "190s", "the authors' `mix.sh` measures from 190 s to 390 s; the text says after 20 s"),
        net.unresponsive(net.ENGINE, "The authors' `mix.sh` leaves the test on and runs RED-PD once"),
        net.MAXDECREASE,
        net.MIN_RTO,
        net.JITTER,
    ),
    stated_in="section 5.2",
    claims=(
        Claim(
            "With RED the constant flows get almost all the bandwidth (more than 80 %)",
            above(m("cbr_share", "RED"), 0.8),
            net.WHY["fig11 timeouts"],
            place="section 5.2, figure 11",
        ),
        Claim(
            "With RED-PD the TCP flows get more than with RED, together and those of each round-trip time",
            every(
                (
                    above(m("tcp_share", "RED-PD"), m("tcp_share", "RED")),
                    *(above(m(f"tcp{rtt}", "RED-PD"), m(f"tcp{rtt}", "RED")) for rtt in TCP),
                )
            ),
            place="section 5.2, figure 11",
        ),
        Claim(
            "RED-PD restricts each constant flow to min(f(40 ms, p), its rate) (within 25 %)",
            every(near(m(f"restricted{flow}", "RED-PD"), 1.0, within=0.25) for flow in CBR),
            net.WHY["fig11 below"],
            place="section 5.2, figure 11",
        ),
        Claim(
            "RED-PD monitors the TCP flows of 30 ms too: it drops more of their packets before the queue than of the "
            "flows of 70 ms",
            above(m("held_back_tcp30", "RED-PD"), m("held_back_tcp70", "RED-PD")),
        ),
        Claim(
            "... and occasionally the TCP flows of 50 ms: more than those of 70 ms, less than those of 30 ms",
            every(
                (
                    above(m("held_back_tcp50", "RED-PD"), m("held_back_tcp70", "RED-PD")),
                    below(m("held_back_tcp50", "RED-PD"), m("held_back_tcp30", "RED-PD")),
                )
            ),
        ),
        Claim(
            "Each constant flow has its own drop rate before the queue, the faster flow a higher one",
            every(above(m(f"held_back{n}", "RED-PD"), m(f"held_back{n + 1}", "RED-PD")) for n in (10, 11)),
        ),
        Claim(
            "... and is therefore restricted to roughly the same throughput (within 25 %)",
            every(near(m(f"flow{n}", "RED-PD") / m("flow12", "RED-PD"), 1.0, within=0.25) for n in (10, 11)),
        ),
    ),
    plot=one_panel(
        (
            ReferenceLine(FAIR, {"linestyle": "-", "label": "fair share"}),
            FlowLines("flow{}", FLOWS, 1e-6),
            ReferenceLine(
                m("target", "RED-PD") * 1e-6, {"color": style.QUIET, "label": "f(R, p) with RED-PD, R = 40 ms"}
            ),
        ),
        AxisScale("Flow number"),
        AxisScale("Throughput (Mbit/s)"),
        note="Flows 1 to 9: TCP with round-trip times of 30 (1 to 3), 50 (4 to 6) and 70 ms (7 to 9). Flows 10, 11, 12 "
        "send 5, 3 and 1 Mbit/s. Bars: 95 % interval over seeds.",
    ),
    headline=HeadlineMeasure("tcp_share", "TCP's share of its fair share beside flows of 5, 3 and 1 Mbit/s"),
    quick=QuickVariant(seeds=3),
)
