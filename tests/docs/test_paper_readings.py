"""The section on readings of the papers' pages, on made-up verdicts."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from headgate.counting import counted
from headgate.experiment import readings
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue
from tests.papers.conftest import readings_document

DOCS = Path(__file__).parents[2] / "docs"
#: The marker with the text of an earlier run.
OLD = "<!-- readings -->\nold\n<!-- /readings -->\n"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a script of docs/ by name."""
    monkeypatch.syspath_prepend(str(DOCS))
    return lambda name: runpy.run_path(str(DOCS / f"{name}.py"))


def stored(name: str, out: Path, options: RunOptions) -> None:
    """Stores verdicts on an experiment's claims: all hold with our values, and differ under every reading."""
    experiment = catalogue.experiment(name)
    document = readings._declared(name, experiment, options)
    words = {reading: "differs" if number else "holds" for number, reading in enumerate(readings.named(document))}
    for reading, word in words.items():
        document["verdicts"][reading] = [{"verdict": word, "numbers": "1 < 2"}] * len(experiment.claims)
    folder = out / f"{name}-quick-seeds{readings.SEEDS}"
    folder.mkdir(parents=True)
    (folder / readings.DOCUMENT).write_text(json.dumps({**document, "seeds": readings.SEEDS}))


def test_readings_are_counted_and_claims_that_change_are_linked(script: Any):
    first = readings_document("faba/fig4", ours="hd", others={"delay": {"2ms": "hh", "9ms": "hd"}})
    second = readings_document("faba/fig5", ours="i", others={"delay": {"2ms": "h", "9ms": "d"}})
    lines = script("paper_readings")["text"]([first, second], ["faba/fig6"]).splitlines()
    assert lines[0] == (
        "The verdict changes under a reading for 2 of 3 claims (4 readings of 2 experiments). "
        "The verdicts are of shortened runs, 5 seeds. "
        "A shortened run can have other verdicts than the whole runs above."
    )
    assert lines[4:7] == [
        "| **`delay = ours`** (ours): reason of delay | fig4, fig5 | 1 | 1 | 1 |  |",
        "| `delay = 2ms` | fig4, fig5 | 3 | 0 | 0 | [1](#reading-1), [2](#reading-2) |",
        "| `delay = 9ms` | fig4, fig5 | 1 | 2 | 0 | [2](#reading-2) |",
    ]
    assert lines[-3] == (
        '| <a id="reading-2"></a>2 | fig5 | Claim 1 of faba/fig5 (section 2) | RED, FABA | paper | inconclusive '
        "| `delay = 2ms`: **holds**, delay = 2ms: 1 < 2<br>`delay = 9ms`: **differs**, delay = 9ms: 1 < 2 |"
    )
    assert lines[-1] == "Readings that have not been run: `headgate paper readings faba/fig6 --quick --seeds 5`."


def test_the_table_has_the_columns_by_which_the_site_filters(script: Any):
    document = readings_document("faba/fig4", ours="h", others={"delay": {"2ms": "d"}})
    heads = [line for line in script("paper_readings")["text"]([document], []).splitlines() if "disciplines" in line]
    filters = (DOCS.parent / "python/headgate/papers/filter.js").read_text()
    (listed,) = [line for line in filters.splitlines() if line.startswith("const FILTERED")]
    assert set(json.loads(listed.partition("= ")[2].rstrip(";"))) <= {word.strip() for word in heads[0].split("|")}


def test_claims_that_no_reading_changes_have_no_table_and_forms_name_their_experiments(script: Any):
    same = readings_document("faba/fig4", ours="h", others={"delay": {"2ms": "h"}})
    whole = {**readings_document("faba/fig5", ours="h", others={"delay": {"2ms": "h"}}), "quick": False}
    text = script("paper_readings")["text"]([same, whole], [])
    assert "The verdicts are of shortened runs, 5 seeds (fig4); whole runs, 5 seeds (fig5)." in text
    assert "| `delay = 2ms` | fig4, fig5 | 2 | 0 | 0 | none |" in text
    assert "The claims whose verdict changes" not in text
    assert "can have other verdicts" not in script("paper_readings")["text"]([whole], [])


def test_papers_fills_the_marker_of_readings_alone_and_keeps_pages_without_them(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    papers = script("papers")
    for paper in catalogue.PAPERS:
        (tmp_path / f"{paper}.md").write_text(f"before\n{OLD}")
    stored("comparison/fig9", tmp_path, RunOptions(quick=True, seeds=readings.SEEDS))
    papers["main"].__globals__["HERE"] = tmp_path
    monkeypatch.setattr(sys, "argv", ["papers.py", str(tmp_path), "--readings"])
    papers["main"]()
    claims = len(catalogue.experiment("comparison/fig9").claims)
    text = (tmp_path / "comparison.md").read_text()
    sentence = f"The verdict changes under a reading for {claims} of {counted(claims, 'claim')} ("
    assert text.startswith(f"before\n<!-- readings -->\n{sentence}")
    assert "comparison/fig4" in text.splitlines()[-2]
    assert "comparison/fig9" not in text.splitlines()[-2]
    assert (tmp_path / "faba.md").read_text() == f"before\n{OLD}"
    assert "has no readings of faba: its page keeps the old ones" in capsys.readouterr().err


@pytest.mark.parametrize("paper", catalogue.PAPERS)
def test_a_page_has_a_section_on_readings_and_names_the_command_if_there_are_none(paper: str):
    text = (DOCS / "papers" / f"{paper}.md").read_text()
    _, _, section = text.partition("## Under other readings\n")
    content = section.partition("<!-- readings -->\n")[2].partition("<!-- /readings -->")[0]
    assert content.startswith("The verdict changes under a reading for") or "headgate paper readings" in content
