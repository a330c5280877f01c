"""Reads qdiscs from the output of `tc qdisc show`, or from commands of tc, as disciplines.

The options are those of `tc.KINDS`, read backwards. A value that equals the preset `linux` is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from headgate import _core
from headgate.errors import UsageError, did_you_mean
from headgate.qdiscs import tc_cake
from headgate.qdiscs.spec import QdiscSpec, parameter
from headgate.qdiscs.tc import KINDS, TcQdisc
from headgate.qdiscs.tc_red import weight_of
from headgate.qdiscs.tc_units import bits_per_second, milliseconds, octets
from headgate.qdiscs.values import EXACT, choices, kind_of
from headgate.units import TIMES

#: Qdiscs that hold no packets of their own, or are not queues of one discipline.
_SKIPPED = ("noqueue", "ingress", "clsact", "mq", "mqprio", "pfifo_fast", "netem", "htb", "hfsc")
#: Why a qdisc that Headgate knows by name has no command.
OTHERS = {
    "drr": "the quanta of sch_drr belong to its classes, which `tc class show` lists",
    "fq": "sch_fq paces sockets of one host; Headgate's fq is another discipline",
    "prio": "the bands of sch_prio are qdiscs of their own, with lines of their own",
}
#: tc's option, and the words after it, that say where a qdisc is.
_PLACE = {"dev": 1, "root": 0, "parent": 1, "handle": 1, "refcnt": 1, "offloaded": 0}
#: Flags that the kernel turns on without a word.
_ON_BY_DEFAULT = (("fq_codel", "ecn"), ("dualpi2", "any_ect"), ("dualpi2", "drop_on_overload"))
_LONGEST = 60


class ReadQdisc(NamedTuple):
    """A qdisc as a discipline, with notes on options that have no counterpart."""

    device: str
    spec: QdiscSpec
    notes: tuple[str, ...]


class _Words:
    """The words of a qdisc that are still to be read."""

    def __init__(self, kind: str, words: Iterable[str]) -> None:
        self.kind = kind
        self._left = list(words)

    def __bool__(self) -> bool:
        return bool(self._left)

    def next(self, option: str = "") -> str:
        """The next word: the value of `option`, if it is given."""
        if not self._left:
            raise UsageError(f"{self.kind}: the option {option} has no value")
        return self._left.pop(0)

    def value(self, option: str, read: Callable[[str], str]) -> str:
        """The value of `option`; `UsageError` if it cannot be read."""
        word = self.next(option)
        try:
            return read(word)
        except (ValueError, ArithmeticError) as error:
            raise UsageError(f"{self.kind}: {option} {_short(word)}: {error}") from None


def read(text: str) -> Iterator[ReadQdisc]:
    """The qdiscs in a text, skipping those that hold no packets; `UsageError` names the line that cannot be read."""
    for number, line in _lines(text):
        try:
            found = _qdisc(line)
        except UsageError as error:
            raise UsageError(f"line {number}: {error}") from None
        if found is not None:
            yield found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that begin a qdisc, each with its continuation: tc writes SFB on two lines."""
    begun: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("increment ") and begun is not None:
            begun = (begun[0], f"{begun[1]} {line.strip()}")
        elif line.strip() and not line[0].isspace():
            if begun is not None:
                yield begun
            begun = (number, line)
    if begun is not None:
        yield begun


def _qdisc(line: str) -> ReadQdisc | None:
    # SFB's listing ends with its two times in brackets.
    words = re.sub(r"\((\d+)ms (\d+)ms\)", r"rehash \1 db \2", line).split()
    # A command may begin with `sudo`, and its options come before the kind.
    if "tc" in words[:2] and "qdisc" in words:
        words = [word for word in words[words.index("qdisc") + 1 :] if word not in ("add", "replace", "change")]
        device, words = _place(words)
    elif words[0] == "qdisc" and len(words) > 2:
        kind, after = words[1], words[3:]
        device, rest = _place(after)
        words = [kind, *rest]
    else:
        raise UsageError(
            f"expected a line of `tc qdisc show`, such as `qdisc codel 0: dev eth0 root limit 1000p`, or a command "
            f"`tc qdisc add dev eth0 root codel`, found {_short(line)}"
        )
    if not words:
        raise UsageError("the command names no qdisc")
    if words[0] in _SKIPPED:
        return None
    return _read(words[0], words[1:], device)


