"""The units among which links are to be divided fairly: flows, hosts, groups or classes (crates/scenario, fair.rs)."""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headgate.scenario import Scenario


class FairUnit:
    """One kind of unit in a scenario: which flows share a unit, and the fair share of each flow by it."""

    def __init__(self, scenario: Scenario, name: str) -> None:
        self._core = scenario.core
        self._known: dict[bytes, npt.NDArray[np.float64]] = {}
        self.name = name
        """`flow`, `host`, `group` or `class`."""

    @cached_property
    def of_flows(self) -> npt.NDArray[np.int64]:
        """The number of each flow's unit."""
        import numpy as np

        return np.asarray(self._core.fair_units(self.name), dtype=np.int64)

    def shares(self, since: npt.NDArray[np.float64], until: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The fair shares by unit in bit/s, averaged over the window; NaN for a flow that is not active in it.

        `since` and `until` are the columns `active_from_ns` and `active_until_ns`: a row for each seed, a column for
        each flow, NaN without a time.
        """
        import numpy as np

        return np.array([self._of_active(np.stack(times, axis=1)) for times in zip(since, until, strict=True)])

    def _of_active(self, times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        import numpy as np

        key = times.tobytes()
        if key not in self._known:
            active = [[None if math.isnan(at) else int(at) for at in each] for each in times.tolist()]
            self._known[key] = np.array(self._core.unit_shares(self.name, active), dtype=np.float64)
        return self._known[key]


def plural(unit: str) -> str:
    """`flows`, `hosts`, `groups`, `classes`."""
    return f"{unit}es" if unit.endswith("s") else f"{unit}s"


def shown(scenario: Scenario) -> list[FairUnit]:
    """The units by which fairness is shown: `Scenario.fair_units`. The tables of a result are by the first."""
    if scenario.core.fair is not None:
        return [FairUnit(scenario, scenario.core.fair)]
    flows_of_hosts = Counter(scenario.core.fair_units("host")).values()
    differ = len(set(flows_of_hosts)) > 1
    return [FairUnit(scenario, unit) for unit in (("flow", "host") if differ else ("flow",))]
