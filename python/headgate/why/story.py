"""Facts in sentences: each says what one or two numbers say, and nothing that is not in them."""

import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headgate import _core, style
from headgate.results import Result
from headgate.scenario import RunKey
from headgate.why.facts import FlowFacts, GaugeMeans, PacketCounts
from headgate.why.senders import TcpTrace, TfrcTrace

#: Within this factor of each other, two rates are about the same to a reader.
ALIKE = 1.1
#: Beyond this factor, a flow was singled out, or spared.
APART = 1.5

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


def story(result: Result, point: RunKey, facts: FlowFacts) -> list[StorySection]:
    """Everything the facts say, the answer first and what is missing last."""
    told = {
        "": [_who(facts), f"In short: {answer(facts)}"],
        "What it got": _goodput(facts),
        "What became of its packets": _losses(facts),
        "Why": [*_reasons(facts), *_places(facts)],
        "When": _times(facts),
        "What the discipline saw": _gauges(facts),
        "How the sender took it": _sender(facts),
        "What is not recorded": _missing(result, point, facts),
    }
    return [StorySection(title, found) for title, each in told.items() if (found := list(each))]


def _who(facts: FlowFacts) -> str:
    kind, flows = KINDS[facts.kind], facts.peers.flows + 1
    which = "the only one" if flows == 1 else f"number {facts.index} of the {flows}"
    return (
        f"Flow {facts.flow} is {which} of `{facts.group}` ({kind}), under {facts.qdisc} "
        f"({_core.discipline(facts.qdisc.partition(':')[0]).summary}) with seed {facts.seed}, "
        f"in the {style.plain(facts.span_s)} s {'after the warm-up' if facts.warmup_s else 'of the run'}."
    )


def answer(facts: FlowFacts) -> str:
    """The whole in one sentence."""
    parts = [f"it got {_of_fair(facts)}"]
    if facts.mine.dropped + facts.mine.marked:
        parts.append(_treatment(facts))
        more = sum(each.mine > 0 for each in facts.reasons) > 1
        parts.append(f"{'mostly ' if more else ''}because {_because(facts.reasons[0].reason)}")
    elif facts.mine.arrived:
        parts.append("none of its packets were dropped or marked")
    if facts.mine.link_losses:
        parts.append(f"links lost {_percent(facts.mine.part(facts.mine.link_losses))} of its packets on the way")
    if facts.mine.timeouts:
        what = "it stood still in" if facts.kind == "tcp" else "it halved its rate in"
        parts.append(f"{what} {_count(facts.mine.timeouts, 'timeout')}")
    return f"{'; '.join(parts)}."


def _of_fair(facts: FlowFacts) -> str:
    mine = facts.mine
    if mine.arrived == 0:
        return "nothing, and sent nothing"
    if mine.fair_share_bps == 0:
        return f"{style.measured(mine.goodput_bps)}, and no share was due to it"
    share = mine.goodput_bps / mine.fair_share_bps
    word = "about" if 1 / ALIKE <= share <= ALIKE else "more than" if share > 1 else "less than"
    return f"{word} its fair share ({style.number(share)} times)"


def _treatment(facts: FlowFacts) -> str:
    mine, others = (each.part(each.dropped) + each.part(each.marked) for each in (facts.mine, facts.others))
    what = _signals(facts, "or")
    if others == 0:
        return f"it alone had packets {what}" if facts.others.arrived else f"its packets were {what}"
    ratio = mine / others
    times = f"{'only ' if ratio < 1 else ''}{style.number(ratio)} times as"
    often = "about as" if 1 / APART <= ratio <= APART else times
    return f"its packets were {what} {often} often as those of all others"


def _signals(facts: FlowFacts, both: str) -> str:
    """The word for what happened to the flow's packets."""
    happened = {"dropped": facts.mine.dropped, "marked": facts.mine.marked}
    return f" {both} ".join(word for word, count in happened.items() if count) or "marked"


def _goodput(facts: FlowFacts) -> Iterator[str]:
    mine, peers, others = facts.mine, facts.peers, facts.others
    goodput, fair = style.measured(mine.goodput_bps), style.measured(mine.fair_share_bps)
    yield f"Its goodput was {goodput}; its fair share is {fair}."
    if peers.flows:
        each = peers.goodput_bps / peers.flows
        yield f"The other flows of its group got {style.measured(each)} each on average."
    if others.flows > peers.flows:
        rest = (others.goodput_bps - peers.goodput_bps) / (others.flows - peers.flows)
        yield f"The flows of other groups got {style.measured(rest)} each on average."
    # Headers included, at the mean size of the packets that were sent on.
    sent = mine.arrived - mine.dropped
    offered = mine.arrived * (mine.sent_bytes / sent) * 8 / facts.span_s if sent > 0 else 0.0
    if facts.kind == "udp" and offered > mine.goodput_bps * ALIKE:
        heedless = ", and does not slow down" if facts.constant else ""
        yield f"It offered {style.measured(offered)} to the link{heedless}."
    elif mine.goodput_bps < mine.fair_share_bps / ALIKE and mine.dropped + mine.marked + mine.link_losses == 0:
        yield "Nothing was dropped or marked: not the network held it back, but its own window, source or times."


