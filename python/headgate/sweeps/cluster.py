"""Runs on a Dask cluster. Workers send results to this process, so they need no access to the dataset.

If a worker is lost, the scheduler gives its runs to other workers. Finished runs are in the dataset even if the cluster
is lost.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import _core, guarded, identity
from headgate.counting import counted
from headgate.errors import ClusterError, UsageError
from headgate.execution.runner import Watcher
from headgate.extras import require
from headgate.sweeps import work
from headgate.sweeps.bundle import Bundle, failures_by_run
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.plan import SweepPlan
from headgate.sweeps.work import BuildIdentity, ReadRun, RunFiles, RunTask

if TYPE_CHECKING:
    from distributed import Client, Future, Security

#: Seconds to wait for the scheduler's answer.
TIMEOUT_S = 5.0
#: Bundles submitted ahead for each thread, so that no thread waits for its next one.
AHEAD = 3
#: Seconds between counts of the workers, which may join and leave.
RECOUNT_S = 1.0


class ClusterTls(NamedTuple):
    """The files (PEM) for a `tls://` cluster: its certificate authority, and our certificate and key."""

    ca: Path
    cert: Path
    key: Path


class WorkerMismatchError(Exception):
    """A worker with another version or build, whose results may differ."""


class Cluster:
    """Executes runs on the workers of one scheduler, as `running.ThreadExecutor` does on this machine."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    @property
    def count(self) -> int:
        """The number of threads of all current workers."""
        return sum(self._client.nthreads().values())

    @property
    def where(self) -> str:
        """See `ThreadExecutor`."""
        if not self.count:
            return f"on {self._address}, which has no workers yet"
        workers = len(self._client.nthreads())
        return f"on {counted(workers, 'worker')} of {self._address}, {counted(self.count, 'thread')}"

    def run(self, bundles: Sequence[Bundle], dataset: Dataset, watcher: Watcher) -> float:
        """See `ThreadExecutor`; `ClusterError` if the cluster is lost, or a worker has another build."""
        lost: tuple[type[BaseException], ...] = (*_lost_errors(), OSError)
        try:
            return self._run(bundles, dataset, watcher)
        except WorkerMismatchError as error:
            raise ClusterError(str(error)) from None
        except lost as error:
            progress = f"{dataset.finished} of {len(dataset.plan.runs)} runs are finished. Repeat the sweep to resume"
            raise ClusterError(f"the cluster at {self._address} is lost ({_short(error)}). {progress}") from None
        finally:
            watcher.end()

    def _run(self, bundles: Sequence[Bundle], dataset: Dataset, watcher: Watcher) -> float:
        """Submits bundles, a few ahead of the workers, and writes each finished one to the dataset."""
        from distributed import as_completed

        submitted: dict[Future, Bundle] = {}
        ready = self._submitted(iter(bundles), submitted, dataset.plan)
        finished, seconds, cpu_s = 0, 0.0, 0.0
        errors: dict[Bundle, BaseException] = {}
        completed = as_completed(next(ready), loop=self._client.loop)
        try:
            for future in completed:
                bundle = submitted.pop(future)
                error: BaseException | None = future.exception()
                if error is None:
                    done: RunFiles = future.result()
                    dataset.keep(done)
                    cpu_s += done.cpu_s
                    error = bundle.failures(done.errors)
                elif isinstance(error, (WorkerMismatchError, *_lost_errors())):
                    raise error
                if error is not None:
                    errors[bundle] = error
                finished, seconds = finished + len(bundle.runs), seconds + bundle.duration_s
                watcher.tick(finished, seconds)
                completed.update(next(ready))
        finally:
            self._client.cancel(list(submitted), force=True)
        if errors:
            raise failures_by_run(errors)
        return cpu_s

    def _submitted(
        self, bundles: Iterator[Bundle], submitted: dict[Future, Bundle], plan: SweepPlan
    ) -> Iterator[list[Future]]:
        """Submits enough bundles to keep every thread busy, each time it is advanced."""
        ours = work.build_identity()
        threads, counted = 0, -math.inf
        while True:
            if time.monotonic() - counted > RECOUNT_S:
                threads, counted = self.count, time.monotonic()
            new = {}
            for bundle in islice(bundles, max(0, max(1, AHEAD * threads) - len(submitted))):
                tasks = [run.task for run in plan.read_runs(bundle.runs)]
                # Dask takes equal keys for equal tasks, also for tasks of other clients.
                whole = identity.of_values([[run.hash for run in bundle.runs], plan.tables, ours])
                key = f"headgate-{whole}"
                new[self._client.submit(job, tasks, plan.tables, ours, key=key, pure=True)] = bundle
            submitted |= new
            yield list(new)


