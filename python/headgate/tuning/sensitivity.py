"""The effect of a discipline's parameters near their values, varied one at a time."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headgate import _core, api, identity
from headgate.analysis.judge import Quantity
from headgate.analysis.spread import estimate
from headgate.errors import UsageError
from headgate.execution.runner import Watcher
from headgate.files import store
from headgate.qdiscs.spec import QdiscSpec, refusal
from headgate.scenario import Scenario
from headgate.tuning import space
from headgate.tuning.goals import Goals
from headgate.tuning.space import Axis, RangeAxis
from headgate.tuning.tuned import only_discipline

#: The default objectives: the two quantities of the trade-off in RFC 7928, section 2.7.
OBJECTIVES = ("p95 queue delay", "goodput")
#: Parameters are varied from half to twice their value, unless a range is given.
TIMES = 2.0
#: Number of values of a parameter over its range, including both ends.
VALUES = 5
SCHEMA = 1
#: The folder of the runs, which is a result of its own.
RUNS = "runs"


class VariedValue(NamedTuple):
    """One value of one parameter: its measures, or why the discipline rejects it."""

    name: str
    text: str
    chosen: bool
    measured: dict[str, Quantity]
    refused: str = ""


class Sensitivity(NamedTuple):
    """The measures for every value of every parameter, and for the original setting."""

    scenario: Scenario
    base: QdiscSpec
    goals: Goals
    axes: tuple[Axis, ...]
    reference: dict[str, Quantity]
    values: list[VariedValue]
    folder: Path

    def document(self) -> dict[str, Any]:
        """The JSON document (docs/guide/tuning.md)."""
        return {
            "schema": SCHEMA,
            "version": _core.VERSION,
            "scenario": self.scenario.name,
            "qdisc": str(self.base),
            "seeds": self.scenario.seeds,
            "was": {name: estimate(quantity.per_seed) for name, quantity in self.reference.items()},
            "values": [
                {
                    "parameter": value.name,
                    "value": value.text,
                    "refused": value.refused or None,
                    "metrics": {name: estimate(quantity.per_seed) for name, quantity in value.measured.items()},
                    "difference": {
                        name: estimate((quantity - self.reference[name]).per_seed)
                        for name, quantity in value.measured.items()
                    },
                }
                for value in self.values
            ],
        }


def sensitivity(
    scenario: str | Path | Scenario,
    objective: str | Sequence[str] = OBJECTIVES,
    *,
    params: Sequence[str] = (),
    qdisc: str | None = None,
    set: Iterable[str] = (),
    seeds: int | Iterable[int] | None = None,
    out: str | Path = "results",
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Sensitivity:
    """Varies each of a discipline's parameters from half to twice its value, and measures each `objective`.

    `params` names the parameters (by default all numeric ones), with optional ranges or lists as in `tune`. The runs
    are one result below `out`; the same call resumes it. Raises what `tune` raises.
    """
    scenario = Scenario.of(scenario, set=list(set), qdiscs=[qdisc] if qdisc else [], seeds=seeds)
    base = only_discipline(scenario)
    goals = Goals.of([objective] if isinstance(objective, str) else objective, (), scenario)
    axes = _axes(base, params)
    planned = [
        VariedValue(axis.name, text, text == base.value(axis.name), {}) for axis in axes for text in _texts(base, axis)
    ]
    checked = [_checked(scenario, base, value) for value in planned]
    specs = dict.fromkeys([str(base), *(str(_spec(base, value)) for value in checked if not value.refused)])
    whole = scenario.changed(qdiscs=list(specs))
    folder = Path(out) / f"sensitivity-{scenario.name}-{base.discipline.name}-{identity.name_of(whole.config_hash)}"
    result = api.run_into(folder / RUNS, whole, threads=threads, report=False, watcher=watcher)
    measured_by_spec = goals.measure_all(result, specs)
    measured = [
        value if value.refused else value._replace(measured=measured_by_spec[str(_spec(base, value))])
        for value in checked
    ]
    varied = Sensitivity(scenario, base, goals, tuple(axes), measured_by_spec[str(base)], measured, folder)
    store.write_files(folder, {"sensitivity.json": store.sealed_text(varied.document())})
    return varied


def _axes(base: QdiscSpec, params: Sequence[str]) -> list[Axis]:
    """The parameters to vary: from half to twice their value, unless another range is given."""
    named = space.space(base, params)
    written = {axis.name: text for axis, text in zip(named, params, strict=bool(params))}
    axes: list[Axis] = []
    for axis in named:
        parameter = next(each for each in base.discipline.parameters if each.name == axis.name)
        near = None if "=" in written.get(axis.name, "") else space.around(base, parameter, TIMES)
        axes.append(near if near is not None and isinstance(axis, RangeAxis) else axis)
    return axes


def _texts(base: QdiscSpec, axis: Axis) -> list[str]:
    """The tried values of a parameter, ascending, including its original value."""
    if not isinstance(axis, RangeAxis):
        return list(dict.fromkeys([base.value(axis.name), *axis.words]))
    part = [step / (VALUES - 1) for step in range(VALUES)]
    # Near a value, equal factors are equal steps.
    ratio = axis.low > 0 and (axis.log or axis.high / axis.low <= TIMES**2)
    at = [axis.low * (axis.high / axis.low) ** p if ratio else axis.low + (axis.high - axis.low) * p for p in part]
    now = base.value(axis.name)
    value = axis.scale.read(now)
    texts = {axis.text(each): each for each in at}
    # A value within one percent of the original is the original.
    texts = {text: each for text, each in texts.items() if value is None or abs(each - value) > 0.01 * abs(value)}
    if value is not None:
        texts[now] = value
    return sorted(texts, key=lambda text: texts[text])


def _spec(base: QdiscSpec, value: VariedValue) -> QdiscSpec:
    return base.with_settings({value.name: value.text})


def _checked(scenario: Scenario, base: QdiscSpec, value: VariedValue) -> VariedValue:
    """The value, with a reason if the discipline rejects it."""
    refused = refusal(scenario, str(_spec(base, value)))
    if refused and value.chosen:
        raise UsageError(refused)
    return value._replace(refused=refused)
