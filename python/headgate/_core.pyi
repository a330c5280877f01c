"""The compiled part: conversions between Python and the simulator. Use the package `headgate` around it."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Final, Protocol, Self, TypeAlias, final, type_check_only

from typing_extensions import disjoint_base

__all__ = [
    "VERSION",
    "Controller",
    "Discipline",
    "FailOpenBridge",
    "Gateway",
    "GatewayInterfaces",
    "Link",
    "LiveError",
    "Named",
    "Outcome",
    "PacketActions",
    "Parameter",
    "Port",
    "Preset",
    "Progress",
    "Scenario",
    "ScenarioError",
    "Source",
    "Stopped",
    "check_kernel",
    "check_kernel_qdisc",
    "check_live",
    "confine",
    "controllers",
    "discipline",
    "disciplines",
    "find",
    "groups",
    "key_position",
    "measure",
    "metrics_over_time",
    "migrated",
    "nearest",
    "prepare",
    "prometheus_metrics",
    "reasons",
    "refused",
    "requests",
    "run",
    "run_live",
    "sources",
    "table_of_runs",
    "tables",
]

VERSION: Final[str]

_PacketRow: TypeAlias = tuple[int, int, int, int, str, int]
_SignalRow: TypeAlias = tuple[str, str, _PacketRow]
_Maker: TypeAlias = Callable[[int | None, int | None, int, int, int], Any]

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

class LiveError(RuntimeError):
    """Something that real packets need and this machine does not give, with the remedy."""

    request: str | None
    """The refused request, one of `requests()`."""
    errno: int | None

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
    def with_prototypes(self, made: Sequence[tuple[str, type[Any], _Maker] | None]) -> Scenario: ...
    def of_seed(self, seed: int) -> Scenario | None: ...
    prototypes: Final[list[tuple[str, type[Any]]]]
    inputs: Final[list[tuple[str, bytes]]]
    def to_toml(self) -> str: ...
    def table_bytes(self, qdisc: int) -> int:
        """Bytes of the tables of the discipline at `qdisc`, at one link that compares disciplines."""
    def memory(self, qdisc: int) -> list[tuple[str, str, int]]:
        """What a simulated run with the discipline at `qdisc` takes of memory, the largest first: words, key, bytes."""
    name: Final[str]
    about: Final[str]
    duration_s: Final[float]
    warmup_s: Final[float]
    rate_bps: Final[float]
    bottleneck: Final[tuple[str, str]]
    records: Final[list[str]]
    """The tables that are recorded on request: `events`, `traces`."""
    captures: Final[list[str]]
    """The links that are captured, by name."""
    seeds: Final[list[int]]
    qdiscs: Final[list[str]]
    groups: Final[list[tuple[str, str, int, float | None, bool, bool, bool]]]
    fair: Final[str | None]
    hops: Final[list[tuple[str, str, float, str | None]]]
    """Every direction of every link: name, direction, mean rate in bit/s, own discipline (None: compared)."""
    routes: Final[list[list[int]]]
    """The route of each group's data, as indices of `hops`."""
    def fair_units(self, unit: str) -> list[int]:
        """The number of each flow's unit of this kind."""
    def unit_shares(self, unit: str, active: Sequence[Sequence[int | None]]) -> list[float | None]:
        """The fair share of each flow by unit, as goodput in bit/s averaged over the window; None if it is not active.

        `active` has two times of each flow in nanoseconds, at which it begins to send and is done; None without one.
        """

#: A user: its number, its group's, those of all its groups, and variables of its environment.
_User = tuple[int, int, Sequence[int], Sequence[tuple[str, str]]]

@final
class Link:
    """A link on real packets between two hosts of its own. It runs until `stop`. Linux only."""

    NEAR: Final[str]
    FAR: Final[str]

    def __new__(
        cls,
        forward: Scenario,
        reverse: Scenario,
        *,
        seed: int = 1,
        sysctls: Sequence[tuple[str, str]] = ...,
        outside: bool = False,
        log: PathLike[str] | None = None,
    ) -> Self: ...
    def spawn(self, words: Sequence[str], user: _User | None = None) -> int: ...
    def serve(self, words: Sequence[str], user: _User | None = None) -> None: ...
    def listens(self) -> bool: ...
    def poll(self) -> int | None: ...
    def poll_server(self) -> int | None: ...
    @property
    def is_running(self) -> bool: ...
    @property
    def realtime(self) -> bool: ...
    def view(self) -> dict[str, Any]: ...
    def take_intervals(self) -> tuple[Batch, Batch] | None: ...
    def written(self) -> dict[str, Any] | None: ...
    def stop(self) -> dict[str, Any]: ...

