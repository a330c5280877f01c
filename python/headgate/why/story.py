"""Explains a flow in sentences. Each sentence states one or two numbers of its facts."""

import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headgate import _core, style
from headgate.counting import agreeing
from headgate.results import Result
from headgate.scenario import RunKey
from headgate.why.facts import FlowFacts, GaugeMeans, PacketCounts
from headgate.why.senders import TcpTrace, TfrcTrace

#: Two rates within this factor count as about the same.
SAME_RATE = 1.1
#: Two drop rates within this factor count as about the same.
SAME_DROP_RATE = 1.5

ABOUT = dict(_core.reasons())
KINDS = {"tcp": "TCP", "udp": "UDP"}
PHASES = {
    "slow_start": "slow start",
    "avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "startup": "BBR's Startup",
    "drain": "BBR's Drain",
    "probe_bw": "BBR's ProbeBW",
    "probe_down": "BBR's ProbeBW_DOWN",
    "probe_cruise": "BBR's ProbeBW_CRUISE",
    "probe_refill": "BBR's ProbeBW_REFILL",
    "probe_up": "BBR's ProbeBW_UP",
    "probe_rtt": "BBR's ProbeRTT",
}


class StorySection(NamedTuple):
    """A heading and its sentences."""

    title: str
    sentences: list[str]


def story(result: Result, run: RunKey, facts: FlowFacts) -> list[StorySection]:
    """All sections: the summary first, missing records last."""
    by_title = {
        "": [_identity(facts), f"In short: {answer(facts)}"],
        "Goodput": _goodput(facts),
        "Drops, marks and delay": _losses(facts),
        "Reasons": [*_reasons(facts), *_places(facts)],
        "Times": _times(facts),
        "State of the discipline": _gauges(facts),
        "Sender": _sender(facts),
        "Not recorded": _missing(result, run, facts),
    }
    return [StorySection(title, sentences) for title, each in by_title.items() if (sentences := list(each))]


def _identity(facts: FlowFacts) -> str:
    kind, flows = KINDS[facts.kind], facts.peers.flows + 1
    which = "the only flow" if flows == 1 else f"one of the {flows} flows"
    number = "" if flows == 1 else f": number {facts.index}, counted from 0"
    return (
        f"Flow {facts.flow} is {which} of `{facts.group}` ({kind}){number}. "
        f"Discipline {facts.qdisc}, seed {facts.seed}, "
        f"{style.plain(facts.span_s)} s{' after the warm-up' if facts.warmup_s else ''}.\n"
        f"{facts.qdisc.partition(':')[0]}: {_core.discipline(facts.qdisc.partition(':')[0]).summary.rstrip('.')}."
    )


def answer(facts: FlowFacts) -> str:
    """The summary in one sentence."""
    parts = [_of_fair(facts)]
    if facts.mine.dropped + facts.mine.marked:
        treatment = _treatment(facts)
        more = sum(each.mine > 0 for each in facts.reasons) > 1
        # A qdisc of the kernel does not tell its reasons.
        why = f", {'mostly ' if more else ''}because {_because(facts.reasons[0].reason)}" if facts.reasons else ""
        parts.append(f"{treatment}{why}")
    elif facts.mine.arrived:
        parts.append("none of its packets were dropped or marked")
    if facts.mine.link_losses:
        parts.append(f"links lost {_percent(facts.mine.over_arrived(facts.mine.link_losses))} of its packets")
    if facts.mine.timeouts:
        what = "it had" if facts.kind == "tcp" else "it halved its rate after"
        parts.append(f"{what} {_count(facts.mine.timeouts, 'timeout')}")
    return f"{'; '.join(parts)}."


def _of_fair(facts: FlowFacts) -> str:
    mine = facts.mine
    if mine.arrived == 0:
        return "it sent no packets"
    if mine.fair_share_bps == 0:
        return f"its goodput was {style.measured(mine.goodput_bps)}, and it was not active after the warm-up"
    share = mine.goodput_bps / mine.fair_share_bps
    if (
        share < 1 / SAME_RATE
        and (offered := offered_bps(facts)) is not None
        and offered < mine.fair_share_bps / SAME_RATE
    ):
        came = _percent(mine.goodput_bps / offered) if offered else "none"
        return (
            f"its goodput was {style.number(share)} times its fair share, because its application sent no more: "
            f"{came} of that was delivered"
        )
    word = "about" if 1 / SAME_RATE <= share <= SAME_RATE else "more than" if share > 1 else "less than"
    return f"its goodput was {word} its fair share ({style.number(share)} times)"


