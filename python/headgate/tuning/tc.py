"""A discipline as Linux's tc command, where Linux has it, and what tc cannot say of it.

Options and their units are those of iproute2 6.1, tc/q_*.c (of dualpi2: 6.18); docs/disciplines has how Linux differs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from headgate.scenario import Scenario
from headgate.tuning.spec import Spec
from headgate.tuning.tc_red import burst_for
from headgate.tuning.values import EXACT, Scale
from headgate.units import RATES, SIZES, TIMES


class Link(NamedTuple):
    """What tc must be told of the link: its rate in bit/s, its limit as text, and the size of its packets in bytes."""

    rate_bps: float
    limit: str
    packet: int

    def packets(self, level: str) -> float:
        """A queue length (`50p`, `30KB`, `25%`) in packets."""
        if level.endswith("%"):
            return float(level[:-1]) / 100 * self.packets(self.limit)
        octets = Scale(SIZES, whole=True).read(level)
        return float(level.removesuffix("p")) if octets is None else octets / self.packet


class Command(NamedTuple):
    """The command, for a device called DEV, and what it leaves out or says otherwise."""

    line: str
    notes: tuple[str, ...]


#: Writes a value as tc wants it; None where tc need not be told.
Write = Callable[[str, Link], str | None]


def _time(value: str, _: Link) -> str:
    return Scale(TIMES, whole=False).text(_number(TIMES, value), EXACT)


def _ms(value: str, _: Link) -> str:
    return f"{_number(TIMES, value):.0f}"


def _packets(value: str, link: Link) -> str:
    return f"{max(1.0, link.packets(value)):.0f}"


def _bytes(value: str, link: Link) -> str:
    return f"{max(1.0, link.packets(value)) * link.packet:.0f}"


def _octets(value: str, _: Link) -> str:
    return f"{_number(SIZES, value):.0f}"


def _rate(value: str, _: Link) -> str:
    return f"{_number(RATES, value):.0f}bit"


def _same(value: str, _: Link) -> str:
    return value


def _sixteenths(value: str, _: Link) -> str:
    """RFC 8033's factors (0.125, 1.25): tc takes 1 to 32 sixteenths, and leaves 0 to the kernel's default."""
    return f"{min(32, max(1, round(16 * float(value))))}"


def _percent(value: str, _: Link) -> str:
    return f"{100 * float(value):.0f}"


def _whole(value: str, _: Link) -> str:
    return f"{float(value):.0f}"


def _either(on: str | None, off: str | None) -> Write:
    return lambda value, _: on if value == "on" else off


class Kind(NamedTuple):
    """A discipline of Linux: the option of each parameter (an empty one is a word by itself), and what to know."""

    kind: str
    options: Mapping[str, tuple[str, Write]]
    notes: tuple[str, ...] = ()
    also: Callable[[Spec, Link], tuple[list[str], list[str]]] | None = None
    said: tuple[str, ...] = ()
    """Parameters that `also` says."""


def _red(spec: Spec, link: Link, *, octets: bool) -> tuple[list[str], list[str]]:
    """What RED needs beside its thresholds. tc has no wq: it chooses one by the burst."""
    words = [f"bandwidth {link.rate_bps:.0f}bit", f"avpkt {link.packet}"]
    wq, minth = spec.value("wq"), spec.value("minth")
    if wq == "auto" or spec.value("burst") == "auto":
        return words, []
    if minth == "auto":
        return words, ["tc chooses wq by burst, and the burst by minth, which is auto"]
    least = float(_bytes(minth, link)) / link.packet if octets else float(_packets(minth, link))
    if least <= 1:
        return words, ["tc finds no weight for a minth of one packet"]
    burst, weight = burst_for(float(wq), least)
    return [*words, f"burst {burst}"], [f"tc chooses wq by burst: {weight:.3g} in place of {wq}"]


def _ared(spec: Spec, link: Link) -> tuple[list[str], list[str]]:
    words, notes = _red(spec, link, octets=True)
    return ["adaptive", *words], notes


def _sfb(spec: Spec, link: Link) -> tuple[list[str], list[str]]:
    """Linux has a token bucket for all unresponsive flows together, in packets a second."""
    if spec.value("penalty") == "boxtime":
        boxtime = spec.value("boxtime")
        rate = max(1, round(1e3 / max(1e-3, _number(TIMES, boxtime))))
        note = f"tc has no boxtime: a packet each {boxtime} is penalty_rate {rate} (packets a second, whole)"
        return [f"penalty_rate {rate}", "penalty_burst 1"], [note]
    rate = max(1, round(_number(RATES, spec.value("penalty_rate")) / 8 / link.packet))
    notes = (
        ["tc has no fair_share: a fixed penalty_rate stands for it"] if spec.value("penalty") == "fair_share" else []
    )
    return [f"penalty_rate {rate}", f"penalty_burst {_packets(spec.value('penalty_burst'), link)}"], notes


def _tbf(spec: Spec, link: Link) -> tuple[list[str], list[str]]:
    """A rate that is left to the discipline is the link's."""
    return ([f"rate {link.rate_bps:.0f}bit"] if spec.value("rate") == "auto" else []), []


