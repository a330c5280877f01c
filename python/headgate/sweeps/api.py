"""`headgate.sweep`: one scenario for many values of its keys, from Python; the command line stands on this too."""

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
from headgate.sweeps.cluster import connected
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
    force: bool = False,
    watcher: Watcher | None = None,
) -> Sweep:
    """Runs a scenario for many values of its keys, with every discipline and seed, on all processors or a cluster.

    `grid`, `list` and `latin` are the tables of a scenario file's `[sweep]` (docs/guide/sweeps.md), such as
    `grid={"link.rate": ["5Mbit/s", "10Mbit/s"]}`, and `tables` names those that are kept; without `grid`, `list` and
    `latin` the file's own `[sweep]` holds. `set`, `qdiscs` and `seeds` change the scenario first, as in `headgate.run`.

    With `out`, a path or a URL that fsspec knows, the dataset goes to `out/<name>-sweep-<hash8>`, where points that are
    finished there already are not run again (unless `force`); without it, everything stays in memory. `cluster` is the
    address of a Dask scheduler, such as `tcp://host:8786`.

    Raises `ScenarioError` for a bad scenario or a bad value of a key, before anything runs; `UsageError` for a bad
    sweep; `ResultError` for a dataset that cannot be written; `ClusterError` for a cluster that cannot be used;
    `RunFailedError` if a point failed and `InterruptedRunError` on Ctrl-C. Finished points are kept in each case.
    """
    spec = None
    if grid is not None or list is not None or latin is not None:
        spec = specs.spec(grid or {}, list or {}, latin or {}, samples, latin_seed, tables and tuple(tables))
    elif (samples, latin_seed, tables) != (None, 1, None):
        raise UsageError(
            "`samples`, `latin_seed` and `tables` go with `grid`, `list` or `latin`; else [sweep] has them"
        )
    plan = plans.read(scenario, spec, set=tuple(set), qdiscs=tuple(qdiscs), seeds=seeds)
    with executor(threads, cluster) as chosen:
        return running.run(prepared(plan, out, force=force), chosen, watcher or Watcher())


def executor(threads: int | None, cluster: str | None) -> AbstractContextManager[running.Executor]:
    """What runs points: this machine, or the Dask cluster at an address, which is left alone again at the end."""
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    if threads is not None and cluster is not None:
        raise UsageError("a cluster's workers have threads of their own: leave out `threads`")
    return nullcontext(running.ThreadExecutor(threads)) if cluster is None else connected(cluster)


def prepared(plan: SweepPlan, out: str | Path | None, *, force: bool = False) -> Dataset:
    """The dataset that a plan goes to, its finished points known (none if `force`); nothing is written."""
    dataset = Dataset(folders.below(out, plan.name), plan)
    if not force:
        dataset.look()
    return dataset


def database(place: str) -> DuckDBPyConnection:
    """The tables of the result folder or the dataset at `place` as views; `ResultError` if it is neither."""
    if "://" not in place and (Path(place) / store.MANIFEST).is_file():
        return query.result_views(Path(place))
    return Sweep.load(place).database()
