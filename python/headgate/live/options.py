"""What the options of `headgate link` say of a direction: a scenario of one link, read and checked as a file is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from headgate import _core
from headgate.errors import UsageError

#: The two directions, as options and tables name them: from the near host to the far one, and back.
WAYS = ("up", "down")

#: What holds where nothing is said.
DEFAULTS = {"delay": "0ms", "limit": "1000p", "qdisc": "droptail"}

#: The keys that a link of a scenario file has too.
KEYS = ("rate", "trace", "delay", "limit", "loss")

#: A scenario needs flows; these are never started. Its rate is what a change says.
TEXT = """\
name = "link"
duration = "1h"
qdiscs = ["droptail"]
[link]
[[tcp]]
"""


def scenario(way: str, given: Mapping[str, str | None]) -> _core.Scenario:
    """The scenario whose link is direction `way`, from options by name: `rate` for both, `up-rate` for one.

    Raises `UsageError` if an option cannot be used.
    """
    chosen = {key: _chosen(way, key, given) for key in (*KEYS, "qdisc")}
    if chosen["rate"][1] is None and chosen["trace"][1] is None:
        raise UsageError(f"how fast is the link? Give --rate, as in --rate 10Mbit/s, or --{way}-rate, or --trace")
    if chosen["trace"][0].startswith(f"--{way}-") and chosen["rate"][0] == "--rate":
        chosen["rate"] = (chosen["rate"][0], None)  # this direction's trace comes before the rate of both
    changes = [f"link.{key}={_value(key, value)}" for key in KEYS if (value := chosen[key][1]) is not None]
    qdiscs = [chosen["qdisc"][1] or DEFAULTS["qdisc"]]
    try:
        return _core.Scenario(TEXT, "link", set=changes, qdiscs=qdiscs, files=_read)
    except _core.ScenarioError as error:
        raise UsageError(_explained(error, {key: option for key, (option, _) in chosen.items()})) from None


def _chosen(way: str, key: str, given: Mapping[str, str | None]) -> tuple[str, str | None]:
    """An option's name and value: that of the direction, that of both, or the default."""
    for name in (f"{way}-{key}", key):
        if (value := given.get(name)) is not None:
            return f"--{name}", value
    return f"--{key}", DEFAULTS.get(key)


def _value(key: str, value: str) -> str:
    """A value as a change writes it: a path is text, whatever it looks like."""
    return json.dumps(value) if key == "trace" else value


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _explained(error: _core.ScenarioError, options: Mapping[str, str]) -> str:
    """The error in terms of the options."""
    message, change = error.message, error.change or ""
    for key, option in options.items():
        message = message.replace(f"`link.{key}`", f"`{option}`")
        change = change.replace(f"--set link.{key}=", f"{option} ").replace(f"--{key} ", f"{option} ")
    parts = [message, *([f" --> {change}"] if change else []), *([f"  = {error.help}"] if error.help else [])]
    return "\n".join(parts)


def controllers() -> str:
    """The congestion controllers that the kernel has, or has loaded."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().strip().replace(" ", ", ")