def _losses(facts: FlowFacts) -> Iterator[str]:
    mine, others = facts.mine, facts.others
    if mine.arrived == 0:
        yield "No packet of it came to a queue."
        return
    theirs = f"Of the packets of the other {_count(others.flows, 'flow')}"
    dropped, marked = _part(mine, mine.dropped), _part(mine, mine.marked)
    yield f"Of its {_number(mine.arrived)} packets, {dropped} dropped and {marked} marked."
    if others.arrived:
        yield f"{theirs}, {_rates(others)}."
    for what, own, all_ in [
        ("drops", mine.dropped, mine.dropped + others.dropped),
        ("marks", mine.marked, mine.marked + others.marked),
    ]:
        if own and others.flows:
            came = mine.arrived / (mine.arrived + others.arrived)
            yield f"It sent {_percent(came)} of all packets and had {_percent(own / all_)} of all {what}."
    if 0 < facts.peers.flows < others.flows:
        yield f"Of the packets of the other flows of its group, {_rates(facts.peers)}."
    if mine.link_losses + others.link_losses:
        ours = f"{_count(mine.link_losses, 'packet')} of it ({_percent(mine.part(mine.link_losses))})"
        yield f"Links lost {ours if mine.link_losses else 'no packet of it'} on the way, which no discipline dropped."
        if others.arrived:
            yield f"{theirs} they lost {_percent(others.part(others.link_losses))}."
    if facts.reply_link_losses:
        yield f"Of what answers data, links lost {_count(facts.reply_link_losses, 'packet')} of all flows."
    if facts.queue_delay_ms is not None:
        beside = (
            f"; those of other flows {style.number(facts.others_queue_delay_ms)} ms"
            if facts.others_queue_delay_ms
            else ""
        )
        yield f"Its packets waited {style.number(facts.queue_delay_ms)} ms on average{beside}."


def _part(share: PacketCounts, count: int) -> str:
    if not count:
        return "none was"
    return f"{_number(count)} ({_percent(share.part(count))}) {'was' if count == 1 else 'were'}"


def _rates(share: PacketCounts) -> str:
    dropped, marked = (_percent(share.part(count)) for count in (share.dropped, share.marked))
    return f"{dropped} were dropped and {marked} marked"


def _because(reason: str) -> str:
    """What follows "because"; a discipline written in Python that is not here may have declared it."""
    return ABOUT.get(reason, f'its discipline calls it "{reason}"')


def _reasons(facts: FlowFacts) -> Iterator[str]:
    for each in (reason for reason in facts.reasons if reason.mine):
        counts = ((each.dropped, "dropped"), (each.marked, "marked"))
        signals = " and ".join(f"{_number(count)} {verb}" for count, verb in counts if count)
        befell = f": {_percent(each.mine / each.everyone)} of all packets that this befell"
        yield f"{signals} because {_because(each.reason)} ({each.reason}){befell if facts.others.arrived else ''}."


def _places(facts: FlowFacts) -> Iterator[str]:
    if facts.places and len(facts.places) > 1:
        listed = (f"{_number(place.count)} at `{place.link}` {place.direction}" for place in facts.places)
        yield f"By place: {', '.join(listed)}."


def _times(facts: FlowFacts) -> Iterator[str]:
    times = facts.times
    if times is None:
        return
    first, last = _seconds(times.first_s), _seconds(times.last_s)
    if times.count == 1:
        yield f"The only one at {first}."
        return
    what = _signals(facts, "and").replace("dropped", "drops").replace("marked", "marks")
    yield f"The first of {_number(times.count)} {what} at {first}, the last at {last}."
    quiet, begin, end = times.quiet_to_s - times.quiet_from_s, _seconds(times.quiet_from_s), _seconds(times.quiet_to_s)
    yield f"The longest time without lasted {_lasting(quiet)}, from {begin} to {end}."
    yield f"The worst second began at {_number(round(times.worst_s))} s and had {_number(times.worst_count)}."
    one_burst = times.bursts == 1 and times.in_bursts == times.count
    if times.bursts and times.in_bursts > times.bursts + 1 and not one_burst:
        share = _percent(times.in_bursts / times.count)
        yield f"{share} came in {_count(times.bursts, 'burst')}, less than 100 ms after one another."


