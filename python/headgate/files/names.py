"""Names of result folders, and of the files of a run in them."""

from headgate import identity
from headgate.scenario import RunKey, Scenario


def folder_name(scenario: Scenario) -> str:
    """The name of the result folder of `scenario`."""
    return name_for(scenario, scenario.config_hash)


def name_for(scenario: Scenario, config_hash: str) -> str:
    """The name of a result folder of `scenario` with this identity, which an earlier version may have given it."""
    world = f"-{scenario.world}" if scenario.live else ""
    return f"{scenario.name}{world}-{identity.name_of(config_hash)}"


def slug(run: RunKey) -> str:
    """A file name for `run`, different for each discipline and seed."""
    return f"{slug_of(run.qdisc)}-{run.seed}"


def slug_of(spec: str) -> str:
    """A file name for a discipline with its settings."""
    return f"{spec.partition(':')[0]}-{identity.name_of(identity.of_text(spec))}"


def capture_name(run: RunKey, link: str) -> str:
    """The file name of the capture of a link in `run`."""
    return f"{slug(run)}-{link}.pcapng"
