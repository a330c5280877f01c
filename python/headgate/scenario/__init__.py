"""Scenarios: a network, its flows, and the disciplines to compare."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Callable, Iterable
from enum import Enum, StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from headgate import _core, guarded, identity, shipped
from headgate.errors import RunFailedError, UsageError, require_linux
from headgate.scenario import fair
from headgate.scenario.fair import FairUnit
from headgate.scenario.inputs import files_in
from headgate.scenario.queues import Queue, Way, queues, ways

if TYPE_CHECKING:
    from headgate.build.parts import ClassPart, FlowsPart, LinkPart
    from headgate.prototype.discipline import AnyQdisc, Discipline


class RunWorld(StrEnum):
    """Where a scenario runs."""

    SIM = "sim"
    """In the simulator."""
    LIVE = "live"
    """On real packets: with the kernel's TCP and Headgate's disciplines."""
    KERNEL = "kernel"
    """On real packets, with the kernel's TCP and its qdiscs in place of the compared disciplines."""


class Role(Enum):
    """How flows behave towards the flows that share a link with them."""

    RESPONSIVE = "responsive"
    """Their demand exceeds their fair share, and they reduce their rate on loss or marks."""
    UNRESPONSIVE = "unresponsive"
    """Their demand exceeds their fair share, and they do not reduce their rate."""
    MODEST = "modest"
    """Their demand is at most their fair share, so their responsiveness does not matter."""


class Group(NamedTuple):
    """A group of flows.

    `kind` is `tcp` or `udp`. `rate_bps` is the rate of each flow on the wire, None if congestion control or a source
    sets it. `responsive` flows reduce their rate on loss (TCP, and UDP with congestion control). `greedy` flows demand
    more than their max-min fair share. `brief` flows end and demand at most their fair share.
    """

    name: str
    kind: str
    flows: int
    rate_bps: float | None
    responsive: bool = True
    greedy: bool = True
    brief: bool = False

    @property
    def role(self) -> Role:
        """The role of its flows."""
        if not self.greedy:
            return Role.MODEST
        return Role.RESPONSIVE if self.responsive else Role.UNRESPONSIVE


class RunKey(NamedTuple):
    """One run: the discipline number `qdisc_index` of a scenario, as text in `qdisc`, with one seed."""

    qdisc_index: int
    qdisc: str
    seed: int

    def __str__(self) -> str:
        return f"{self.qdisc} with seed {self.seed}"


class ScenarioChanges(TypedDict, total=False):
    """Changes to a scenario while it is read."""

    set: Iterable[str]
    qdiscs: Iterable[AnyQdisc]
    seeds: int | Iterable[int] | None


