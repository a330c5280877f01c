"""Headgate: see which packets should enter a congested link.

>>> import headgate
>>> result = headgate.run("scenarios/protect.toml", seeds=1)
>>> result.flows.to_pandas()
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` is not imported: until `__main__` runs, Ctrl-C would print a traceback

if TYPE_CHECKING:
    from typing import Any

    from headgate._core import Controller as Controller
    from headgate._core import Discipline as Discipline
    from headgate._core import Parameter as Parameter
    from headgate._core import Preset as Preset
    from headgate._core import ScenarioError as ScenarioError
    from headgate._core import Source as Source
    from headgate._core import controllers as controllers
    from headgate._core import discipline as discipline
    from headgate._core import disciplines as disciplines
    from headgate._core import sources as sources
    from headgate.api import load as load
    from headgate.api import run as run
    from headgate.build.parts import class_ as class_
    from headgate.build.parts import link as link
    from headgate.build.parts import tcp as tcp
    from headgate.build.parts import udp as udp
    from headgate.build.settings import qdisc as qdisc
    from headgate.build.settings import traffic as traffic
    from headgate.errors import ClusterError as ClusterError
    from headgate.errors import HeadgateError as HeadgateError
    from headgate.errors import InterruptedRunError as InterruptedRunError
    from headgate.errors import ResultError as ResultError
    from headgate.errors import RunFailedError as RunFailedError
    from headgate.errors import UsageError as UsageError
    from headgate.lab_page.page import lab as lab
    from headgate.prototype.port import Port as Port
    from headgate.results import Result as Result
    from headgate.scenario import Group as Group
    from headgate.scenario import Scenario as Scenario
    from headgate.scenario.network import Dumbbell as Dumbbell
    from headgate.scenario.network import Network as Network
    from headgate.sweeps.api import sweep as sweep
    from headgate.sweeps.cluster import ClusterTls as ClusterTls
    from headgate.sweeps.result import Sweep as Sweep
    from headgate.tuning.sensitivity import Sensitivity as Sensitivity
    from headgate.tuning.sensitivity import sensitivity as sensitivity
    from headgate.tuning.tuned import TuningResult as TuningResult
    from headgate.tuning.tuned import tune as tune
    from headgate.widgets import explore as explore

    __version__: str

#: The module of each public name. It is imported when the name is first used, so `import headgate` is quick.
_LATER = {
    name: f"headgate.{module}"
    for module, names in {
        "_core": "Controller Discipline Parameter Preset ScenarioError Source "
        "controllers discipline disciplines sources",
        "errors": "ClusterError HeadgateError InterruptedRunError ResultError RunFailedError UsageError",
        "scenario": "Group Scenario",
        "scenario.network": "Dumbbell Network",
        "build.parts": "class_ link tcp udp",
        "build.settings": "qdisc traffic",
        "api": "load run",
        "lab_page.page": "lab",
        "widgets": "explore",
        "prototype.port": "Port",
        "results": "Result",
        "sweeps.api": "sweep",
        "sweeps.cluster": "ClusterTls",
        "sweeps.result": "Sweep",
        "tuning.sensitivity": "Sensitivity sensitivity",
        "tuning.tuned": "TuningResult tune",
    }.items()
    for name in names.split()
}

__all__ = ["__version__", *_LATER]

#: Public names before 0.2, with the current names. They work for one more release.
_OLD = {"Margins": "Sensitivity", "Tuned": "TuningResult"}

#: Modules that are public under their own names.
_MODULES = ("_core", "errors", "plot", "prototype", "scenario", "why")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"headgate.{name}")
    if name == "__version__":
        return import_module("headgate._core").VERSION
    if name in _OLD:
        from warnings import warn

        warn(f"headgate.{name} is headgate.{_OLD[name]} now", DeprecationWarning, stacklevel=2)
        name = _OLD[name]
    if name not in _LATER:
        raise AttributeError(f"module 'headgate' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
