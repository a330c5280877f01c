"""Judges a paper's claims under each reading and stores the verdicts.

A paper does not state every parameter. A reading gives one such parameter another of its declared values; the other
parameters keep ours. The verdicts are stored beside the experiment's record.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Experiment, OpenParameter, toml_text
from headgate.experiment.record import answers, asked_of, described, folder, judged
from headgate.experiment.running import POOL, CaseScenario, RunOptions, case_scenarios, execute_missing, run
from headgate.files import forms, provenance, store

SCHEMA = 1
FORM = f"readings-{SCHEMA}"
DOCUMENT = "readings.json"

#: The number of seeds with which `make papers` runs readings, in shortened runs. Fewer would decide no claim.
SEEDS = 5


class Reading(NamedTuple):
    """One parameter with one value. Without a name, it stands for our values of all parameters."""

    name: str = ""
    value: Any = None

    @property
    def choices(self) -> dict[str, Any]:
        """The values of open parameters that the reading replaces."""
        return {self.name: self.value} if self.name else {}

    def __str__(self) -> str:
        return f"{self.name} = {toml_text(self.value)}" if self.name else "our values"


class ReadingsRecord(NamedTuple):
    """Stored verdicts: the file, and the JSON document in it."""

    path: Path
    document: dict[str, Any]


def open_parameters(experiment: Experiment) -> list[OpenParameter]:
    """The parameters that have other values to try."""
    return [choice for choice in experiment.choices if others(choice)]


def others(parameter: OpenParameter) -> list[Any]:
    """The declared values of a parameter apart from ours."""
    return [value for value in dict.fromkeys(parameter.values) if value != parameter.value]


def readings_of(experiment: Experiment) -> list[Reading]:
    """Our values, then every other value of every open parameter."""
    return [Reading(), *(Reading(each.name, value) for each in open_parameters(experiment) for value in others(each))]


def carry_out(
    name: str, experiment: Experiment, out: Path, options: RunOptions, watcher: Callable[[str], Watcher]
) -> ReadingsRecord:
    """Judges the claims under each reading, and stores the verdicts.

    Finished runs in `out` are reused. `watcher` makes the observer of a pool of runs from a name for its readings.
    """
    document = _declared(name, experiment, options)
    path = folder(name, experiment, out, options) / DOCUMENT
    if not options.force:
        provenance.check_document(path, FORM, asked_of(name, experiment, options))
    everything = readings_of(experiment)
    for first, pool, planned in _pools(experiment, options, everything):
        several = f" {first + 1}-{first + len(pool)} of {len(everything)}" if len(pool) < len(everything) else ""
        execute_missing(planned, out, options, watcher(f"{name}, readings{several}"))
        for reading in pool:
            ran = run(experiment, out, options._replace(choices=reading.choices), Watcher())
            document["verdicts"][str(reading)] = [judged(claim.judge, ran.results) for claim in experiment.claims]
            document["seeds"] = ran.results.seeds
    store.write_files(path.parent, {DOCUMENT: store.sealed_text(document)})
    return ReadingsRecord(path, document)


def load(name: str, experiment: Experiment, out: Path, options: RunOptions) -> dict[str, Any] | None:
    """The stored verdicts; None if there are none, or if the claims or the readings have changed since.

    Without verdicts of runs with these options, those of shortened runs with `SEEDS` seeds are taken.
    """
    for each in (options, options._replace(quick=True, seeds=SEEDS)):
        path = folder(name, experiment, out, each) / DOCUMENT
        stored = store.read_json(path, None) if path.exists() else {}
        if stored.get("schema") != SCHEMA:
            continue
        forms.check(stored, FORM, path)
        declared = _declared(name, experiment, each)
        if answers(stored, name, experiment, each) and _texts(stored) == _texts(declared):
            # Reasons and places may have been reworded since; the verdicts are the same.
            return {**declared, "seeds": stored["seeds"], "verdicts": stored["verdicts"]}
    return None


def named(document: dict[str, Any]) -> list[str]:
    """The readings of a document, as its verdicts are named. Our values are first."""
    pairs = [(each["name"], value) for each in document["parameters"] for value in each["others"]]
    return [str(Reading()), *(str(Reading(*pair)) for pair in pairs)]


def _texts(document: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The claims, our values and the readings."""
    ours = [f"{each['name']} = {each['value']}" for each in document["parameters"]]
    return [claim["text"] for claim in document["claims"]], ours, named(document)


def _pools(
    experiment: Experiment, options: RunOptions, readings: Sequence[Reading]
) -> Iterator[tuple[int, list[Reading], list[CaseScenario]]]:
    """Readings whose scenarios run in one pool, with the number of the first reading and these scenarios."""
    pool: list[Reading] = []
    planned: list[CaseScenario] = []
    for number, reading in enumerate(readings):
        scenarios = list(case_scenarios(experiment, options._replace(choices=reading.choices)))
        if pool and len(planned) + len(scenarios) > POOL:
            yield number - len(pool), pool, planned
            pool, planned = [], []
        pool.append(reading)
        planned += scenarios
    yield len(readings) - len(pool), pool, planned


def _declared(name: str, experiment: Experiment, options: RunOptions) -> dict[str, Any]:
    """The document without verdicts."""
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        **asked_of(name, experiment, options),
        "title": experiment.title,
        "seeds": 0,
        "claims": [described(experiment, claim) for claim in experiment.claims],
        "parameters": [
            {
                "name": each.name,
                "value": toml_text(each.value),
                "reason": each.reason,
                "others": [toml_text(value) for value in others(each)],
            }
            for each in open_parameters(experiment)
        ],
        "verdicts": {},
    }
