"""A gateway's settings: options and a file with the same keys, checked as a scenario is."""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core, guarded
from headgate.errors import UsageError
from headgate.execution import memory
from headgate.live import options
from headgate.live.directions import DIRECTIONS, names

#: The highest rate of a scenario: a direction with this rate does not delay packets.
UNSHAPED = "100Gbit/s"

#: Options of a direction that have no effect without a rate, since its queue stays empty.
NEED_A_RATE = ("schedule", "schedule-period", "slot", "aggregate", "aggregate-gap", "limit", "qdisc", "overhead")

#: Keys that cannot change while the gateway runs, with the type of their values.
FIXED = {
    "in": str,
    "out": str,
    "metrics": str,
    "offloads-off": bool,
    "send": str,
    "cpus": str,
    "busy-poll": bool,
    "seed": int,
    "fail": str,
    "no-sandbox": bool,
}

#: Ways to send frames.
SEND_MODES = ("auto", "packet", "xdp")

#: The longest time in seconds to read all settings, with the traces that they name.
LONGEST_S = 10.0

#: Seeds: numbers of 64 bits.
SEEDS = range(1 << 64)

#: What happens to packets when the gateway has ended.
FAIL_MODES = ("closed", "open")

#: The keys of a file, which are named like the options: each of their names, with the key that it stands for.
NAMES = {key: key for key in (*FIXED, "flow", "class")} | names("") | names("forward") | names("reverse")


class GatewaySettings(NamedTuple):
    """A gateway's settings."""

    interfaces: tuple[str, str]
    forward: _core.Scenario
    reverse: _core.Scenario
    metrics: str | None
    offloads_off: bool
    send: str
    cpus: tuple[int, ...]
    busy_poll: bool
    seed: int
    fail: str
    no_sandbox: bool
    traces: tuple[Path, ...]

    @property
    def fixed(self) -> tuple[object, ...]:
        """The settings that cannot change while the gateway runs, besides the interfaces."""
        return tuple(getattr(self, key.replace("-", "_")) for key in FIXED if key not in ("in", "out"))


def load(options_given: Mapping[str, Any], config: Path | None) -> GatewaySettings:
    """The settings from options and file; options that are not None override the file.

    Raises `UsageError` for a setting that cannot be used.
    """
    options_on_command_line = {key: value for key, value in options_given.items() if value is not None}

    def read_all() -> GatewaySettings:
        return settings({**({} if config is None else read(config)), **options_on_command_line})

    try:
        # Signals are blocked meanwhile, so nothing else would end the wait for a disk or a network that is gone.
        return guarded.within(LONGEST_S, read_all)
    except UsageError as error:
        raise UsageError(str(error) if config is None else f"{config}: {error}") from None
    except TimeoutError as error:
        files = "the files of traces" if config is None else f"{config} or a trace that it names"
        raise UsageError(f"cannot read {files}: {error.strerror}") from None


def read(config: Path) -> dict[str, Any]:
    """The keys of a file. Only their names are checked."""
    try:
        table = tomllib.loads(guarded.read_text(config, guarded.SETTINGS))
        json.dumps(table, default=str)  # no later message could print a number with thousands of digits in base 16
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # also of bytes that are no text, and of a number with thousands of digits
        raise UsageError(f"is not TOML: {error}") from None
    except RecursionError:
        raise UsageError("is not read: its lists or tables are nested too deeply") from None
    keys: dict[str, Any] = {}
    first: dict[str, str] = {}
    for name, value in table.items():
        if name not in NAMES:
            near = _core.nearest(name, list(NAMES))
            raise UsageError(f"unknown key `{name}`" + (f"; did you mean `{near}`?" if near else ""))
        key = NAMES[name]
        if (other := first.setdefault(key, name)) != name:
            raise UsageError(f"`{name}` and `{other}` are names of one key: keep `{key}`")
        keys[key] = value
    return keys


