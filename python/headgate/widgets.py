"""Widgets for notebooks: change keys of a scenario, and see the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate import api
from headgate._core import ScenarioError
from headgate.errors import HeadgateError, UsageError
from headgate.extras import require
from headgate.scenario import Scenario

if TYPE_CHECKING:
    from headgate.api import AnyScenario
    from headgate.prototype.discipline import AnyQdisc


def explore(
    scenario: AnyScenario,
    keys: Mapping[str, Sequence[str]],
    *,
    set: Iterable[str] = (),
    qdiscs: Iterable[AnyQdisc] = (),
    seeds: int | Iterable[int] | None = None,
    out: str | Path | None = "results",
) -> Any:
    """A slider for each of `keys`, and the result of the scenario with the chosen values, for a notebook.

    `keys` has the values of each key, as text: `{"link.rate": ["2Mbit/s", "5Mbit/s"]}`. The first one is chosen at the
    beginning. `set`, `qdiscs` and `seeds` change the scenario as in `run`. Each combination runs when it is first
    chosen. Its runs are stored below `out`, which serves the next choice of the same values; None stores nothing.

    An error of the scenario is shown in place of the result. Raises `UsageError` without a key or a value, and if
    ipywidgets is missing.
    """
    require("ipywidgets", "widgets need ipywidgets")
    import ipywidgets

    if not keys or not all(keys.values()):
        raise UsageError('explore needs at least one key with values, such as {"link.rate": ["2Mbit/s", "5Mbit/s"]}')
    sliders = {
        key: ipywidgets.SelectionSlider(
            options=list(values), value=values[0], description=key, continuous_update=False,
            style={"description_width": "initial"},
        )
        for key, values in keys.items()
    }  # fmt: skip
    shown = ipywidgets.HTML()
    # Iterators would be used up by the first run.
    fixed = list(set), list(qdiscs), seeds if seeds is None or isinstance(seeds, int) else list(seeds)

    def show(_change: object = None) -> None:
        changes = [*fixed[0], *(f"{key}={slider.value}" for key, slider in sliders.items())]
        shown.value = "<p>running ...</p>"
        try:
            changed = Scenario.of(scenario, set=changes, qdiscs=fixed[1], seeds=fixed[2])
            shown.value = api.run(changed, out=out, report=False)._repr_html_()
        except (HeadgateError, ScenarioError) as error:
            shown.value = f"<pre>{escape(str(error))}</pre>"

    for slider in sliders.values():
        slider.observe(show, names="value")
    show()
    return ipywidgets.VBox([*sliders.values(), shown])
