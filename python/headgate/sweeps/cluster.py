"""Points on a Dask cluster: workers run them, this process keeps the results, so that workers need no access to them.

A lost worker costs its running points, which the scheduler gives to others; whatever happens to the cluster, what is
finished is in the dataset.
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
from typing import TYPE_CHECKING, Any

from headgate import _core
from headgate.errors import ClusterError, UsageError
from headgate.execution.runner import Failures, Watcher
from headgate.sweeps import work
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.plan import SweepPlan, SweepRun
from headgate.sweeps.work import BuildIdentity, RunFiles, RunTask

if TYPE_CHECKING:
    from distributed import Client, Future

#: How long to wait for a scheduler to answer, in seconds of wall time.
TIMEOUT_S = 5.0
#: So many points for each thread are handed to the scheduler at a time: enough that no thread waits for the next.
AHEAD = 3
#: How often, in seconds of wall time, the workers are counted anew: they may come and go.
RECOUNT_S = 1.0


class WorkerMismatchError(Exception):
    """A worker whose results might differ from ours."""


class Cluster:
    """Runs points on the workers of one scheduler, as `running.Threads` does here."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    @property
    def count(self) -> int:
        """The threads of all workers that are there now."""
        return sum(self._client.nthreads().values())

    @property
    def where(self) -> str:
        """See `Threads`."""
        if not self.count:
            return f"on {self._address}, which has no workers yet"
        workers = len(self._client.nthreads())
        return f"on {workers} worker{'' if workers == 1 else 's'} of {self._address}, {self.count} threads"

    def run(self, points: Sequence[SweepRun], dataset: Dataset, watcher: Watcher) -> float:
        """See `Threads`; `ClusterError` if the cluster is lost, or a worker is a stranger."""
        lost: tuple[type[BaseException], ...] = (*_gone(), OSError)
        try:
            return self._run(points, dataset, watcher)
        except WorkerMismatchError as error:
            raise ClusterError(str(error)) from None
        except lost as error:
            kept = f"{dataset.finished} of {len(dataset.plan.points)} points are finished; the same sweep resumes"
            raise ClusterError(f"the cluster at {self._address} is lost ({_short(error)}): {kept}") from None
        finally:
            watcher.end()

    def _run(self, points: Sequence[SweepRun], dataset: Dataset, watcher: Watcher) -> float:
        """Hands out the points, a few ahead of the workers, and keeps each that comes back."""
        from distributed import as_completed

        given: dict[Future, SweepRun] = {}
        left = self._submitted(iter(points), given, dataset.plan)
        finished, seconds, cpu_s = 0, 0.0, 0.0
        errors: dict[SweepRun, BaseException] = {}
        coming = as_completed(next(left), loop=self._client.loop)
        try:
            for future in coming:
                point = given.pop(future)
                error: BaseException | None = future.exception()
                if error is None:
                    done: RunFiles = future.result()
                    dataset.keep(point, done)
                    cpu_s += done.timing.cpu_s
                elif isinstance(error, (WorkerMismatchError, *_gone())):
                    raise error
                else:
                    errors[point] = error
                finished, seconds = finished + 1, seconds + dataset.plan.duration_s(point)
                watcher.tick(finished, seconds)
                coming.update(next(left))
        finally:
            self._client.cancel(list(given), force=True)
        if errors:
            raise Failures(errors)
        return cpu_s

    def _submitted(
        self, points: Iterator[SweepRun], given: dict[Future, SweepRun], plan: SweepPlan
    ) -> Iterator[list[Future]]:
        """Each time as many points as keep every thread busy."""
        ours = work.identity()
        threads, counted = 0, -math.inf
        while True:
            if time.monotonic() - counted > RECOUNT_S:
                threads, counted = self.count, time.monotonic()
            new = {}
            for point in islice(points, max(0, max(1, AHEAD * threads) - len(given))):
                key = f"headgate-{point.hash}"
                new[self._client.submit(job, plan.work(point), ours, key=key, pure=True)] = point
            given |= new
            yield list(new)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at an address, until the end; `ClusterError` within seconds if it does not answer."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("a cluster needs Dask: pip install 'headgate[cluster]'") from None
    with ExitStack() as stack:
        # Dask's client is to say nothing of connections that are gone: we say it ourselves, in a sentence.
        log = logging.getLogger("distributed.client")
        stack.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)
        _greet(address)
        try:
            client = Client(address, timeout=TIMEOUT_S, set_as_default=False, name="headgate")
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address}: {_short(error)}") from None
        stack.callback(client.close, timeout=TIMEOUT_S)
        _check(client, address)
        yield Cluster(client, address)


def _greet(address: str) -> None:
    """Sees that a Dask scheduler answers: a client that meets anything else is not rid of for ten seconds."""
    from distributed import rpc

    async def who() -> Any:
        async with rpc(address, timeout=TIMEOUT_S) as found:
            return await asyncio.wait_for(found.identity(), 2 * TIMEOUT_S)  # to connect, and to answer

    try:
        with ThreadPoolExecutor(1) as thread:  # for the caller's may have a loop already, as notebooks do
            kind = thread.submit(asyncio.run, who()).result()["type"]
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {_short(error)}") from None
    except Exception as error:  # what others say is taken for a length, a pickle, anything
        raise ClusterError(f"what answers at {address} is no Dask scheduler") from error
    if kind != "Scheduler":
        raise ClusterError(f"a Dask {kind.lower()} answers at {address}: give the address of its scheduler")


def job(ready: RunTask, ours: BuildIdentity) -> RunFiles:
    """What a worker does."""
    if (why := _strange(work.identity(), ours)) is not None:
        raise WorkerMismatchError(why)
    return work.run(ready, _core.Progress())


def _check(client: Client, address: str) -> None:
    """Sees that every worker that is there has our Headgate; later ones are looked at with their first point."""
    ours = work.identity()
    try:
        found: dict[str, Any] = client.run(_identity, on_error="return")
    except OSError as error:
        raise ClusterError(f"the cluster at {address} is lost: {_short(error)}") from None
    for worker, theirs in found.items():
        # Dask hands on what a worker could not import as text.
        if "No module named 'headgate" in str(theirs):
            raise ClusterError(f"the worker {worker} has no Headgate that runs sweeps: install {ours.version} there")
        if isinstance(theirs, BaseException):
            raise ClusterError(f"the worker {worker} cannot run points: {theirs}")
        if (why := _strange(theirs, ours)) is not None:
            raise ClusterError(f"the worker {worker}: {why}")


def _identity() -> BuildIdentity:
    """What a worker answers when it is asked who would run points there."""
    return work.identity()


def _strange(theirs: BuildIdentity, ours: BuildIdentity) -> str | None:
    """Why results of another might differ from ours; None if they do not."""
    if theirs.version != ours.version:
        return f"Headgate {theirs.version} runs there, {ours.version} here: results must come from one version"
    if theirs.machine == ours.machine and theirs.build != ours.build:
        return f"another build of Headgate {ours.version} runs there: results must come from one"
    return None


def _gone() -> tuple[type[BaseException], ...]:
    """What a point's future raises when the scheduler is gone."""
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    return (CancelledError, FutureCancelledError, CommClosedError)


def _short(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
