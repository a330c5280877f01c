"""Web pages of RFC 7928, section 7.2, and their completion times."""

import math

import numpy as np

from headgate.analysis import data
from headgate.analysis.runs import Run
from headgate.build.parts import TcpPart
from headgate.evaluate.network import tcp
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import measure

#: Connections of a page, and objects of each: 54 objects of 14 KB in all. An object is 10 packets, the initial window.
#: The number is even: the last packet of an odd number would wait for a delayed ACK.
CONNECTIONS, OBJECTS = 6, 9


def pages(v: ScenarioValues, every_s: float) -> TcpPart:
    """A group of flows that begins a page every `every_s` seconds. Its connections have an initial window of 10."""
    source = f"web:pages=1,objects={OBJECTS},size=14KB,gap=0s,persistent=on"
    return tcp(v, "web", None, traffic=source, start={"flows": CONNECTIONS, "every": f"{every_s}s"}, initial_window=10)


@measure
def page_ms(run: Run, group: str = "web") -> float:
    """The mean completion time of a page, until its last object (section 2.1), in ms; NaN without a page.

    Pages that began after the warm-up count. A page cut off by the run's end counts with its time until then.
    """
    table = data.rows(run.table("transfers"), group=group)
    flow, start, end = (data.values(table, column) for column in ("flow", "start_ns", "end_ns"))
    connections, mine = np.unique(flow, return_inverse=True)
    began, ended = np.full(len(connections), np.inf), np.zeros(len(connections))
    np.minimum.at(began, mine, start)
    # Unfinished objects and objects that were not requested have no end.
    cut = np.bincount(mine, np.isfinite(end), len(connections)) < OBJECTS
    np.maximum.at(ended, mine, np.nan_to_num(end))
    ended[cut] = run.result.scenario.duration_s * 1e9
    took = [ended[began == page].max() - page for page in np.unique(began) if page >= run.warmup_s * 1e9]
    return float(np.mean(took)) / 1e6 if took else math.nan
