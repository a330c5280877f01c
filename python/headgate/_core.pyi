"""The compiled part: conversions between Python and the simulator. Use the package `headgate` around it."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Final, Protocol, Self, final, type_check_only

__all__ = [
    "VERSION",
    "Acts",
    "Controller",
    "Discipline",
    "Gateway",
    "Link",
    "Outcome",
    "Parameter",
    "Port",
    "Preset",
    "Progress",
    "Scenario",
    "ScenarioError",
    "Source",
    "Stopped",
    "check_live",
    "controllers",
    "discipline",
    "disciplines",
    "find",
    "measure",
    "nearest",
    "numbers",
    "place",
    "prepare",
    "reasons",
    "run",
    "run_live",
    "sources",
    "tables",
]

VERSION: Final[str]

class ScenarioError(ValueError):
    """A scenario that cannot be used; `str` gives the whole message, with the place in the file."""

    message: str
    help: str | None
    key: str
    file: str
    line: int | None
    column: int | None
    change: str | None
    argument: str

class Stopped(Exception):
    """A run that was asked to stop before its end."""

@type_check_only
class Batch(Protocol):
    """A record batch that any Arrow library takes without a copy (Arrow PyCapsule interface)."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[Any, Any]: ...

@final
class Scenario:
    """A scenario that was read and checked."""

    def __new__(
        cls,
        text: str,
        file: str,
        *,
        set: Sequence[str] = ...,
        qdiscs: Sequence[str] = ...,
        seeds: int | None = None,
        files: Callable[[str], bytes] | None = None,
    ) -> Self: ...
    def with_prototypes(
        self, made: Sequence[tuple[str, type[Any], Callable[[int | None, int | None, int, int, int], Any]] | None]
    ) -> Scenario:
        """The same with disciplines written in Python: name, class and maker each, or None for the next of its own."""
    @property
    def prototypes(self) -> list[tuple[str, type[Any]]]:
        """Name and class of each discipline written in Python."""
    @property
    def inputs(self) -> list[tuple[str, bytes]]: ...
    def to_toml(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def warmup_s(self) -> float: ...
    @property
    def rate_bps(self) -> float: ...
    @property
    def bottleneck(self) -> tuple[str, str]: ...
    @property
    def records(self) -> list[str]:
        """The tables that are recorded on request: `events`, `traces`."""
    @property
    def captures(self) -> list[str]:
        """The links that are captured, by name."""
    @property
    def seeds(self) -> list[int]: ...
    @property
    def qdiscs(self) -> list[str]: ...
    @property
    def groups(self) -> list[tuple[str, str, int, float | None, bool, bool, bool]]: ...

@final
class Link:
    """A link on real packets between two hosts of its own; it runs until `stop`. On Linux alone."""

    NEAR: Final[str]
    FAR: Final[str]

    def __new__(
        cls,
        forward: Scenario,
        reverse: Scenario,
        *,
        overheads: tuple[int, int] = ...,
        seed: int = 1,
        sysctls: Sequence[tuple[str, str]] = ...,
        outside: bool = False,
        log: PathLike[str] | None = None,
    ) -> Self: ...
    def spawn(self, words: Sequence[str]) -> int:
        """Starts the command in the near host; gives the id of a process that ends with it and hands on our signals."""
    def serve(self, words: Sequence[str]) -> None:
        """Starts the server in the far host."""
    def listens(self) -> bool:
        """Whether somebody in the far host waits for TCP connections."""
    def poll(self) -> int | None:
        """The command's exit code; None while it runs."""
    def poll_server(self) -> int | None:
        """The server's exit code; None while it runs."""
    @property
    def runs(self) -> bool: ...
    @property
    def urgent(self) -> bool:
        """Whether the loop's thread comes before ordinary ones."""
    def view(self) -> dict[str, Any]:
        """What the link does: `forward` and `reverse`, as of a moment ago."""
    def take_intervals(self) -> tuple[Batch, Batch] | None:
        """The rows over time since the last call, forward and reverse; None without a log."""
    def written(self) -> dict[str, Any] | None:
        """How many packets the log has and has not, and what ended it before its time; None without a log."""
    def stop(self) -> dict[str, Any]:
        """Ends the server, stops the loop, and says what was done in all."""

@final
class Gateway:
    """A gateway between two interfaces that are there already; it runs until `stop`. On Linux alone."""

    def __new__(
        cls,
        interfaces: tuple[str, str],
        forward: Scenario,
        reverse: Scenario,
        *,
        overheads: tuple[int, int] = ...,
        offloads_off: bool = False,
        send: str = "auto",
        seed: int = 1,
    ) -> Self: ...
    @property
    def notes(self) -> list[str]:
        """What is not as it best were, of both interfaces."""
    @property
    def runs(self) -> bool: ...
    @property
    def urgent(self) -> bool:
        """Whether the loop's thread comes before ordinary ones."""
    def refit(self, forward: Scenario, reverse: Scenario, *, overheads: tuple[int, int] = ...) -> None:
        """Both directions are like this from now on; what waits and flies goes on."""
    def view(self) -> dict[str, Any]:
        """What the gateway does: `forward` and `reverse`, as of a moment ago."""
    def stop(self) -> dict[str, Any]:
        """Stops the loop, and says what was done in all."""

def measure(way: Scenario, rate_bps: int, packet: int, seconds: float) -> dict[str, Any]:
    """Sends datagrams over a link made for it, and says what came of it."""

def prepare() -> None:
    """Sees to it that this process may make network namespaces, or raises `PermissionError`."""

@final
class Progress:
    """Watches and stops runs from another thread; one object may serve many runs."""

    def __new__(cls) -> Self: ...
    @property
    def seconds(self) -> float:
        """Simulated seconds done so far, over all runs that use this object."""
    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
    def stop(self) -> None:
        """Makes every run that uses this object end soon with `Stopped`."""

@final
class Outcome:
    """Everything one run gave, as Arrow tables."""

    def flows(self) -> Batch: ...
    def intervals(self) -> Batch: ...
    def links(self) -> Batch: ...
    def delays(self) -> Batch: ...
    def losses(self) -> Batch: ...
    def fairness(self) -> Batch: ...
    def transfers(self) -> Batch: ...
    @property
    def packets(self) -> int:
        """Packets sent where disciplines are compared in the whole run."""

@final
class Acts:
    """What a call of a discipline written in Python acts through."""

    def random(self) -> float: ...
    def drop(self, number: int, why: str) -> None: ...
    def signal(self, number: int, why: str, ecn: bool) -> bool:
        """Whether the packet was marked and goes on."""

@final
class Port:
    """A port with one discipline, in the thread that made it. Times are in nanoseconds."""

    def __new__(
        cls,
        qdisc: str,
        rate: str,
        limit: str,
        *,
        mean_packet: int,
        seed: int,
        prototype: Callable[[int | None, int | None, int, int, int], Any] | None = None,
    ) -> Self: ...
    def enqueue(
        self, now: int, packet: tuple[int, int, int, int, str]
    ) -> list[tuple[str, str, tuple[int, int, int, int, str, int]]]:
        """Gives number, flow, bytes, class and ECN field of a packet; what was dropped and marked."""
    def dequeue(
        self, now: int
    ) -> tuple[
        tuple[int, int, int, int, str, int] | None, list[tuple[str, str, tuple[int, int, int, int, str, int]]]
    ]: ...
    @property
    def backlog(self) -> tuple[int, int]:
        """Packets and bytes that wait."""
    def ready_at(self, now: int) -> int | None: ...
    @property
    def counts(self) -> list[tuple[str, int]]: ...
    def gauges(self, flow: int | None = None) -> list[tuple[str, float]]: ...
    def waited_ms(self, share: float) -> float | None: ...

def tables() -> list[tuple[str, str, list[tuple[str, str, bool, str, str]]]]:
    """Every table: its name, what a row is of, and of each column name, type, nullability, unit and meaning."""

def run(
    scenario: Scenario,
    qdisc_index: int,
    seed: int,
    progress: Progress | None = None,
    on_batch: Callable[[str, Batch], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
) -> Outcome:
    """Runs one discipline with one seed; other Python threads go on meanwhile.

    `on_batch` is told the next rows of the tables `events` and `traces`, `on_capture` the next bytes of a link's pcapng
    file, if the scenario records them.
    """

def numbers() -> list[tuple[str, str, str]]:
    """The numbers of a direction of a link that Prometheus is told: key in a view, name and meaning. Linux alone."""

def check_live(scenario: Scenario) -> None:
    """Raises `ValueError` with the reason if the scenario cannot be run on real packets. Linux alone."""

def run_live(
    scenario: Scenario,
    qdisc_index: int,
    seed: int,
    progress: Progress | None = None,
    on_batch: Callable[[str, Batch], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
    on_link: Callable[[Callable[[], dict[str, Any]]], object] | None = None,
) -> tuple[Outcome, dict[str, Any], list[str]]:
    """Runs one discipline with one seed on real packets, in real time (Linux); other Python threads go on meanwhile.

    Gives what a simulation gives, what shows how true the run was, and what was otherwise than the scenario says.
    `on_batch` and `on_capture` are told what `run` tells them. `on_link` is told, once the link is there, a function
    that gives what it does, as `Link.view` has it.
    """

@final
class Parameter:
    """One parameter of a discipline or a source, or one option of a controller."""

    @property
    def name(self) -> str: ...
    @property
    def also(self) -> list[str]:
        """Other names that work: the papers', tc's, ns-2's."""
    @property
    def doc(self) -> str: ...
    @property
    def kind(self) -> str:
        """What kind of value it takes, unit included."""
    @property
    def default(self) -> str: ...
    @property
    def range(self) -> str:
        """The values allowed, in words; empty if every value of its kind is."""

@final
class Preset:
    """A named set of values for the parameters of a discipline or a source."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def settings(self) -> list[tuple[str, str]]:
        """The values that differ from the defaults."""

@final
class Discipline:
    """One row of the registry."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """One line on the idea."""
    @property
    def citation(self) -> str:
        """The publication that defines it."""
    @property
    def group(self) -> str:
        """Where it comes from: `paper`, `comparison` or `modern`."""
    @property
    def protects(self) -> bool:
        """It holds back flows that do not slow down."""
    @property
    def per_flow(self) -> bool:
        """It keeps state for each flow."""
    @property
    def ecn(self) -> bool:
        """It can mark instead of dropping."""
    @property
    def schedules(self) -> bool:
        """Packets of different flows may overtake each other."""
    def values(self, preset: str) -> list[tuple[str, str]]:
        """Every parameter with its value under a preset, as text; `LookupError` if there is no such preset."""
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def presets(self) -> list[Preset]: ...

@final
class Controller:
    """A congestion controller."""

    @property
    def name(self) -> str:
        """The word that `cc` takes."""
    @property
    def summary(self) -> str:
        """What it does, in one line."""
    @property
    def citation(self) -> str:
        """The publication that defines it."""
    @property
    def section(self) -> str:
        """Whose it is: `tcp` or `udp`."""
    @property
    def parameters(self) -> list[Parameter]:
        """The keys of its group that bear on it, with the defaults that they have beside it."""

@final
class Source:
    """A source of traffic."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str:
        """What it sends, in one line."""
    @property
    def citation(self) -> str:
        """Whose model it is."""
    @property
    def protocols(self) -> list[str]:
        """What can carry it: `tcp`, `udp` or both."""
    def values(self, preset: str) -> list[tuple[str, str]]:
        """Every parameter with its value under a preset, as text; `LookupError` if there is no such preset."""
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def presets(self) -> list[Preset]: ...

def reasons() -> list[tuple[str, str]]:
    """Every reason for a drop or a mark: its name, and what follows "because"."""

def disciplines() -> list[Discipline]:
    """Every discipline, sorted by name."""

def discipline(name: str) -> Discipline:
    """The discipline called `name`; `LookupError` with the nearest name if there is none."""

def controllers() -> list[Controller]:
    """Every congestion controller: those of TCP, from the oldest on, then that of UDP."""

def sources() -> list[Source]:
    """Every source, sorted by name."""

def find(name: str) -> Discipline | Controller | Source:
    """The discipline, controller or source called `name`; `LookupError` with the nearest name if there is none."""

def nearest(typed: str, known: Sequence[str]) -> str | None:
    """The one of `known` most like `typed`, if any is close enough to be what was meant."""

def place(text: str, path: str) -> tuple[int, int] | None:
    """Line and column of the key at `path` in the text of a scenario file, both from 1; None if it is not there."""
