"""The options of `headgate link` as a scenario of one link, checked as a scenario file is."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from headgate import _core
from headgate.errors import UsageError
from headgate.live.directions import DIRECTIONS, OPTIONS
from headgate.scenario.inputs import files_in

#: Values of options that are not given.
DEFAULTS = {"delay": "0ms", "limit": "1000p", "qdisc": "droptail"}

#: Options that set a link's rate. Those of one direction override those of both.
PACES = {
    "trace": ("rate", "schedule", "schedule-period", "slot", "aggregate", "aggregate-gap"),
    "rate": ("trace",),
    "slot": ("trace", "schedule", "schedule-period", "aggregate", "aggregate-gap"),
    "aggregate": ("trace", "schedule", "schedule-period", "slot"),
    "schedule": ("slot", "aggregate", "aggregate-gap"),
}

#: The scenario that the options change. It needs a group of flows, which is never started. By default its access links
#: would be faster than any link, and the packets of an hour too many to count.
TEXT = """\
name = "link"
duration = "1h"
qdiscs = ["droptail"]
[link]
[[tcp]]
access = { rate = "100Mbit/s" }
"""


def scenario(direction: str, given: Mapping[str, str | None], text: str = TEXT) -> _core.Scenario:
    """The scenario of one `direction`, from options by name: `rate` for both directions, `forward-rate` for one.

    `text` is the rest of the scenario. Raises `UsageError` if an option cannot be used.
    """
    chosen = _chosen(direction, given)
    if "rate" not in chosen and "trace" not in chosen:
        raise UsageError(f"the rate is missing: give --rate, as in --rate 10Mbit/s, or --{direction}-rate, or --trace")
    changes = [f"link.{_key(name)}={_value(chosen_value)}" for name, chosen_value in chosen.items() if name != "qdisc"]
    try:
        return _core.Scenario(text, "link", set=changes, qdiscs=[chosen["qdisc"].value], files=files_in(Path()))
    except _core.ScenarioError as error:
        raise UsageError(_in_terms_of_options(error, chosen)) from None


def by_direction(given: Mapping[str, str | None]) -> dict[str, dict[str, str]]:
    """The options of each direction, by name."""
    return {
        direction: {name: option.value for name, option in _chosen(direction, given).items()}
        for direction in DIRECTIONS
    }


class OptionValue(NamedTuple):
    """A value and the option that gave it."""

    flag: str
    value: str


def _chosen(direction: str, given: Mapping[str, str | None]) -> dict[str, OptionValue]:
    """The options of a direction: its own, then those of both directions, then the defaults."""
    own = {option.name: value for option in OPTIONS if (value := given.get(f"{direction}-{option.name}")) is not None}
    both = {option.name: value for option in OPTIONS if (value := given.get(option.name)) is not None}
    for name in PACES.keys() & own.keys():
        for other in PACES[name]:
            both.pop(other, None)
    chosen = {}
    for option in OPTIONS:
        name = option.name
        if name in own:
            chosen[name] = OptionValue(f"--{direction}-{name}", own[name])
        elif (value := both.get(name, DEFAULTS.get(name))) is not None:
            chosen[name] = OptionValue(f"--{name}", value)
    return chosen


def _key(name: str) -> str:
    return name.replace("-", "_")


def _value(option: OptionValue) -> str:
    """A value as `--set` takes it."""
    if option.flag.endswith("schedule"):
        return f"[{', '.join(_step(option, step) for step in option.value.split(','))}]"
    if option.flag.endswith("loss-at"):
        return f"[{option.value}]"
    # A path is text, even if it looks like a number.
    return json.dumps(option.value) if option.flag.endswith("trace") else option.value


def _step(option: OptionValue, step: str) -> str:
    """A step of a schedule, `10s=5Mbit/s`, as a scenario file has it."""
    at, equals, rate = step.partition("=")
    if not equals:
        raise UsageError(
            f"{option.flag} {option.value}: expected TIME=RATE for each step, such as 10s=5Mbit/s, found {step!r}"
        )
    return f"{{ at = {json.dumps(at.strip())}, rate = {json.dumps(rate.strip())} }}"


def _in_terms_of_options(error: _core.ScenarioError, chosen: Mapping[str, OptionValue]) -> str:
    """The error with options in place of the scenario's keys."""
    message, change = error.message, error.change or ""
    for name, given in chosen.items():
        message = re.sub(rf"`link\.{_key(name)}\b[^`]*`", f"`{given.flag}`", message)
        if change.startswith((f"--set link.{_key(name)}=", f"--{name} ")):
            change = f"{given.flag} {given.value}"
    for option in OPTIONS:
        # Other keys that the message names.
        message = message.replace(f"`{_key(option.name)}`", f"`--{option.name}`")
    parts = [message, *([f" --> {change}"] if change else []), *([f"  = {error.help}"] if error.help else [])]
    return "\n".join(parts)
