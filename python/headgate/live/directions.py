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
    """One of them: its name, what stands for its value, and what it says."""

    name: str
    metavar: str
    help: str


#: All, in the order in which help has them. Those that a link of a scenario file has too are called as they are there.
OPTIONS = (
    DirectionOption("rate", "RATE", "How fast it sends, such as 10Mbit/s."),
    DirectionOption("schedule", "STEPS", "When the rate changes, and to what, such as 10s=5Mbit/s,20s=0bit/s."),
    DirectionOption("schedule-period", "TIME", "After this the schedule begins anew, with the rate."),
    DirectionOption("trace", "FILE", "In place of a rate, when it can send 1500 bytes each, as mahimahi's traces say."),
    DirectionOption("delay", "TIME", "Propagation delay, such as 16ms (default 0ms)."),
    DirectionOption("limit", "LIMIT", "Room in the queue, such as 100p or 64KiB (default 1000p)."),
    DirectionOption("qdisc", "SPEC", "The discipline, such as sfb:bins=46 (default droptail)."),
    DirectionOption("loss", "P", "Probability that a packet is lost on the way, from 0 to below 1."),
    DirectionOption("loss-burst", "N", "How many are lost in a row on average (default: each loss on its own)."),
    DirectionOption("jitter", "TIME", "A further delay, drawn from 0 to this; no packet overtakes another for it."),
    DirectionOption("reorder", "P", "Probability that a packet is held back, so that others overtake it, 0 to 1."),
    DirectionOption("reorder-by", "TIME", "For how long it is held back."),
    DirectionOption("overhead", "BYTES", "What each packet costs the link beside its own bytes (default 0)."),
)

#: What was said, by the options' names without dashes before them; None where nothing was.
OptionTexts = Mapping[str, str | None]


def names(direction: str) -> dict[str, str]:
    """The options of a direction by each of their names, or those of both directions if `direction` is empty."""
    prefixes = (ALIASES[direction], direction) if direction else ("",)
    return {_name(prefix, option): _name(direction, option) for option in OPTIONS for prefix in prefixes}


def directed(command: Callable[..., None]) -> Callable[..., None]:
    """Gives `command` all of these options in place of its parameter `given`: what was said, by the options' names."""
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
    """The options as typer knows them, each a text or nothing. Help has those for both directions alone."""
    found = []
    for direction in ("", *DIRECTIONS):
        for option in OPTIONS:
            name = _name(direction, option)
            flags = [f"--{name}", *([f"--{_name(ALIASES[direction], option)}"] if direction else [])]
            declared = typer.Option(*flags, metavar=option.metavar, help=option.help, hidden=direction != "")
            annotation = Annotated[str | None, declared]
            kind = inspect.Parameter.KEYWORD_ONLY
            found.append(inspect.Parameter(_parameter(name), kind, default=None, annotation=annotation))
    return found