@contextmanager
def connected(address: str, tls: ClusterTls | None = None) -> Iterator[Cluster]:
    """The cluster at an address during the context; `ClusterError` within seconds if it does not answer.

    Without `tls`, certificates come from Dask's configuration. `UsageError` if a `tls://` address has none.
    """
    require("distributed", "a cluster needs Dask")
    from distributed import Client

    with ExitStack() as stack:
        # Silences Dask's log of lost connections: our error reports them.
        log = logging.getLogger("distributed.client")
        stack.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)
        security = _security(address, tls)
        _check_scheduler(address, security)
        try:
            client = Client(address, timeout=TIMEOUT_S, set_as_default=False, name="headgate", security=security)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address}: {_short(error)}") from None
        stack.callback(client.close, timeout=TIMEOUT_S)
        _check_workers(client, address)
        yield Cluster(client, address)


def _security(address: str, tls: ClusterTls | None) -> Security:
    """Dask's settings for encrypted connections; `UsageError` if certificates are missing, or have no use."""
    from distributed import Security

    encrypted = address.startswith("tls://")
    if tls is None:
        security = Security()
        if encrypted and security.tls_ca_file is None:
            raise UsageError(f"{address} needs certificates: give --tls-ca, --tls-cert and --tls-key")
        return security
    if not encrypted:
        raise UsageError(
            f"certificates need an encrypted cluster: write tls:// in place of {address.partition('//')[0]}//"
        )
    for file in tls:
        try:
            guarded.check(file, guarded.CERTIFICATE)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise UsageError(f"there is no file {file}") from None
            raise UsageError(f"cannot read {file}: {error.strerror}") from None
    return Security(
        tls_ca_file=str(tls.ca), tls_client_cert=str(tls.cert), tls_client_key=str(tls.key), require_encryption=True
    )


def _check_scheduler(address: str, security: Security) -> None:
    """Checks that a Dask scheduler answers. A Dask client takes ten seconds to give up on anything else."""
    from distributed import rpc

    async def who() -> Any:
        arguments = security.get_connection_args("client")
        async with rpc(address, timeout=TIMEOUT_S, connection_args=arguments) as server:
            return await asyncio.wait_for(server.identity(), 2 * TIMEOUT_S)  # to connect, and to answer

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's thread may run an event loop, as in notebooks
            kind = thread.submit(asyncio.run, who()).result()["type"]
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {_short(error)}") from None
    except Exception as error:  # another protocol can raise any error here
        raise ClusterError(f"the server at {address} is not a Dask scheduler") from error
    if kind != "Scheduler":
        raise ClusterError(f"a Dask {kind.lower()} answers at {address}: give the address of its scheduler")


def job(tasks: Sequence[RunTask], kept: Sequence[str], ours: BuildIdentity) -> RunFiles:
    """Executes runs on a worker."""
    if (why := _mismatch(work.build_identity(), ours)) is not None:
        raise WorkerMismatchError(why)
    return work.run(map(ReadRun.of, tasks), kept, _core.Progress())


def _check_workers(client: Client, address: str) -> None:
    """Checks that every current worker has our build. Workers that join later are checked with their first run."""
    ours = work.build_identity()
    try:
        identities: dict[str, Any] = client.run(_identity, on_error="return")
    except OSError as error:
        raise ClusterError(f"the cluster at {address} is lost: {_short(error)}") from None
    for worker, theirs in identities.items():
        # Dask reports an import error of a worker as text.
        if "No module named 'headgate" in str(theirs):
            raise ClusterError(
                f"the worker {worker} has no Headgate with sweeps: install Headgate {ours.version} there"
            )
        if isinstance(theirs, BaseException):
            raise ClusterError(f"the worker {worker} cannot execute runs: {theirs}")
        if (why := _mismatch(theirs, ours)) is not None:
            raise ClusterError(f"the worker {worker}: {why}")


def _identity() -> BuildIdentity:
    """The build of Headgate on a worker."""
    return work.build_identity()


def _mismatch(theirs: BuildIdentity, ours: BuildIdentity) -> str | None:
    """Why a worker's results may differ from ours; None if it has the same build."""
    if theirs.version != ours.version:
        return f"it has Headgate {theirs.version}, this machine has {ours.version}: install the same version"
    if theirs.machine == ours.machine and theirs.build != ours.build:
        return f"it has another build of Headgate {ours.version}: install the same build"
    return None


def _lost_errors() -> tuple[type[BaseException], ...]:
    """The errors that a future raises if its scheduler is lost."""
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    return (CancelledError, FutureCancelledError, CommClosedError)


def _short(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
