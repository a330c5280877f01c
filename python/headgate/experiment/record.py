"""The files of an experiment: one JSON document with every number, and its figure."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core, style
from headgate.analysis.judge import Judgement, Verdict
from headgate.execution.runner import Watcher
from headgate.experiment import findings
from headgate.experiment.declare import Experiment, toml_text
from headgate.experiment.results import ExperimentResults, NotRunError
from headgate.experiment.running import ExperimentRun, RunOptions, run
from headgate.files import store
from headgate.plot.picture import picture

SCHEMA = 2
DOCUMENT = "found.json"


class ExperimentRecord(NamedTuple):
    """A stored experiment or evaluation: its folder, and the JSON document in it."""

    path: Path
    document: dict[str, Any]


def carry_out(name: str, experiment: Experiment, out: Path, how: RunOptions, watcher: Watcher) -> ExperimentRecord:
    """Runs an experiment, judges its claims, draws its figure, and stores the results in `out`."""
    ran = run(experiment, out, how, watcher)
    with style.applied():
        drawn = picture(experiment.plot(ran.found))
    kept = ExperimentRecord(folder(name, experiment, out, how), document_of(name, experiment, ran, how))
    store.write_files(kept.path, {**drawn.files("figure"), DOCUMENT: store.json_text(kept.document)})
    return kept


def folder(name: str, experiment: Experiment, out: Path, how: RunOptions) -> Path:
    """The folder of an experiment's results. Its name has added disciplines, traces and options."""
    parts = [name.rpartition("/")[2], *how.parts()]
    parts += ["with", *(store.slug_of(spec) for spec in how.further)] if how.further and experiment.modern else []
    parts += ["trace", store.slug_of(how.trace.name)] if how.trace is not None and experiment.compute else []
    return out / name.rpartition("/")[0] / "-".join(parts)


def load(name: str, experiment: Experiment, out: Path, how: RunOptions) -> ExperimentRecord | None:
    """The record of an experiment; None if it has not been run, or if an earlier version judged it."""
    path = folder(name, experiment, out, how)
    document = store.read_json(path / DOCUMENT) if (path / DOCUMENT).is_file() else {}
    return ExperimentRecord(path, document) if document.get("schema") == SCHEMA else None


def document_of(name: str, experiment: Experiment, ran: ExperimentRun, how: RunOptions) -> dict[str, Any]:
    """Every number and verdict of an experiment, as JSON."""
    found = ran.found
    seeds = max((len(quantity.per_seed) for quantity in found.values.values()), default=0)
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        "experiment": name,
        "title": experiment.title,
        "place": experiment.place,
        "about": experiment.about,
        "quick": how.quick,
        "seeds": seeds,
        "with": list(how.further) if experiment.modern else [],
        "cpu_s": round(ran.cpu_s, 3),
        "wall_s": round(ran.wall_s, 3),
        "claims": [
            {
                "text": claim.text,
                "place": experiment.place_of(claim),
                "finding": findings.filled(claim.finding, found),
                **judged(claim.judge, found),
            }
            for claim in experiment.claims
        ],
        "published": compared(experiment, found),
        "headline": headline_of(experiment, found),
        "choices": [
            {"name": choice.name, "value": toml_text(choice.value), "reason": choice.reason}
            for choice in experiment.choices
        ],
        "values": [
            {"measure": measure, "label": label, "case": dict(found.cases[number]), **quantity.document()}
            for (measure, label, number), quantity in found.values.items()
        ],
    }


def judged(judge: Callable[[ExperimentResults], Judgement], found: ExperimentResults) -> dict[str, str]:
    """The verdict on a claim; inconclusive if a shortened run left out a case that it needs."""
    try:
        judgement = judge(found)
    except NotRunError as error:
        judgement = Judgement(Verdict.INCONCLUSIVE, error.args[0])
    return {"verdict": judgement.verdict.value, "numbers": judgement.numbers}


def compared(experiment: Experiment, found: ExperimentResults) -> list[dict[str, Any]]:
    """Every published number with ours, one row each, without cases that were not run."""
    rows = []
    for published in experiment.published:
        at: Sequence[Any] = published.at if published.axis is not None else (None,)
        for label, numbers in published.rows.items():
            for value, number in zip(at, numbers, strict=True):
                case = {**published.case, **({published.axis: value} if published.axis is not None else {})}
                if not found.has(label, **case):
                    continue
                ours = found(published.measure, label, **case) * published.scale
                rows.append(
                    {
                        "place": published.place,
                        "measure": published.measure,
                        "unit": published.unit,
                        "label": label,
                        "case": case,
                        "published": number,
                        "relative": _finite((ours.mean - number) / number) if number else None,
                        **ours.document(),
                    }
                )
    return rows


def headline_of(experiment: Experiment, found: ExperimentResults) -> dict[str, Any] | None:
    """The experiment's one number for each discipline; None if it has none, or a shortened run left out its case."""
    headline = experiment.headline
    if headline is None or not found.has(next(iter(found.labels)), **headline.case):
        return None
    values = {
        label: (found(headline.measure, label, **headline.case) * headline.scale).document() for label in found.labels
    }
    return {"what": headline.what, "values": values}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
