"""Values of keywords as TOML."""

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from headgate.build.keys import FOREIGN_NAMES, OLD_NAMES
from headgate.build.named import NamedChoice
from headgate.errors import UsageError, did_you_mean

#: Units that have whole numbers only.
WHOLE = {"B": "bytes", "p": "packets"}


def amount(name: str, number: float, unit: str) -> str:
    """A number with its unit, without an exponent: 1e-05 seconds are `0.00001s`."""
    if not math.isfinite(number):
        raise UsageError(f"{name}={number!r}: expected a finite number")
    if unit in WHOLE and number != int(number):
        raise UsageError(f"{name}={number!r}: expected a whole number of {WHOLE[unit]}")
    return f"{Decimal(repr(number)).normalize():f}{unit}"


def section(place: str, given: Mapping[str, Any], keys: type) -> dict[str, Any]:
    """The keywords of one section as keys of a file, without those that are None.

    `keys` is a `TypedDict` of the known keywords. Raises `UsageError` for an unknown one, with the nearest.
    """
    hints = get_type_hints(keys, include_extras=True)
    values = {}
    for name, value in current_names(place, given, OLD_NAMES.get(keys.__name__, {})).items():
        if name not in hints:
            ours = FOREIGN_NAMES.get(name)
            near = f"; did you mean {ours!r}?" if ours in hints else did_you_mean(name, hints)
            raise UsageError(f"{place} has no keyword {name!r}{near} It has: {', '.join(hints)}")
        if value is not None:
            values[name.removesuffix("_")] = _value(f"{place}: {name}", value, hints[name])
    return values


def current_names(place: str, given: Mapping[str, Any], old_names: Mapping[str, str]) -> dict[str, Any]:
    """`given` with current names. An old name gives a `FutureWarning`; both names at once a `UsageError`."""
    current = dict(given)
    for old, name in old_names.items():
        if old in current:
            message = f"{place}: {old!r} is called {name!r} now"
            if name in current:
                raise UsageError(f"{message}, which is given too")
            warnings.warn(f"{message}: the old name works until the next release", FutureWarning, stacklevel=5)
            current[name] = current.pop(old)
    return current


def toml(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(str(key))} = {toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, str):
        # TOML's basic strings are JSON's, but for DEL and lone surrogates.
        return json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, float) and not isinstance(value, int):
        return repr(value)
    if isinstance(value, (bool, int)):
        return json.dumps(value)
    raise UsageError(f"{value!r} cannot be a value of a scenario: expected a text, a number, a list or a mapping")


def _value(place: str, value: Any, hint: Any) -> Any:
    """A keyword's value as a file has it. A bare number gets the unit of its quantity; a pair is a range."""
    unit = next(iter(getattr(hint, "__metadata__", ())), None)
    if is_typeddict(hint) and isinstance(value, Mapping):
        return section(place, value, hint)
    if get_origin(hint) is Sequence and is_typeddict(get_args(hint)[0]) and isinstance(value, Sequence):
        return [_value(f"{place}[{index}]", each, get_args(hint)[0]) for index, each in enumerate(value)]
    if unit is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
        return amount(place, value, unit)
    if unit is not None and isinstance(value, tuple):
        return "..".join(str(_value(place, end, hint)) for end in value)
    if isinstance(value, (str, bool, int, float, Mapping)):
        return value
    return list(value) if isinstance(value, Sequence) else _text(place, value)


def _text(place: str, value: Any) -> str:
    """A discipline or source as text; `UsageError` for any other object."""
    if isinstance(value, NamedChoice):
        return str(value)
    raise UsageError(f"{place}: expected a text, a number, a list or a mapping, found {value!r}")
