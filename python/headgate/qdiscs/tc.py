"""A discipline as a tc command, with notes on what tc cannot express.

Options and units are those of iproute2 6.1, tc/q_*.c (dualpi2: 6.18). docs/disciplines lists how Linux differs.
"""

import tomllib
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from headgate.qdiscs.spec import QdiscSpec, parameter
from headgate.qdiscs.tc_red import burst_for
from headgate.qdiscs.values import EXACT, UnitScale, kind_of
from headgate.scenario import Scenario
from headgate.units import RATES, SIZES, TIMES

#: How the registry writes times, rates and sizes.
MS, BPS, OCTETS = UnitScale(TIMES, whole=False), UnitScale(RATES, whole=False), UnitScale(SIZES, whole=True)


class TcLink(NamedTuple):
    """The link for tc: its rate in bit/s, its limit as text, and its packet size in bytes."""

    rate_bps: float
    limit: str
    packet: int

    def packets(self, level: str) -> float:
        """A queue length (`50p`, `30KB`, `25%`) in packets."""
        if level.endswith("%"):
            return float(level[:-1]) / 100 * self.packets(self.limit)
        octets = OCTETS.read(level)
        return float(level.removesuffix("p")) if octets is None else octets / self.packet


class TcCommand(NamedTuple):
    """Kind and options of a qdisc as words of tc, and notes on parameters that they leave out or change."""

    words: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command for a device called DEV."""
        return " ".join(["tc qdisc replace dev DEV root", *self.words])


#: Writes a value in the format of tc.
Write = Callable[[str, TcLink], str]


def _packets(value: str, link: TcLink) -> str:
    return f"{max(1.0, link.packets(value)):.0f}"


def _bytes(value: str, link: TcLink) -> str:
    return f"{max(1.0, link.packets(value)) * link.packet:.0f}"


def _at(value: str, link: TcLink) -> str:
    """One packet more than `value`: Linux acts at this length, and Headgate above it."""
    return f"{int(link.packets(value)) + 1}"


def _sixteenths(value: str, _: TcLink) -> str:
    """A factor of RFC 8033 (0.125, 1.25) in sixteenths: tc takes 1 to 32, and 0 means the kernel's default."""
    return f"{min(32, max(1, round(16 * float(value))))}"


def _whole(value: str, _: TcLink) -> str:
    return f"{float(value):.0f}"


def _percent(value: str, _: TcLink) -> str:
    return f"{100 * float(value):.0f}"


def _ms(value: str, _: TcLink) -> str:
    return f"{MS.number(value):.0f}"


#: The format of tc for each kind of parameter.
WRITES: Mapping[str, Write] = {
    "number": lambda value, _: value,
    "whole number": _whole,
    "time": lambda value, _: MS.text(MS.number(value), EXACT),
    "rate": lambda value, _: f"{BPS.number(value):.0f}bit",
    "bytes": lambda value, _: f"{OCTETS.number(value):.0f}",
    "packets or bytes": _packets,
    "packets, bytes or share of the limit": _packets,
}
#: The formats for disciplines whose queue tc counts in bytes.
IN_BYTES: Mapping[str, Write] = {kind: _bytes for kind in WRITES if kind.startswith("packets")}


class TcQdisc(NamedTuple):
    """A discipline of Linux: its options in tc's order, notes, and further options from `also`.

    An option has one of its parameter's names. `a>b` is parameter a as option b. `on/off` are two words, the first of
    which names the parameter. `=a` is the word that parameter a has for a value. `write` holds the options and kinds of
    parameters with a format of their own.
    """

    kind: str
    options: str
    notes: tuple[str, ...] = ()
    also: Callable[[QdiscSpec, TcLink], tuple[list[str], list[str]]] | None = None
    covered: tuple[str, ...] = ()
    """Parameters that the options from `also` cover."""
    write: Mapping[str, Write] = {}

    def words(self, spec: QdiscSpec, link: TcLink) -> Iterator[tuple[str, str]]:
        """Each parameter with an option of tc, and its text; empty for a value that tc derives."""
        for option in self.options.split():
            if option.startswith("="):
                each = parameter(spec.discipline, option[1:])
                yield each.name, spec.value(each.name)
                continue
            name, _, word = option.partition(">")
            on, flag, off = (word or name).partition("/")
            each = parameter(spec.discipline, name.partition("/")[0])
            value = spec.settings.get("limit", link.limit) if each.name == "limit" else spec.value(each.name)
            if flag:
                yield each.name, on if value == "on" else off
            else:
                write = self.write.get(on) or self.write.get(kind_of(each)) or WRITES[kind_of(each)]
                yield each.name, "" if value == "auto" else f"{on} {write(value, link)}"


