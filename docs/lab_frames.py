"""The lab in the site: a frame on each discipline's page, and a link below each figure of a paper.

The site has the lab's page if `make lab` has built it. Without it, pages are as they are.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from headgate import _core
from headgate.lab_page import page
from headgate.papers import catalogue

#: Place of the page in the site.
PLACE = "lab/index.html"

#: A figure of an experiment in a paper's page: the paper and the experiment.
FIGURE = re.compile(r"!\[[^]]*\]\(figures/([a-z-]+)-([a-z]+\d+)\.svg\)\n")

#: The lab shows at most so many flows (`crates/web/src/limits.rs`).
MOST_FLOWS = 500


def is_built() -> bool:
    """Whether there is a page to show."""
    return page.PAGE.exists()


def with_lab(markdown: str, source: Path) -> str:
    """A page's Markdown with its lab; `source` is its path below docs/."""
    if source.parent.name == "disciplines" and source.stem in {each.name for each in _core.disciplines()}:
        return f"{markdown.rstrip()}\n\n{_frame(source.stem)}"
    if source.parent.name == "papers":
        return FIGURE.sub(lambda figure: figure.group() + _link(f"{figure[1]}/{figure[2]}"), markdown)
    return markdown


def _frame(name: str) -> str:
    """The lab with a discipline. A browser loads it when its reader opens it."""
    start = urlencode({"left": name, "right": ""})
    return (
        "## Watch it decide\n\n"
        '<details class="lab"><summary>The queue, packet by packet</summary>'
        f'<iframe title="Headgate lab" loading="lazy" src="../{PLACE}#{escape(start)}"></iframe></details>\n'
    )


def _link(name: str) -> str:
    """A link to the network of an experiment in the lab; empty if the lab cannot show it."""
    experiment = catalogue.experiment(name)
    if experiment.scenario is None:
        return ""
    specs = list(experiment.qdiscs.values())
    scenario = experiment.scenario_of(experiment.cases[0], specs, seeds=1)
    if sum(group.flows for group in scenario.groups) > MOST_FLOWS:
        return ""
    shown = scenario.qdiscs
    pair = {"left": shown[0], "right": shown[1] if len(shown) > 1 else ""}
    start = urlencode({"scenario": "own", "toml": scenario.to_toml(), **pair})
    return f'\n<a href="../{PLACE}#{escape(start)}">Watch this network in the lab</a>\n'
