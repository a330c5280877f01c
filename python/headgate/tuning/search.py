"""Tries settings in batches: Optuna proposes, all processors simulate, finished trials are stored at once.

A batch depends only on the trials of all earlier batches. So a search tries the same settings on any number of threads,
and an interrupted one continues unchanged.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headgate._core import ScenarioError
from headgate.counting import counted
from headgate.errors import UsageError
from headgate.execution import batch
from headgate.execution.runner import Watcher
from headgate.results import Result
from headgate.scenario import Scenario
from headgate.tuning import space
from headgate.tuning.study import SearchPlan, Trial, TrialStore, new_study

if TYPE_CHECKING:
    import optuna

#: Trials in a batch: enough to keep a large machine busy with a few seeds each, and few enough for the search to learn
#: between batches.
BATCH = 8


class Search:
    """A search, and the store of its trials."""

    def __init__(self, plan: SearchPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.record = TrialStore(folder, plan)
        self._memory_study = new_study(plan.goals)
        self._lock = threading.Lock()

    def run(self, count: int, *, threads: int | None = None, watcher: Watcher | None = None) -> list[Trial]:
        """Tries settings until there are `count` trials, including finished ones. Returns them in order.

        Raises `RunFailedError` if a run failed and `InterruptedRunError` on Ctrl-C; finished trials are kept.
        """
        seeds, duration_s = len(self.plan.scenario.seeds), self.plan.scenario.duration_s
        whole = _JoinedProgress(watcher or Watcher())
        total, cached = count * seeds, self._finished(count)
        whole.begin(total, cached, (total - cached) * duration_s)
        try:
            with batch.supervised(lambda: self._finished(count), total, self.folder):
                for number, first in enumerate(range(0, count, BATCH)):
                    asked = self._ask(number, range(first, min(count, first + BATCH)))
                    self._simulate(asked, threads, whole)
                    for each in asked:
                        self._tell(each, self.record.trials[each.number])
                    self._check_measured()
        finally:
            whole.close()
        return [self.record.trials[number] for number in range(count)]

    def _finished(self, count: int) -> int:
        """Number of finished runs of the first `count` trials."""
        return sum(number < count for number in self.record.trials) * len(self.plan.scenario.seeds)

    def _ask(self, number: int, trials: range) -> list[optuna.Trial]:
        """The next trials. The first trial of all is the original setting, if it lies within the searched ranges."""
        import optuna

        self._memory_study.sampler = optuna.samplers.TPESampler(seed=self.plan.seed(number))
        now = space.numbers(self.plan.axes, self.plan.base)
        if trials.start == 0 and now is not None:
            self._memory_study.enqueue_trial(now)
        return [self._memory_study.ask() for _ in trials]

    def _simulate(self, asked: Sequence[optuna.Trial], threads: int | None, watcher: Watcher) -> None:
        """Executes the runs of trials that are not finished."""
        proposals = [(self._proposal(each), each) for each in asked]
        new = [(trial, each) for trial, each in proposals if trial.number not in self.record.trials]
        jobs = [(scenario, trial, each) for trial, each in new if (scenario := self._scenario(trial, each))]

        def keep(number: int, result: Result) -> None:
            scenario, trial, each = jobs[number]
            measured = self.plan.goals.measure(result, scenario.qdiscs[0])
            cpu_s = sum(float(row["cpu_s"]) for row in result.timing)
            with self._lock:
                self.record.add(trial._replace(measured=measured, cpu_s=cpu_s), each.distributions)

        batch.InMemory([scenario for scenario, _, _ in jobs], keep, streamed=False).run(threads, watcher)

    def _proposal(self, asked: optuna.Trial) -> Trial:
        settings = space.settings(self.plan.axes, self.plan.base, asked)
        qdisc = str(self.plan.base.with_settings(settings))
        return Trial(asked.number, qdisc, settings, asked.params, {})

    def _scenario(self, trial: Trial, asked: optuna.Trial) -> Scenario | None:
        """The scenario to run for a trial; None if the discipline rejects the setting, or it was tried before."""
        for before in self.record.trials.values():
            if before.qdisc == trial.qdisc:
                again = trial._replace(measured=before.measured, refused=before.refused)
                self.record.add(again, asked.distributions)
                return None
        try:
            return self.plan.scenario.changed(qdiscs=[trial.qdisc])
        except ScenarioError as error:
            self.record.add(trial._replace(refused=error.message), asked.distributions)
            return None

    def _tell(self, asked: optuna.Trial, trial: Trial) -> None:
        from optuna.trial import TrialState

        values = trial.values(self.plan.goals)
        if values is None:
            self._memory_study.tell(asked, state=TrialState.PRUNED)
            return
        for name, excess in trial.excesses(self.plan.goals).items():
            asked.set_constraint(name, excess)
        self._memory_study.tell(asked, values)

    def _check_measured(self) -> None:
        """Raises `UsageError` if no trial so far has values: such a search would learn nothing."""
        trials = list(self.record.trials.values())
        if any(trial.values(self.plan.goals) is not None for trial in trials):
            return
        measured = [trial.measured for trial in trials if trial.measured]
        if not measured:
            settings = counted(len(trials), "setting")
            raise UsageError(f"none of {settings} can be used: {trials[0].qdisc}: {trials[0].refused}")
        empty = [name for name in measured[0] if all(math.isnan(each[name].mean) for each in measured)]
        raise UsageError(f"this scenario gives no value of {' and '.join(empty) or 'all metrics together'}")


class _JoinedProgress(Watcher):
    """Shows the progress of all batches as one."""

    def __init__(self, inner: Watcher) -> None:
        self._inner = inner
        self._before = (0, 0.0)
        self._now = (0, 0.0)

    def begin(self, total: int, cached: int, seconds: float) -> None:
        self._inner.begin(total, cached, seconds)

    def tick(self, finished: int, seconds: float) -> None:
        self._now = (self._before[0] + finished, self._before[1] + seconds)
        self._inner.tick(*self._now)

    def end(self) -> None:
        self._before = self._now

    def close(self) -> None:
        """The last batch is done, or the run stops."""
        self._inner.end()
