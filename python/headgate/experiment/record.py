"""Stores an experiment's results: a JSON document with every number, and the figure."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core, guarded
from headgate.analysis.judge import Judgement, Verdict
from headgate.analysis.significance import LEAST_SEEDS
from headgate.execution.runner import Watcher
from headgate.experiment import findings
from headgate.experiment.declare import Claim, Experiment, toml_text
from headgate.experiment.results import ExperimentResults, NotRunError
from headgate.experiment.running import ExperimentRun, RunOptions, run
from headgate.files import damage, forms, provenance, store
from headgate.plot import figure_style, printing
from headgate.plot.picture import picture
from headgate.style import NO_FILES, FigureFiles

SCHEMA = 3
FORM = f"experiment-{SCHEMA}"
DOCUMENT = "found.json"


class ExperimentRecord(NamedTuple):
    """A stored experiment or evaluation: its folder, and the JSON document in it."""

    path: Path
    document: dict[str, Any]


def carry_out(
    name: str, experiment: Experiment, out: Path, options: RunOptions, watcher: Watcher, wanted: FigureFiles = NO_FILES
) -> ExperimentRecord:
    """Runs an experiment, judges its claims, draws its figure, and stores the results in `out`.

    The figure is also written as `wanted`.
    """
    asked, path = asked_of(name, experiment, options), folder(name, experiment, out, options)
    if not options.force:
        provenance.check_document(path / DOCUMENT, FORM, asked)
    ran = run(experiment, out, options, watcher)
    with figure_style.applied():
        drawn = picture(experiment.plot(ran.results))
    stored = ExperimentRecord(path, document_of(name, experiment, ran, options))
    store.write_files(stored.path, {**drawn.files("figure"), DOCUMENT: store.sealed_text(stored.document)})
    printing.save({"figure": lambda: experiment.plot(ran.results)}, wanted, stored.path)
    return stored


def folder(name: str, experiment: Experiment, out: Path, options: RunOptions) -> Path:
    """The folder of an experiment's results. Options, added disciplines and the trace are part of its name.

    The name abbreviates them, so the document has them in full (`asked_of`).
    """
    asked = asked_of(name, experiment, options)
    parts = [name.rpartition("/")[2], *options.name_parts()]
    parts += ["with", *map(store.slug_of, asked["with"])] if asked["with"] else []
    parts += ["trace", store.slug_of(asked["trace"])] if asked["trace"] else []
    return out / name.rpartition("/")[0] / "-".join(parts)


def asked_of(name: str, experiment: Experiment, options: RunOptions) -> dict[str, Any]:
    """The keys of a document that tell its question: the experiment, and the options that its folder's name has."""
    read = options.trace if experiment.compute else None
    return {
        "experiment": name,
        "quick": options.quick,
        "with": list(options.further) if experiment.modern else [],
        "set": list(options.settings),
        "trace": None if read is None else f"{read.name}:{damage.sha256(read, guarded.CAPTURE)}",
    }


def load(name: str, experiment: Experiment, out: Path, options: RunOptions) -> ExperimentRecord | None:
    """The record of an experiment; None if it has not been run with these options, or an earlier version judged it.

    The record in a renamed folder is not believed, since it answers to other options.
    """
    path = folder(name, experiment, out, options)
    document = store.read_json(path / DOCUMENT, None) if (path / DOCUMENT).exists() else {}
    if document.get("schema") != SCHEMA:
        return None
    forms.check(document, FORM, path / DOCUMENT)
    return ExperimentRecord(path, document) if answers(document, name, experiment, options) else None


def answers(document: Mapping[str, Any], name: str, experiment: Experiment, options: RunOptions) -> bool:
    """Whether a document is of this experiment with these options. Earlier versions left out options without value."""
    asked = asked_of(name, experiment, options)
    seeds = options.seeds_of(experiment.seeds, experiment.quick.seeds)
    same = document["seeds"] == seeds and all((document.get(key) or None) == (asked[key] or None) for key in asked)
    # Earlier versions decided claims with fewer seeds.
    return same and (experiment.exact or seeds >= LEAST_SEEDS or not _decided(document))


def _decided(document: Mapping[str, Any]) -> bool:
    """Whether a document of an experiment or of its readings has a claim that holds or differs."""
    verdicts = [*document["claims"], *(each for under in document.get("verdicts", {}).values() for each in under)]
    return any(each.get("verdict", Verdict.INCONCLUSIVE.value) != Verdict.INCONCLUSIVE.value for each in verdicts)


def document_of(name: str, experiment: Experiment, ran: ExperimentRun, options: RunOptions) -> dict[str, Any]:
    """Every number and verdict of an experiment, as JSON."""
    results = ran.results
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        **asked_of(name, experiment, options),
        "title": experiment.title,
        "place": experiment.place,
        "about": experiment.about,
        "seeds": results.seeds,
        "cpu_s": round(ran.cpu_s, 3),
        "wall_s": round(ran.wall_s, 3),
        "claims": [
            {
                **described(experiment, claim),
                "finding": findings.filled(claim.finding, results),
                **judged(claim.judge, results),
            }
            for claim in experiment.claims
        ],
        "published": compared(experiment, results),
        "headline": headline_of(experiment, results),
        "choices": [
            {"name": choice.name, "value": toml_text(choice.value), "reason": choice.reason}
            for choice in experiment.choices
        ],
        "values": [
            {"measure": measure, "label": label, "case": dict(results.cases[number]), **quantity.document()}
            for (measure, label, number), quantity in results.values.items()
        ],
    }


def described(experiment: Experiment, claim: Claim) -> dict[str, Any]:
    """A claim without its verdict: text, place in the paper, origin of its bound, and compared disciplines."""
    return {
        "text": claim.text,
        "place": experiment.place_of(claim),
        "basis": claim.counts_as.value,
        "disciplines": [label for label in experiment.qdiscs if label in claim.judge.labels],
    }


def judged(judge: Callable[[ExperimentResults], Judgement], results: ExperimentResults) -> dict[str, str]:
    """The verdict on a claim; inconclusive if a shortened run left out a case that it needs."""
    try:
        judgement = judge(results)
    except NotRunError as error:
        judgement = Judgement(Verdict.INCONCLUSIVE, error.args[0])
    return {"verdict": judgement.verdict.value, "numbers": judgement.numbers}


def compared(experiment: Experiment, results: ExperimentResults) -> list[dict[str, Any]]:
    """A row for each published number, with ours. Cases that were not run are left out."""
    rows = []
    for published in experiment.published:
        at: Sequence[Any] = published.at if published.axis is not None else (None,)
        for label, numbers in published.rows.items():
            for value, number in zip(at, numbers, strict=True):
                case = {**published.case, **({published.axis: value} if published.axis is not None else {})}
                if not results.has(label, **case):
                    continue
                ours = results(published.measure, label, **case) * published.scale
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


def headline_of(experiment: Experiment, results: ExperimentResults) -> dict[str, Any] | None:
    """The headline measure of each discipline; None without one, or if a shortened run left out its case."""
    headline = experiment.headline
    if headline is None or not results.has(next(iter(results.labels)), **headline.case):
        return None
    values = {
        label: (results(headline.measure, label, **headline.case) * headline.scale).document()
        for label in results.labels
    }
    return {"what": headline.what, "values": values}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
