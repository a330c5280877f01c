"""Whole scenarios in code: of one bottleneck, and of any network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Unpack

from headgate.build import keys
from headgate.build.parts import ClassPart, FlowsPart, LinkPart
from headgate.prototype.discipline import AnyQdisc
from headgate.scenario import Scenario, files_in
from headgate.scenario.document import dumbbell, network


class Dumbbell(Scenario):
    """A scenario of one bottleneck between access links.

    >>> Dumbbell(rate="10Mbit/s", delay="10ms", limit="100p",
    ...          flows=[tcp(9, recovery="newreno", rtt="32ms"), udp("5Mbit/s")], qdiscs=[qdisc("sfb", bins=23), "red"])

    Keywords are the keys of a file's `[link]` and those at its top (docs/guide/scenarios.md), `flows` the groups, TCP
    and UDP in any order. `name` is `dumbbell` and `duration` 30 s unless they are given. Quantities are texts or
    numbers: of seconds, bits per second, bytes, or packets of room. Files (`trace`) are looked for in `folder`.

    Raises `UsageError` for a keyword that there is not, and `ScenarioError` for a bad value; `argument` says which.
    """

    def __init__(
        self,
        *,
        flows: FlowsPart | Iterable[FlowsPart],
        qdiscs: Iterable[AnyQdisc],
        classes: Iterable[ClassPart] = (),
        folder: str | Path = ".",
        **given: Unpack[keys.DumbbellKeys],
    ) -> None:
        super().__init__(dumbbell(flows=flows, qdiscs=qdiscs, classes=classes, files=files_in(Path(folder)), **given))


class Network(Scenario):
    """A scenario of any links between nodes.

    >>> Network(links=[link("A", "B", rate="10Mbit/s", delay="5ms", limit="100p")],
    ...         flows=[tcp(4, from_="A", to="B")], qdiscs=["red"])

    As `Dumbbell`, but for the links, and for `name`, which is `network` unless it is given.
    """

    def __init__(
        self,
        *,
        links: Iterable[LinkPart],
        flows: FlowsPart | Iterable[FlowsPart],
        qdiscs: Iterable[AnyQdisc],
        classes: Iterable[ClassPart] = (),
        folder: str | Path = ".",
        files: Callable[[str], bytes] | None = None,
        **given: Unpack[keys.TopKeys],
    ) -> None:
        files = files or files_in(Path(folder))
        super().__init__(network(links=links, flows=flows, qdiscs=qdiscs, classes=classes, files=files, **given))
