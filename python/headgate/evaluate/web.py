"""Web pages as RFC 7928, section 7.2, has them, and how long they take."""

import math

import numpy as np

from headgate.analysis import data
from headgate.analysis.runs import Run
from headgate.build.parts import TcpPart
from headgate.evaluate.network import tcp
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import measure

#: Connections of a page, and the objects that each of them loads: 54 of 14 KB, which is 10 packets at once, as many as
#: the initial window, and an even number: the last of an odd one would wait for its delayed ACK.
CONNECTIONS, OBJECTS = 6, 9


def pages(v: ScenarioValues, every_s: float) -> TcpPart:
    """A group of flows that begins a page so often; its connections have an initial window of 10."""
    source = f"web:pages=1,objects={OBJECTS},size=14KB,gap=0s,persistent=on"
    return tcp(v, "web", None, traffic=source, start={"flows": CONNECTIONS, "every": f"{every_s}s"}, initial_window=10)


@measure
def page_ms(run: Run, group: str = "web") -> float:
    """The mean time that a page took until its last object was there (section 2.1), in ms; NaN without a page.

    Of those that began after the warm-up. One that the run's end cut off counts with the time it had had by then.
    """
    table = data.rows(run.table("transfers"), group=group)
    flow, start, end = (data.values(table, column) for column in ("flow", "start_ns", "end_ns"))
    connections, mine = np.unique(flow, return_inverse=True)
    began, ended = np.full(len(connections), np.inf), np.zeros(len(connections))
    np.minimum.at(began, mine, start)
    # What has not ended has no time; neither has an object that was not asked for yet.
    cut = np.bincount(mine, np.isfinite(end), len(connections)) < OBJECTS
    np.maximum.at(ended, mine, np.nan_to_num(end))
    ended[cut] = run.result.scenario.duration_s * 1e9
    took = [ended[began == page].max() - page for page in np.unique(began) if page >= run.warmup_s * 1e9]
    return float(np.mean(took)) / 1e6 if took else math.nan
