"""How each discipline divided the link. Disciplines are ranked by misallocated goodput, the least first."""

import math
import tomllib
from collections.abc import Iterable
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis.metrics.catalogue import JAIN, MISALLOCATED, OF_FLOWS
from headgate.analysis.metrics.measuring import has_both
from headgate.analysis.metrics.views import FlowsView
from headgate.analysis.repeats import repeats
from headgate.analysis.significance import equivalent, once, rounding, t_test
from headgate.analysis.spread import Estimate
from headgate.analysis.summary import summarize, summed
from headgate.files.result_tables import ResultTables
from headgate.scenario import Group, Role, Scenario
from headgate.scenario.fair import FairUnit
from headgate.scenario.queues import Way

_MOST_PARTS = 6

#: A goodput counts as fair if it differs from the fair share by at most this part of it.
FAIR_WITHIN = 0.1

#: Sources of traffic whose users notice each packet's delay.
INTERACTIVE = ("voip", "telnet")


class LinkShare(NamedTuple):
    """Goodput and fair share of some of the flows together, in bit/s, as means over seeds.

    `most_share` is the upper end of the 95 % interval of goodput over fair share; None without an interval. `is_fair`
    says whether the seeds show that goodput differs from the fair share by at most `FAIR_WITHIN` of it.
    """

    name: str
    role: Role
    flows: int
    goodput_bps: float
    fair_bps: float
    most_share: float | None = None
    is_fair: bool = False

    @property
    def share(self) -> float:
        """Goodput over fair share: 1 is fair."""
        return self.goodput_bps / self.fair_bps if self.fair_bps > 0 else 0.0


class Division(NamedTuple):
    """The goodput of each class or group of flows under one discipline, and queueing delays (95th percentile).

    `metrics.measuring.misallocated` defines `misallocated_bps`. `delays` has the groups that need short delays. Fair
    shares are by `unit`, of which there are `units`. `direction` is that of the flows if the scenario has both, and
    `rate_bps` the rate of their link.
    """

    label: str
    parts: list[LinkShare]
    misallocated_bps: Estimate
    queue_delay_ms_p95: Estimate
    jain: float | None
    delays: dict[str, Estimate]
    unit: str = "flow"
    units: int = 0
    direction: str = ""
    rate_bps: float = 0.0

    @property
    def misallocated(self) -> float:
        """The mean of `misallocated_bps` over seeds."""
        return self.misallocated_bps["mean"] or 0.0

    @property
    def has_classes(self) -> bool:
        """Whether the parts are responsive and unresponsive flows, rather than groups."""
        return has_both(part.role for part in self.parts)

    @property
    def has_unresponsive(self) -> bool:
        """Whether flows that demand more than their fair share do not reduce their rate."""
        return any(part.role == Role.UNRESPONSIVE for part in self.parts)

    @property
    def compared(self) -> list[LinkShare]:
        """The parts whose demand exceeds their fair share; every part if there is none."""
        return [part for part in self.parts if part.role != Role.MODEST] or self.parts

    @property
    def goodput_bps(self) -> float:
        """Goodput of all flows together."""
        return sum(part.goodput_bps for part in self.parts)

    def of(self, role: Role) -> LinkShare:
        """The first part in this role."""
        return next(part for part in self.parts if part.role == role)


class Sharing(NamedTuple):
    """A link in one direction, or all flows of a scenario, with the unit of the fair shares."""

    way: Way
    unit: FairUnit


def sharings(scenario: Scenario) -> list[Sharing]:
    """Each direction by each unit in which fairness is shown; the scenario's own unit comes first."""
    return [Sharing(way, unit) for way in scenario.ways for unit in scenario.fair_units]