class Scenario:
    """A checked scenario: defaults are filled in and units resolved.

    It is simulated, unless it is made by `on_real_packets` or `in_kernel`.
    """

    def __init__(self, core: _core.Scenario, *, world: RunWorld = RunWorld.SIM) -> None:
        self._core = core
        self._world = world

    @property
    def prototypes(self) -> dict[str, type[Discipline]]:
        """The disciplines written in Python, by name. The scenario's text does not contain them."""
        return dict(self._core.prototypes)

    @property
    def _prototyped(self) -> list[AnyQdisc]:
        """All disciplines if some are written in Python, else an empty list."""
        known = self.prototypes
        return [known.get(name, name) for name in self.qdiscs] if known else []

    @classmethod
    def load(cls, path: str | Path, **changes: Unpack[ScenarioChanges]) -> Scenario:
        """Reads a scenario file, or the scenario of that name that comes with Headgate (`headgate new` lists them).

        `set` changes keys (`"link.rate=5Mbit/s"`). `qdiscs` replaces the disciplines (`"sfb:bins=46"`), and `seeds` the
        seeds; a number N means 1 to N. Raises `ScenarioError` for a bad scenario and `OSError` for a file that cannot
        be read.
        """
        found = shipped.located(path)
        data = guarded.read_bytes(found, guarded.SCENARIO)
        return cls.parse(data, file=str(path), files=files_in(found.parent), **changes)

    @classmethod
    def of(cls, given: str | Path | Scenario, **changes: Unpack[ScenarioChanges]) -> Scenario:
        """A scenario file, or a scenario, with the changes of `load`."""
        if not isinstance(given, Scenario):
            return cls.load(given, **changes)
        return given.changed(**changes) if any(change not in (None, (), []) for change in changes.values()) else given

    @classmethod
    def parse(
        cls,
        text: str | bytes,
        *,
        file: str = "<text>",
        set: Iterable[str] = (),
        qdiscs: Iterable[AnyQdisc] = (),
        seeds: int | Iterable[int] | None = None,
        files: Callable[[str], bytes] | None = None,
    ) -> Scenario:
        """Reads a scenario from TOML text; `file` names it in messages. The changes are those of `load`.

        `files` returns the bytes of a file that the scenario names, by its path, or raises `OSError`. Without it the
        scenario cannot name files.
        """
        if isinstance(text, bytes):
            text = _decode(text, file)
        changes = list(set)
        if seeds is not None and not isinstance(seeds, int):
            changes.append(f"seeds={list(seeds)}")
            seeds = None
        given = list(qdiscs)
        names = [str(each) for each in given if not isinstance(each, type)]
        # If all are written in Python, a placeholder from the registry lets the rest be read.
        read = _core.Scenario(
            text, file, set=changes, qdiscs=names if names or not given else ["droptail"], seeds=seeds, files=files
        )
        if len(names) < len(given):
            from headgate.prototype.discipline import with_prototypes

            read = with_prototypes(read, given)
        return cls(read)

    def changed(self, **changes: Unpack[ScenarioChanges]) -> Scenario:
        """The scenario with the changes of `load`. It keeps its input files and cannot name others."""
        changes["qdiscs"] = list(changes.get("qdiscs", ())) or self._prototyped
        changed = Scenario.parse(self.to_toml(), files=self._read_input, **changes)
        return changed._in(self._world)

    def of_seed(self, seed: int) -> Scenario:
        """The scenario with one of its seeds alone."""
        if (core := self._core.of_seed(seed)) is None:
            raise UsageError(f"{self.name} has no seed {seed}")
        return Scenario(core, world=self._world)

    def replace(self, **changed: Any) -> Scenario:
        """The scenario with other keywords of `Network`, such as `flows`, `links`, `qdiscs` or `duration`."""
        import tomllib

        from headgate.scenario.document import network

        document = tomllib.loads(self.to_toml())
        parts = {"links": self.links, "flows": self.flows, "classes": self.classes}
        top = {name: value for name, value in document.items() if name not in ("link", "tcp", "udp", "class")}
        top["qdiscs"] = self._prototyped or self.qdiscs
        made = Scenario(network(**{"files": self._read_input, **top, **parts, **changed}))
        return made._in(self._world)

    @property
    def flows(self) -> list[FlowsPart]:
        """The groups of flows as `tcp(...)` and `udp(...)` make them, with every key; TCP before UDP."""
        import tomllib

        from headgate.build.parts import TcpPart, UdpPart

        document = tomllib.loads(self.to_toml())
        return [*map(TcpPart.of, document.get("tcp", [])), *map(UdpPart.of, document.get("udp", []))]

    @property
    def links(self) -> list[LinkPart]:
        """The links as `link(...)` makes them, with every key."""
        import tomllib

        from headgate.build.parts import LinkPart

        document = tomllib.loads(self.to_toml())["link"]
        return [LinkPart.of(table) for table in (document if isinstance(document, list) else [document])]

    @property
    def classes(self) -> list[ClassPart]:
        """The classes as `class_(...)` makes them, with every key."""
        import tomllib

        from headgate.build.parts import ClassPart

        return [ClassPart.of(table) for table in tomllib.loads(self.to_toml()).get("class", [])]

    def _read_input(self, path: str) -> bytes:
        """The bytes of an input file that the scenario keeps."""
        inputs = self.inputs
        if path not in inputs:
            raise FileNotFoundError(errno.ENOENT, "not an input of the scenario", path)
        return inputs[path]

    def on_real_packets(self) -> Scenario:
        """The scenario for runs on real packets (Linux); `UsageError` if it cannot be run so."""
        return self._in(RunWorld.LIVE)

    def in_kernel(self) -> Scenario:
        """The scenario for runs on real packets with the kernel's qdiscs; `UsageError` if it cannot be run so."""
        return self._in(RunWorld.KERNEL)

    def _in(self, world: RunWorld) -> Scenario:
        if world == RunWorld.SIM:
            return self
        if self.prototypes:
            raise UsageError(
                f"{next(iter(self.prototypes))} is written in Python: it can be simulated, but not run on real packets"
            )
        require_linux()
        try:
            _core.check_kernel(self._core) if world == RunWorld.KERNEL else _core.check_live(self._core)
        except ValueError as error:
            raise UsageError(f"on real packets: {error}") from None
        except _core.LiveError as error:
            raise RunFailedError(f"on real packets: {error}") from None
        return Scenario(self._core, world=world)

    @property
    def world(self) -> RunWorld:
        """Where the scenario runs."""
        return self._world

    @property
    def live(self) -> bool:
        """Whether the scenario runs on real packets, with Headgate's disciplines or the kernel's qdiscs."""
        return self._world != RunWorld.SIM

    @property
    def core(self) -> _core.Scenario:
        """The compiled scenario that runs take."""
        return self._core

    @property
    def name(self) -> str:
        """The short name of the scenario, used for result folders."""
        return self._core.name

    @property
    def about(self) -> str:
        """One or two sentences about the scenario."""
        return self._core.about

    @property
    def duration_s(self) -> float:
        """Simulated time of one run, in seconds."""
        return self._core.duration_s

    @property
    def warmup_s(self) -> float:
        """The warm-up in seconds, excluded from all totals."""
        return self._core.warmup_s

    @property
    def rate_bps(self) -> float:
        """Rate of the bottleneck in bit/s; the mean if it varies."""
        return self._core.rate_bps

    @property
    def bottleneck(self) -> tuple[str, str]:
        """Name and direction (`forward`, `reverse`) of the first link at which disciplines are compared.

        In a dumbbell it is the only link. Figures that have room for one link show it.
        """
        return self._core.bottleneck

    @property
    def records(self) -> list[str]:
        """The tables that are recorded because the scenario asks for them: `events`, `traces`."""
        return self._core.records

    @property
    def captures(self) -> list[str]:
        """The links whose packets are captured, by name."""
        return self._core.captures

    @property
    def seeds(self) -> list[int]:
        """The seeds: one run of every discipline for each."""
        return self._core.seeds

    @property
    def qdiscs(self) -> list[str]:
        """The disciplines to compare, as in `sfb:bins=46,levels=1`."""
        return self._core.qdiscs

    @property
    def groups(self) -> list[Group]:
        """The groups of flows, TCP before UDP; flows are numbered in this order."""
        return [Group(*group) for group in self._core.groups]

    @cached_property
    def queues(self) -> list[Queue]:
        """Every direction of every link, forward before reverse, with the groups whose data crosses it."""
        return queues(self)

    @cached_property
    def ways(self) -> list[Way]:
        """Both directions of a link if data is slowed down there both ways, else all flows together."""
        return ways(self)

    @cached_property
    def fair_units(self) -> list[FairUnit]:
        """The units by which fairness is shown, the first for every fair share: the scenario's `fair`.

        Without it, flows, and also hosts if they have different numbers of flows.
        """
        return fair.shown(self)

    @property
    def runs(self) -> list[RunKey]:
        """Every run, discipline by discipline, seed by seed."""
        return [RunKey(index, qdisc, seed) for index, qdisc in enumerate(self.qdiscs) for seed in self.seeds]

    @property
    def points(self) -> list[RunKey]:
        """The name of `runs` before 0.2. It works for one more release."""
        warnings.warn("Scenario.points is called Scenario.runs now", FutureWarning, stacklevel=2)
        return self.runs

    def to_toml(self) -> str:
        """The scenario in canonical form. Parsing it gives an equal scenario with the same text."""
        return self._core.to_toml()

    @property
    def config_hash(self) -> str:
        """SHA-256 of the canonical form, its inputs and Headgate's version: equal hashes mean equal results.

        On real packets the world is hashed too, and equal hashes mean similar results.
        """
        inputs = {path: identity.of_bytes(data) for path, data in self.inputs.items()}
        return identity.of_scenario(self.to_toml(), _core.VERSION, inputs, str(self._world) if self.live else "")

    @property
    def inputs(self) -> dict[str, bytes]:
        """The contents of the files that the scenario names, by their paths in the canonical form."""
        return dict(self._core.inputs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        """The values that make two scenarios equal."""
        return self.to_toml(), tuple(self.inputs.items()), tuple(self.prototypes.items()), self._world

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, qdiscs={self.qdiscs!r}, seeds={self.seeds!r})"


def _decode(data: bytes, file: str) -> str:
    """TOML is UTF-8; anything else is refused, with the line of the first bad byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = _core.ScenarioError(f"error: {file} is not a TOML file: byte {error.start} is not UTF-8")
        wrong.message = f"not a TOML file: byte {error.start} is not UTF-8"
        wrong.file, wrong.key, wrong.column = file, "", None
        wrong.line = data.count(b"\n", 0, error.start) + 1
        raise wrong from None
