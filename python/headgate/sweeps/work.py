"""Runs of a sweep: text in, bytes of their files out. Equal texts give equal bytes on every machine."""

import io
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from headgate import _core, identity
from headgate.errors import HeadgateError
from headgate.execution import memory
from headgate.execution.runner import Timing, execute_run
from headgate.files import store, streams, tables
from headgate.scenario import Scenario
from headgate.sweeps.measures import TableOfRuns, measures
from headgate.sweeps.receipt import Measures, Receipt, StoredRun

#: Columns with minimum and maximum in the file's header: a reader skips files without the values that it looks for.
STATISTICS_COLUMNS = ["point", "qdisc", "seed"]

#: Files with at most this many rows are not compressed.
FEW_ROWS = 200


class RunTask(NamedTuple):
    """A run for another machine: its identity, its scenario in canonical form with its files."""

    hash: str
    text: str
    inputs: Mapping[str, bytes]


class ReadRun(NamedTuple):
    """A run with its identity and its scenario, which has one discipline and one seed."""

    hash: str
    scenario: Scenario

    @classmethod
    def of(cls, task: RunTask) -> Self:
        """The run that another machine sent."""
        return cls(task.hash, Scenario.parse(task.text, file=task.hash, files=task.inputs.__getitem__))

    @property
    def task(self) -> RunTask:
        """The run for another machine."""
        return RunTask(self.hash, self.scenario.to_toml(), self.scenario.inputs)


class RunFiles(NamedTuple):
    """The output of one or more runs: the `name` of their files, a file by table, the receipt, their measures and cost.

    `errors` has the runs that failed, which are not in the files. Without any other run, there are no files.
    """

    name: str
    files: dict[str, bytes]
    receipt: bytes
    measures: dict[str, Measures]
    cpu_s: float
    errors: dict[str, Exception]


class _Finished(NamedTuple):
    """A finished run with its outcome and its recorded tables."""

    run: ReadRun
    outcome: _core.Outcome
    recorded: dict[str, pa.Table]
    timing: Timing


class BuildIdentity(NamedTuple):
    """The version and the build of Headgate. Equal builds give equal results."""

    version: str
    machine: str
    build: str


def build_identity() -> BuildIdentity:
    """The build on this machine."""
    return BuildIdentity(_core.VERSION, platform.machine(), store.build())


def run(runs: Iterable[ReadRun], kept: Sequence[str], progress: _core.Progress) -> RunFiles:
    """Executes runs in this thread, one after the other, and makes the files of the tables to be `kept`.

    The interpreter is free for other threads meanwhile.
    """
    finished: list[_Finished] = []
    errors: dict[str, Exception] = {}
    for each in runs:
        try:
            finished.append(_execute(each, progress))
        except (HeadgateError, RuntimeError) as error:
            errors[each.hash] = error
    return _files(finished, kept, errors) if finished else RunFiles("", {}, b"", {}, 0.0, errors)


def _files(finished: Sequence[_Finished], kept: Sequence[str], errors: dict[str, Exception]) -> RunFiles:
    outcomes = [(identity.name_of(each.run.hash), each.outcome) for each in finished]
    # The measures need `flows` and `links`, whether they are kept or not.
    made = {name: _table(name, outcomes) for name in tables.NAMES if name in ("flows", "links", *kept)}
    of_runs = measures([each.run.scenario for each in finished], made["links"], made["flows"])
    files = {name: _bytes(made[name].rows if name in made else _recorded(name, finished)) for name in kept}
    written = Receipt.of(
        {each.run.hash: StoredRun(each.run.scenario.to_toml(), figures)
         for each, figures in zip(finished, of_runs, strict=True)},
        {name: identity.of_bytes(data) for name, data in files.items()},
    )  # fmt: skip
    measured = {run: each.figures for run, each in written.runs.items()}
    cpu_s = sum(each.timing.cpu_s for each in finished)
    return RunFiles(written.name, files, written.to_bytes(), measured, cpu_s, errors)


def _execute(run: ReadRun, progress: _core.Progress) -> _Finished:
    recorded = streams.MemoryStreams(run.scenario)
    (only,) = run.scenario.runs
    memory.check(run.scenario, only.qdisc_index)
    outcome, timing, _ = execute_run(run.scenario, only, progress, recorded.batch)
    return _Finished(run, outcome, recorded.tables(), timing)


def _table(name: str, outcomes: Sequence[tuple[str, _core.Outcome]]) -> TableOfRuns:
    """A table of several runs; its first column `point` has the name of the run."""
    rows, counts = _core.table_of_runs(name, outcomes)
    return TableOfRuns(tables.table(rows), counts)


def _recorded(name: str, finished: Sequence[_Finished]) -> pa.Table:
    """A recorded table of several runs; its first column `point` has the name of the run."""
    point = pa.field("point", pa.string(), nullable=False)
    parts = []
    for each in finished:
        rows = each.recorded[name]
        named = pa.array([identity.name_of(each.run.hash)] * rows.num_rows, pa.string())
        parts.append(tables.with_every_reason(name, rows).add_column(0, point, named))
    return tables.concat(parts)


def _bytes(whole: pa.Table) -> bytes:
    """A table as a Parquet file with one row group."""
    out = io.BytesIO()
    # A file has one row group, so statistics only help to skip files: they are limited to some columns. Compression
    # does not shrink a short file, which is mostly headers, and takes twice the time (measured).
    packed = {} if whole.num_rows > FEW_ROWS else {"compression": "none"}
    settings = tables.PARQUET | packed
    pq.write_table(whole, out, row_group_size=max(1, whole.num_rows), write_statistics=STATISTICS_COLUMNS, **settings)
    return out.getvalue()
