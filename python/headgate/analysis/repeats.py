"""Seeds that gave the same run. Without randomness in a scenario all of them do: together they are one observation."""

import numpy as np

from headgate.analysis.columns import ColumnArrays
from headgate.analysis.data import qdiscs
from headgate.analysis.significance import LEAST_SEEDS
from headgate.files.result_tables import ResultTables

#: What a scenario needs for runs that differ between seeds.
RANDOMIZE = 'start flows at random times (start = "0s..1s"), or give TCP send_jitter and UDP jitter'


def repeats(result: ResultTables) -> dict[str, list[int]]:
    """For each discipline and seed, the place of the first seed whose row of every flow and link is the same."""
    known: dict[str, list[int]] = vars(result).setdefault("_repeats", {})
    for qdisc in qdiscs(result):
        if qdisc not in known:
            known[qdisc] = _of_qdisc(result, qdisc)
    return known


def distinct(result: ResultTables) -> int:
    """The number of different runs of the discipline that has the most: the others are compared with it."""
    return max((len(set(places)) for places in repeats(result).values()), default=0)


def too_few(result: ResultTables) -> str:
    """Why the seeds of a result cannot show a difference; empty if they can."""
    seeds, different = len(result.scenario.seeds), distinct(result)
    if seeds < LEAST_SEEDS:
        return f"fewer than {LEAST_SEEDS} seeds show no difference"
    if different == 1:
        return f"all seeds gave the same run, which is one observation: {RANDOMIZE}"
    if different < LEAST_SEEDS:
        return f"the {seeds} seeds gave {different} different runs, too few to show a difference: {RANDOMIZE}"
    return ""


def _of_qdisc(result: ResultTables, qdisc: str) -> list[int]:
    """The same for one discipline."""
    seen: dict[bytes, int] = {}
    places = []
    tables = [ColumnArrays.of(result, name).where(qdisc=qdisc) for name in ("flows", "links")]
    for place, seed in enumerate(result.scenario.seeds):
        rows = [table.of_seed(seed) for table in tables]
        columns = [each[name] for each in rows for name in each.numeric if name != "seed"]
        places.append(seen.setdefault(b"".join(np.ascontiguousarray(column).tobytes() for column in columns), place))
    return places
