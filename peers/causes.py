"""Why figures differ by more than 5 % and lie outside the peer's seeds: the page names each with its cause."""

from __future__ import annotations

#: Causes by case and figure; a case alone stands for all its figures.
CAUSES: dict[tuple[str, str], str] = {}


def cause(case: str, name: str) -> str:
    """The cause of a gap.

    Raises `KeyError` if none is written down: a new gap needs a look at both traces first.
    """
    return CAUSES[case, name]