def _place(words: list[str]) -> tuple[str, list[str]]:
    """The device, and the words after the place of the qdisc."""
    device = ""
    while words and words[0] in _PLACE:
        length = 1 + _PLACE[words[0]]
        device = words[1] if words[0] == "dev" and len(words) > 1 else device
        words = words[length:]
    return device, words


def _read(kind: str, options: list[str], device: str) -> ReadQdisc:
    """One qdisc from its options."""
    if kind in ("pfifo", "bfifo"):
        return _fifo(kind, _Words(kind, options), device)
    adaptive = kind == "red" and "adaptive" in options
    names = [name for name, each in KINDS.items() if each.kind == kind and (name == "ared") == adaptive]
    if kind in OTHERS:
        raise UsageError(f"{kind} cannot be read: {OTHERS[kind]}")
    if not names:
        known = [*dict.fromkeys(each.kind for each in KINDS.values()), "bfifo"]
        raise UsageError(f"there is no discipline for the qdisc {_short(kind)}{did_you_mean(kind, known)}")
    reader = _Reader(_core.discipline(names[0]), KINDS[names[0]], _Words(kind, options))
    return ReadQdisc(device, *reader.read())


def _fifo(kind: str, words: _Words, device: str) -> ReadQdisc:
    """DropTail. Without a limit, tc takes the length of the device's own queue."""
    unit, notes = ("p" if kind == "pfifo" else "B"), ()
    limit = ""
    while words:
        option = words.next()
        if option != "limit":
            raise UsageError(f"{kind} has no option {_short(option)}{did_you_mean(option, ['limit'])}")
        limit = words.value(option, _count if kind == "pfifo" else octets)
    if not limit:
        return ReadQdisc(
            device, QdiscSpec.of("droptail"), (f"{kind} without a limit: tc takes the device's txqueuelen",)
        )
    return ReadQdisc(device, QdiscSpec.of(f"droptail:limit={limit}{unit}"), notes)


class _Reader:
    """The options of one qdisc."""

    def __init__(self, discipline: _core.Discipline, kind: TcQdisc, words: _Words) -> None:
        self.discipline, self.kind, self.words = discipline, kind, words
        self.settings: dict[str, str] = {}
        self.notes: list[str] = []
        #: Values of RED from which its weight follows.
        self.red: dict[str, float] = {}
        self.flags, self.options = _options(kind, discipline)

    def read(self) -> tuple[QdiscSpec, tuple[str, ...]]:
        """The discipline, and its notes."""
        while self.words:
            self._option(self.words.next())
        self._weight()
        self.settings |= dict(self._absent())
        presets = [preset.name for preset in self.discipline.presets]
        base = QdiscSpec(self.discipline, {"preset": "linux"} if "linux" in presets else {})
        spec = base.with_settings(self.settings)
        # The limit is written even if it is the preset's: a scenario's link would set another one.
        if "limit" in self.settings:
            spec.settings["limit"] = self.settings["limit"]
        return spec, tuple(self.notes)

    def _absent(self) -> Iterator[tuple[str, str]]:
        """Flags that tc neither wrote nor was given: they are off, unless the kernel turns them on by itself."""
        given = set(self.settings)
        for word, (name, value) in self.flags.items():
            main = parameter(self.discipline, name).name
            if value == "on" and main not in given and (self.kind.kind, word) not in _ON_BY_DEFAULT:
                yield main, "off"

    def _option(self, word: str) -> None:
        if word in self.flags:
            name, value = self.flags[word]
            self.settings[parameter(self.discipline, name).name] = value
        elif word in _SPECIAL.get(self.kind.kind, {}):
            _SPECIAL[self.kind.kind][word](self, word)
        elif word in self.options:
            self._value(word)
        else:
            known = [*self.flags, *self.options, *_SPECIAL.get(self.kind.kind, {})]
            raise UsageError(f"{self.kind.kind} has no option {_short(word)}{did_you_mean(word, known)}")

    def _value(self, word: str) -> None:
        each = parameter(self.discipline, self.options[word])
        octet_kinds = self.kind.kind in ("red", "tbf", "cake")
        kind = "bytes" if kind_of(each).startswith("packets") and octet_kinds else kind_of(each)
        read = _BACK.get((self.kind.kind, word)) or _READS[kind]
        self.settings[each.name] = self.words.value(word, read)
        if word == "min":
            self.red["min"] = float(re.sub("[pB]", "", self.settings[each.name]))

    def _weight(self) -> None:
        """RED's weight, which tc derives from the burst."""
        if "burst" in self.red and "min" in self.red:
            packet = self.red.get("avpkt", 1000.0) if self.kind.kind == "red" else 1.0
            weight = weight_of(int(self.red["burst"]), self.red["min"] / packet)
            if weight is None:
                raise UsageError(f"{self.kind.kind}: burst {self.red['burst']:.0f} is too small for this min")
            self.settings["wq"] = f"{Decimal(weight):f}"


