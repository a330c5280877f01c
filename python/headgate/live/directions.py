"""The options that a link has for both directions and for each: `--rate`, `--forward-rate`, `--reverse-rate`."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, NamedTuple

import typer

#: The two directions, as options and tables name them: from the near host to the far one, and back.
DIRECTIONS = ("forward", "reverse")

#: Other names of the directions in options and in a gateway's file.
ALIASES = {"forward": "up", "reverse": "down"}


class DirectionOption(NamedTuple):
    """One option: its name, the placeholder of its value, and its help."""

    name: str
    metavar: str
    help: str


#: All options in the order of the help. Names are those of a link's keys in a scenario file.
OPTIONS = (
    DirectionOption("rate", "RATE", "Rate of the link, such as 10Mbit/s."),
    DirectionOption("schedule", "STEPS", "Rate changes, such as 10s=5Mbit/s,20s=0bit/s."),
    DirectionOption("schedule-period", "TIME", "Repeat the schedule after this time, beginning with the rate."),
    DirectionOption("trace", "FILE", "A mahimahi trace instead of a rate: times at which 1500 bytes can be sent."),
    DirectionOption("slot", "TIME", "Send in slots of this length, as in 5G."),
    DirectionOption("aggregate", "TIME", "Send queued packets together, for at most this time, as in Wi-Fi."),
    DirectionOption("aggregate-gap", "TIME", "Time before each aggregate in which nothing is sent."),
    DirectionOption("delay", "TIME", "Propagation delay, such as 16ms (default 0ms)."),
    DirectionOption("limit", "LIMIT", "Size of the buffer, such as 100p or 64KiB (default 1000p)."),
    DirectionOption("qdisc", "SPEC", "The discipline, such as sfb:bins=46 (default droptail)."),
    DirectionOption("loss", "P", "Probability of link loss for each packet, from 0 to below 1."),
    DirectionOption("loss-burst", "N", "Mean number of packets lost in a row (default: independent losses)."),
    DirectionOption("loss-burst-max", "N", "Most packets lost in a row."),
    DirectionOption("loss-at", "NUMBERS", "Packets lost by their numbers, such as 3,10."),
    DirectionOption("duplicate", "P", "Probability that a packet arrives twice, 0 to 1."),
    DirectionOption("ecn", "WORD", "keep, bleach (clear the ECN field) or remark (ECT(0) to ECT(1))."),
    DirectionOption("dscp", "DSCP", "DSCP written into each packet, such as CS0."),
    DirectionOption("jitter", "TIME", "Extra delay, drawn from 0 to TIME. It does not reorder packets."),
    DirectionOption("reorder", "P", "Probability that a packet is delayed by --reorder-by, 0 to 1."),
    DirectionOption("reorder-by", "TIME", "Delay of reordered packets; later packets overtake them."),
    DirectionOption("overhead", "BYTES", "Bytes added to each packet, or a framing such as ethernet (default 0)."),
)

#: The options' values by name, without leading dashes; None where an option was not given.
OptionTexts = Mapping[str, str | None]


def names(direction: str) -> dict[str, str]:
    """The options of a direction by each of their names, or those of both directions if `direction` is empty."""
    prefixes = (ALIASES[direction], direction) if direction else ("",)
    return {_name(prefix, option): _name(direction, option) for option in OPTIONS for prefix in prefixes}


def directed(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces the parameter `given` of `command` by all of these options; `given` gets their values by name."""
    known = [_name(direction, option) for direction in ("", *DIRECTIONS) for option in OPTIONS]

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        given = {name: kwargs.pop(_parameter(name)) for name in known}
        command(*args, given=given, **kwargs)

    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters.extend(_parameters() if parameter.name == "given" else [parameter])
    wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapped


def _name(direction: str, option: DirectionOption) -> str:
    return f"{direction}-{option.name}" if direction else option.name


def _parameter(name: str) -> str:
    return name.replace("-", "_")


def _parameters() -> list[inspect.Parameter]:
    """The options as parameters for typer. The help shows only those for both directions."""
    parameters = []
    for direction in ("", *DIRECTIONS):
        for option in OPTIONS:
            name = _name(direction, option)
            flags = [f"--{name}", *([f"--{_name(ALIASES[direction], option)}"] if direction else [])]
            declared = typer.Option(*flags, metavar=option.metavar, help=option.help, hidden=direction != "")
            annotation = Annotated[str | None, declared]
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(_parameter(name), kind, default=None, annotation=annotation))
    return parameters