def _gauges(facts: FlowFacts) -> Iterator[str]:
    """Means at the flow's drops and marks, and in brackets those at the drops and marks of others."""
    gauges = facts.gauges or []
    for of_flow, whose in ((False, "the queue"), (True, "the flow concerned")):
        listed = [_gauge(each) for each in gauges if each.of_flow == of_flow and each.mine is not None]
        if listed:
            yield f"Of {whose}, when a packet was {_signals(facts, 'or')}: {style.listed(listed)}."
    if any(each.mine is not None for each in gauges) and any(each.others is not None for each in gauges):
        yield "These are means over its own packets; in brackets, over those of all other flows."


def _gauge(gauge: GaugeMeans) -> str:
    others = "" if gauge.others is None else f" ({style.number(gauge.others)})"
    return f"`{gauge.name}` {style.number(gauge.mine or 0.0)}{others}"


def _sender(facts: FlowFacts) -> Iterator[str]:
    mine, peers = facts.mine, facts.peers
    if facts.kind == "tcp":
        yield f"It sent {_count(facts.retransmits, 'packet')} again and had {_count(mine.timeouts, 'timeout')}."
        if peers.flows:
            each = style.number(peers.timeouts / peers.flows)
            yield f"The other flows of its group had {each} timeouts each on average."
    elif facts.governed:
        yield f"It had {_count(mine.timeouts, 'timeout')} without a report from its receiver."
    traced = facts.trace or (facts.rates if facts.governed else None)
    if traced is not None:
        yield from _traced(traced)


def _traced(found: TcpTrace | TfrcTrace) -> Iterator[str]:
    """What the traces say of a sender of either kind."""
    shares = sorted(found.phases.items(), key=lambda item: -item[1])
    spent = [f"{_percent(share)} of the time in {PHASES.get(name, name)}" for name, share in shares]
    yield f"It spent {style.listed(spent)}."
    if isinstance(found, TcpTrace):
        mean, most = style.number(found.cwnd_mean), style.number(found.cwnd_max)
        yield f"Its window was {mean} packets on average and {most} at most."
    else:
        mean, most = style.measured(found.rate_bps_mean), style.measured(found.rate_bps_max)
        yield f"It was allowed {mean} on average and {most} at most, headers excluded."
        yield f"The loss event rate that it went by was {_percent(found.loss_event_rate_mean)} on average."
    if found.srtt_ms_mean is not None and found.srtt_ms_min is not None:
        mean, least = style.number(found.srtt_ms_mean), style.number(found.srtt_ms_min)
        yield f"Its smoothed round-trip time was {mean} ms on average, {least} ms at least."
    if isinstance(found, TcpTrace):
        yield f"The longest time in which nothing new was acknowledged lasted {_lasting(found.silence_s)}."
    if found.timeouts_s:
        more = f" and {len(found.timeouts_s) - 5} more" if len(found.timeouts_s) > 5 else ""
        yield f"Timeouts at {', '.join(map(_seconds, found.timeouts_s[:5]))}{more}."


def _missing(result: Result, point: RunKey, facts: FlowFacts) -> Iterator[str]:
    lacking = {}
    if facts.gauges is None and facts.mine.dropped + facts.mine.marked:
        when = "when packets were dropped or marked, and " if facts.times is None else ""
        lacking["record.events=decisions"] = f"{when}what the discipline saw then"
    if facts.governed and facts.trace is None and facts.rates is None:
        what = "window and timer" if facts.kind == "tcp" else "rate"
        lacking[f'record.flows=["{facts.group}/{facts.index}"]'] = f"the sender's {what} over time"
    if lacking:
        told = "; ".join(lacking.values())
        yield f"{told[0].upper()}{told[1:]}. To record it, run again:"
        yield f"  {_command(result, point, lacking)}"


def _command(result: Result, point: RunKey, changes: Iterable[str]) -> str:
    """The command that runs `point` again with these changes, and nothing else."""
    file = "scenario.toml" if result.path is None else str(result.path / "scenario.toml")
    sets = (word for change in (f"seeds=[{point.seed}]", *changes) for word in ("--set", change))
    return shlex.join(["headgate", "run", file, "--qdisc", point.qdisc, *sets])


def _number(count: int) -> str:
    return style.fixed(float(count), 0)


def _count(count: int, what: str) -> str:
    return f"{_number(count) if count else 'no'} {what}{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{style.number(100 * share)} %"


def _seconds(time: float) -> str:
    return f"{style.fixed(time, 2)} s"


def _lasting(time: float) -> str:
    return f"{style.number(time)} s" if time >= 1 else f"{style.number(1000 * time)} ms"