def _options(kind: TcQdisc, discipline: _core.Discipline) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Flags of a qdisc, each with parameter and value, and options, each with its parameter."""
    flags: dict[str, tuple[str, str]] = {}
    options: dict[str, str] = {}
    for option in kind.options.split():
        if option.startswith("="):
            words = choices(parameter(discipline, option[1:]))
            flags |= {word: (option[1:], word) for word in words}
            continue
        name, _, word = option.partition(">")
        on, flag, off = (word or name).partition("/")
        name = name.partition("/")[0]
        if flag:
            flags |= {shown: (name, value) for shown, value in ((on, "on"), (off, "off")) if shown}
        else:
            options[on] = name
    return flags, options


def _short(text: str) -> str:
    """User input for a message: at most 60 printable characters."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return repr(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")


def _count(word: str) -> str:
    return f"{int(word.removesuffix('p'))}"


def _number(word: str) -> str:
    return f"{Decimal(word):f}"


def _milli(word: str) -> str:
    shown = milliseconds(word)
    unit, scale = next(
        ((unit, scale) for unit, scale in TIMES.items() if unit in _SHORT and shown >= scale), ("ns", 1e-6)
    )
    return f"{Decimal(f'{shown / scale:.{EXACT}g}').normalize():f}{unit}"


_SHORT = ("s", "ms", "us", "ns")

#: How tc's text of each kind of parameter is read.
_READS: Mapping[str, Callable[[str], str]] = {
    "number": _number,
    "whole number": lambda word: f"{int(word)}",
    "time": _milli,
    "rate": lambda word: f"{bits_per_second(word):.0f}bit/s",
    "bytes": lambda word: f"{octets(word)}B",
    "packets or bytes": lambda word: f"{_count(word)}p",
    "packets, bytes or share of the limit": lambda word: f"{_count(word)}p",
}


def _sixteenths(word: str) -> str:
    return f"{Decimal(int(word)) / 16:f}"


def _percent(word: str) -> str:
    return f"{Decimal(word.removesuffix('%')) / 100:f}"


def _whole_ms(word: str) -> str:
    return f"{int(word.removesuffix('ms'))}ms"


def _below(word: str) -> str:
    """Linux acts at this length, Headgate above it."""
    return f"{int(word) - 1}p"