def settings(options_given: Mapping[str, Any]) -> GatewaySettings:
    """The settings in `options_given`, by the options' names."""
    for key, kind in FIXED.items():
        if key in options_given and type(options_given[key]) is not kind:
            raise UsageError(f"`{key}`: expected {_NAMES[kind]}, found {options_given[key]!r}")
    if "in" not in options_given or "out" not in options_given:
        raise UsageError("the interfaces are missing: give --in and --out, as in --in eth1 --out eth0")
    given = {key: _text(key, value) for key, value in options_given.items() if key not in (*FIXED, "flow", "class")}
    if not any(paced(direction, given) for direction in DIRECTIONS):
        raise UsageError(
            "the rate is missing: give --rate, as in --rate 100Mbit/s, or --forward-rate or --reverse-rate"
        )
    seed = options_given.get("seed", 1)
    if seed not in SEEDS:
        raise UsageError(f"`seed`: expected a number from {SEEDS[0]} to {SEEDS[-1]}, found {seed}")
    send = one_of("send", SEND_MODES, options_given.get("send", SEND_MODES[0]))
    fail = one_of("fail", FAIL_MODES, options_given.get("fail", FAIL_MODES[0]))
    text = options.TEXT + classes(options_given.get("flow"), options_given.get("class", []))
    each = {direction: of_direction(direction, given) for direction in DIRECTIONS}
    forward, reverse = (options.scenario(direction, each[direction], text) for direction in DIRECTIONS)
    memory.check_lanes({"forward": forward, "reverse": reverse})
    fixed = (
        options_given.get("metrics"),
        options_given.get("offloads-off", False),
        send,
        processors(options_given.get("cpus", "")),
        options_given.get("busy-poll", False),
        seed,
        fail,
        options_given.get("no-sandbox", False),
        tuple(Path(value) for key, value in given.items() if key.endswith("trace")),
    )
    return GatewaySettings((options_given["in"], options_given["out"]), forward, reverse, *fixed)


def one_of(key: str, words: Sequence[str], word: str) -> str:
    """`word`, which must be one of `words`."""
    if word in words:
        return word
    near = _core.nearest(word, words)
    raise UsageError(
        f"`{key}`: expected {', '.join(words)}, found {word!r}" + (f"; did you mean {near}?" if near else "")
    )


def processors(text: str) -> tuple[int, ...]:
    """The processors that the forwarding threads keep to, from `2` or `2,3`; none without a text."""
    if not text:
        return ()
    usable = sorted(os.sched_getaffinity(0))
    words = [word.strip() for word in text.split(",")]
    if len(words) > len(DIRECTIONS) or not set(words) <= {str(each) for each in usable}:
        raise UsageError(
            "`cpus`: expected one processor, or one for each direction, of those that this process may use "
            f"({', '.join(map(str, usable))}), found {text!r}"
        )
    return tuple(map(int, words))


_NAMES = {str: "a text", bool: "true or false", int: "a whole number"}


def _text(key: str, value: object) -> str:
    """A value as the text of an option; a file may write numbers as numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"`{key}`: expected a text, found {value!r}")
    return str(value)


def paced(direction: str, given: Mapping[str, str]) -> bool:
    """Whether `direction` has a rate or a trace."""
    return any(name in given for key in ("rate", "trace") for name in (key, f"{direction}-{key}"))


def of_direction(direction: str, given: Mapping[str, str]) -> dict[str, str]:
    """The options of `direction`. Without a rate it forwards packets without delay."""
    if paced(direction, given):
        return dict(given)
    for key in NEED_A_RATE:
        if f"{direction}-{key}" in given:
            raise UsageError(f"--{direction}-{key} has no effect without a rate: give --{direction}-rate, too")
    return {**{key: value for key, value in given.items() if key not in NEED_A_RATE}, f"{direction}-rate": UNSHAPED}


def classes(flow: object, tables: object) -> str:
    """The [classify] and [[class]] tables of a scenario, from options as text or tables of a file."""
    text = "" if flow is None else f"[classify]\nflow = {_toml(flow)}\n"
    if not isinstance(tables, Sequence) or isinstance(tables, str):
        raise UsageError("`class`: expected tables headed [[class]]")
    for each in tables:
        table = parse(each) if isinstance(each, str) else each
        if not isinstance(table, Mapping):
            raise UsageError(f"`class`: expected tables headed [[class]], found {each!r}")
        if "label" in table:
            raise UsageError("a class of a gateway cannot use `label`: real packets have none")
        text += "[[class]]\n" + "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in table.items())
    return text


def parse(spec: str) -> dict[str, Any]:
    """A class from an option, `voice:dscp=ef,weight=3`. A key given twice has both values."""
    name, _, rest = spec.partition(":")
    table: dict[str, Any] = {"name": name}
    for pair in filter(None, rest.split(",")):
        key, equals, value = (word.strip() for word in pair.partition("="))
        if not equals:
            raise UsageError(f"--class {spec}: expected NAME:KEY=VALUE,KEY=VALUE, found {pair!r}")
        parsed: Any = _number(value)
        if key in table:
            before = table[key]
            parsed = [*(before if isinstance(before, list) else [before]), parsed]
        table[key] = parsed
    return table


def _number(value: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _toml(value: object) -> str:
    """A value in TOML. JSON writes texts, numbers and lists in the same way."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise UsageError(f"a class takes texts, numbers and lists of them, not {value!r}") from None
