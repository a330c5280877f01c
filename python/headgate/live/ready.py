"""Makes ready to run a scenario on real packets. Light to import: a process with threads may no longer become ready."""

from __future__ import annotations

from headgate import _core
from headgate.errors import RunFailedError
from headgate.scenario import Scenario


def ready(scenario: Scenario) -> Scenario:
    """The scenario to be run on real packets, in a process that may.

    Raises `UsageError` if it cannot be, `RunFailedError` with what is needed if this process may not.
    """
    scenario = scenario.on_real_packets()
    try:
        _core.prepare()
    except OSError as error:
        raise RunFailedError(str(error)) from None
    return scenario
