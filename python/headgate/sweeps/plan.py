"""The runs of a sweep: each is a scenario with one discipline and one seed, identified by its hash.

Every run is read and checked before the first one begins.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self

from headgate import guarded, identity, shipped
from headgate._core import ScenarioError
from headgate.errors import UsageError, did_you_mean
from headgate.files import tables
from headgate.scenario import Scenario
from headgate.scenario.inputs import files_in
from headgate.sweeps import spec as specs
from headgate.sweeps.quantity import toml
from headgate.sweeps.spec import SweepSpec, SweptValues
from headgate.sweeps.work import ReadRun

#: Prefix of a key that sets a discipline's parameter, as in `--set`: `qdisc.red.maxp`.
OF_QDISC = "qdisc"
#: Bytes of the packets by which the size of a run is estimated.
PACKET_BYTES = 1500


class SweepRun(NamedTuple):
    """One run: the swept values that apply to it, its discipline and seed, its identity, and its simulated seconds.

    `packets` estimates its size: the full packets for which the bottleneck has time.
    """

    settings: SweptValues
    qdisc: str
    seed: int
    hash: str
    duration_s: float
    packets: float

    @property
    def name(self) -> str:
        """The name of the run in files and in the column `point`."""
        return identity.name_of(self.hash)

    def __str__(self) -> str:
        swept = "".join(f", {key} = {toml(value)}" for key, value in self.settings)
        return f"{self.qdisc} with seed {self.seed}{swept}"


class SweptScenario(NamedTuple):
    """The scenario that is swept: the text of a file, the changes made to it first, and the files that it names."""

    text: str
    file: str
    set: tuple[str, ...]
    files: Callable[[str], bytes]

    @classmethod
    def of(cls, scenario: str | Path | Scenario, changes: Sequence[str]) -> Self:
        """A scenario file, or a scenario in its canonical form."""
        if isinstance(scenario, Scenario):
            return cls(scenario.to_toml(), "<scenario>", tuple(changes), scenario.inputs.__getitem__)
        path = shipped.located(scenario)
        data = guarded.read_bytes(path, guarded.SCENARIO)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            Scenario.parse(data, file=str(path))  # its error names the wrong byte
            raise
        return cls(text, str(path), tuple(changes), functools.cache(files_in(path.parent)))

    def read(self, settings: SweptValues = (), **further: Any) -> Scenario:
        """The scenario with these settings, and disciplines and seeds as in `Scenario.parse`."""
        changes = [*self.set, *(f"{key}={toml(value)}" for key, value in settings)]
        return Scenario.parse(self.text, file=self.file, set=changes, files=self.files, **further)


class SweepPlan:
    """All different runs of a sweep, in the order of the dataset."""

    def __init__(
        self, source: SweptScenario, spec: SweepSpec, *, qdiscs: Sequence[str] = (), seeds: Any = None
    ) -> None:
        self.source = source
        self.spec = spec
        self.base = source.read(qdiscs=qdiscs, seeds=seeds)
        if self.base.captures:
            raise UsageError("a sweep cannot capture packets: leave out `record.capture`, or use `headgate run`")
        self.tables = _tables(spec.tables, [*tables.NAMES, *self.base.records])
        """The tables that are kept of each run."""
        self._check_qdiscs()
        self.runs = self._runs()

    @property
    def name(self) -> str:
        """The name of its dataset. It depends only on what is not swept, so that a wider sweep reuses the runs."""
        return f"{self.base.name}-sweep-{identity.name_of(self.hash)}"

    @cached_property
    def hash(self) -> str:
        """The identity of the scenario without its swept keys, disciplines and seeds."""
        return self.base.changed(qdiscs=["droptail"], seeds=[1]).config_hash

    def read_runs(self, runs: Sequence[SweepRun]) -> Iterator[ReadRun]:
        """The runs with their scenarios. Runs in turn that differ only in their seeds are read together."""
        for (settings, qdisc), same in groupby(runs, key=lambda run: (run.settings, run.qdisc)):
            scenario = self._read(settings, qdisc)
            for run in same:
                yield ReadRun(run.hash, scenario.of_seed(run.seed))

    def _runs(self) -> list[SweepRun]:
        by_hash: dict[str, SweepRun] = {}
        for settings in self.spec.settings():
            for qdisc in self.base.qdiscs:
                mine = tuple(setting for setting in settings if _concerns(setting[0], qdisc))
                scenario = self._read(mine, qdisc)
                packets = scenario.duration_s * scenario.rate_bps / (8 * PACKET_BYTES)
                for seed in self.base.seeds:
                    run_hash = scenario.of_seed(seed).config_hash
                    by_hash.setdefault(run_hash, SweepRun(mine, qdisc, seed, run_hash, scenario.duration_s, packets))
        _check_names(by_hash.values())
        return list(by_hash.values())

    def _read(self, settings: SweptValues, qdisc: str) -> Scenario:
        """The scenario of the runs with these settings and this discipline."""
        try:
            return self.source.read(settings, qdiscs=[qdisc], seeds=self.base.seeds)
        except ScenarioError as error:
            raise _with_swept_values(error, self.source, settings) from None

    def _check_qdiscs(self) -> None:
        """Checks that the scenario has each discipline with a swept parameter; else no run would use the values."""
        one_of_each = list({qdisc.partition(":")[0]: qdisc for qdisc in reversed(self.base.qdiscs)}.values())
        for setting in next(self.spec.settings()):
            key = setting[0]
            if key.split(".")[0] == OF_QDISC and not any(_concerns(key, qdisc) for qdisc in one_of_each):
                try:
                    self.source.read((setting,), qdiscs=one_of_each)
                except ScenarioError as error:
                    raise _with_swept_values(error, self.source, (setting,)) from None


def read(
    scenario: str | Path | Scenario,
    spec: SweepSpec | None,
    *,
    set: Sequence[str] = (),
    qdiscs: Sequence[str] = (),
    seeds: Any = None,
) -> SweepPlan:
    """The plan of a scenario file, or a scenario; without a `spec`, of the file's own `[sweep]`.

    Raises `ScenarioError` for a bad scenario, also with the values of one run, `UsageError` for a bad `[sweep]`, and
    `OSError` for a file that cannot be read.
    """
    if spec is None and isinstance(scenario, Scenario):
        raise UsageError("nothing to sweep: give `grid`, `list` or `latin`")
    source = SweptScenario.of(scenario, set)
    if spec is None:
        source.read(qdiscs=qdiscs, seeds=seeds)  # its error has the line and the column in the file
        spec = specs.read(source.text, source.file)
    return SweepPlan(source, spec, qdiscs=qdiscs, seeds=seeds)


def _tables(wanted: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The wanted tables, all by default, in the order in which they are known."""
    for name in wanted or ():
        if name not in known:
            raise UsageError(
                f"[sweep] tables: there is no table {name!r}{did_you_mean(name, known)} Known: {', '.join(known)}"
            )
    return tuple(name for name in known if wanted is None or name in wanted)


