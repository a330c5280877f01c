"""A search with its figures and files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.errors import UsageError
from headgate.execution.runner import Watcher
from headgate.extras import require
from headgate.files import store
from headgate.files.disk import DISK
from headgate.qdiscs.spec import QdiscSpec
from headgate.scenario import Scenario
from headgate.tuning import space
from headgate.tuning.goals import Goals

if TYPE_CHECKING:
    from headgate.tuning.outcome import SearchOutcome

DOCUMENT = "tuned.json"


class TuningResult(NamedTuple):
    """The result of a search: its outcome, the importance of each parameter, its JSON document, and its folder."""

    outcome: SearchOutcome
    importances: Mapping[str, Mapping[str, float]]
    document: dict[str, Any]
    figures: list[Path]
    folder: Path


def tune(
    scenario: str | Path | Scenario,
    objective: str | Sequence[str],
    *,
    subject_to: Sequence[str] = (),
    params: Sequence[str] = (),
    qdisc: str | None = None,
    set: Iterable[str] = (),
    seeds: int | Iterable[int] | None = None,
    trials: int = 60,
    held_out: int = 10,
    out: str | Path = "results",
    threads: int | None = None,
    watcher: Watcher | None = None,
    figures: bool = True,
) -> TuningResult:
    """Searches a discipline's parameters for the best `objective` (`p95 queue delay`; several give a front).

    `scenario` is a file or a `Scenario`, `qdisc` its discipline if it has several. `set` and `seeds` change it as in
    `Scenario.load`. `subject_to` are bounds (`utilization >= 0.95`). `params` are the searched parameters
    (`boxtime=1ms..1s`; by default all numeric ones).

    `trials` settings are tried. The best are compared with the original setting on `held_out` further seeds. Everything
    is stored below `out`, with `figures`; the same call resumes.

    Raises `UsageError` and `ScenarioError` for an invalid search, and `ResultError`, `RunFailedError` and
    `InterruptedRunError` as `run` does.
    """
    scenario = Scenario.of(scenario, set=list(set), qdiscs=[qdisc] if qdisc else [], seeds=seeds)
    require("optuna", "tuning needs Optuna")
    from headgate.tuning import outcome
    from headgate.tuning.search import Search
    from headgate.tuning.study import SearchPlan, importances

    base = only_discipline(scenario)
    objectives = [objective] if isinstance(objective, str) else objective
    plan = SearchPlan(scenario, base, tuple(space.space(base, params)), Goals.of(objectives, subject_to, scenario))
    folder = plan.folder(Path(out))
    with store.locked_folder(folder) as new_folders:
        try:
            started_search = Search(plan, folder)
            tried = started_search.run(trials, threads=threads, watcher=watcher)
        except UsageError:
            _remove_files(folder, new_folders)
            raise
        except OSError as error:
            raise store.not_writable(folder, error) from None
        further = further_seeds(scenario.seeds, held_out)
        runs = partial(outcome.quietly, threads=threads, watcher=watcher)
        searched = outcome.compare(plan, tried, further, folder, runs)
        importance_by_objective = importances(plan, started_search.record.study(trials))
        document = outcome.document(searched, importance_by_objective)
        store.write_files(folder, {DOCUMENT: store.sealed_text(document)})
        return TuningResult(
            searched,
            importance_by_objective,
            document,
            _draw(searched, importance_by_objective, folder) if figures else [],
            folder,
        )


def only_discipline(scenario: Scenario) -> QdiscSpec:
    """The one discipline of a scenario."""
    if len(scenario.qdiscs) > 1:
        raise UsageError(f"{scenario.name} has several disciplines: name one (--qdisc): {', '.join(scenario.qdiscs)}")
    return QdiscSpec.of(scenario.qdiscs[0])


def further_seeds(seen: Sequence[int], count: int) -> list[int]:
    """The next `count` seeds after those of the search."""
    return list(range(max(seen) + 1, max(seen) + 1 + count))


def _draw(
    searched: SearchOutcome, importance_by_objective: Mapping[str, Mapping[str, float]], folder: Path
) -> list[Path]:
    from headgate.plot.picture import save
    from headgate.tuning import figures

    return [save(figure, folder / name) for name, figure in figures.figures(searched, importance_by_objective).items()]


def _remove_files(folder: Path, new_folders: Sequence[Path]) -> None:
    """Removes the files of a search that could not begin."""
    if folder in new_folders:
        for file in folder.iterdir():
            DISK.remove(file)
        for each in new_folders:
            if not any(each.iterdir()):
                DISK.remove_folder(each)
