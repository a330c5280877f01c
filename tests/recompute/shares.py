"""Max-min fair shares over time, by progressive filling (Bertsekas, Gallager: Data Networks, section 6.5.2).

A share is of the mean rates of the links, among the flows active at that moment. A flow is active from its start until
its group stops, or until all data of its transfer is acknowledged. It wants the long-run rate of its source, and no
more than its access links allow. A transfer wants as much as TCP takes while it lasts. If hosts are the units, those
with an active flow share the links. A host wants what its flows want together, and these share what it gets.
"""

from collections import Counter, defaultdict
from fractions import Fraction

from tests.recompute.journeys import Journeys
from tests.recompute.network import NEVER, SECOND, Direction, Group, Network

#: Rate that a flow wants on the wire, and its route.
Demand = tuple[float, list[Direction]]


def max_min(capacities: dict[tuple[str, str], float], flows: dict[int, Demand]) -> dict[int, float]:
    """Shares on the wire by flow."""
    left, shares, level = dict(capacities), dict[int, float](), 0.0
    waiting = dict(flows)
    while waiting:
        users = Counter(hop.key for _, hops in waiting.values() for hop in hops)
        rooms = {key: left[key] / count for key, count in users.items()}
        level = max(level, min([*rooms.values(), *(wanted for wanted, _ in waiting.values())]))
        full = {key for key, room in rooms.items() if room <= level * (1 + 1e-12)}
        settled = {
            flow for flow, (wanted, hops) in waiting.items() if wanted <= level or full & {hop.key for hop in hops}
        }
        for flow in settled:
            wanted, hops = waiting.pop(flow)
            shares[flow] = min(wanted, level)
            for hop in hops:
                left[hop.key] -= shares[flow]
    return shares


def by_unit(network: Network, capacities: dict[tuple[str, str], float], flows: dict[int, Demand]) -> dict[int, float]:
    """Shares on the wire by flow, if the links are shared among the flows' units. A number stands for each unit."""
    members = defaultdict[tuple[str, ...], dict[int, Demand]](dict)
    for flow, demand in flows.items():
        members[network.unit_of(flow)][flow] = demand
    wholes = {min(own): (sum(wanted for wanted, _ in own.values()), flows[min(own)][1]) for own in members.values()}
    shares = dict[int, float]()
    for flow, whole in max_min(capacities, wholes).items():
        own = members[network.unit_of(flow)]
        # A single link with the unit's share: the first of the route.
        shares |= max_min(
            {flows[flow][1][0].key: whole}, {each: (wanted, hops[:1]) for each, (wanted, hops) in own.items()}
        )
    return shares


def wanted(group: Group) -> float:
    """The rate on the wire that a flow of the group wants while it is active."""
    access = min(rate for rate, _ in group.access)
    return min(access, group.rate) if group.rate is not None else access


class Shares:
    """Fair shares of a run, as goodput in bit/s."""

    def __init__(self, journeys: Journeys) -> None:
        self.network = journeys.network
        self.active = activities(journeys)
        end, directions = self.network.end, self.network.directions
        self.capacities = {key: direction.capacity(0, end) / end for key, direction in directions.items()}
        changes = {0, *(at for times in self.active.values() for at in times)}
        self.changes = sorted(at for at in changes if at < end)
        self.at = [self.shares_at(at) for at in self.changes]

    def shares_at(self, now: int) -> dict[int, float]:
        """The share of each flow that is active from `now` on."""
        flows = {}
        for flow, (start, end) in self.active.items():
            if start <= now < end:
                group = self.network.group_of(flow)
                flows[flow] = wanted(group), group.route
        return {flow: self.useful(flow, share) for flow, share in by_unit(self.network, self.capacities, flows).items()}

    def useful(self, flow: int, share: float) -> float:
        """A share on the wire as goodput."""
        group = self.network.group_of(flow)
        return share * group.payload / group.packet

    def mean(self, flow: int, start: int, end: int) -> float | None:
        """The mean of the flow's share over a time; null if the flow is not active in it."""
        total, is_active = Fraction(0), False
        for at, until, shares in zip(self.changes, [*self.changes[1:], NEVER], self.at, strict=True):
            length = min(until, end) - max(at, start)
            if length > 0 and flow in shares:
                is_active = True
                total += Fraction(shares[flow]) * length
        return float(total / (end - start)) if is_active else None

    def is_brief(self, group: Group) -> bool:
        """Whether the group's transfers demand no more than their share: their bytes over the length of the run."""
        if group.size is None:
            return False
        flows = {}
        for each in self.network.groups:
            brief = each.size * 8 * SECOND / min(self.network.end, each.stop) if each.size else None
            rate = brief * each.packet / each.payload if brief else wanted(each)
            flows.update(dict.fromkeys(each.numbers, (rate, each.route)))
        return by_unit(self.network, self.capacities, flows)[group.first] >= flows[group.first][0] * (1 - 1e-9)


def starts(journeys: Journeys) -> dict[int, int]:
    """When each flow starts: by the text, or else by its first packet, which a TCP sender sends at once."""
    firsts: dict[int, int] = {}
    for packet in journeys.data:
        firsts.setdefault(packet.flow, packet.handed)
    known = {flow: group.start for group in journeys.network.groups for flow in group.numbers}
    return {flow: firsts.get(flow, NEVER) if start is None else start for flow, start in known.items()}


def activities(journeys: Journeys) -> dict[int, tuple[int, int]]:
    """Start and end of each flow's activity."""
    begin = starts(journeys)
    ends = {flow: group.stop for group in journeys.network.groups for flow in group.numbers}
    for packet in journeys.replies:
        size = packet.group.size
        if size is not None and packet.arrived is not None and packet.number >= size:
            ends[packet.flow] = min(ends[packet.flow], packet.arrived)
    return {flow: (begin[flow], ends[flow]) for flow in begin}
