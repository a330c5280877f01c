"""docs/papers.py writes the rows of experiments that were run, and keeps all other rows of a page."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from headgate.experiment.running import RunOptions
from headgate.papers import catalogue

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a script of docs/ by name."""
    monkeypatch.syspath_prepend(str(DOCS))
    return lambda name: runpy.run_path(str(DOCS / f"{name}.py"))


def experiment(name: str, verdict: str = "holds", finding: str = "") -> dict[str, Any]:
    """The document of an experiment with one claim and one published number."""
    claim = {
        "text": f"The claim of {name}",
        "place": "section 2",
        "verdict": verdict,
        "basis": "ours",
        "disciplines": ["RED"],
        "numbers": "1 < 2",
    }
    number = {"place": "table I", "measure": "drop_rate", "unit": "%", "label": "RED", "case": {"flows": 9}}
    ours = {"published": 4.0, "relative": 0.25, "mean": 5.0, "half": 0.5, "per_seed": [4.5, 5.5]}
    values = {"RED": {"mean": 0.5, "half": 0.0}, "codel": {"mean": 0.75, "half": 0.25}}
    return {
        "experiment": name,
        "claims": [{**claim, "finding": finding}],
        "published": [{**number, **ours}],
        "headline": {"what": "Jain's index", "values": values},
    }


def test_papers_lists_claims_published_numbers_and_findings(script: Any):
    papers = script("papers")
    holds, first, second = (
        experiment("faba/fig4"),
        experiment("faba/fig5", "differs", "The buffer is smaller."),
        experiment("faba/fig6", "inconclusive", "The buffer is smaller."),
    )
    assert papers["claims"]([holds, first]).splitlines()[2:] == [
        "| fig4 | The claim of faba/fig4 (section 2) | RED | ours | holds | 1 < 2 |",
        "| fig5 | The claim of faba/fig5 (section 2) | RED | ours | **differs** | 1 < 2 ([why](#why-1)) |",
    ]
    assert papers["published"]([holds]).splitlines()[2:] == [
        "| fig4 | RED flows=9 | drop rate, % | 4 | 5.00 ± 0.50 | +25.0 % |"
    ]
    assert papers["findings"]([holds, first, second]) == (
        '- <a id="why-1"></a>**fig5, fig6**, *The claim of faba/fig5* and 1 more: The buffer is smaller.\n'
    )


def test_papers_fills_the_page_of_a_paper_and_copies_its_figures(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    papers = script("papers")
    here, out = tmp_path / "docs", tmp_path / "out"
    (here / "figures").mkdir(parents=True)
    (out / "faba" / "fig4").mkdir(parents=True)
    (out / "faba" / "fig4" / "figure.svg").write_text("<svg/>")
    markers = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("score", "claims", "published", "findings"))
    (here / "faba.md").write_text(f"{markers}![Figure 4](figures/faba-fig4.svg)\n")
    papers["write"].__globals__["HERE"] = here
    names = ["faba/fig4"]
    monkeypatch.setattr(catalogue, "names", lambda _=None: names)
    papers["write"]("faba", {"faba/fig4": experiment("faba/fig4")}, out)
    text = (here / "faba.md").read_text()
    score = "1 claim; with a bound of ours: 1 holds, 0 differ, 0 inconclusive (100 % hold)."
    assert f"<!-- score -->\n{score}\n<!-- /score -->" in text
    assert "| fig4 | The claim of faba/fig4 (section 2) | RED | ours | holds | 1 < 2 |" in text
    assert (here / "figures" / "faba-fig4.svg").read_text() == "<svg/>"
    names.append("faba/fig5")
    with pytest.raises(SystemExit, match="faba/fig5 has not been run in"):
        papers["document_of"]("faba/fig5", out, RunOptions())
    with pytest.raises(SystemExit, match="no rows of faba/fig5, which was not run: `headgate paper run faba/fig5`"):
        papers["write"]("faba", {}, out)


def test_papers_keeps_the_rows_of_experiments_that_were_not_run_again(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    papers = script("papers")
    markers = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("score", "claims", "published", "findings"))
    (tmp_path / "faba.md").write_text(markers)
    papers["write"].__globals__["HERE"] = tmp_path
    monkeypatch.setattr(catalogue, "names", lambda _: ["faba/fig4", "faba/fig5"])
    first, second = (
        experiment("faba/fig4", "differs", "A cause | of it."),
        experiment("faba/fig5", "differs", "Another."),
    )
    second["claims"][0]["place"] = "section 2, figure 5(a)"
    papers["write"]("faba", {"faba/fig4": first, "faba/fig5": second}, tmp_path)
    whole = (tmp_path / "faba.md").read_text()
    papers["write"]("faba", {"faba/fig5": experiment("faba/fig5")}, tmp_path)
    text = (tmp_path / "faba.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| fig4 |")]
    assert rows == [line for line in whole.splitlines() if line.startswith("| fig4 |")]
    assert len(rows) == 2
    assert '<a id="why-1"></a>**fig4**, *The claim of faba/fig4*: A cause | of it.' in text
    assert "| fig5 | The claim of faba/fig5 (section 2) | RED | ours | holds | 1 < 2 |" in text
    assert "Another." not in text
    assert "2 claims; with a bound of ours: 1 holds, 1 differs" in text


def test_the_tables_of_every_paper_are_read_and_written_without_a_change(script: Any):
    papers, read, between = script("papers"), script("paper_pages")["documents"], script("pages")["between"]
    for paper in catalogue.PAPERS:
        text = (DOCS / "papers" / f"{paper}.md").read_text()
        documents = [read(text, paper)[name] for name in catalogue.names(paper)]
        for marker in ("claims", "published", "findings"):
            assert papers[marker](documents) == between(text, marker), f"{paper}: {marker}"


def test_papers_shows_further_disciplines_beside_those_of_the_papers(script: Any):
    papers = script("papers")
    options, text = RunOptions(further=("codel",)), "<!-- today -->\n<!-- /today -->\n"
    text = papers["today"](text, [experiment("faba/fig10"), experiment("faba/fig12")], options)
    head = ["| experiment | number | the paper's | codel |", "| --- | --- | --- | --- |"]
    rows = [f"| faba/{name} | Jain's index | RED 0.500 | 0.750 ± 0.25 |" for name in ("fig10", "fig12")]
    assert text.splitlines()[1:-1] == head + rows
    changed = experiment("faba/fig10")
    changed["headline"]["values"]["codel"]["mean"] = 0.5
    text = papers["today"](text, [changed], options)
    assert text.splitlines()[1:-1] == [*head, rows[0].replace("0.750", "0.500"), rows[1]]
    other = papers["today"](text, [changed], RunOptions(further=()))
    assert "fig12" not in other, "rows with other columns are not kept"
