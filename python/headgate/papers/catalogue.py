"""The papers and their experiments, by name."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module, resources

from headgate import _core, style
from headgate.counting import counted
from headgate.errors import UsageError, did_you_mean
from headgate.execution.runner import processors
from headgate.experiment import readings
from headgate.experiment.catalogue import files
from headgate.experiment.declare import Experiment
from headgate.experiment.running import RunOptions
from headgate.experiment.show import ExperimentRow

#: The papers in the order of their publication. Each is a subpackage, whose name has `_` in place of `-`.
PAPERS = ("red-pd", "blue", "comparison", "faba", "breathe")


@dataclass(frozen=True)
class Paper:
    """One paper: short name, citation, and its content in a sentence or two."""

    name: str
    citation: str
    about: str


@cache
def paper(name: str) -> Paper:
    """The paper of this short name."""
    package = import_module(_package(name))
    return Paper(name, package.CITATION, package.ABOUT)


@cache
def names(of: str | None = None) -> tuple[str, ...]:
    """The names of a paper's experiments, such as `faba/table1`. Without a paper, those of all papers."""
    if of is None:
        return tuple(name for each in PAPERS for name in names(each))
    return tuple(f"{of}/{file}" for file in files(_package(of)))


@cache
def experiment(name: str) -> Experiment:
    """The experiment `name`, such as `faba/table1`.

    Its title is the docstring of its file. Its place in the paper, `table 1`, is the name of the file unless the
    experiment states another.
    """
    if name not in names():
        raise _unknown(name)
    of, _, file = name.partition("/")
    module = import_module(f"{_package(of)}.{file}")
    declared: Experiment = module.EXPERIMENT
    place = re.sub(r"(?:(fig)|table)(\d+)", lambda word: f"{'figure' if word[1] else 'table'} {word[2]}", file)
    return replace(declared, title=str(module.__doc__).rstrip("."), place=declared.place or place)


def chosen(wanted: Iterable[str]) -> list[str]:
    """The names of the wanted experiments, each once. A wanted name is `all`, `faba` or `faba/table1`."""
    chosen_names: list[str] = []
    for word in wanted:
        if word == "all":
            chosen_names += names()
        elif word in PAPERS:
            chosen_names += names(word)
        elif word in names():
            chosen_names.append(word)
        else:
            raise _unknown(word)
    return list(dict.fromkeys(chosen_names))


def with_readings(wanted: Iterable[str]) -> list[str]:
    """The names of the wanted experiments that declare readings; `UsageError` if none does."""
    names = chosen(wanted)
    declared = [name for name in names if readings.open_parameters(experiment(name))]
    if not declared:
        raise UsageError(f"{', '.join(names)}: no open parameter has other values to try")
    return declared


def readings_estimate(names: Sequence[str], options: RunOptions) -> str:
    """The number of readings, and the longest time that they take on this machine, as a sentence.

    Finished runs, and readings that change only some disciplines, take less.
    """
    tried = {name: len(readings.readings_of(experiment(name))) for name in names}
    costs = [tried[name] * cost for name in names if (cost := _cost(name, options)) is not None]
    experiments = names[0] if len(names) == 1 else f"{len(names)} experiments"
    tries = f"{counted(sum(tried.values()), 'reading')} of {experiments}, our values included"
    if len(costs) < len(names):
        return f"{tries}; the time is not known"
    return f"{tries}: {style.duration(sum(costs) / processors())} at most on {processors()} processors"


def _cost(name: str, options: RunOptions) -> float | None:
    """Processor seconds of one experiment with these options. A shortened run costs no more than a whole one."""
    declared = experiment(name)
    seeds = (declared.seeds, declared.quick.seeds)
    costs = _costs().get(name, [None, None])
    of_a_seed = [cost / number for cost, number in zip(costs, seeds, strict=True) if cost is not None]
    if len(of_a_seed) < len(seeds):
        return None
    return (min(of_a_seed) if options.quick else of_a_seed[0]) * (options.seeds or seeds[options.quick])


def further(written: str | None) -> tuple[str, ...]:
    """The disciplines that `--with` adds: `codel,fq_codel,pie`, or with settings `codel:target=1ms;fq_codel:flows=64`.

    `today` stands for all disciplines of that family, which are newer than the papers.
    """
    if not written:
        return ()
    separator = ";" if ";" in written or ":" in written else ","
    specs = [spec.strip() for spec in written.split(separator) if spec.strip()]
    known = _core.disciplines()
    today = sorted((each for each in known if each.family == "today"), key=lambda each: each.family_index)
    specs = [name for spec in specs for name in ([each.name for each in today] if spec == "today" else [spec])]
    names = [each.name for each in known]
    for spec in specs:
        name = spec.partition(":")[0]
        if name not in names:
            raise UsageError(
                f"--with: there is no discipline {name!r}{did_you_mean(name, names)} `headgate list` shows all"
            )
    if not specs:
        raise UsageError("--with: expected a list of disciplines, such as codel,fq_codel,pie")
    return tuple(dict.fromkeys(specs))


def row(name: str) -> ExperimentRow:
    """A row of the list: the experiment, and its cost as measured for the release."""
    whole, quick = _costs().get(name, (None, None))
    return ExperimentRow(name, experiment(name).title, quick, whole)


@cache
def _costs() -> dict[str, list[float | None]]:
    text = resources.files(__package__).joinpath("costs.json").read_text("utf-8")
    measured: dict[str, list[float | None]] = json.loads(text)
    return measured


def _package(paper: str) -> str:
    return f"headgate.papers.{paper.replace('-', '_')}"


def _unknown(word: str) -> UsageError:
    if word in PAPERS:
        return UsageError(f"{word} is a paper: name one of its experiments, such as {names(word)[0]}")
    known = ["all", *PAPERS, *names()]
    return UsageError(
        f"there is no paper or experiment {word!r}{did_you_mean(word, known)} `headgate paper list` shows all"
    )
