"""A sweep's dataset: a folder for each table with Parquet files of finished runs, and a table of the runs.

    sweep.json            the scenario, the swept keys, the version of Headgate, and the SHA-256 of points.parquet
    points.parquet        one row for each run: its name, the swept keys, discipline, seed, measures, name of its files
    TABLE/NAME.parquet    the rows of one run, or of the short runs of a bundle
    receipts/NAME.json    written last: the scenarios and measures of these runs, the SHA-256 of their files

The hash of its scenario identifies a run, and its name begins that hash. A run is finished if it is in a receipt and
every file has the hash in the receipt. Other runs are executed again. Nothing in the dataset depends on when or where a
run was executed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from headgate import _core, identity
from headgate.errors import ResultError, warn_renamed
from headgate.files import arrays, forms, renamed, sealed, store, tables
from headgate.files.provenance import ADVICE
from headgate.sweeps import bundle as bundles
from headgate.sweeps import leftovers, receipt
from headgate.sweeps.bundle import Bundle
from headgate.sweeps.folder import Folder
from headgate.sweeps.measures import RUN_MEASURES
from headgate.sweeps.plan import SweepPlan, SweepRun
from headgate.sweeps.quantity import column
from headgate.sweeps.receipt import BUNDLE, HASH, RECEIPTS, SCHEMA, Measures, Receipt
from headgate.sweeps.work import RunFiles

MANIFEST = "sweep.json"
POINTS = "points.parquet"

#: The key of the manifest with the SHA-256 of points.parquet.
POINTS_HASH = "points_sha256"

#: Number of receipts that are read together to check them.
_RECEIPTS_PER_READ = 64


class Dataset:
    """The dataset of one plan."""

    def __init__(self, folder: Folder, plan: SweepPlan) -> None:
        self.folder = folder
        self.plan = plan
        self.damaged: list[SweepRun] = []
        """Finished runs whose files have changed since."""
        self._bundles = bundles.divided(plan.runs)
        self._measures: dict[str, Measures] = {}
        self._files: dict[str, str] = {}
        """The name of the files of each finished run."""

    def find_finished(self) -> None:
        """Finds the finished runs. Each of their files is read and compared with its hash.

        Raises `ResultError` if the folder has the dataset of another scenario, or another run with the name of one.
        """
        self._check_identity()
        if not self._made_by_this_build():
            return
        planned = {run.name for run in self.plan.runs}
        listed = receipt.names_in(self.folder.names(RECEIPTS))
        known = sorted(name for name in listed if name in planned or name.startswith(BUNDLE))
        changed: set[str] = set()
        for first in range(0, len(known), _RECEIPTS_PER_READ):
            changed |= self._find_finished_in(known[first : first + _RECEIPTS_PER_READ])
        self.damaged = [run for run in self.missing if run.hash in changed]

    def _check_identity(self) -> None:
        """Raises `ResultError` if the folder has the dataset of another scenario."""
        try:
            stored = read_manifest(self.folder).get(HASH)
        except ResultError:  # there is none, or it is damaged: receipts name each run in full
            return
        if stored != self.plan.hash:
            raise ResultError(
                f"{self.folder.url} holds the sweep of another scenario than {self.plan.name}: {MANIFEST} has "
                f"{HASH} {stored}. {ADVICE}"
            )

    def begin(self) -> None:
        """Checks that the dataset can be written, and forgets runs of another build.

        Writes nothing if the dataset is finished, since it may be read-only.
        """
        if not self._made_by_this_build():
            with _with_reason(store.OTHER_BUILD):
                self.folder.remove(self.folder.names(RECEIPTS))
        if missing := self.missing_bundles:
            self._remove(leftovers.find(self.folder, missing))
        self._write_manifest(self._points_hash())
        self._write(store.BUILD, store.build().encode())

    def _remove(self, places: Sequence[str]) -> None:
        """Removes left-over files for good: after a power failure, none of them may be beside its successor."""
        if places:
            self.folder.remove(places)
            self.folder.commit()

    def keep(self, done: RunFiles) -> None:
        """Writes finished runs."""
        if done.files or done.receipt:
            self.folder.write({receipt.table_place(table, done.name): data for table, data in done.files.items()})
            self.folder.write({receipt.place_of(done.name): done.receipt})
            self._add(done.name, done.measures)

    def _add(self, name: str, measures: Mapping[str, Measures]) -> None:
        """Adds finished runs whose files are called `name`. A run that is in two bundles counts for the first."""
        for run, each in measures.items():
            self._files.setdefault(run, name)
            self._measures.setdefault(run, each)

    @property
    def missing(self) -> list[SweepRun]:
        """The runs that are not finished."""
        return [run for run in self.plan.runs if run.hash not in self._measures]

    @property
    def missing_bundles(self) -> list[Bundle]:
        """The bundles of the plan with their missing runs."""
        left = (bundle.without(self._measures) for bundle in self._bundles)
        return [bundle for bundle in left if bundle.runs]

    @property
    def finished(self) -> int:
        """The number of finished runs of the plan."""
        return len(self._measures)

    def write_points(self) -> None:
        """Writes the table of the finished runs, points.parquet, and waits until the dataset is on the disk."""
        data = tables.to_bytes(self._run_table())
        self._write(POINTS, data)
        self._write_manifest(identity.of_bytes(data))
        self.folder.commit()

    def _write_manifest(self, points_hash: str | None) -> None:
        self._write(MANIFEST, sealed.sealed_text({**self._manifest(), POINTS_HASH: points_hash}).encode())

    def _points_hash(self) -> str | None:
        """The hash of the present points.parquet, which an earlier plan may have written; None if there is no table."""
        try:
            had: str | None = read_manifest(self.folder).get(POINTS_HASH)
        except ResultError:
            return None
        return had

    def _write(self, name: str, data: bytes) -> None:
        """Writes a file about all runs. If the dataset is finished, it writes only a changed file."""
        if self.finished < len(self.plan.runs):
            self.folder.write({name: data})
        elif self.folder.read([name]).get(name) != data:
            with _with_reason(f"all {self.finished} runs are finished, but {name} would change"):
                self.folder.write({name: data})

    def _made_by_this_build(self) -> bool:
        """Whether the existing runs are from this build of the simulator (as in `Store`)."""
        return self.folder.read([store.BUILD]).get(store.BUILD) == store.build().encode()

    def _find_finished_in(self, names: Sequence[str]) -> set[str]:
        """Finds the finished runs in the files with these names. Returns the runs in changed files."""
        read = self.folder.read([receipt.place_of(name) for name in names])
        receipts = {name: _parsed(read.get(receipt.place_of(name), b""), name) for name in names}
        planned = {run.name: run.hash for run in self.plan.runs}
        for name, each in receipts.items():
            self._check_runs(name, each, planned)
        wanted = self.plan.tables
        # Runs of an earlier sweep that kept fewer tables are complete, but lack some of the wanted tables.
        receipts = {name: each for name, each in receipts.items() if each is None or {*wanted} <= {*each.tables}}
        places = [receipt.table_place(table, name) for name, each in receipts.items() if each for table in wanted]
        files = self.folder.read(places)
        changed: set[str] = set()
        for name, each in receipts.items():
            contents = {table: files.get(receipt.table_place(table, name), b"") for table in wanted}
            hashes = {table: identity.of_bytes(data) for table, data in contents.items()}
            if each and hashes.items() <= each.tables.items():
                mine = {*planned.values()} & {*each.runs}
                self._add(name, {run: done.figures for run, done in each.runs.items() if run in mine})
            else:
                changed |= {*each.runs} if each else {*self._runs_of(name)}
        return changed

    def _check_runs(self, name: str, found: Receipt | None, planned: Mapping[str, str]) -> None:
        """Raises `ResultError` if a run in a receipt has the name of a planned run, and is another."""
        for run in found.runs if found else ():
            if planned.get(identity.name_of(run), run) != run:
                raise ResultError(
                    f"{self.folder.url}/{receipt.place_of(name)} has another run with the name "
                    f"{identity.name_of(run)}. {ADVICE}"
                )

    def _runs_of(self, name: str) -> list[str]:
        """The runs in the files called `name`, as far as the plan tells."""
        alone = [run.hash for run in self.plan.runs if run.name == name]
        return next(([run.hash for run in bundle.runs] for bundle in self._bundles if bundle.name == name), alone)

    def _run_table(self) -> pa.Table:
        runs = [run for run in self.plan.runs if run.hash in self._measures]
        columns = {"point": arrays.strings([run.name for run in runs])}
        units = {}
        for key in self.plan.spec.keys:
            given = [dict(run.settings).get(key) for run in runs]
            values, unit = column([value for value in given if value is not None])
            left = iter(values)
            columns[key] = arrays.array([None if value is None else next(left) for value in given])
            units[key] = {"unit": unit} if unit else None
        columns["discipline"] = arrays.strings([run.qdisc.partition(":")[0] for run in runs])
        columns["qdisc"] = arrays.strings([run.qdisc for run in runs])
        columns["seed"] = arrays.numbers([run.seed for run in runs], pa.uint64(), np.uint64)
        for name in RUN_MEASURES:
            figures = [self._measures[run.hash][name] for run in runs]
            known = [figure is not None for figure in figures]
            columns[name] = arrays.numbers([figure or 0.0 for figure in figures], pa.float64(), np.float64, known)
        columns["file"] = arrays.strings([self._files[run.hash] for run in runs])
        nullable = {*self.plan.spec.keys, *RUN_MEASURES}
        fields = [pa.field(name, each.type, name in nullable, units.get(name)) for name, each in columns.items()]
        return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))

    def _manifest(self) -> dict[str, Any]:
        """The manifest: only values that do not depend on where, or how often, the plan is run."""
        keys = {}
        for key in self.plan.spec.keys:
            values = [value for run in self.plan.runs for name, value in run.settings if name == key]
            keys[key] = {"unit": column(values)[1], "values": len({str(value) for value in values})}
        return {
            "schema": SCHEMA,
            "headgate": _core.VERSION,
            "name": self.plan.base.name,
            HASH: self.plan.hash,
            "scenario": self.plan.source.text,
            "set": list(self.plan.source.set),
            "qdiscs": self.plan.base.qdiscs,
            "seeds": self.plan.base.seeds,
            "keys": keys,
            "tables": list(self.plan.tables),
            "points": len(self.plan.runs),
        }


def read_manifest(folder: Folder) -> dict[str, Any]:
    """The manifest of a dataset; `ResultError` if there is none that this version understands."""
    data = folder.read([MANIFEST]).get(MANIFEST)
    if data is None:
        raise ResultError(
            f"there is no result and no dataset at {folder.url}: it has no manifest.json and no {MANIFEST}"
        )
    manifest = sealed.parse(data, f"{folder.url}/{MANIFEST}", None)
    schema = manifest.get("schema")
    file = f"{folder.url}/{MANIFEST}"
    if schema not in (renamed.SCHEMA, SCHEMA):
        raise ResultError(f"{file} has schema {schema!r}; this version of Headgate reads schema {SCHEMA}")
    forms.check(manifest, f"sweep-{SCHEMA}", file)
    if schema == renamed.SCHEMA:
        warn_renamed(
            f"{folder.url} is of an earlier version of Headgate: its tables are read with the names of this one"
        )
    return manifest


def _parsed(data: bytes, name: str) -> Receipt | None:
    """The receipt in `data`; None if it is damaged."""
    try:
        parsed = Receipt.parse(data, receipt.place_of(name))
        return parsed if parsed.schema == SCHEMA else None
    except ResultError:
        return None


@contextmanager
def _with_reason(why: str) -> Iterator[None]:
    """Ends an error of writing with `why`, the reason for writing."""
    try:
        yield
    except ResultError as error:
        raise ResultError(f"{error}; {why}") from None
