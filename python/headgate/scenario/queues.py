"""The queues of a scenario: each direction of each link, with the groups whose data crosses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headgate.scenario import Group, Scenario


class Queue(NamedTuple):
    """The queue of a link in one direction (`forward`, `reverse`).

    `rate_bps` is the link's mean rate in bit/s. `qdisc` is the direction's own discipline, None if it runs the compared
    ones. `groups` cross it with their data, in the order of results.
    """

    link: str
    direction: str
    rate_bps: float
    qdisc: str | None
    groups: list[Group]


class Way(NamedTuple):
    """Flows whose data takes a link in one direction, or all flows of a scenario.

    `direction` is empty for all flows. `rate_bps` is the rate of the link in this direction, in bit/s.
    """

    direction: str
    rate_bps: float
    groups: list[Group]


def queues(scenario: Scenario) -> list[Queue]:
    """Every direction of every link, forward before reverse."""
    crossing = list(zip(scenario.groups, scenario.core.routes, strict=True))
    return [
        Queue(link, direction, rate_bps, qdisc, [group for group, route in crossing if number in route])
        for number, (link, direction, rate_bps, qdisc) in enumerate(scenario.core.hops)
    ]


def slowest(scenario: Scenario, group: Group) -> Queue:
    """The queue with the lowest rate on a group's route, the first of several."""
    return min((queue for queue in scenario.queues if group in queue.groups), key=lambda queue: queue.rate_bps)


def queue_of(scenario: Scenario, group: Group) -> Queue:
    """The queue at which delays and losses of a group are measured.

    It is the bottleneck if the group crosses it, else the first queue on its route that runs the compared disciplines,
    else the slowest.
    """
    mine = [queue for queue in scenario.queues if group in queue.groups]
    at_bottleneck = (queue for queue in mine if (queue.link, queue.direction) == scenario.bottleneck)
    compared = (queue for queue in mine if queue.qdisc is None)
    return next(at_bottleneck, None) or next(compared, None) or slowest(scenario, group)


def ways(scenario: Scenario) -> list[Way]:
    """Both directions of a link if data is slowed down there both ways, else all flows together.

    Goodputs of opposite directions do not share a capacity, so they are never added.
    """
    every = {group: slowest(scenario, group) for group in scenario.groups}
    used = [queue for queue in scenario.queues if any(queue is mine for mine in every.values())]
    if len(used) != 2 or used[0].link != used[1].link:
        return [Way("", scenario.rate_bps, scenario.groups)]
    return [
        Way(queue.direction, queue.rate_bps, [group for group, mine in every.items() if mine is queue])
        for queue in used
    ]


def bottleneck_way(scenario: Scenario) -> Way:
    """The direction of the bottleneck, or all flows."""
    return next(way for way in scenario.ways if way.direction in ("", scenario.bottleneck[1]))


def sharing(scenario: Scenario, groups: Sequence[Group]) -> list[Group]:
    """Those of `groups` whose rates are added: all, or of flows both ways those of the bottleneck's direction.

    If none of them takes that direction, it is the other.
    """
    if len(groups) < 2:
        return list(groups)
    both = sorted(scenario.ways, key=lambda way: way.direction != scenario.bottleneck[1])
    each = ([group for group in groups if group in way.groups] for way in both)
    return list(groups) if len(both) == 1 else next(filter(None, each), [])


def whose(scenario: Scenario) -> str:
    """The flows of the bottleneck's direction in words: `all flows`, `all flows forward`."""
    return f"all flows {bottleneck_way(scenario).direction}".rstrip()
