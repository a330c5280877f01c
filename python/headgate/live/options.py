"""What the options of `headgate link` say of a direction: a scenario of one link, read and checked as a file is."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from headgate import _core
from headgate.errors import UsageError
from headgate.live.directions import DIRECTIONS, OPTIONS

#: What holds where nothing is said.
DEFAULTS = {"delay": "0ms", "limit": "1000p", "qdisc": "droptail"}

#: Options that say how fast a link is; those of a direction come before those of both that contradict them.
PACES = {"trace": ("rate", "schedule", "schedule-period"), "rate": ("trace",)}

#: Bytes that a packet may cost beside its own: the shortest IP packet has 20 (RFC 791), and must not be free.
OVERHEADS = range(-19, 1001)

#: A scenario needs flows; these are never started. Its rate is what a change says.
TEXT = """\
name = "link"
duration = "1h"
qdiscs = ["droptail"]
[link]
[[tcp]]
"""


def scenario(direction: str, given: Mapping[str, str | None], text: str = TEXT) -> _core.Scenario:
    """The scenario whose link is like `direction`, from options by name: `rate` for both, `forward-rate` for one.

    `text` is the rest of it. Raises `UsageError` if an option cannot be used.
    """
    chosen = _chosen(direction, given)
    if "rate" not in chosen and "trace" not in chosen:
        raise UsageError(f"how fast is the link? Give --rate, as in --rate 10Mbit/s, or --{direction}-rate, or --trace")
    changes = [
        f"link.{_key(name)}={_value(said)}" for name, said in chosen.items() if name not in ("qdisc", "overhead")
    ]
    try:
        return _core.Scenario(text, "link", set=changes, qdiscs=[chosen["qdisc"].value], files=_read)
    except _core.ScenarioError as error:
        raise UsageError(_explained(error, chosen)) from None


def said(given: Mapping[str, str | None]) -> dict[str, dict[str, str]]:
    """What holds in each direction, by the options' names."""
    return {
        direction: {name: said.value for name, said in _chosen(direction, given).items()} for direction in DIRECTIONS
    }


def overhead(direction: str, given: Mapping[str, str | None]) -> int:
    """The bytes that each packet costs `direction` beside its own.

    Raises `UsageError` if they are no whole number, or would make a packet free.
    """
    said = _chosen(direction, given).get("overhead")
    if said is None:
        return 0
    try:
        found = int(said.value.removesuffix("B"))
    except ValueError:
        raise UsageError(f"{said.option} {said.value}: expected a number of bytes, such as 38") from None
    if found not in OVERHEADS:
        bounds = (
            f"from {OVERHEADS[0]}, since the shortest IP packet has 20 bytes and none may be free, to {OVERHEADS[-1]}"
        )
        raise UsageError(f"{said.option} {said.value}: expected a number of bytes {bounds}")
    return found


class OptionValue(NamedTuple):
    """What was said, and by which option."""

    option: str
    value: str


def _chosen(direction: str, given: Mapping[str, str | None]) -> dict[str, OptionValue]:
    """What holds in a direction: what its own options say, then those of both, then the defaults."""
    own = {option.name: value for option in OPTIONS if (value := given.get(f"{direction}-{option.name}")) is not None}
    both = {option.name: value for option in OPTIONS if (value := given.get(option.name)) is not None}
    for name in PACES.keys() & own.keys():
        for other in PACES[name]:
            both.pop(other, None)
    found = {}
    for option in OPTIONS:
        name = option.name
        if name in own:
            found[name] = OptionValue(f"--{direction}-{name}", own[name])
        elif (value := both.get(name, DEFAULTS.get(name))) is not None:
            found[name] = OptionValue(f"--{name}", value)
    return found


def _key(name: str) -> str:
    return name.replace("-", "_")


def _value(said: OptionValue) -> str:
    """A value as a change writes it."""
    if said.option.endswith("schedule"):
        return f"[{', '.join(_step(said, step) for step in said.value.split(','))}]"
    # A path is text, whatever it looks like.
    return json.dumps(said.value) if said.option.endswith("trace") else said.value


def _step(said: OptionValue, step: str) -> str:
    """A step of a schedule, `10s=5Mbit/s`, as a scenario file has it."""
    at, equals, rate = step.partition("=")
    if not equals:
        raise UsageError(
            f"{said.option} {said.value}: expected TIME=RATE for each step, such as 10s=5Mbit/s, found {step!r}"
        )
    return f"{{ at = {json.dumps(at.strip())}, rate = {json.dumps(rate.strip())} }}"


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _explained(error: _core.ScenarioError, chosen: Mapping[str, OptionValue]) -> str:
    """The error in terms of the options."""
    message, change = error.message, error.change or ""
    for name, said in chosen.items():
        message = re.sub(rf"`link\.{_key(name)}\b[^`]*`", f"`{said.option}`", message)
        if change.startswith((f"--set link.{_key(name)}=", f"--{name} ")):
            change = f"{said.option} {said.value}"
    for option in OPTIONS:
        # Keys that a message names beside the one it is about.
        message = message.replace(f"`{_key(option.name)}`", f"`--{option.name}`")
    parts = [message, *([f" --> {change}"] if change else []), *([f"  = {error.help}"] if error.help else [])]
    return "\n".join(parts)
