"""Facts in sentences: each says what one or two numbers say, and nothing that is not in them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from headgate import _core, style

if TYPE_CHECKING:
    from headgate.results import Result
    from headgate.scenario import Point
    from headgate.why.facts import Facts, Gauge, Reason, Share
    from headgate.why.senders import Rates, Trace

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


class Section(NamedTuple):
    """A heading and its sentences."""

    title: str
    sentences: list[str]


def story(result: Result, point: Point, facts: Facts) -> list[Section]:
    """Everything the facts say, the answer first and what is missing last."""
    sections = [
        Section("", [_who(facts), f"In short: {answer(facts)}"]),
        Section("What it got", _goodput(facts)),
        Section("What became of its packets", _losses(facts)),
        Section("Why", [*_reasons(facts), *_places(facts)]),
        Section("When", _times(facts)),
        Section("What the discipline saw", _gauges(facts)),
        Section("How the sender took it", _sender(facts)),
        Section("What is not recorded", _missing(result, point, facts)),
    ]
    return [section for section in sections if section.sentences]


def _who(facts: Facts) -> str:
    kind, flows = KINDS[facts.kind], facts.peers.flows + 1
    which = "the only one" if flows == 1 else f"number {facts.index} of the {flows}"
    return (
        f"Flow {facts.flow} is {which} of `{facts.group}` ({kind}), under {facts.qdisc} "
        f"({_core.discipline(facts.qdisc.partition(':')[0]).summary}) with seed {facts.seed}, "
        f"in the {style.plain(facts.span_s)} s {'after the warm-up' if facts.warmup_s else 'of the run'}."
    )


def answer(facts: Facts) -> str:
    """The whole in one sentence."""
    parts = [f"it got {_of_fair(facts)}"]
    if facts.mine.dropped + facts.mine.marked:
        parts.append(_treatment(facts))
        more = sum(each.mine > 0 for each in facts.reasons) > 1
        parts.append(f"{'mostly ' if more else ''}because {_because(facts.reasons[0].reason)}")
    elif facts.mine.arrived:
        parts.append("none of its packets were dropped or marked")
    if facts.mine.lost:
        parts.append(f"links lost {_percent(facts.mine.losses)} of its packets on the way")
    if facts.mine.timeouts:
        what = "it stood still in" if facts.kind == "tcp" else "it halved its rate in"
        parts.append(f"{what} {_count(facts.mine.timeouts, 'timeout')}")
    return f"{'; '.join(parts)}."


def _of_fair(facts: Facts) -> str:
    mine = facts.mine
    if mine.arrived == 0:
        return "nothing, and sent nothing"
    if mine.fair_share_bps == 0:
        return f"{style.measured(mine.goodput_bps)}, and no share was due to it"
    share = mine.goodput_bps / mine.fair_share_bps
    word = "about" if 1 / ALIKE <= share <= ALIKE else "more than" if share > 1 else "less than"
    return f"{word} its fair share ({style.number(share)} times)"


def _treatment(facts: Facts) -> str:
    mine, others = facts.mine.loss + facts.mine.marks, facts.others.loss + facts.others.marks
    what = _signals(facts.mine.dropped > 0, facts.mine.marked > 0, "or")
    if others == 0:
        return f"it alone had packets {what}" if facts.others.arrived else f"its packets were {what}"
    ratio = mine / others
    often = f"its packets were {what}"
    if ratio > APART:
        return f"{often} {style.number(ratio)} times as often as those of all others"
    if ratio < 1 / APART:
        return f"{often} only {style.number(ratio)} times as often as those of all others"
    return f"{often} about as often as those of all others"


def _signals(dropped: bool, marked: bool, both: str) -> str:
    """The word for what happened to packets."""
    return f"dropped {both} marked" if dropped and marked else "dropped" if dropped else "marked"


def _goodput(facts: Facts) -> list[str]:
    mine, peers, others = facts.mine, facts.peers, facts.others
    told = [
        f"Its goodput was {style.measured(mine.goodput_bps)}; its fair share is {style.measured(mine.fair_share_bps)}."
    ]
    if peers.flows:
        told.append(
            f"The other flows of its group got {style.measured(peers.goodput_bps / peers.flows)} each on average."
        )
    if others.flows > peers.flows:
        rest = (others.goodput_bps - peers.goodput_bps) / (others.flows - peers.flows)
        told.append(f"The flows of other groups got {style.measured(rest)} each on average.")
    offered = _offered(facts)
    if facts.kind == "udp" and offered > mine.goodput_bps * ALIKE:
        heedless = ", and does not slow down" if facts.constant else ""
        told.append(f"It offered {style.measured(offered)} to the link{heedless}.")
    elif mine.goodput_bps < mine.fair_share_bps / ALIKE and mine.dropped + mine.marked + mine.lost == 0:
        told.append("Nothing was dropped or marked: not the network held it back, but its own window, source or times.")
    return told


def _offered(facts: Facts) -> float:
    """What came from the flow in bit/s, headers included, at the mean size of the packets that were sent on."""
    sent = facts.mine.arrived - facts.mine.dropped
    return facts.mine.arrived * (facts.mine.sent_bytes / sent) * 8 / facts.span_s if sent > 0 else 0.0


def _losses(facts: Facts) -> list[str]:
    mine, others = facts.mine, facts.others
    if mine.arrived == 0:
        return ["No packet of it came to a queue."]
    told = [f"Of its {_number(mine.arrived)} packets, {_fate(mine)}."]
    if others.arrived:
        told.append(f"Of the packets of the other {_count(others.flows, 'flow')}, {_rates(others)}.")
    for what, own, all_ in [
        ("drops", mine.dropped, mine.dropped + others.dropped),
        ("marks", mine.marked, mine.marked + others.marked),
    ]:
        if own and others.flows:
            came = mine.arrived / (mine.arrived + others.arrived)
            told.append(f"It sent {_percent(came)} of all packets and had {_percent(own / all_)} of all {what}.")
    if 0 < facts.peers.flows < others.flows:
        told.append(f"Of the packets of the other flows of its group, {_rates(facts.peers)}.")
    if mine.lost + others.lost:
        told.append(f"Links lost {_on_the_way(mine)} on the way, which no discipline dropped.")
        if others.arrived:
            told.append(
                f"Of the packets of the other {_count(others.flows, 'flow')} they lost {_percent(others.losses)}."
            )
    if facts.lost_replies:
        told.append(f"Of what answers data, links lost {_count(facts.lost_replies, 'packet')} of all flows.")
    if facts.delay_ms is not None:
        beside = f"; those of other flows {style.number(facts.others_delay_ms)} ms" if facts.others_delay_ms else ""
        told.append(f"Its packets waited {style.number(facts.delay_ms)} ms on average{beside}.")
    return told


def _fate(share: Share) -> str:
    return f"{_part(share.dropped, share.loss)} dropped and {_part(share.marked, share.marks)} marked"


def _on_the_way(share: Share) -> str:
    return f"{_count(share.lost, 'packet')} of it ({_percent(share.losses)})" if share.lost else "no packet of it"


def _part(count: int, share: float) -> str:
    return f"{_number(count)} ({_percent(share)}) {'was' if count == 1 else 'were'}" if count else "none was"


def _rates(share: Share) -> str:
    return f"{_percent(share.loss)} were dropped and {_percent(share.marks)} marked"


def _because(reason: str) -> str:
    """What follows "because"; a discipline written in Python that is not here may have declared it."""
    return ABOUT.get(reason, f'its discipline calls it "{reason}"')


def _reasons(facts: Facts) -> list[str]:
    return [_reason(facts, each) for each in facts.reasons if each.mine]


def _reason(facts: Facts, each: Reason) -> str:
    counts = ((each.dropped, "dropped"), (each.marked, "marked"))
    signals = [f"{_number(count)} {verb}" for count, verb in counts if count]
    told = f"{' and '.join(signals)} because {_because(each.reason)} ({each.reason})"
    if not facts.others.arrived:
        return f"{told}."
    return f"{told}: {_percent(each.mine / each.everyone)} of all packets that this befell."


def _places(facts: Facts) -> list[str]:
    if not facts.places or len(facts.places) == 1:
        return []
    listed = ", ".join(f"{_number(place.count)} at `{place.link}` {place.direction}" for place in facts.places)
    return [f"By place: {listed}."]


def _times(facts: Facts) -> list[str]:
    times = facts.times
    if times is None:
        return []
    if times.count == 1:
        return [f"The only one at {_seconds(times.first_s)}."]
    signals = _signals(facts.mine.dropped > 0, facts.mine.marked > 0, "and")
    what = signals.replace("dropped", "drops").replace("marked", "marks")
    told = [
        f"The first of {_number(times.count)} {what} at {_seconds(times.first_s)}, "
        f"the last at {_seconds(times.last_s)}.",
        f"The longest time without lasted {_lasting(times.quiet_to_s - times.quiet_from_s)}, "
        f"from {_seconds(times.quiet_from_s)} to {_seconds(times.quiet_to_s)}.",
        f"The worst second began at {_number(round(times.worst_s))} s and had {_number(times.worst_count)}.",
    ]
    if (
        times.bursts
        and times.in_bursts > times.bursts + 1
        and not (times.bursts == 1 and times.in_bursts == times.count)
    ):
        share = _percent(times.in_bursts / times.count)
        told.append(f"{share} came in {_count(times.bursts, 'burst')}, less than 100 ms after one another.")
    return told


def _gauges(facts: Facts) -> list[str]:
    """Means at the flow's drops and marks, and in brackets those at the drops and marks of others."""
    told = []
    what = _signals(facts.mine.dropped > 0, facts.mine.marked > 0, "or")
    for of_flow, whose in ((False, "the queue"), (True, "the flow concerned")):
        listed = [_gauge(each) for each in facts.gauges or [] if each.of_flow == of_flow and each.mine is not None]
        if listed:
            told.append(f"Of {whose}, when a packet was {what}: {_listed(listed)}.")
    if told and any(each.others is not None for each in facts.gauges or []):
        told.append("These are means over its own packets; in brackets, over those of all other flows.")
    return told