def _red(spec: QdiscSpec, link: TcLink, *, octets: bool) -> tuple[list[str], list[str]]:
    """RED's further options. tc has no wq: it derives one from the burst."""
    words = [f"bandwidth {link.rate_bps:.0f}bit", f"avpkt {link.packet}"]
    wq, minth = spec.value("wq"), spec.value("minth")
    if wq == "auto" or spec.value("burst") == "auto":
        return words, []
    if minth == "auto":
        return words, ["tc derives wq from the burst, which depends on minth: minth is auto"]
    least = float(_bytes(minth, link)) / link.packet if octets else float(_packets(minth, link))
    if least <= 1:
        return words, ["tc finds no weight for a minth of one packet"]
    burst, weight = burst_for(float(wq), least)
    return [*words, f"burst {burst}"], [f"tc derives wq from the burst: {weight:.3g} instead of {wq}"]


def _ared(spec: QdiscSpec, link: TcLink) -> tuple[list[str], list[str]]:
    words, notes = _red(spec, link, octets=True)
    return ["adaptive", *words], notes


def _sfb(spec: QdiscSpec, link: TcLink) -> tuple[list[str], list[str]]:
    """Linux has a token bucket for all unresponsive flows together, in packets a second."""
    if spec.value("penalty") == "boxtime":
        boxtime = spec.value("boxtime")
        rate = max(1, round(1e3 / max(1e-3, MS.number(boxtime))))
        note = f"tc has no boxtime: a packet each {boxtime} is penalty_rate {rate} (packets a second, whole)"
        return [f"penalty_rate {rate}", "penalty_burst 1"], [note]
    rate = max(1, round(BPS.number(spec.value("penalty_rate")) / 8 / link.packet))
    if spec.value("penalty") == "linux":
        rate = int(spec.value("penalty_packets"))
    notes = (
        ["tc has no fair_share: a fixed penalty_rate stands for it"] if spec.value("penalty") == "fair_share" else []
    )
    return [f"penalty_rate {rate}", f"penalty_burst {_packets(spec.value('penalty_burst'), link)}"], notes


_PIE = "target tupdate alpha beta ecn/noecn bytemode/nobytemode dq_rate_estimator/no_dq_rate_estimator"
_CODEL = "target interval ecn/noecn ce_threshold"
_RED = "limit min max probability ecn/"
_RED_COVERED = ("wq", "burst", "mean_packet")
_FACTORS = {"alpha": _sixteenths, "beta": _sixteenths}

KINDS: dict[str, TcQdisc] = {
    "ared": TcQdisc("red", _RED, ("Linux adapts each 500 ms, between 1 % and 50 %",), _ared, _RED_COVERED, IN_BYTES),
    "cake": TcQdisc(
        "cake",
        "bandwidth rtt =diffserv =isolation =ack_filter =framing overhead mpu limit>memlimit",
        write=IN_BYTES,
    ),
    "choke": TcQdisc("choke", _RED, (), lambda spec, link: _red(spec, link, octets=False), _RED_COVERED),
    "codel": TcQdisc("codel", f"limit {_CODEL}"),
    "droptail": TcQdisc("pfifo", "limit"),
    "dualpi2": TcQdisc(
        "dualpi2",
        "limit target tupdate alpha beta coupling_factor step_thresh min_qlen_step classic_protection "
        "drop_on_overload/overflow any_ect/l4s_ect",
        ("Linux marks above step_thresh, where RFC 9332 has a ramp from min_th over range",),
        write={"coupling_factor": _whole, "classic_protection": lambda value, link: f"{_percent(value, link)}%"},
    ),
    "fq_codel": TcQdisc("fq_codel", f"limit flows quantum {_CODEL} memory_limit drop_batch"),
    "fq_pie": TcQdisc(
        "fq_pie",
        f"limit flows quantum {_PIE} memory_limit ecn_threshold>ecn_prob",
        write={**_FACTORS, "ecn_prob": _percent},
    ),
    "hhf": TcQdisc("hhf", "limit quantum hh_limit reset_timeout admit_bytes evict_timeout non_hh_weight"),
    "pie": TcQdisc("pie", f"limit {_PIE}", write=_FACTORS),
    "red": TcQdisc("red", _RED, (), lambda spec, link: _red(spec, link, octets=True), _RED_COVERED, IN_BYTES),
    "sfb": TcQdisc(
        "sfb",
        "limit target max increment decrement rehash db",
        ("Linux changes probabilities at every packet: d1 and d2 do not carry over",),
        _sfb,
        ("penalty", "boxtime", "randomize_boxtime", "penalty_rate", "penalty_packets", "penalty_burst", "flow_window"),
        {"rehash": _ms, "db": _ms, "target": _at, "max": _at},
    ),
    "sfq": TcQdisc(
        "sfq",
        "limit divisor quantum depth flows headdrop/ perturb",
        ("Linux wants a divisor that is a power of 2",),
        write={"perturb": lambda value, _: f"{MS.number(value) / 1e3:.0f}"},
    ),
    "tbf": TcQdisc(
        "tbf",
        "limit rate burst peakrate mtu",
        # If the scenario leaves the rate to the discipline, it is the link's rate.
        also=lambda spec, link: ([f"rate {link.rate_bps:.0f}bit"] if spec.value("rate") == "auto" else [], []),
        write=IN_BYTES,
    ),
}


