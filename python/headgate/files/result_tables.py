"""The tables of a result, and the scenario they came from."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import ResultError
from headgate.files import store, tables
from headgate.scenario import Point, Scenario, files_in


class ResultTables:
    """The tables of one run of a scenario, each read when it is first asked for."""

    def __init__(
        self,
        scenario: Scenario,
        manifest: dict[str, Any],
        timing: list[dict[str, Any]],
        kept: Mapping[str, pa.Table],
        path: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.manifest = manifest
        self.timing = timing
        self.path = path
        self._kept = kept

    @classmethod
    def load(cls, path: Path) -> Self:
        """The result in a folder; tables are read when they are first asked for."""
        manifest = store.read_manifest(path)
        missing = [name for name in manifest["tables"] if not (path / name).is_file()]
        if missing:
            raise ResultError(f"{path} is not a whole result: {', '.join(missing)} missing")
        scenario = Scenario.parse(manifest["scenario"], file=str(path / store.SCENARIO), files=files_in(path))
        if manifest.get("world") == "live":
            scenario = Scenario(scenario.core, live=True)
        for name, expected in manifest.get("inputs", {}).items():
            if hashlib.sha256(scenario.inputs[name]).hexdigest() != expected:
                raise ResultError(f"{path / name} is not the file that the result was made from")
        timing = store.read_json(path / store.TIMING)["points"] if (path / store.TIMING).is_file() else []
        return cls(scenario, manifest, timing, {}, path)

    @cached_property
    def flows(self) -> pa.Table:
        """One row a flow."""
        return self._table("flows")

    @cached_property
    def intervals(self) -> pa.Table:
        """One row an interval, metric and group: queue, utilisation, goodput, drops, marks and gauges over time."""
        return self._table("intervals")

    @cached_property
    def links(self) -> pa.Table:
        """One row a direction of a link."""
        return self._table("links")

    @cached_property
    def delays(self) -> pa.Table:
        """The distributions of queueing delay where disciplines are compared, and of one-way delay, by group.

        One row a histogram box that is not empty.
        """
        return self._table("delays")

    @cached_property
    def losses(self) -> pa.Table:
        """How losses of a flow follow each other where disciplines are compared, by group: runs, distances, intervals.

        One row a histogram box that is not empty.
        """
        return self._table("losses")

    @cached_property
    def fairness(self) -> pa.Table:
        """One row a time scale: Jain's index over its slots."""
        return self._table("fairness")

    @cached_property
    def transfers(self) -> pa.Table:
        """One row a transfer that began, warm-up included: a write of known size that somebody waits for."""
        return self._table("transfers")

    @cached_property
    def events(self) -> pa.Table | None:
        """One row an event where disciplines are compared; None unless the scenario records them.

        This reads them all: for a long record, open the folder `events` with `pyarrow.dataset` instead.
        """
        return self._streamed("events")

    @cached_property
    def traces(self) -> pa.Table | None:
        """One row a change of a traced sender's state; None unless the scenario traces any. As `events`."""
        return self._streamed("traces")

    @property
    def captures(self) -> list[Path]:
        """The pcapng files, one for each point and captured link; none in memory."""
        if self.path is None:
            return []
        folder, links = self.path / store.CAPTURES, self.scenario.captures
        return [folder / store.capture(point, link) for point in self.scenario.points for link in links]

    def point(self, name: str, point: Point) -> pa.Table:
        """The rows of one point in the table called `name`; of a streamed one, its file alone is read.

        `KeyError` if the scenario does not record that table.
        """
        if name in tables.STREAMED and name not in self.scenario.records:
            raise KeyError(name)
        if name in tables.STREAMED and self.path is not None:
            return tables.read(self.path / name / f"{store.slug(point)}.parquet")
        whole = getattr(self, name)
        return whole.filter(pc.and_(pc.equal(whole["qdisc"], point.qdisc), pc.equal(whole["seed"], point.seed)))

    def _streamed(self, name: str) -> pa.Table | None:
        if name not in self.scenario.records:
            return None
        if self.path is None:
            return self._kept[name]
        return tables.concat(self.point(name, point) for point in self.scenario.points)

    @property
    def live(self) -> dict[str, Any] | None:
        """Of a run on real packets, how true it was (docs/reference/json.md); None of a simulation."""
        return self.manifest.get("live")

    def _table(self, name: str) -> pa.Table:
        return self._kept[name] if self.path is None else tables.read(self.path / f"{name}.parquet")

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        return f"{type(self).__name__}({self.scenario.name!r}, {len(self.scenario.points)} points, {where})"
