"""Headgate: see which packets should enter a congested link.

>>> import headgate
>>> result = headgate.run("scenarios/protect.toml", seeds=1)
>>> result.flows.to_pandas()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headgate._core import (
    VERSION,
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
from headgate.errors import ClusterError, HeadgateError, InterruptedRunError, ResultError, RunFailedError, UsageError
from headgate.scenario import Group, Scenario

if TYPE_CHECKING:
    from headgate.api import load, run
    from headgate.results import Result
    from headgate.sweeps.api import sweep
    from headgate.sweeps.result import Sweep
    from headgate.tuning.margins import Margins, sensitivity
    from headgate.tuning.tuned import Tuned, tune

__all__ = [
    "ClusterError",
    "Controller",
    "Discipline",
    "Group",
    "HeadgateError",
    "InterruptedRunError",
    "Margins",
    "Parameter",
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
    "controllers",
    "discipline",
    "disciplines",
    "load",
    "run",
    "sensitivity",
    "sources",
    "sweep",
    "tune",
]

__version__ = VERSION

#: What needs pyarrow is imported when it is first used: `import headgate` stays quick.
_LATER = {
    "load": "headgate.api",
    "run": "headgate.api",
    "Result": "headgate.results",
    "sweep": "headgate.sweeps.api",
    "Sweep": "headgate.sweeps.result",
    "Margins": "headgate.tuning.margins",
    "sensitivity": "headgate.tuning.margins",
    "Tuned": "headgate.tuning.tuned",
    "tune": "headgate.tuning.tuned",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'headgate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
