"""A scenario in several worlds: simulated, on real packets, and in the kernel's own queues.

Imports no module that starts threads: the process is prepared for real packets before them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from headgate import _core, guarded, shipped
from headgate.errors import RunFailedError, UsageError
from headgate.qdiscs.kernel import counterpart
from headgate.scenario import RunWorld, Scenario
from headgate.scenario.inputs import files_in


class PreparedScenarios(NamedTuple):
    """A scenario in two worlds, and why disciplines are left out, a sentence each."""

    scenarios: tuple[Scenario, Scenario]
    left_out: list[str]


def read(text: str) -> tuple[RunWorld, RunWorld]:
    """The two worlds that `text` names, such as `sim,live`."""
    words = [word.strip() for word in text.split(",")]
    if len(words) != 2 or not set(words) <= set(RunWorld):
        raise UsageError(f"--worlds {text}: expected two worlds, each sim, live or kernel, such as sim,live")
    return (RunWorld(words[0]), RunWorld(words[1]))


def scenarios(
    file: Path, worlds: tuple[RunWorld, RunWorld], changes: Iterable[str] = (), then: Iterable[str] = ()
) -> PreparedScenarios:
    """The scenario of `file` with `changes` for each of two worlds; `then` changes the second as well.

    Prepares the process for real packets if a world needs it. Disciplines that the kernel cannot run are left out of
    both scenarios if one world is the kernel. Raises the errors of `Scenario.load` and `prepared`.
    """
    shared = list(changes)
    found = shipped.located(file)
    data = guarded.read_bytes(found, guarded.SCENARIO)  # once: it may be a pipe
    one, other = (
        Scenario.parse(data, file=str(file), files=files_in(found.parent), set=changed)
        for changed in (shared, [*shared, *then])
    )
    both = (one, other)
    in_kernel = [scenario for scenario, world in zip(both, worlds, strict=True) if world == RunWorld.KERNEL]
    refused: dict[str, str] = {}
    for scenario in in_kernel:
        refused |= refusals(scenario)
    if refused:
        both = (_without(both[0], refused), _without(both[1], refused))
    one, other = (prepared(scenario, world) for scenario, world in zip(both, worlds, strict=True))
    return PreparedScenarios((one, other), list(refused.values()))


def prepared(scenario: Scenario, world: RunWorld) -> Scenario:
    """The scenario for `world`, in a process that is prepared for it.

    Raises `UsageError` if the scenario cannot run there, `RunFailedError` if the process lacks permissions.
    """
    if world == RunWorld.SIM:
        return scenario
    scenario = scenario.in_kernel() if world == RunWorld.KERNEL else scenario.on_real_packets()
    _prepare()
    return scenario


def prepared_for_live(scenario: Scenario) -> Scenario:
    """The scenario for real packets: `prepared` for the live world."""
    return prepared(scenario, RunWorld.LIVE)


def refusals(scenario: Scenario) -> dict[str, str]:
    """The disciplines of `scenario` that this machine's kernel cannot run, each with a sentence.

    Raises `UsageError` if Linux has a counterpart of none, `RunFailedError` if this kernel or its tc has none of those.
    """
    scenario = scenario.in_kernel()
    refused, commands = {}, {}
    for qdisc in scenario.qdiscs:
        try:
            commands[qdisc] = counterpart(qdisc, scenario)
        except UsageError as error:
            refused[qdisc] = str(error)
    if not commands:
        raise UsageError("\n".join(refused.values()))
    _prepare()
    for qdisc, command in commands.items():
        try:
            missing = _core.check_kernel_qdisc(list(command.words))
        except _core.LiveError as error:
            raise RunFailedError(f"{qdisc}: {error}") from None
        if missing is not None:
            refused[qdisc] = f"{qdisc}: {missing}"
    if len(refused) == len(scenario.qdiscs):
        raise RunFailedError("\n".join(refused.values()))
    return refused


def _prepare() -> None:
    try:
        _core.prepare()
    except _core.LiveError as error:
        raise RunFailedError(str(error)) from None


def _without(scenario: Scenario, refused: Iterable[str]) -> Scenario:
    """The scenario without some of its disciplines."""
    return scenario.changed(qdiscs=[qdisc for qdisc in scenario.qdiscs if qdisc not in set(refused)])
