"""The searched parameters of a discipline and their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import _core
from headgate.errors import UsageError
from headgate.qdiscs import values
from headgate.qdiscs.spec import QdiscSpec, parameter
from headgate.qdiscs.values import EXACT, UnitScale

if TYPE_CHECKING:
    from optuna.trial import Trial

#: The searched range of a parameter: from its value divided by this factor to its value times the factor, within the
#: declared range.
WIDE = 100.0
#: Number ranges whose ends differ by this factor or more are searched on a logarithmic scale. Times, rates and sizes
#: always are.
DECADES = 100.0
#: The limit belongs to the link, so it is searched only if the user names it.
LEFT_OUT = ("limit",)


class RangeAxis(NamedTuple):
    """A parameter between two values, both ends included, on its scale."""

    name: str
    scale: UnitScale
    low: float
    high: float
    log: bool

    def suggest(self, trial: Trial) -> str:
        """A value to try, as text."""
        if self.scale.whole:
            return self.text(trial.suggest_int(self.name, round(self.low), round(self.high), log=self.log))
        return self.text(trial.suggest_float(self.name, self.low, self.high, log=self.log))

    def text(self, value: float) -> str:
        """The text of a value. Rounding does not move it out of the range."""
        written = self.scale.text(value)
        read = self.scale.read(written)
        return written if read is not None and self.low <= read <= self.high else self.scale.text(value, EXACT)

    def number(self, text: str) -> float | None:
        """The number of a setting's text; None if it lies outside the range."""
        value = self.scale.read(text)
        if value is None or not self.low <= value <= self.high:
            return None
        return round(value) if self.scale.whole else value

    def __str__(self) -> str:
        return f"{self.scale.text(self.low)} to {self.scale.text(self.high)}{', log' if self.log else ''}"


class ChoiceAxis(NamedTuple):
    """A parameter that is one of several values."""

    name: str
    words: tuple[str, ...]

    def suggest(self, trial: Trial) -> str:
        """A value to try."""
        return str(trial.suggest_categorical(self.name, list(self.words)))

    def number(self, text: str) -> str | None:
        """The choice of a setting's text; None if it is not one of the choices."""
        return text if text in self.words else None

    def __str__(self) -> str:
        return " or ".join(self.words)


Axis = RangeAxis | ChoiceAxis


def space(base: QdiscSpec, written: Sequence[str]) -> list[Axis]:
    """The parameters in `written` (`boxtime`, `boxtime=1ms..1s`, `penalty=rate,boxtime`); all numeric ones if none is.

    Raises `UsageError` for an unknown parameter or an invalid value.
    """
    if not written:
        ranges = (around(base, each, WIDE) for each in base.discipline.parameters if each.name not in LEFT_OUT)
        chosen: list[Axis] = [each for each in ranges if each is not None]
        if not chosen:
            raise UsageError(f"{base.discipline.name} has no numeric parameter to search: name others with --param")
        return chosen
    axes = [_axis(base, each) for each in written]
    names = [axis.name for axis in axes]
    if again := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"--param names {again} more than once")
    return axes


def around(base: QdiscSpec, each: _core.Parameter, times: float) -> RangeAxis | None:
    """The range from a parameter's value over `times` to its value times `times`; None unless above 0."""
    value = base.value(each.name)
    for scale in values.scales(each):
        number = scale.read(value)
        if number is None or number == 0:
            continue
        low, high = values.declared(each, scale).around(number, times)
        low = max(low, 1.0) if scale.whole else low
        return RangeAxis(each.name, scale, low, high, log=_log(scale, low, high)) if low < high else None
    return None


def _axis(base: QdiscSpec, written: str) -> Axis:
    name, _, given = written.partition("=")
    each = parameter(base.discipline, name.strip())
    if ".." in given:
        return _between(each, given, written)
    if given:
        return _one_of(each, [word.strip() for word in given.split(",")], written)
    if (near := around(base, each, WIDE)) is not None:
        return near
    if words := values.choices(each):
        return ChoiceAxis(each.name, tuple(words))
    now = base.value(each.name)
    raise UsageError(f"--param {written}: {each.name} is {now}; give a range, as in {each.name}={_example(each)}")


def _between(each: _core.Parameter, given: str, written: str) -> RangeAxis:
    ends = [end.strip() for end in given.split("..")]
    for scale in values.scales(each):
        low, high = (scale.read(end) for end in (ends[0], ends[-1]))
        if low is None or high is None or len(ends) != 2:
            continue
        allowed = values.declared(each, scale)
        for end, value in zip(ends, (low, high), strict=True):
            if value not in allowed:
                raise UsageError(f"--param {written}: {each.name} cannot be {end}: it is {_takes(each)}")
        if low >= high:
            raise UsageError(f"--param {written}: the first end must be below the second")
        return RangeAxis(each.name, scale, low, high, log=_log(scale, low, high))
    raise UsageError(f"--param {written}: expected two values of {each.name} ({_takes(each)}): {_example(each)}")


def _one_of(each: _core.Parameter, words: list[str], written: str) -> ChoiceAxis:
    if len(set(words)) < 2:
        raise UsageError(f"--param {written}: one value is no choice: give a range ({_example(each)}) or a list")
    known = values.choices(each)
    for word in words:
        fits = [scale for scale in values.scales(each) if (value := scale.read(word)) is not None
                and value in values.declared(each, scale)]  # fmt: skip
        if not fits and word not in known and not (word == "auto" and each.kind.endswith(", or auto")):
            raise UsageError(f"--param {written}: {each.name} cannot be {word!r}: it is {_takes(each)}")
    return ChoiceAxis(each.name, tuple(dict.fromkeys(words)))


def _log(scale: UnitScale, low: float, high: float) -> bool:
    return low > 0 and (any(scale.units) or high / low >= DECADES)


def _takes(each: _core.Parameter) -> str:
    return f"{each.kind}, {each.range}" if each.range else each.kind


def _example(each: _core.Parameter) -> str:
    examples = {"time": "1ms..1s", "rate": "100kbit/s..1Mbit/s", "bytes": "500B..3KB", "number": "0.01..0.1"}
    kind = values.kind_of(each)
    if words := values.choices(each):
        return ",".join(words)
    return examples.get(kind, "10p..100p" if "packets" in kind else "1..10")


def settings(axes: Sequence[Axis], base: QdiscSpec, trial: Trial) -> dict[str, str]:
    """A value for each parameter, suggested by the search. Unchanged values keep their original text."""
    suggested = {axis.name: axis.suggest(trial) for axis in axes}
    return {name: base.value(name) for name in suggested} if trial.params == numbers(axes, base) else suggested


def numbers(axes: Sequence[Axis], spec: QdiscSpec) -> dict[str, Any] | None:
    """The values of a discipline as numbers and choices of the search; None if one lies outside its range."""
    values_by_name = {axis.name: axis.number(spec.value(axis.name)) for axis in axes}
    return None if None in values_by_name.values() else values_by_name
