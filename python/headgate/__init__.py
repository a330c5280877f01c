"""Headgate: see which packets should enter a congested link.

>>> import headgate
>>> result = headgate.run("scenarios/protect.toml", seeds=1)
>>> result.flows.to_pandas()
"""

from __future__ import annotations

TYPE_CHECKING = False  # spares an import: Ctrl-C is not ours before `__main__` begins, and this comes before it

if TYPE_CHECKING:
    from typing import Any

    from headgate._core import (
        Controller,
        Discipline,
        Parameter,
        Preset,
        ScenarioError,
        Source,
        controllers,
        discipline,
        disciplines,
        sources,
    )
    from headgate.api import load, run
    from headgate.build.parts import class_, link, tcp, udp
    from headgate.build.settings import qdisc, traffic
    from headgate.errors import (
        ClusterError,
        HeadgateError,
        InterruptedRunError,
        ResultError,
        RunFailedError,
        UsageError,
    )
    from headgate.prototype.port import Port
    from headgate.results import Result
    from headgate.scenario import Group, Scenario
    from headgate.scenario.network import Dumbbell, Network
    from headgate.sweeps.api import sweep
    from headgate.sweeps.result import Sweep
    from headgate.tuning.margins import Margins, sensitivity
    from headgate.tuning.tuned import Tuned, tune

    __version__: str

__all__ = [
    "ClusterError",
    "Controller",
    "Discipline",
    "Dumbbell",
    "Group",
    "HeadgateError",
    "InterruptedRunError",
    "Margins",
    "Network",
    "Parameter",
    "Port",
    "Preset",
    "Result",
    "ResultError",
    "RunFailedError",
    "Scenario",
    "ScenarioError",
    "Source",
    "Sweep",
    "Tuned",
    "UsageError",
    "__version__",
    "class_",
    "controllers",
    "discipline",
    "disciplines",
    "link",
    "load",
    "qdisc",
    "run",
    "sensitivity",
    "sources",
    "sweep",
    "tcp",
    "traffic",
    "tune",
    "udp",
]

#: Where names are defined, which is imported when one is first used: `import headgate` is quick.
_LATER = {
    **dict.fromkeys(["Controller", "Discipline", "Parameter", "Preset", "ScenarioError", "Source"], "headgate._core"),
    **dict.fromkeys(["controllers", "discipline", "disciplines", "sources"], "headgate._core"),
    **dict.fromkeys(["ClusterError", "HeadgateError", "InterruptedRunError"], "headgate.errors"),
    **dict.fromkeys(["ResultError", "RunFailedError", "UsageError"], "headgate.errors"),
    **dict.fromkeys(["Group", "Scenario"], "headgate.scenario"),
    **dict.fromkeys(["Dumbbell", "Network"], "headgate.scenario.network"),
    **dict.fromkeys(["class_", "link", "tcp", "udp"], "headgate.build.parts"),
    **dict.fromkeys(["qdisc", "traffic"], "headgate.build.settings"),
    **dict.fromkeys(["load", "run"], "headgate.api"),
    "Port": "headgate.prototype.port",
    "Result": "headgate.results",
    "sweep": "headgate.sweeps.api",
    "Sweep": "headgate.sweeps.result",
    **dict.fromkeys(["Margins", "sensitivity"], "headgate.tuning.margins"),
    **dict.fromkeys(["Tuned", "tune"], "headgate.tuning.tuned"),
}


#: Parts that are modules of their own.
_MODULES = ("_core", "errors", "plot", "prototype", "scenario", "why")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"headgate.{name}")
    if name == "__version__":
        return import_module("headgate._core").VERSION
    if name not in _LATER:
        raise AttributeError(f"module 'headgate' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