@final
class GatewayInterfaces:
    """Two interfaces, known by their indexes, that no other gateway can claim while this exists. Linux only."""

    def __new__(cls, near: str, far: str) -> Self: ...
    @property
    def indexes(self) -> tuple[int, int]: ...
    def part(self) -> bool: ...
    def bridge(self) -> FailOpenBridge: ...

@final
class FailOpenBridge:
    """A bridge that joins the interfaces of a gateway that has ended. Linux only."""

    @property
    def name(self) -> str: ...
    @property
    def interfaces(self) -> tuple[str, str]: ...
    @property
    def descriptors(self) -> list[int]: ...
    def join(self) -> None: ...
    def remove(self) -> None: ...

@final
class Gateway:
    """A gateway between two existing interfaces. It runs until `stop`. Linux only."""

    def __new__(
        cls,
        interfaces: GatewayInterfaces,
        forward: Scenario,
        reverse: Scenario,
        *,
        offloads_off: bool = False,
        send: str = "auto",
        cpus: Sequence[int] = ...,
        busy_poll: bool = False,
        seed: int = 1,
        kept: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> Self: ...
    notes: Final[list[str]]
    @property
    def is_running(self) -> bool: ...
    @property
    def realtime(self) -> bool: ...
    def changes(self) -> list[str]: ...
    def refit(self, forward: Scenario, reverse: Scenario) -> None: ...
    def view(self) -> dict[str, Any]: ...
    def stop(self) -> dict[str, Any]: ...

def measure(scenario: Scenario, rate_bps: int, packet: int, seconds: float) -> dict[str, Any]: ...
def prepare() -> None: ...
def confine(kept: tuple[Sequence[str], Sequence[str]] | None = None) -> list[str]:
    """Gives up rights of this thread for good: all but a gateway's with `kept`, else all but those of its keeper."""

def requests() -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    """Every request to the system that real packets need: name, act, purpose, and remedies by cause."""

def refused(name: str, errno: int, object: str = "") -> LiveError:
    """The error of a request that the system answered with `errno`."""

@final
class Progress:
    """Watches and stops runs from another thread; one object may serve many runs."""

    def __new__(cls) -> Self: ...
    @property
    def seconds(self) -> float: ...
    @property
    def stopped(self) -> bool: ...
    def stop(self) -> None: ...

@final
class Outcome:
    """The tables of one run, in Arrow format."""

    def flows(self) -> Batch: ...
    def intervals(self) -> Batch: ...
    def links(self) -> Batch: ...
    def delays(self) -> Batch: ...
    def losses(self) -> Batch: ...
    def fairness(self) -> Batch: ...
    def transfers(self) -> Batch: ...
    packets: Final[int]

@final
class PacketActions:
    """The actions that a call of a discipline written in Python may take."""

    def random(self) -> float: ...
    def drop(self, number: int, why: str) -> None: ...
    def signal(self, number: int, why: str, ecn: bool) -> bool: ...

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
        prototype: _Maker | None = None,
    ) -> Self: ...
    def enqueue(self, now: int, packet: tuple[int, int, int, int, str]) -> list[_SignalRow]: ...
    def dequeue(self, now: int) -> tuple[_PacketRow | None, list[_SignalRow]]: ...
    @property
    def backlog(self) -> tuple[int, int]: ...
    def ready_at(self, now: int) -> int | None: ...
    @property
    def counts(self) -> list[tuple[str, int]]: ...
    def gauges(self, flow: int | None = None) -> list[tuple[str, float]]: ...
    def waited_ms(self, share: float) -> float | None: ...