def divisions(result: ResultTables, sharing: Sharing | None = None) -> list[Division]:
    """The division of each discipline, the fairest first; without `sharing`, of the first."""
    way, unit = sharing or sharings(result.scenario)[0]
    entries = summarize(result)
    looks = style.looks([entry["qdisc"] for entry in entries])
    views = [FlowsView(result, entry["qdisc"], way.groups).by(unit) for entry in entries]
    unsorted = [
        _division(looks[entry["qdisc"]].label, entry, view, way) for entry, view in zip(entries, views, strict=True)
    ]
    return sorted(unsorted, key=lambda division: division.misallocated)


def sensitive(scenario: Scenario) -> list[Group]:
    """The groups that need short delays: calls, keystrokes, other UDP flows that demand at most their fair share."""
    written = tomllib.loads(scenario.to_toml())
    traffic = {
        (kind, group["name"]): str(group.get("traffic", "")).partition(":")[0]
        for kind in ("tcp", "udp")
        for group in written.get(kind, [])
    }
    return [
        group
        for group in scenario.groups
        if (group.kind == "udp" and group.role == Role.MODEST) or traffic.get((group.kind, group.name)) in INTERACTIVE
    ]


def _division(label: str, entry: dict[str, Any], flows: FlowsView, way: Way) -> Division:
    roles = [group.role for group in flows.groups]
    if has_both(roles):
        members = {role: [group for group in flows.groups if group.role == role] for role in Role if role in roles}
        parts = [_part(protocols(mine), role, summed(flows.of(mine)), flows) for role, mine in members.items()]
    else:
        parts = _merged_beyond_limit(
            [_part(group.name, group.role, summed(flows.of([group])), flows) for group in flows.groups]
        )
    of_groups = zip(flows.result.scenario.groups, entry["groups"], strict=True)
    delays = {
        group.name: of_group["queue_delay_ms"]["p95"]
        for group, of_group in of_groups
        if group in flows.groups and group in sensitive(flows.result.scenario)
    }
    # The delay of all packets at the bottleneck is that of one direction.
    p95 = (OF_FLOWS["queue_delay_ms"].take(flows) if way.direction else entry["bottleneck"]["queue_delay_ms"])["p95"]
    return Division(
        label, parts, MISALLOCATED.take(flows), p95, JAIN.take(flows)["mean"], delays,
        flows.unit.name, flows.units, way.direction, way.rate_bps,
    )  # fmt: skip


def _part(name: str, role: Role, entry: dict[str, Any], flows: FlowsView) -> LinkShare:
    goodput, fair = entry["goodput_bps"]["mean"] or 0.0, entry["fair_share_bps"]["mean"] or 0.0
    share = entry["share_of_fair"]
    return LinkShare(name, role, entry["flows"], goodput, fair, share["high"], _is_fair(share, flows))


def _is_fair(share: Estimate, flows: FlowsView) -> bool:
    shares = [math.nan if value is None else value for value in share["per_seed"]]
    (different,) = once([shares], [repeats(flows.result)[flows.qdisc]])
    return equivalent(t_test([value - 1 for value in different], floor=rounding(different)[0]), FAIR_WITHIN)


def protocols(groups: Iterable[Group]) -> str:
    """The protocols of `groups`: `TCP`, `UDP`, `TCP and TFRC`."""
    names = {"tcp": "TCP", "udp": "UDP"}
    names_in_order = dict.fromkeys(
        "TFRC" if group.kind == "udp" and group.responsive else names[group.kind] for group in groups
    )
    return " and ".join(names_in_order)


def _merged_beyond_limit(parts: list[LinkShare]) -> list[LinkShare]:
    """At most as many parts as a bar can show. If there are more groups, the last part is the sum of the rest."""
    if len(parts) <= _MOST_PARTS:
        return parts
    shown, rest = parts[: _MOST_PARTS - 1], parts[_MOST_PARTS - 1 :]
    flows, goodput, fair = (sum(column) for column in zip(*(part[2:5] for part in rest), strict=True))
    role = next((part.role for part in rest if part.role != Role.MODEST), Role.MODEST)
    is_fair = all(part.is_fair for part in rest)
    return [*shown, LinkShare("all other groups", role, flows, goodput, fair, is_fair=is_fair)]