#: Options with a format of their own: the inverses of `TcQdisc.write`.
_BACK: Mapping[tuple[str, str], Callable[[str], str]] = {
    **{(kind, option): _sixteenths for kind in ("pie", "fq_pie") for option in ("alpha", "beta")},
    ("fq_pie", "ecn_prob"): _percent,
    ("dualpi2", "classic_protection"): _percent,
    ("cake", "bandwidth"): lambda word: "auto" if word == "unlimited" else _READS["rate"](word),
    ("sfb", "rehash"): _whole_ms,
    ("sfb", "db"): _whole_ms,
    ("sfb", "target"): _below,
    ("sfb", "max"): _below,
    ("sfq", "perturb"): lambda word: f"{int(word.removesuffix('sec'))}s",
    # `tc qdisc show -d` adds the number of buckets: flows 128/1024.
    ("sfq", "flows"): lambda word: f"{int(word.partition('/')[0])}",
}


def _red_number(reader: _Reader, word: str) -> None:
    value = float(octets(reader.words.next(word))) if word == "avpkt" else float(reader.words.next(word))
    reader.red[word] = value


def _ignored(reader: _Reader, word: str) -> None:
    """An option with a value that has no counterpart and no effect on the queue."""
    reader.words.next(word)


def _flag(reader: _Reader, word: str) -> None:
    """A flag that restates tc's default."""


def _noted(reader: _Reader, word: str) -> None:
    reader.notes.append(f"{reader.kind.kind} {word} has no counterpart in Headgate")


def _ewma(reader: _Reader, word: str) -> None:
    reader.settings["wq"] = f"{Decimal(2) ** -int(reader.words.next(word)):f}"


def _penalty(reader: _Reader, word: str) -> None:
    """SFB's penalty box: `penalty_rate 10 penalty_burst 20` in a command, `penalty rate 10 burst 20` in a listing."""
    option = reader.words.next(word) if word == "penalty" else word
    name = "penalty_packets" if option in ("rate", "penalty_rate") else "penalty_burst"
    unit = "p" if name == "penalty_burst" else ""
    reader.settings[name] = reader.words.value(word, _count) + unit
    reader.settings["penalty"] = "linux"


def _latency(reader: _Reader, word: str) -> None:
    """TBF's limit as a time: the bytes of that time at the rate, and the burst."""
    time = milliseconds(reader.words.next(word))
    rate, burst = reader.settings.get("rate", ""), reader.settings.get("burst", "")
    if not rate or not burst:
        raise UsageError(f"tbf: {word} needs rate and burst before it")
    size = float(rate.removesuffix("bit/s")) / 8e3 * time + float(burst.removesuffix("B"))
    reader.settings["limit"] = f"{size:.0f}B"


def _round_trip(reader: _Reader, word: str) -> None:
    reader.settings["rtt"] = tc_cake.ROUND_TRIPS[word]


def _link(reader: _Reader, word: str) -> None:
    reader.settings |= tc_cake.LINKS[word]


_RED_WORDS = {
    "burst": _red_number,
    "avpkt": _red_number,
    "bandwidth": _ignored,
    "Scell_log": _ignored,
    "ewma": _ewma,
    "adaptive": _flag,
    "harddrop": _noted,
    "nodrop": _noted,
}
#: Options that `tc.KINDS` does not declare.
_SPECIAL: Mapping[str, Mapping[str, Callable[[_Reader, str], None]]] = {
    "red": _RED_WORDS,
    "choke": _RED_WORDS,
    "cake": {
        **dict.fromkeys(tc_cake.DEFAULTS, _flag),
        **dict.fromkeys(tc_cake.MISSING, _noted),
        **dict.fromkeys(tc_cake.ROUND_TRIPS, _round_trip),
        **dict.fromkeys(tc_cake.LINKS, _link),
        "fwmark": _ignored,
    },
    "sfb": {"penalty": _penalty, "penalty_rate": _penalty, "penalty_burst": _penalty, "burst": _penalty},
    "tbf": {"latency": _latency, "lat": _latency},
    "dualpi2": {
        **dict.fromkeys(("memlimit", "max_rtt", "typical_rtt"), _ignored),
        **dict.fromkeys(("split_gso", "drop_dequeue"), _flag),
        **dict.fromkeys(("no_split_gso", "drop_enqueue"), _noted),
    },
    "codel": {"ce_threshold_selector": _ignored},
    "fq_codel": {"ce_threshold_selector": _ignored},
}