_PIE: dict[str, tuple[str, Write]] = {
    "target": ("target", _time),
    "tupdate": ("tupdate", _time),
    "alpha": ("alpha", _sixteenths),
    "beta": ("beta", _sixteenths),
    "ecn": ("", _either("ecn", "noecn")),
    "byte_mode": ("", _either("bytemode", "nobytemode")),
    "dq_rate_estimator": ("", _either("dq_rate_estimator", "no_dq_rate_estimator")),
}
_CODEL: dict[str, tuple[str, Write]] = {
    "target": ("target", _time),
    "interval": ("interval", _time),
    "ecn": ("", _either("ecn", "noecn")),
    "ce_threshold": ("ce_threshold", _time),
}
_RED: dict[str, tuple[str, Write]] = {
    "maxp": ("probability", _same),
    "ecn": ("", _either("ecn", None)),
}
_RED_IN_BYTES = {"limit": ("limit", _bytes), "minth": ("min", _bytes), "maxth": ("max", _bytes), **_RED}
_RED_SAID = ("wq", "burst", "mean_packet")

KINDS: dict[str, Kind] = {
    "ared": Kind("red", _RED_IN_BYTES, ("Linux adapts each 500 ms, between 1 % and 50 %",), _ared, _RED_SAID),
    "choke": Kind("choke", {"limit": ("limit", _packets), "minth": ("min", _packets), "maxth": ("max", _packets),
                            **_RED}, (), lambda spec, link: _red(spec, link, octets=False), _RED_SAID),
    "codel": Kind("codel", {"limit": ("limit", _packets), **_CODEL}),
    "droptail": Kind("pfifo", {"limit": ("limit", _packets)}),
    "dualpi2": Kind("dualpi2", {
        "limit": ("limit", _packets), "target": ("target", _time), "tupdate": ("tupdate", _time),
        "alpha": ("alpha", _same), "beta": ("beta", _same), "coupling_factor": ("coupling_factor", _whole),
        "min_th": ("step_thresh", _time), "min_qlen_step": ("min_qlen_step", _whole),
        "classic_protection": ("classic_protection", lambda value, link: f"{_percent(value, link)}%"),
        "drop_on_overload": ("", _either("drop_on_overload", "overflow")),
        "any_ect": ("", _either("any_ect", "l4s_ect")),
    }, ("Linux marks above step_thresh, where RFC 9332 has a ramp from min_th over range",)),
    "fq_codel": Kind("fq_codel", {
        "limit": ("limit", _packets), "flows": ("flows", _whole), "quantum": ("quantum", _octets), **_CODEL,
        "memory_limit": ("memory_limit", _octets), "drop_batch": ("drop_batch", _whole),
    }),
    "fq_pie": Kind("fq_pie", {
        "limit": ("limit", _packets), "flows": ("flows", _whole), "quantum": ("quantum", _octets), **_PIE,
        "memory_limit": ("memory_limit", _octets), "ecn_threshold": ("ecn_prob", _percent),
    }),
    "hhf": Kind("hhf", {
        "limit": ("limit", _packets), "quantum": ("quantum", _octets), "hh_limit": ("hh_limit", _whole),
        "reset_timeout": ("reset_timeout", _time), "admit_bytes": ("admit_bytes", _octets),
        "evict_timeout": ("evict_timeout", _time), "non_hh_weight": ("non_hh_weight", _whole),
    }),
    "pie": Kind("pie", {"limit": ("limit", _packets), **_PIE}),
    "red": Kind("red", _RED_IN_BYTES, (), lambda spec, link: _red(spec, link, octets=True), _RED_SAID),
    "sfb": Kind("sfb", {
        "limit": ("limit", _packets), "bin_size": ("target", _packets), "bin_max": ("max", _packets),
        "d1": ("increment", _same), "d2": ("decrement", _same), "rehash": ("rehash", _ms), "warmup": ("db", _ms),
    }, ("Linux changes probabilities at every packet: d1 and d2 do not carry over",), _sfb,
        ("penalty", "boxtime", "randomize_boxtime", "penalty_rate", "penalty_burst", "flow_window")),
    "sfq": Kind("sfq", {
        "limit": ("limit", _packets), "buckets": ("divisor", _whole), "quantum": ("quantum", _octets),
        "depth": ("depth", _whole), "flows": ("flows", _whole), "head_drop": ("", _either("headdrop", None)),
        "perturb": ("perturb", lambda value, _: f"{_number(TIMES, value) / 1e3:.0f}"),
    }, ("Linux wants a divisor that is a power of 2",)),
    "tbf": Kind("tbf", {
        "limit": ("limit", _bytes), "rate": ("rate", _rate), "burst": ("burst", _octets),
        "peakrate": ("peakrate", _rate), "mtu": ("mtu", _octets),
    }, (), _tbf),
}  # fmt: skip