def _gauge(gauge: Gauge) -> str:
    others = "" if gauge.others is None else f" ({style.number(gauge.others)})"
    return f"`{gauge.name}` {style.number(gauge.mine or 0.0)}{others}"


def _sender(facts: Facts) -> list[str]:
    if facts.kind != "tcp":
        return _governed(facts) if facts.governed else []
    told = [f"It sent {_count(facts.retransmits, 'packet')} again and had {_count(facts.mine.timeouts, 'timeout')}."]
    if facts.peers.flows:
        each = style.number(facts.peers.timeouts / facts.peers.flows)
        told.append(f"The other flows of its group had {each} timeouts each on average.")
    trace = facts.trace
    if trace is None:
        return told
    mean, most = style.number(trace.cwnd_mean), style.number(trace.cwnd_max)
    told += [_spent(trace.phases), f"Its window was {mean} packets on average and {most} at most."]
    told += _round_trips(trace)
    told.append(f"The longest time in which nothing new was acknowledged lasted {_lasting(trace.silence_s)}.")
    return told + _timeouts(trace)


def _governed(facts: Facts) -> list[str]:
    """How TFRC's sender took it."""
    told = [f"It had {_count(facts.mine.timeouts, 'timeout')} without a report from its receiver."]
    rates = facts.rates
    if rates is None:
        return told
    mean, most = style.measured(rates.rate_bps_mean), style.measured(rates.rate_bps_max)
    told += [
        _spent(rates.phases),
        f"It was allowed {mean} on average and {most} at most, headers excluded.",
        f"The loss event rate that it went by was {_percent(rates.loss_event_rate_mean)} on average.",
    ]
    return told + _round_trips(rates) + _timeouts(rates)