def _check_names(runs: Iterable[SweepRun]) -> None:
    """Raises `UsageError` if two runs would have the same name: their files and rows could not be told apart."""
    by_name: dict[str, SweepRun] = {}
    for run in runs:
        if (other := by_name.setdefault(run.name, run)) is not run:
            raise UsageError(f"two runs would have the name {run.name}: {other}, and {run}. Sweep them apart")


def _concerns(key: str, qdisc: str) -> bool:
    """Whether a key applies to a discipline. Parameters of other disciplines do not."""
    steps = key.split(".")
    return steps[0] != OF_QDISC or steps[1:2] == [qdisc.partition(":")[0]]


def _with_swept_values(error: ScenarioError, source: SweptScenario, settings: SweptValues) -> ScenarioError:
    """The error of a run with the swept values that caused it, and the place of the first of them in the file."""
    written = {f"--set {key}={toml(value)}": (key, f"{key} = {toml(value)}") for key, value in settings}
    to_blame = [written[error.change]] if error.change in written else list(written.values())
    if not to_blame:
        return error
    values = ", ".join(shown for _, shown in to_blame)
    line, column = specs.position_in_file(source.text, to_blame[0][0]) or (None, None)
    where = source.file if line is None else f"{source.file}:{line}:{column}"
    known = f"\n  = {error.help}" if error.help else ""
    explained = ScenarioError(f"error: {error.message}\n --> {where}, [sweep]: {values}{known}")
    vars(explained).update(vars(error), line=line, column=column, change=values)
    return explained
