"""The page of the lab with what it shows first, as a link's fragment. `lab/src/settings.ts` reads the fragment."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlencode

from headgate import guarded, shipped
from headgate.errors import UsageError
from headgate.scenario import Scenario
from headgate.scenario.inputs import files_in

PAGE = Path(__file__).with_name("index.html")

#: Disciplines of the page if none are given: the start of the story.
STORY = ("droptail", "faba")


def page() -> str:
    """The page; `UsageError` if it was not built."""
    if not PAGE.exists():
        raise UsageError(f"the lab is not built: {PAGE} is missing. In a checkout, `make lab` builds it")
    return guarded.read_text(PAGE, guarded.PACKAGED)


def fragment(
    scenario: str | Path = "protect", qdiscs: Iterable[str] = (), *, seed: int = 1, changes: Iterable[str] = ()
) -> str:
    """The fragment of a link to the lab.

    Raises `UsageError` for more than two disciplines, and the errors of reading the scenario.
    """
    chosen = tuple(map(str, qdiscs)) or STORY
    if len(chosen) > 2:
        raise UsageError(f"the lab shows one or two disciplines, not {len(chosen)}: {', '.join(chosen)}")
    path = shipped.located(scenario)
    # A mistake is told here, not in the page.
    data = guarded.read_bytes(path, guarded.SCENARIO)
    Scenario.parse(data, file=str(path), files=files_in(path.parent), set=list(changes), qdiscs=list(chosen))
    words = [("scenario", str(scenario))]
    if path.parent != shipped.FOLDER or str(scenario) not in shipped.names():
        words = [("scenario", "own"), ("toml", data.decode())]
    words += [("set", change) for change in changes]
    words += [("left", chosen[0]), ("right", chosen[1] if len(chosen) == 2 else "")]
    return urlencode([*words, ("seed", str(seed))])


class LabPage:
    """The lab in a notebook's cell: a frame with the whole page, which needs no server and no network."""

    def __init__(self, start: str, height: int) -> None:
        self._start = start
        self._height = height

    def _repr_html_(self) -> str:
        whole = page().replace('<html lang="en">', f'<html lang="en" data-start="{html.escape(self._start)}">', 1)
        return (
            f'<iframe title="Headgate lab" srcdoc="{html.escape(whole)}" width="100%" height="{self._height}" '
            'style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"LabPage({self._start!r})"


def lab(
    scenario: str | Path = "protect",
    qdiscs: Iterable[str] = (),
    *,
    seed: int = 1,
    set: Iterable[str] = (),
    height: int = 900,
) -> LabPage:
    """The lab in a notebook: watch the queue of a scenario decide, packet by packet.

    `scenario` is a file or the name of a shipped scenario, `qdiscs` one or two disciplines (default: DropTail beside
    FABA), `set` changes as of `headgate run --set`, `height` the frame's in pixels.

    Raises `UsageError` if the page was not built or for more than two disciplines, and the errors of reading the
    scenario.
    """
    page()
    return LabPage(fragment(scenario, qdiscs, seed=seed, changes=list(set)), height)
