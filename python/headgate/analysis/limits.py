"""What limited the flows of a group: the links of their route, their window, their access links or their source.

A flow that something else than the link limits says little about the link's discipline.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis.metrics import measuring
from headgate.analysis.metrics.views import FlowsView
from headgate.files.result_tables import ResultTables

#: A limit that holds for less than this share of the time is not worth a line.
_NOTABLE = 0.05
#: A limit that holds for this share of the time is the group's main limit.
_MAIN = 0.5


class GroupLimits(NamedTuple):
    """The share of the time in which each limit held for a group's flows: the mean of all disciplines and seeds."""

    name: str
    shares: dict[str, float]

    @property
    def is_notable(self) -> bool:
        """Whether something else than the links limited the flows for a notable time."""
        return any(share >= _NOTABLE for limit, share in self.shares.items() if limit != "link")

    def __str__(self) -> str:
        """`tcp: access 98 %, link 2 %`, the main limit first."""
        ranked = sorted(self.shares.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{limit} {100 * share:.0f} %" for limit, share in ranked if round(100 * share) > 0)
        return f"{self.name}: {shown}"


def of(result: ResultTables) -> list[GroupLimits]:
    """The limits of every group in which they were measured: TCP, simulated."""
    found: dict[str, list[dict[str, float]]] = {}
    for qdisc in result.scenario.qdiscs:
        for group, flows in zip(result.scenario.groups, FlowsView.each(result, qdisc), strict=True):
            means = {limit: share["mean"] for limit, share in measuring.limits(flows).items()}
            known = {limit: mean for limit, mean in means.items() if mean is not None}
            if known:
                found.setdefault(group.name, []).append(known)
    return [
        GroupLimits(name, {limit: sum(each[limit] for each in shares) / len(shares) for limit in shares[0]})
        for name, shares in found.items()
    ]


def line(limits: list[GroupLimits]) -> str:
    """The limits of every group as a line; empty if the links alone limited all groups."""
    return "; ".join(map(str, limits)) if any(each.is_notable for each in limits) else ""


def sentences(result: ResultTables, limits: list[GroupLimits]) -> Iterator[str]:
    """A sentence for each group whose access links or window limited it most of the time."""
    groups = {group["name"]: group for group in tomllib.loads(result.scenario.to_toml()).get("tcp", [])}
    link = f"not by the link of {style.rate(result.scenario.rate_bps)}"
    for each in limits:
        if each.shares["access"] >= _MAIN:
            yield f"“{each.name}” is limited by its access link of {_access(groups[each.name])}, {link}."
        elif each.shares["window"] >= _MAIN:
            yield f"“{each.name}” is limited by its window of {_window(groups[each.name])}, {link}."


def _access(group: dict[str, Any]) -> str:
    """The rate of the slower access link."""
    return style.rate(min(_bits(group[end]["rate"]) for end in ("sender", "receiver")))


def _bits(rate: str) -> float:
    number = rate.rstrip("bit/skMG")
    return float(number) * {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[rate.removeprefix(number)]


def _window(group: dict[str, Any]) -> str:
    """The receive window, and the send buffer if there is one."""
    window = f"{group['window']} packets"
    buffer = group.get("send_buffer", "off")
    return window if buffer == "off" else f"{window} and its send buffer of {buffer}"
