"""The disciplines of `--with`."""

from __future__ import annotations

from headgate import _core
from headgate.errors import UsageError, meant


def specs(written: str | None) -> tuple[str, ...]:
    """The disciplines in `codel,fq_codel,pie`, or with settings and `;`: `codel:target=1ms;fq_codel:flows=64`."""
    if not written:
        return ()
    separator = ";" if ";" in written or ":" in written else ","
    found = [spec.strip() for spec in written.split(separator) if spec.strip()]
    names = [each.name for each in _core.disciplines()]
    for spec in found:
        name = spec.partition(":")[0]
        if name not in names:
            raise UsageError(f"--with names no discipline {name!r}{meant(name, names)} `headgate list` names them all")
    if not found:
        raise UsageError("--with names no discipline; it takes a list such as codel,fq_codel,pie")
    return tuple(dict.fromkeys(found))