def offered_bps(facts: FlowFacts) -> float | None:
    """The useful data that a UDP flow sent, in bit/s. None for a flow with congestion control, which adapts it.

    A source that is silent for a time sends less than its fair share, and this is no shortfall of the network.
    """
    mine = facts.mine
    lost = mine.dropped + mine.link_losses
    if facts.governed or mine.arrived <= lost:
        return None
    return mine.goodput_bps * mine.arrived / (mine.arrived - lost)


def _treatment(facts: FlowFacts) -> str:
    mine, others = (
        each.over_arrived(each.dropped) + each.over_arrived(each.marked) for each in (facts.mine, facts.others)
    )
    what = _signals(facts, "or")
    if others == 0:
        return f"only its packets were {what}" if facts.others.arrived else f"its packets were {what}"
    ratio = mine / others
    times = f"{'only ' if ratio < 1 else ''}{style.number(ratio)} times as"
    often = "about as" if 1 / SAME_DROP_RATE <= ratio <= SAME_DROP_RATE else times
    return f"its packets were {what} {often} often as those of all other flows"


def _signals(facts: FlowFacts, both: str) -> str:
    """`dropped`, `marked`, or both words, joined by the conjunction `both`."""
    counts = {"dropped": facts.mine.dropped, "marked": facts.mine.marked}
    return f" {both} ".join(word for word, count in counts.items() if count) or "marked"


def _goodput(facts: FlowFacts) -> Iterator[str]:
    mine, peers = facts.mine, facts.peers
    fair = f"its fair share is {style.measured(mine.fair_share_bps)}"
    if mine.fair_share_bps == 0:
        fair = "it has no fair share, as it was not active after the warm-up"
    yield f"Its goodput was {style.measured(mine.goodput_bps)}; {fair}."
    if peers.flows:
        each = peers.goodput_bps / peers.flows
        yield f"The other flows of its group: {style.measured(each)} on average."
    if facts.beside.flows:
        rest = facts.beside.goodput_bps / facts.beside.flows
        yield f"Flows of other groups: {style.measured(rest)} on average."
    # With headers, at the mean size of the packets that the discipline sent.
    sent = mine.arrived - mine.dropped
    offered = mine.arrived * (mine.sent_bytes / sent) * 8 / facts.span_s if sent > 0 else 0.0
    if facts.kind == "udp" and offered > mine.goodput_bps * SAME_RATE:
        unresponsive = " and is unresponsive" if facts.constant else ""
        yield f"It offered {style.measured(offered)} to the link{unresponsive}."
    elif mine.goodput_bps < mine.fair_share_bps / SAME_RATE and mine.dropped + mine.marked + mine.link_losses == 0:
        yield "No packet was dropped or marked: its window, source or schedule limited it, not the network."