def command(spec: QdiscSpec, scenario: Scenario) -> TcCommand | None:
    """The command for a discipline on the bottleneck of a scenario; None if Linux has no such discipline."""
    return command_on(spec, link_of(scenario)) if spec.discipline.name in KINDS else None


def command_on(spec: QdiscSpec, link: TcLink) -> TcCommand:
    """The command for a discipline of `KINDS` on a link."""
    kind = KINDS[spec.discipline.name]
    if spec.discipline.name == "droptail":
        return _fifo(spec.settings.get("limit", link.limit))
    words = dict(kind.words(spec, link))
    more, notes = kind.also(spec, link) if kind.also is not None else ([], [])
    line = " ".join([kind.kind, *filter(None, words.values()), *more])
    left = _notes_on_uncovered(spec, {*words, *kind.covered})
    return TcCommand(tuple(line.split()), (*kind.notes, *notes, *left, *_notes_on_automatic(spec, words)))


def _fifo(limit: str) -> TcCommand:
    """DropTail, whose limit counts packets in one qdisc and bytes in another."""
    octets = OCTETS.read(limit)
    kind, number = ("pfifo", limit.removesuffix("p")) if octets is None else ("bfifo", f"{octets:.0f}")
    return TcCommand((kind, "limit", number), ())


def _notes_on_uncovered(spec: QdiscSpec, covered: Container[str]) -> list[str]:
    """Notes on parameters without an option of tc.

    With a preset `linux`, these are the parameters that differ from it; otherwise those that differ from their default.
    """
    others = [each for each in spec.discipline.parameters if each.name not in covered]
    if any(preset.name == "linux" for preset in spec.discipline.presets):
        linux = dict(spec.discipline.values("linux"))
        differ = [f"{each.name}={linux[each.name]}" for each in others if linux[each.name] != spec.value(each.name)]
        return [f"tc cannot change these values of the preset linux: {', '.join(differ)}"] if differ else []
    return [
        f"tc has no option for {each.name}={value}"
        for each in others
        if (value := spec.value(each.name)) != each.default
    ]


def _notes_on_automatic(spec: QdiscSpec, words: Mapping[str, str]) -> list[str]:
    """Notes on values `auto` that are left out, where the kernel has a value of its own."""
    if all(preset.name != "linux" for preset in spec.discipline.presets):
        return []
    linux = dict(spec.discipline.values("linux"))
    own = {name: linux[name] for name, text in words.items() if not text and spec.value(name) == "auto"}
    return [f"tc has no {name}=auto: the kernel's is {value}" for name, value in own.items() if value != "auto"]


def link_of(scenario: Scenario) -> TcLink:
    """The bottleneck of a scenario; its packets are as large as those of the first group of flows."""
    written: dict[str, Any] = tomllib.loads(scenario.to_toml())
    links = written["link"] if isinstance(written["link"], list) else [written["link"]]
    name, direction = scenario.bottleneck
    link = next(each for each in links if each["name"] == name)
    limit = link["limit"] if direction == "forward" else link["reverse"]["limit"]
    group = [*written.get("tcp", []), *written.get("udp", [])][0]
    packet = sum(OCTETS.read(group[part]) or 0.0 for part in ("packet", "header"))
    return TcLink(scenario.rate_bps, limit, max(1, round(packet)))