def metrics_over_time() -> list[tuple[str, str, str, str]]: ...
def tables() -> list[tuple[str, str, list[tuple[str, str, bool, str, str]]]]: ...
def table_of_runs(name: str, runs: Sequence[tuple[str, Outcome]]) -> tuple[Batch, list[int]]: ...
def run(
    scenario: Scenario,
    qdisc_index: int,
    seed: int,
    progress: Progress | None = None,
    on_batch: Callable[[str, Batch], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
) -> Outcome: ...
def prometheus_metrics() -> list[tuple[str, str, str]]: ...
def check_kernel(scenario: Scenario) -> None: ...
def check_kernel_qdisc(words: list[str]) -> str | None: ...
def check_live(scenario: Scenario) -> None: ...
def run_live(
    scenario: Scenario,
    qdisc_index: int,
    seed: int,
    progress: Progress | None = None,
    on_batch: Callable[[str, Batch], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
    on_link: Callable[[Callable[[], dict[str, Any]]], object] | None = None,
    kernel_qdisc: list[str] | None = None,
) -> tuple[Outcome, dict[str, Any], list[str]]: ...

@final
class Parameter:
    """One parameter of a discipline or a source, or one option of a controller."""

    name: Final[str]
    also: Final[list[str]]
    """Other names that work: the papers', tc's, those of ns-2 and ns-3."""
    inverse: Final[list[str]]
    """Names that other programs use for its reciprocal."""
    renamed_from: Final[list[str]]
    """Names of earlier releases, which work with a warning."""
    doc: Final[str]
    kind: Final[str]
    """What kind of value it takes, unit included."""
    default: Final[str]
    range: Final[str]
    """The values allowed, in words; empty if every value of its kind is."""

@final
class Preset:
    """A named set of values for the parameters of a discipline or a source."""

    name: Final[str]
    about: Final[str]
    settings: Final[list[tuple[str, str]]]
    """The values that differ from the defaults."""

@disjoint_base
class Named:
    """The common base of disciplines, congestion controllers and traffic sources."""

    name: Final[str]
    summary: Final[str]
    """One line on the idea."""
    citation: Final[str]
    """The publication that defines it."""
    parameters: Final[list[Parameter]]
    """Its parameters in the order of the documentation. For a controller: the keys of its group that affect it."""
    presets: Final[list[Preset]]
    """Its named sets of values; `LookupError` for a controller, which has none."""
    fixed: Final[list[str]]
    """Switches of other programs whose value it fixes; `LookupError` for a controller, which has none."""
    def values(self, preset: str) -> list[tuple[str, str]]:
        """Every parameter with its value under a preset, as text; `LookupError` if there is no such preset."""

@final
class Discipline(Named):
    """A queue discipline: its names, parameters, presets and abilities."""

    display_name: Final[str]
    """Its name in print."""
    family: Final[str]
    """The family of related disciplines, such as `red`; it gives the color in figures."""
    family_index: Final[int]
    """Its position in the family, from 0."""
    group: Final[str]
    """Where it comes from: `paper`, `comparison` or `modern`."""
    protects: Final[bool]
    """It limits unresponsive flows."""
    per_flow: Final[bool]
    """It keeps state for each flow."""
    ecn: Final[bool]
    """It can mark instead of dropping."""
    schedules: Final[bool]
    """Packets of different flows may overtake each other."""
    gauges: Final[list[tuple[str, str, str]]]
    """Its gauges: name, unit and meaning; `N` in a name stands for a number."""

@final
class Controller(Named):
    """A congestion controller, or a loss recovery."""

    section: Final[str]
    """The section of a scenario that can name it: `tcp` or `udp`."""
    key: Final[str]
    """The key that names it: `cc`, or `recovery` for a loss recovery."""

@final
class Source(Named):
    """A source of traffic."""

    protocols: Final[list[str]]
    """The transport protocols that can carry it: `tcp`, `udp` or both."""

def reasons() -> list[tuple[str, str]]: ...
def groups() -> list[tuple[str, str]]:
    """The groups of disciplines in the order of `headgate list`: name, and a description of its disciplines."""

def disciplines() -> list[Discipline]:
    """Every discipline, sorted by name."""

def discipline(name: str) -> Discipline:
    """The discipline called `name`; `LookupError` with the nearest name if there is none."""

def controllers() -> list[Controller]:
    """Every congestion controller: TCP's from the oldest to the newest, then UDP's."""

def sources() -> list[Source]:
    """Every source, sorted by name."""

def find(name: str) -> Discipline | Controller | Source: ...
def nearest(typed: str, known: Sequence[str]) -> str | None: ...
def migrated(text: str, file: str) -> tuple[str, list[tuple[int, str]]]: ...
def key_position(text: str, path: str) -> tuple[int, int] | None: ...