def _losses(facts: FlowFacts) -> Iterator[str]:
    mine, others = facts.mine, facts.others
    if mine.arrived == 0:
        yield "None of its packets reached a queue."
        return
    theirs = f"Packets of the other {'flow' if others.flows == 1 else _count(others.flows, 'flow')}"
    dropped, marked = _part(mine, mine.dropped), _part(mine, mine.marked)
    yield f"Of its {_number(mine.arrived)} packets, {dropped} dropped and {marked} marked."
    if others.arrived:
        yield f"{theirs}: {_rates(others)}."
    for what, own, all_ in [
        ("drops", mine.dropped, mine.dropped + others.dropped),
        ("marks", mine.marked, mine.marked + others.marked),
    ]:
        if own and others.flows:
            share_of_arrivals = mine.arrived / (mine.arrived + others.arrived)
            yield f"It sent {_percent(share_of_arrivals)} of all packets and had {_percent(own / all_)} of all {what}."
    if 0 < facts.peers.flows < others.flows:
        yield f"Packets of the other flows of its group: {_rates(facts.peers)}."
    if mine.link_losses + others.link_losses:
        own_losses = f"{_count(mine.link_losses, 'packet')} ({_percent(mine.over_arrived(mine.link_losses))})"
        yield f"Link losses, which no discipline dropped: {own_losses if mine.link_losses else 'none of its packets'}."
        if others.arrived:
            yield f"{theirs}: links lost {_percent(others.over_arrived(others.link_losses))}."
    if facts.reply_link_losses:
        yield f"ACKs and reports: links lost {_count(facts.reply_link_losses, 'packet')} of all flows."
    if facts.queue_delay_ms is not None:
        delay_of_others = (
            f"; other flows: {style.number(facts.others_queue_delay_ms)} ms" if facts.others_queue_delay_ms else ""
        )
        yield f"Mean queueing delay of its packets: {style.number(facts.queue_delay_ms)} ms{delay_of_others}."


def _part(share: PacketCounts, count: int) -> str:
    if not count:
        return "none was"
    return f"{_number(count)} ({_percent(share.over_arrived(count))}) {agreeing(count, 'was', 'were')}"


def _rates(share: PacketCounts) -> str:
    dropped, marked = (_percent(share.over_arrived(count)) for count in (share.dropped, share.marked))
    return f"{dropped} were dropped and {marked} marked"


def _because(reason: str) -> str:
    """The words after "because". A reason is unknown if its discipline was written in Python and is not loaded."""
    return ABOUT.get(reason, f'of the reason "{reason}" of its discipline')


def _reasons(facts: FlowFacts) -> Iterator[str]:
    for each in (reason for reason in facts.reasons if reason.mine):
        counts = ((each.dropped, "dropped"), (each.marked, "marked"))
        signals = " and ".join(f"{_number(count)} {verb}" for count, verb in counts if count)
        of_all = f": {_percent(each.mine / each.of_all_flows)} of all packets with this reason"
        yield f"{signals} because {_because(each.reason)} ({each.reason}){of_all if facts.others.arrived else ''}."


def _places(facts: FlowFacts) -> Iterator[str]:
    if facts.places and len(facts.places) > 1:
        listed = (f"{_number(place.count)} at `{place.link}` {place.direction}" for place in facts.places)
        yield f"By link: {', '.join(listed)}."


def _times(facts: FlowFacts) -> Iterator[str]:
    times = facts.times
    if times is None:
        return
    first, last = _seconds(times.first_s), _seconds(times.last_s)
    if times.count == 1:
        yield f"At {first}."
        return
    what = _signals(facts, "and").replace("dropped", "drops").replace("marked", "marks")
    yield f"{_number(times.count)} {what}: the first at {first}, the last at {last}."
    quiet, begin, end = times.quiet_to_s - times.quiet_from_s, _seconds(times.quiet_from_s), _seconds(times.quiet_to_s)
    yield f"Longest interval without one: {_lasting(quiet)}, from {begin} to {end}."
    yield f"Most in one second: {_number(times.worst_count)}, from {_number(round(times.worst_s))} s on."
    one_burst = times.bursts == 1 and times.in_bursts == times.count
    if times.bursts and times.in_bursts > times.bursts + 1 and not one_burst:
        share = _percent(times.in_bursts / times.count)
        yield f"{share} in {_count(times.bursts, 'burst')}, with less than 100 ms between them."


def _gauges(facts: FlowFacts) -> Iterator[str]:
    """Means of gauges at the flow's drops and marks. Means at those of other flows are in brackets."""
    gauges = facts.gauges or []
    for of_flow, whose in ((False, "queue"), (True, "flow")):
        listed = [_gauge(each) for each in gauges if each.of_flow == of_flow and each.mine is not None]
        if listed:
            yield f"Gauges of the {whose} when a packet was {_signals(facts, 'or')}: {style.listed(listed)}."
    if any(each.mine is not None for each in gauges) and any(each.others is not None for each in gauges):
        yield "These are means over its packets; in brackets, over those of all other flows."


