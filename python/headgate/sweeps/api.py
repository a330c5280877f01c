"""`headgate.sweep`: one scenario for many values of its keys, from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.errors import UsageError
from headgate.execution.runner import Watcher
from headgate.files import store
from headgate.scenario import Scenario
from headgate.sweeps import folder as folders
from headgate.sweeps import plan as plans
from headgate.sweeps import query, running
from headgate.sweeps import spec as specs
from headgate.sweeps.cluster import ClusterTls, connected
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.plan import SweepPlan
from headgate.sweeps.result import Sweep

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Table = Mapping[str, Any]


def sweep(
    scenario: str | Path | Scenario,
    *,
    grid: Table | None = None,
    list: Table | None = None,
    latin: Table | None = None,
    samples: int | None = None,
    latin_seed: int = 1,
    tables: Iterable[str] | None = None,
    set: Iterable[str] = (),
    qdiscs: Iterable[str] = (),
    seeds: int | Iterable[int] | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    tls: ClusterTls | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
) -> Sweep:
    """Runs a scenario for many values of its keys, with every discipline and seed.

    `grid`, `list` and `latin` are the tables of a scenario file's `[sweep]` (docs/guide/sweeps.md), such as
    `grid={"link.rate": ["5Mbit/s", "10Mbit/s"]}`. Without them the file's own `[sweep]` applies. `tables` names the
    tables to keep. `set`, `qdiscs` and `seeds` change the scenario first, as in `headgate.run`.

    With `out`, a path or a URL that fsspec knows, the dataset goes to `out/<name>-sweep-<hash>`. Finished runs in it
    are reused unless `force`. Without `out` the dataset stays in memory. Runs use all processors, or the Dask cluster
    whose scheduler is at `cluster`, such as `tcp://host:8786`. `tls` has the certificates for `tls://host:8786`.

    Raises before the first run: `ScenarioError` for a bad scenario or value, `UsageError` for a bad sweep,
    `ResultError` for a dataset that cannot be written, `ClusterError` for a cluster that cannot be used. Raises
    `RunFailedError` if a run failed and `InterruptedRunError` on Ctrl-C. Finished runs are kept.
    """
    spec = None
    if grid is not None or list is not None or latin is not None:
        spec = specs.spec(grid or {}, list or {}, latin or {}, samples, latin_seed, tables and tuple(tables))
    elif (samples, latin_seed, tables) != (None, 1, None):
        raise UsageError(
            "`samples`, `latin_seed` and `tables` need `grid`, `list` or `latin`; write them into [sweep] otherwise"
        )
    plan = plans.read(scenario, spec, set=tuple(set), qdiscs=tuple(qdiscs), seeds=seeds)
    with executor(threads, cluster, tls) as chosen:
        return running.run(prepared(plan, out, force=force), chosen, watcher or Watcher())


def executor(
    threads: int | None, cluster: str | None, tls: ClusterTls | None = None
) -> AbstractContextManager[running.Executor]:
    """The executor of runs: this machine, or the Dask cluster at an address until the end of the context."""
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    if threads is not None and cluster is not None:
        raise UsageError("`threads` cannot be used with `cluster`: each worker has its own number of threads")
    if tls is not None and cluster is None:
        raise UsageError("certificates need a cluster: give `cluster` too")
    return nullcontext(running.ThreadExecutor(threads)) if cluster is None else connected(cluster, tls)


def prepared(plan: SweepPlan, out: str | Path | None, *, force: bool = False) -> Dataset:
    """The dataset of a plan with its finished runs (none if `force`). Writes nothing."""
    dataset = Dataset(folders.below(out, plan.name), plan)
    if not force:
        dataset.find_finished()
    return dataset


def database(location: str, sql: str | None = None) -> DuckDBPyConnection:
    """The tables of the result folder or the dataset at `location` as views; `ResultError` for anything else.

    The files of the tables that `sql` mentions, or of all, are compared with their hashes.
    """
    if "://" not in location and (Path(location) / store.MANIFEST).exists():
        return query.result_views(Path(location), sql)
    return Sweep.load(location).database(sql)
