"""One sentence in plain words that says what a result shows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import TYPE_CHECKING

from headgate.spread import Figure
from headgate.table import Row

if TYPE_CHECKING:
    from headgate.results import Result


def answer(result: Result, found: list[Row]) -> str:
    """What the figures `found` of a result say to someone who asks which discipline to take."""
    found = [row for row in found if row.entry["jain"]["mean"] is not None]
    if not found:
        return "Nothing was delivered after the warm-up, so there is nothing to compare."
    kinds = {group.kind for group in result.scenario.groups}
    if kinds == {"tcp", "udp"}:
        return _protection(found)
    if kinds == {"tcp"}:
        return _sharing(found)
    return _flooding(found)


def _protection(found: list[Row]) -> str:
    """Both kinds of flows: who keeps TCP's share from those that do not slow down?"""
    leaders, last = _ranked(found, _tcp_share)
    if len(found) == 1:
        return f"Under {_name(found[0])}, TCP gets {_shares(found[0])}."
    if last is None:
        return f"All of them protect TCP alike: it gets {_shares(leaders[0])}."
    best = leaders[0]
    return (
        f"{_names(leaders)} {_verb(leaders, 'protect')} TCP best: under {_name(best)} it gets {_shares(best)}; "
        f"under {_name(last)} it gets {_shares(last)}."
    )


def _sharing(found: list[Row]) -> str:
    """TCP alone: how even, how full, how long a wait?"""
    quick, slow = _ranked(found, lambda row: _negative(row.entry["bottleneck"]["queue_delay_ms"]["p95"]))
    if len(found) == 1 or slow is None:
        return f"Under {_name(quick[0])}, {_link(quick[0])}."
    return (
        f"{_names(quick)} {_verb(quick, 'keep')} the wait shortest: under {_name(quick[0])}, {_link(quick[0])}; "
        f"under {_name(slow)}, {_link(slow)}."
    )


def _flooding(found: list[Row]) -> str:
    """No flow slows down: only evenness is left to ask about."""
    even, worst = _ranked(found, lambda row: row.entry["jain"])
    if len(found) == 1 or worst is None:
        return f"Under {_name(even[0])}, Jain's index is {_jain(even[0])}."
    return (
        f"{_names(even)} {_verb(even, 'share')} the link most evenly: Jain's index is {_jain(even[0])}, "
        f"under {_name(worst)} {_jain(worst)}."
    )


def _ranked(found: list[Row], figure: Callable[[Row], Figure]) -> tuple[list[Row], Row | None]:
    """Those that share the first place, best first, and the last; no last if all share the first.

    Places are shared, down the ranking, for as long as the 95 % interval of the next mean reaches the best mean.
    """
    order = sorted(found, key=lambda row: _mean(figure(row)), reverse=True)
    best = _mean(figure(order[0]))
    leaders = list(takewhile(lambda row: _known(figure(row)["high"]) >= best, order))
    return leaders, order[-1] if len(leaders) < len(order) else None


def _tcp_share(row: Row) -> Figure:
    share: Figure = row.kinds["tcp"]["share_of_fair"]
    return share


def _negative(figure: Figure) -> Figure:
    """The figure with its sign turned, to rank small before large."""

    def turned(value: float | None) -> float | None:
        return None if value is None else -value

    return Figure(
        mean=turned(figure["mean"]),
        low=turned(figure["high"]),
        high=turned(figure["low"]),
        per_seed=[turned(value) for value in figure["per_seed"]],
    )


def _shares(row: Row) -> str:
    tcp, udp = _mean(_tcp_share(row)), _mean(row.kinds["udp"]["share_of_fair"])
    lone = row.kinds["udp"]["flows"] == 1
    others = "the flow that does not slow down" if lone else "flows that do not slow down"
    own = "gets {:.3g} times its own" if lone else "get {:.3g} times theirs"
    return f"{tcp * 100:.0f} % of its fair share and {others} {own.format(udp)}"


def _link(row: Row) -> str:
    bottleneck, jain = row.entry["bottleneck"], _mean(row.entry["jain"])
    wait, use = _mean(bottleneck["queue_delay_ms"]["p95"]), _mean(bottleneck["utilisation"])
    return (
        f"95 % of packets wait at most {wait:.3g} ms, the link is used to {use * 100:.1f} %, Jain's index is {jain:.2f}"
    )


def _jain(row: Row) -> str:
    return f"{_mean(row.entry['jain']):.3f}"


def _names(leaders: list[Row]) -> str:
    """`faba`, `faba and sfb`, `faba, sfb and fred`; what is beyond three is counted."""
    names = [_name(row) for row in leaders]
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(leaders: list[Row], verb: str) -> str:
    return f"{verb}s" if len(leaders) == 1 else verb


def _name(row: Row) -> str:
    return str(row.entry["qdisc"])


def _mean(figure: Figure) -> float:
    return _known(figure["mean"])


def _known(value: float | None) -> float:
    """The value; minus infinity where nothing was measured, which ranks last."""
    return float("-inf") if value is None else value
