"""Flows with state under four disciplines, by the number of slow flows."""

from headgate.analysis.runs import Run
from headgate.experiment.claims import above, below, every, m
from headgate.experiment.declare import Basis, Claim, Experiment, OpenParameter, QuickVariant, for_each, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import gauge
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.red_pd import _network as net

#: Numbers of slow flows beside the twelve flows of figure 11.
SLOW = (10, 50, 100)
#: The flows of figure 11: nine TCP flows, and constant flows by rate in Mbit/s.
CBR = (5, 3, 1)
#: The gauge with the number of flows that have state, by discipline. FQ and FRED: flows with queued packets.
STATE = {"FQ": "flows", "FRED": "flows", "CSFQ": "flows", "RED-PD": "monitored"}
OTHERS = tuple(label for label in STATE if label != "RED-PD")


def _state(run: Run) -> float:
    """Mean number of flows with state."""
    return gauge(STATE[run.label])(run)


def _with_history(run: Run) -> float:
    """The same, with the flows in RED-PD's drop history. A monitored flow that is in the history counts twice."""
    return _state(run) + (gauge("history_flows")(run) if run.label == "RED-PD" else 0.0)


EXPERIMENT = Experiment(
    about="The table names the flows for which a discipline keeps state: FQ and CSFQ's edges for all, FRED for those "
    "with queued packets, RED-PD for those of high bandwidth, besides its drop history. Here these flows are counted, "
    "and those in the drop history, while slow flows are added to the flows of figure 11. Processing is not measured "
    "here, since a run counts no instructions. `cargo bench -p aqm --bench instructions` counts them for "
    "each packet, with classification, which the table leaves out.",
    scenario=lambda v: net.network(
        v,
        "table1",
        f"{v.slow} flows of {v.slow_rate} beside the nine TCP and three constant flows of figure 11.",
        [
            *net.mix(v),
            *(
                net.constant(v, f"flow{n}", *ends).replace(rate=f"{rate}Mbit/s")
                for n, (rate, *ends) in enumerate(zip(CBR, net.SENDERS, net.RECEIVERS, strict=True), 10)
            ),
            net.constant(v, "slow", "13ms", "1ms").replace(rate=v.slow_rate, flows=v.slow),
        ],
        warmup="20s",
        duration="120s",
    ),
    qdiscs={"FQ": "fq", "FRED": "fred", "CSFQ": "csfq", "RED-PD": net.RED_PD},
    # FRED's number varies by a fifth between seeds.
    seeds=20,
    cases=grid(slow=SLOW),
    measures={
        "state": _state,
        "with_history": _with_history,
        "history_flows": gauge("history_flows"),
        "history_drops": gauge("history_drops"),
    },
    choices=(
        OpenParameter(
            "slow_rate",
            "20kbit/s",
            "the table is of no simulation, so its traffic is ours: section 1 has many short flows beside few fast "
            "ones. A hundred of these flows send 2 Mbit/s",
            ("10kbit/s", "50kbit/s"),
        ),
        net.unresponsive(net.ENGINE, "As in figure 11, whose flows these are"),
        net.MAXDECREASE,
        net.MIN_RTO,
        net.JITTER,
    ),
    stated_in="section 6, table 1",
    # The traffic decides the comparisons, and it is ours. Section 6 expects fast flows to be a small part of all flows.
    claims=(
        *for_each(
            OTHERS,
            "If few flows are fast (12 of 112), RED-PD has state for fewer flows than {}",
            lambda other: below(m("state", "RED-PD", slow=SLOW[-1]), m("state", other, slow=SLOW[-1])),
            basis=Basis.OURS,
        ),
        Claim(
            "... and FRED for fewer than CSFQ, which has it for all",
            below(m("state", "FRED", slow=SLOW[-1]), m("state", "CSFQ", slow=SLOW[-1])),
            basis=Basis.OURS,
        ),
        *for_each(
            OTHERS,
            "RED-PD has state for fewer flows than {} also if the flows in its drop history count",
            lambda other: below(m("with_history", "RED-PD", slow=SLOW[-1]), m("state", other, slow=SLOW[-1])),
            net.WHY["table1 history"],
            basis=Basis.OURS,
        ),
        Claim(
            "RED-PD's state is that of high-bandwidth flows: slow flows add less to it than to the state of the others",
            every(
                above(
                    m("state", other, slow=SLOW[-1]) - m("state", other, slow=SLOW[0]),
                    m("state", "RED-PD", slow=SLOW[-1]) - m("state", "RED-PD", slow=SLOW[0]),
                )
                for other in OTHERS
            ),
            basis=Basis.OURS,
        ),
    ),
    plot=one_panel(
        (Lines("with_history", "slow", bars=True),),
        AxisScale("Slow flows beside twelve others"),
        AxisScale("Flows with state"),
        note="Means over time. FQ and FRED: flows with queued packets; CSFQ: flows with a rate estimate; RED-PD: "
        "monitored flows, and flows in the drop history. Bars: 95 % interval over seeds.",
    ),
    quick=QuickVariant(seeds=3, set=("duration=60s",)),
    modern=False,
)
