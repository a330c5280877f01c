"""The disciplines of `--with`."""

from __future__ import annotations

from collections.abc import Iterable

from headgate._core import Discipline
from headgate.errors import UsageError, meant


def checked(written: str, known: Iterable[Discipline]) -> tuple[str, ...]:
    """The disciplines in `codel,fq_codel,pie`, or with settings and `;`: `codel:target=1ms;fq_codel:flows=64`."""
    separator = ";" if ";" in written or ":" in written else ","
    specs = [spec.strip() for spec in written.split(separator) if spec.strip()]
    names = [each.name for each in known]
    for spec in specs:
        name = spec.partition(":")[0]
        if name not in names:
            raise UsageError(f"--with names no discipline {name!r}{meant(name, names)} `headgate list` names them all")
    if not specs:
        raise UsageError("--with names no discipline; it takes a list such as codel,fq_codel,pie")
    return tuple(dict.fromkeys(specs))
