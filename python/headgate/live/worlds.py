"""A scenario simulated and on real packets.

Imports no module that starts threads: `prepared_for_live` must run before them.
"""

from collections.abc import Iterable
from pathlib import Path

from headgate import _core
from headgate.errors import RunFailedError, UsageError
from headgate.scenario import Scenario

SIM, LIVE = "sim", "live"


def read(text: str) -> tuple[str, str]:
    """The two worlds that `text` names, such as `sim,live`."""
    worlds = tuple(word.strip() for word in text.split(","))
    if len(worlds) != 2 or not set(worlds) <= {SIM, LIVE}:
        raise UsageError(f"--worlds {text}: expected two worlds, each {SIM} or {LIVE}, such as {SIM},{LIVE}")
    return (worlds[0], worlds[1])


def scenarios(
    file: Path, worlds: tuple[str, str], changes: Iterable[str] = (), then: Iterable[str] = ()
) -> tuple[Scenario, Scenario]:
    """The scenario of `file` with `changes` for each of two worlds; `then` changes the second as well.

    Prepares the process for real packets if one world is live. Raises the errors of `Scenario.load` and
    `prepared_for_live`.
    """
    shared = list(changes)
    one, other = (Scenario.load(file, set=each) for each in (shared, [*shared, *then]))
    return (_in(one, worlds[0]), _in(other, worlds[1]))


def _in(scenario: Scenario, world: str) -> Scenario:
    return prepared_for_live(scenario) if world == LIVE else scenario


def prepared_for_live(scenario: Scenario) -> Scenario:
    """The scenario for real packets, in a process that is prepared for them.

    Raises `UsageError` if the scenario cannot run on real packets, `RunFailedError` if the process lacks permissions.
    """
    scenario = scenario.on_real_packets()
    try:
        _core.prepare()
    except OSError as error:
        raise RunFailedError(str(error)) from None
    return scenario
