"""Scenarios in code: `Dumbbell` with one bottleneck, and `Network`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Unpack

from headgate.build import keys
from headgate.build.parts import ClassPart, FlowsPart, LinkPart
from headgate.prototype.discipline import AnyQdisc
from headgate.scenario import Scenario
from headgate.scenario.document import dumbbell, network
from headgate.scenario.inputs import files_in


class Dumbbell(Scenario):
    """A scenario of one bottleneck between access links.

    >>> Dumbbell(rate="10Mbit/s", delay="10ms", limit="100p",
    ...          flows=[tcp(9, recovery="newreno", rtt="32ms"), udp("5Mbit/s")], qdiscs=[qdisc("sfb", bins=23), "red"])

    Keywords are the keys of a file's `[link]` and its top-level keys (docs/guide/scenarios.md). `flows` are the groups,
    TCP and UDP in any order. The default `name` is `dumbbell`, the default `duration` 30 s. Quantities are texts, or
    numbers in seconds, bit/s, bytes, or packets of a limit. Files (`trace`) are read from `folder`.

    Raises `UsageError` for an unknown keyword, and `ScenarioError` for a bad value; `argument` names it.
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
    """A scenario with any links between nodes.

    >>> Network(links=[link("A", "B", rate="10Mbit/s", delay="5ms", limit="100p")],
    ...         flows=[tcp(4, from_="A", to="B")], qdiscs=["red"])

    Like `Dumbbell` but with `links`; the default `name` is `network`.
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
