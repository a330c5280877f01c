"""The tables of a result, and its scenario."""

import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from headgate import identity
from headgate.counting import counted
from headgate.errors import ResultError
from headgate.files import names, renamed, store, tables, words
from headgate.scenario import RunKey, RunWorld, Scenario
from headgate.scenario.inputs import files_in


class _LazyTable(cached_property[Any]):
    """A table that is read at its first use; None if the scenario does not record it."""

    def __init__(self) -> None:
        super().__init__(lambda result: result._table(self.attrname))

    def __set_name__(self, owner: type[Any], name: str) -> None:
        super().__set_name__(owner, name)
        self.__doc__ = f"A row is of: {tables.ABOUT[name]}"


class ResultTables:
    """The tables of a scenario's runs. Each table is read at its first use."""

    def __init__(
        self,
        scenario: Scenario,
        manifest: dict[str, Any],
        timing: list[dict[str, Any]],
        tables_in_memory: Mapping[str, pa.Table],
        path: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.manifest = manifest
        self.timing = timing
        self.path = path
        self._in_memory = tables_in_memory

    @classmethod
    def load(cls, path: Path) -> Self:
        """The result in a folder. Each table is read at its first use."""
        manifest = store.read_manifest(path)
        missing = [name for name in manifest["tables"] if not (path / name).is_file()]
        if missing:
            raise ResultError(f"{path} is incomplete: {', '.join(missing)} missing")
        scenario = Scenario.parse(manifest["scenario"], file=str(path / store.SCENARIO), files=files_in(path))
        scenario = Scenario(scenario.core, world=RunWorld(manifest.get("world", RunWorld.SIM)))
        for name, expected in manifest.get("inputs", {}).items():
            if identity.of_bytes(scenario.inputs.get(name, b"")) != expected:
                raise ResultError(f"{path / name} differs from the input that the result was made from")
        runs = [(run["qdisc"], run["seed"]) for run in manifest["runs"]]
        if runs != [(run.qdisc, run.seed) for run in scenario.runs]:
            raise ResultError(f"{path / store.MANIFEST} is damaged: its runs are not those of its scenario")
        timing = store.read_timing(path) if (path / store.TIMING).exists() else []
        return cls(scenario, manifest, timing, {}, path)

    flows = _LazyTable()
    intervals = _LazyTable()
    links = _LazyTable()
    delays = _LazyTable()
    losses = _LazyTable()
    fairness = _LazyTable()
    transfers = _LazyTable()
    # Each run has a file of its own. If the record is too long for memory, open the folder with `pyarrow.dataset`.
    events = _LazyTable()
    traces = _LazyTable()

    @property
    def captures(self) -> list[Path]:
        """The pcapng files, one for each run and captured link; none in memory."""
        if self.path is None:
            return []
        runs, links = self.scenario.runs, self.scenario.captures
        files = [self._file_of(run, f"{store.CAPTURES}/{{}}-{link}.pcapng") for run in runs for link in links]
        return [self.path / file for file in files]

    def run(self, name: str, run: RunKey) -> pa.Table:
        """The rows of one run in the table called `name`; of a streamed table, only this run's file is read.

        `KeyError` if the scenario does not record that table.
        """
        if name in tables.STREAMED and name not in self.scenario.records:
            raise KeyError(name)
        if name in tables.STREAMED and self.path is not None:
            return self._read(self._file_of(run, f"{name}/{{}}.parquet"))
        import pyarrow.compute as pc

        whole = getattr(self, name)
        return whole.filter(pc.and_(words.equal(whole["qdisc"], run.qdisc), pc.equal(whole["seed"], run.seed)))

    def point(self, name: str, point: RunKey) -> pa.Table:
        """The name of `run` before 0.2. It works for one more release."""
        warnings.warn("Result.point is Result.run now", DeprecationWarning, stacklevel=2)
        return self.run(name, point)

    @property
    def live(self) -> dict[str, Any] | None:
        """The accuracy of runs on real packets (docs/reference/json.md); None for a simulation."""
        return self.manifest.get("live")

    def _table(self, name: str) -> pa.Table | None:
        if name in tables.STREAMED and name not in self.scenario.records:
            return None
        if self.path is None:
            return self._in_memory[name]
        if name in tables.STREAMED:
            return tables.concat(self.run(name, run) for run in self.scenario.runs)
        whole = self._read(f"{name}.parquet")
        return renamed.table(name, whole) if self.manifest["schema"] == renamed.SCHEMA else whole

    def _file_of(self, run: RunKey, pattern: str) -> str:
        """A file of a run in the folder, with the run's file name in place of `{}`. It is found in the manifest."""
        now, earlier = (pattern.format(name) for name in (names.slug(run), names.earlier_slug(run)))
        return earlier if earlier in self.manifest["tables"] else now

    def _read(self, file: str) -> pa.Table:
        """A table of the folder, whose content must have the hash in the manifest."""
        if self.path is None or (expected := self.manifest["tables"].get(file)) is None:
            raise ResultError(f"{self.path}/{store.MANIFEST} has no hash of {file}")
        return tables.read(self.path / file, expected)

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        return f"{type(self).__name__}({self.scenario.name!r}, {counted(len(self.scenario.runs), 'run')}, {where})"
