"""Every experiment is complete: valid scenarios, effective open parameters, and published numbers with a source."""

from pathlib import Path
from string import Template

import pytest

from headgate.experiment import findings
from headgate.experiment.catalogue import files
from headgate.experiment.declare import Experiment, ScenarioValues
from headgate.papers import catalogue

ALL = catalogue.names()


@pytest.mark.parametrize("paper", catalogue.PAPERS)
def test_every_paper_has_a_citation_and_a_description(paper: str):
    about = catalogue.paper(paper)
    assert len(about.citation) > 20
    assert len(about.about) > 20


@pytest.mark.parametrize("name", ALL)
def test_every_case_is_a_valid_scenario(name: str):
    experiment = catalogue.experiment(name)
    assert (experiment.scenario is None) != (experiment.compute is None)
    if experiment.scenario is not None:
        for quick in (False, True):
            for case in experiment.cases_of(quick):
                scenario = experiment.scenario_of(case, experiment.qdiscs.values(), quick=quick)
                assert len(scenario.qdiscs) == len(experiment.qdiscs)


class RecordingValues(ScenarioValues):
    """Values that record which of them a scenario reads."""

    def __init__(self, values: ScenarioValues) -> None:
        super().__init__(values._named, values.qdiscs)
        self.taken: set[str] = set()

    def __getattr__(self, name: str):
        self.taken.add(name)
        return super().__getattr__(name)


@pytest.mark.parametrize("name", ALL)
def test_open_parameters_change_the_scenario(name: str):
    experiment = catalogue.experiment(name)
    named = set(Template("\n".join(experiment.qdiscs.values())).get_identifiers())
    if experiment.scenario is not None:
        values = RecordingValues(experiment.values_of(experiment.cases[0], experiment.qdiscs.values()))
        experiment.scenario(values)
        named |= values.taken
    for choice in experiment.choices:
        assert choice.reason
        if choice.values:
            assert choice.name in named
    for case in experiment.cases:
        assert experiment.compute is not None or set(case) <= named


@pytest.mark.parametrize("paper", catalogue.PAPERS)
def test_every_finding_of_a_paper_belongs_to_a_claim(paper: str):
    written = findings.read(f"headgate.papers.{paper.replace('-', '_')}")
    used = {claim.finding for name in catalogue.names(paper) for claim in catalogue.experiment(name).claims}
    assert set(written.values()) == used - {""}


@pytest.mark.parametrize("name", ALL)
def test_published_numbers_have_a_measure_a_label_and_a_case(name: str):
    experiment = catalogue.experiment(name)
    for published in experiment.published:
        assert experiment.compute is not None or published.measure in experiment.measures
        for label, numbers in published.rows.items():
            assert label in experiment.qdiscs
            assert len(numbers) == (len(published.at) if published.axis is not None else 1)
        for value in published.at:
            wanted = {**published.case, **({published.axis: value} if published.axis else {})}
            assert any(wanted.items() <= dict(case).items() for case in experiment.cases)


@pytest.mark.parametrize("name", ALL)
def test_a_headline_is_a_measure_in_one_case(name: str):
    experiment = catalogue.experiment(name)
    if (headline := experiment.headline) is not None:
        assert headline.measure in experiment.measures
        assert sum(dict(headline.case).items() <= dict(case).items() for case in experiment.cases) == 1


@pytest.mark.parametrize("name", ALL)
def test_a_full_run_has_several_seeds_and_contains_the_shortened_run(name: str):
    experiment: Experiment = catalogue.experiment(name)
    assert experiment.seeds >= 5 or experiment.compute is not None
    assert all(case in experiment.cases for case in experiment.cases_of(quick=True))
    assert experiment.claims
    assert all(experiment.place_of(claim) for claim in experiment.claims)
    assert len({claim.text for claim in experiment.claims}) == len(experiment.claims)


def test_a_file_is_an_experiment_and_nothing_else_lists_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "of_a_paper"
    package.mkdir()
    for name in ("__init__", "_network", "fig2", "fig10", "table1"):
        (package / f"{name}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert files("of_a_paper") == ("fig2", "fig10", "table1")