def command(spec: Spec, scenario: Scenario) -> Command | None:
    """The command for a discipline on the bottleneck of a scenario; None if Linux has no such discipline."""
    name = spec.discipline.name
    kind = KINDS.get(name)
    if kind is None:
        return None
    link = link_of(scenario)
    words = []
    for parameter, (option, write) in kind.options.items():
        value = spec.settings.get("limit", link.limit) if parameter == "limit" else spec.value(parameter)
        said = None if value == "auto" else write(value, link)
        words += [f"{option} {said}".strip()] if said is not None else []
    more, notes = kind.also(spec, link) if kind.also is not None else ([], [])
    line = " ".join(["tc qdisc replace dev DEV root", kind.kind, *words, *more])
    return Command(line, (*kind.notes, *notes, *_unsaid(spec, kind)))


def _unsaid(spec: Spec, kind: Kind) -> list[str]:
    """What no option of tc says: where Linux is known to be otherwise, else what is not at its default."""
    others = [each for each in spec.discipline.parameters if each.name not in (*kind.options, *kind.said)]
    if any(preset.name == "linux" for preset in spec.discipline.presets):
        linux = dict(spec.discipline.values("linux"))
        differ = [f"{each.name}={linux[each.name]}" for each in others if linux[each.name] != spec.value(each.name)]
        return [f"tc cannot change what the preset linux has: {', '.join(differ)}"] if differ else []
    return [f"tc cannot say {each.name}={value}" for each in others if (value := spec.value(each.name)) != each.default]


def link_of(scenario: Scenario) -> Link:
    """The bottleneck of a scenario; its packets are as large as those of the first group of flows."""
    written: dict[str, Any] = tomllib.loads(scenario.to_toml())
    links = written["link"] if isinstance(written["link"], list) else [written["link"]]
    name, direction = scenario.bottleneck
    link = next(each for each in links if each["name"] == name)
    limit = link["limit"] if direction == "forward" else link["reverse"]["limit"]
    group = [*written.get("tcp", []), *written.get("udp", [])][0]
    octets = Scale(SIZES, whole=True)
    packet = sum(octets.read(group[part]) or 0.0 for part in ("packet", "header"))
    return Link(scenario.rate_bps, limit, max(1, round(packet)))


def _number(units: dict[str, float], text: str) -> float:
    """The number of a value that the scenario was read with."""
    value = Scale(units, whole=False).read(text)
    if value is None:
        raise AssertionError(f"{text!r} is in none of {', '.join(units)}")
    return value