def _spent(phases: dict[str, float]) -> str:
    shares = sorted(phases.items(), key=lambda item: -item[1])
    spent = [f"{_percent(share)} of the time in {PHASES.get(name, name)}" for name, share in shares]
    return f"It spent {_listed(spent)}."


def _round_trips(trace: Trace | Rates) -> list[str]:
    if trace.srtt_ms_mean is None or trace.srtt_ms_min is None:
        return []
    mean, least = style.number(trace.srtt_ms_mean), style.number(trace.srtt_ms_min)
    return [f"Its smoothed round-trip time was {mean} ms on average, {least} ms at least."]


def _timeouts(trace: Trace | Rates) -> list[str]:
    if not trace.timeouts_s:
        return []
    shown = [_seconds(time) for time in trace.timeouts_s[:5]]
    more = f" and {len(trace.timeouts_s) - 5} more" if len(trace.timeouts_s) > 5 else ""
    return [f"Timeouts at {', '.join(shown)}{more}."]


def _missing(result: Result, point: Point, facts: Facts) -> list[str]:
    changes, lacking = [], []
    if facts.gauges is None and facts.mine.dropped + facts.mine.marked:
        when = "when packets were dropped or marked, and " if facts.times is None else ""
        lacking.append(f"{when}what the discipline saw then")
        changes.append("record.events=decisions")
    if facts.governed and facts.trace is None and facts.rates is None:
        what = "window and timer" if facts.kind == "tcp" else "rate"
        lacking.append(f"the sender's {what} over time")
        changes.append(f'record.flows=["{facts.group}/{facts.index}"]')
    if not changes:
        return []
    told = "; ".join(lacking)
    return [f"{told[0].upper()}{told[1:]}. To record it, run again:", f"  {command(result, point, changes)}"]


def command(result: Result, point: Point, changes: list[str]) -> str:
    """The command that runs `point` again with these changes, and nothing else."""
    file = "scenario.toml" if result.path is None else str(result.path / "scenario.toml")
    words = ["headgate", "run", file, "--qdisc", point.qdisc, "--set", f"seeds=[{point.seed}]"]
    words += [word for change in changes for word in ("--set", change)]
    return shlex.join(words)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


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
