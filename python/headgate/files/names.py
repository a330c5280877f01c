"""Names of result folders, and of the files of a run in them."""

from collections.abc import Iterable
from pathlib import Path

from headgate import identity
from headgate.errors import UsageError
from headgate.scenario import RunKey, Scenario

#: Digits of an identity in the names that earlier versions gave.
EARLIER_DIGITS = 8


def folder_name(scenario: Scenario) -> str:
    """The name of the result folder of `scenario`."""
    return name_for(scenario, scenario.config_hash)


def name_for(scenario: Scenario, config_hash: str) -> str:
    """The name of a result folder of `scenario` with this identity, which an earlier version may have given it."""
    world = f"-{scenario.world}" if scenario.live else ""
    return f"{scenario.name}{world}-{identity.name_of(config_hash)}"


def folders(home: Path, scenarios: Iterable[Scenario]) -> dict[Path, Scenario]:
    """The result folder of each scenario below `home`; `UsageError` if two different scenarios would share one."""
    by_path: dict[Path, Scenario] = {}
    for scenario in scenarios:
        path = home / folder_name(scenario)
        if by_path.setdefault(path, scenario).config_hash != scenario.config_hash:
            raise UsageError(f"two of the scenarios have the folder {path}: give one of them another name")
    return by_path


def check_slugs(scenario: Scenario) -> None:
    """Raises `UsageError` if two disciplines of a scenario would have the same file names."""
    by_slug: dict[str, str] = {}
    for qdisc in scenario.qdiscs:
        if by_slug.setdefault(slug_of(qdisc), qdisc) != qdisc:
            raise UsageError(
                f"{scenario.name}: {by_slug[slug_of(qdisc)]} and {qdisc} would have the same file names "
                f"({slug_of(qdisc)}): run them in two results, one with --qdisc for each"
            )


def slug(run: RunKey) -> str:
    """A file name for `run`, different for each discipline and seed."""
    return f"{slug_of(run.qdisc)}-{run.seed}"


def slug_of(spec: str) -> str:
    """A file name for a discipline with its settings."""
    return f"{spec.partition(':')[0]}-{identity.name_of(identity.of_text(spec))}"


def earlier_slug(run: RunKey) -> str:
    """The file name for `run` in finished results of earlier versions, which are only read."""
    name, _, _ = run.qdisc.partition(":")
    return f"{name}-{identity.of_text(run.qdisc)[:EARLIER_DIGITS]}-{run.seed}"