def _gauge(gauge: GaugeMeans) -> str:
    others = "" if gauge.others is None else f" ({style.number(gauge.others)})"
    return f"`{gauge.name}` {style.number(gauge.mine or 0.0)}{others}"


def _sender(facts: FlowFacts) -> Iterator[str]:
    mine, peers = facts.mine, facts.peers
    if facts.kind == "tcp":
        yield f"{_count(facts.retransmits, 'retransmission').capitalize()} and {_count(mine.timeouts, 'timeout')}."
        if peers.flows:
            each = style.number(peers.timeouts / peers.flows)
            yield f"The other flows of its group: {each} timeouts on average."
    elif facts.governed:
        yield f"{_count(mine.timeouts, 'timeout').capitalize()} without a report from its receiver."
    traced = facts.trace or (facts.rates if facts.governed else None)
    if traced is not None:
        yield from _traced(traced)


def _traced(trace: TcpTrace | TfrcTrace) -> Iterator[str]:
    """Sentences from the trace of a sender with congestion control."""
    shares = sorted(trace.phases.items(), key=lambda item: -item[1])
    spent = [f"{_percent(share)} of the time in {PHASES.get(name, name)}" for name, share in shares]
    yield f"Phases: {style.listed(spent)}."
    if isinstance(trace, TcpTrace):
        mean, most = style.number(trace.cwnd_mean), style.number(trace.cwnd_max)
        yield f"Congestion window: {mean} packets on average, {most} at most."
    else:
        mean, most = style.measured(trace.rate_bps_mean), style.measured(trace.rate_bps_max)
        if trace.loss_event_rate_mean is None:
            yield f"Target rate: {mean} on average, {most} at most."
        else:
            yield f"Allowed rate without headers: {mean} on average, {most} at most."
            yield f"Loss event rate: {_percent(trace.loss_event_rate_mean)} on average."
    if trace.srtt_ms_mean is not None and trace.srtt_ms_min is not None:
        mean, least = style.number(trace.srtt_ms_mean), style.number(trace.srtt_ms_min)
        yield f"Smoothed round-trip time: {mean} ms on average, {least} ms at least."
    if isinstance(trace, TcpTrace):
        yield f"Longest time without newly acknowledged data: {_lasting(trace.silence_s)}."
    if trace.timeouts_s:
        more = f" and {len(trace.timeouts_s) - 5} more" if len(trace.timeouts_s) > 5 else ""
        yield f"Timeouts at {', '.join(map(_seconds, trace.timeouts_s[:5]))}{more}."


def _missing(result: Result, run: RunKey, facts: FlowFacts) -> Iterator[str]:
    missing_records = {}
    if facts.gauges is None and facts.mine.dropped + facts.mine.marked:
        when = "the times of drops and marks, and " if facts.times is None else ""
        missing_records["record.events=decisions"] = f"{when}the discipline's state at each"
    if facts.governed and facts.trace is None and facts.rates is None:
        what = "window and timer" if facts.kind == "tcp" else "rate"
        missing_records[f'record.flows=["{facts.group}/{facts.index}"]'] = f"the sender's {what} over time"
    if missing_records:
        records = "; ".join(missing_records.values())
        yield f"{records[0].upper()}{records[1:]}. To record this, run:"
        yield f"  {_command(result, run, missing_records)}"


def _command(result: Result, run: RunKey, changes: Iterable[str]) -> str:
    """The command that repeats this run with the changes."""
    file = "scenario.toml" if result.path is None else str(result.path / "scenario.toml")
    sets = (word for change in (f"seeds=[{run.seed}]", *changes) for word in ("--set", change))
    return shlex.join(["headgate", "run", file, "--qdisc", run.qdisc, *sets])


def _number(count: int) -> str:
    return style.fixed(float(count), 0)


def _count(count: int, what: str) -> str:
    return f"{_number(count) if count else 'no'} {agreeing(count, what)}"


def _percent(share: float) -> str:
    return f"{style.number(100 * share)} %"


def _seconds(time: float) -> str:
    return f"{style.fixed(time, 2)} s"


def _lasting(time: float) -> str:
    return f"{style.number(time)} s" if time >= 1 else f"{style.number(1000 * time)} ms"
