"""The comparison of each table: how its rows are found, and by how much a value may differ."""

from collections import Counter, defaultdict
from collections.abc import Callable

from tests.recompute import flows, links, patterns
from tests.recompute.comparing import BIN, TAP_MS, Comparison, Key, Row
from tests.recompute.conftest import Recorded
from tests.recompute.network import SECOND, Direction, Network, quantity
from tests.recompute.not_recomputed import GAUGES
from tests.recompute.scenarios import TAP_RATE

#: The last bit of a packet is sent up to so much later than its bits need: times are whole nanoseconds.
ROUNDED_UP = 1
SMALLEST_PACKET = 40
#: A flow's ACKs are the smallest packets. Delays of one-way histograms have this resolution. Milliseconds.
RESOLUTION = 0.0011


def keyed(rows: list[Row], *columns: str) -> dict[Key, Row]:
    """Rows by the values of these columns, which are unique."""
    table = {tuple(row[column] for column in columns): row for row in rows}
    assert len(table) == len(rows)
    return table


def in_run(table: dict[Key, Row], network: Network) -> dict[Key, Row]:
    """Recomputed rows with the columns that every table begins with."""
    return {key: {"qdisc": network.qdisc, "seed": 1, **row} for key, row in table.items()}


def is_tap(hop: Direction) -> bool:
    """Whether packets are transmitted as they arrive, unless they meet there."""
    return hop.rates == [(0, quantity(TAP_RATE))]


def compare_flows(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the table of flows."""
    table = {(flow,): {"flow": flow, **row} for flow, row in flows.rows(recorded.journeys).items()}

    def slack(_: Key, column: str) -> float:
        return TAP_MS if column in ("startup_ms", "queue_delay_ms_mean") else 0.0

    comparison.rows(keyed(recorded.table("flows"), "flow"), in_run(table, recorded.network), slack)


def busy_slack(hop: Direction) -> float:
    """By how much a utilization from times in whole nanoseconds may exceed that from bits."""
    return max(rate for _, rate in hop.rates) * ROUNDED_UP / (SMALLEST_PACKET * 8 * SECOND)


def compare_links(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the table of links. In the queue of a tap, packets only wait for others that arrive with them."""
    directions = recorded.network.directions
    table = {key: {"link": key[0], "direction": key[1], **row} for key, row in links.rows(recorded.journeys).items()}

    def slack(key: Key, column: str) -> float:
        hop = directions[key]
        if column == "utilization":
            # No link is busier than its packets: as many at most as rounding counts for.
            return busy_slack(hop) * float(table[key]["utilization"])
        if is_tap(hop) and column.startswith("queue_"):
            return {"queue_packets_mean": 0.1, "queue_bytes_mean": 100.0}.get(column, TAP_MS)
        return 0.0

    comparison.rows(keyed(recorded.table("links"), "link", "direction"), in_run(table, recorded.network), slack)


def compare_intervals(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the rows over time, metric by metric."""
    network, columns = recorded.network, ("time_s", "metric", "link", "direction", "group")
    table = {
        (end / 1e9, metric, *place): {"value": value, **dict(zip(columns, (end / 1e9, metric, *place), strict=True))}
        for (end, metric, *place), value in links.intervals_of_all(recorded.journeys).items()
    }
    printed = [row for row in recorded.table("intervals") if not row["metric"].startswith(GAUGES)]

    def slack(key: Key, _: str) -> float:
        return busy_slack(network.directions[key[2], key[3]]) if key[1] == "utilization" else 1e-9

    for metric in sorted({row["metric"] for row in printed} | {key[1] for key in table}):
        part = Comparison("intervals")
        mine = [row for row in printed if row["metric"] == metric]
        recomputed = {key: row for key, row in table.items() if key[1] == metric}
        part.rows(keyed(mine, *columns), in_run(recomputed, network), slack)
        comparison.differences.update({f"{column} of {metric}": lines for column, lines in part.differences.items()})
        comparison.columns |= part.columns


def compare_delays(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the histograms of delay, value by value. The bins of one-way delay hold the excess over the least."""
    least = least_delays(recorded.network)

    def slack(place: Key, value: float) -> float:
        base = least[place[3]] if place[0] == "one_way_delay" else 0.0
        return RESOLUTION + BIN * max(value - base, 0.0)

    compare_histogram(comparison, recorded, "delay_ms", patterns.delays(recorded.journeys), slack)


def least_delays(network: Network) -> dict[str, float]:
    """One-way delay of each group in ms without queues, at the greatest rate of each link."""
    table = {}
    for group in network.groups:
        bits = group.packet * 8
        hosts = sum(bits / rate + delay / SECOND for rate, delay in group.access)
        hops = sum(bits / max(rate for _, rate in hop.rates) + hop.delay / SECOND for hop in group.route)
        table[group.name] = 1e3 * (hosts + hops)
    return table


def compare_losses(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the histograms of loss patterns, value by value. Small numbers are exact."""

    def slack(place: Key, value: float) -> float:
        return BIN * value + 1e-6 if place[0] == "interval_ms" or value >= 128 else 0.0

    compare_histogram(comparison, recorded, "value", patterns.losses(recorded.journeys), slack)


def compare_histogram(
    comparison: Comparison,
    recorded: Recorded,
    column: str,
    recomputed: dict[patterns.Place, list[float]],
    slack: Callable[[Key, float], float],
) -> None:
    """Compares the bins of each place with the recomputed values, both in ascending order."""
    columns = ("measure", "link", "direction", "group")
    printed = defaultdict[patterns.Place, list[float]](list)
    kinds = {group.name: group.kind for group in recorded.network.groups}
    rows = recorded.table(comparison.table)
    for row in rows:
        printed[tuple(row[name] for name in columns)] += [row[column]] * row["count"]
    comparison.check("kind", [row["kind"] for row in rows], [kinds.get(row["group"]) for row in rows])
    compare_run(comparison, recorded, rows)
    comparison.check("places", sorted(map(str, printed)), sorted(map(str, recomputed)))
    comparison.columns |= set(columns)
    for place in printed.keys() & recomputed.keys():
        values = recomputed[place]
        comparison.lists(column, place, sorted(printed[place]), values, [slack(place, value) for value in values])


def compare_run(comparison: Comparison, recorded: Recorded, rows: list[Row]) -> None:
    """Compares the columns that every table begins with."""
    comparison.check("qdisc", {row["qdisc"] for row in rows} - {recorded.network.qdisc}, set())
    comparison.check("seed", {row["seed"] for row in rows} - {1}, set())


def compare_fairness(comparison: Comparison, recorded: Recorded) -> None:
    """Compares Jain's index on each scale."""
    table = {(scale,): {"scale_s": scale, **row} for scale, row in patterns.fairness(recorded.journeys).items()}
    comparison.rows(keyed(recorded.table("fairness"), "scale_s"), in_run(table, recorded.network))


def compare_transfers(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the transfers."""
    table = {(flow,): {"flow": flow, **row} for flow, row in patterns.transfers(recorded.journeys).items()}
    comparison.rows(keyed(recorded.table("transfers"), "flow"), in_run(table, recorded.network))


def compare_events(comparison: Comparison, recorded: Recorded) -> None:
    """Compares the events as a set, as some have the same time, and the queue after the last event of each moment."""
    counted, queues = patterns.events(recorded.journeys)
    columns = ("link", "direction", "time_ns", "event", "reason", "flow", "bytes")
    rows = recorded.table("events")
    printed = Counter(tuple(row[column] for column in columns) for row in rows)
    recomputed = Counter({event: count for event, count in counted.items() if event[2] < recorded.network.end})
    comparison.check("events not recomputed", sorted((printed - recomputed).elements(), key=str)[:4], [])
    comparison.check("events not printed", sorted((recomputed - printed).elements(), key=str)[:4], [])
    comparison.columns |= set(columns)
    last = {(row["link"], row["direction"], row["time_ns"]): row for row in rows}
    names = ("queue_packets", "queue_bytes")
    after = {key: dict(zip(names, queue, strict=True)) for key, queue in queues.items()}
    comparison.rows({key: {name: row[name] for name in names} for key, row in last.items()}, after)
    compare_packets(comparison, recorded, rows)
    compare_run(comparison, recorded, rows)


def compare_packets(comparison: Comparison, recorded: Recorded, rows: list[Row]) -> None:
    """Packets are numbered as they arrive at a link; a number has the arrival and the end of one packet."""
    numbers = Counter[tuple[str, str]]()
    arrived, ends = dict[tuple[str, str, int], Row](), dict[tuple[str, str, int], tuple[str, int]]()
    for row in rows:
        direction = (row["link"], row["direction"])
        if row["event"] == "arrived":
            comparison.check("packet", row["packet"], numbers[direction])
            numbers[direction] += 1
            arrived[*direction, row["packet"]] = row
        elif row["event"] in ("sent", "dropped"):
            ends[*direction, row["packet"]] = row["event"], row["time_ns"]
    printed = Counter(
        (*key[:2], row["time_ns"], row["flow"], row["bytes"], ends.get(key)) for key, row in arrived.items()
    )
    recomputed = patterns.fates(recorded.journeys)
    comparison.check("packet", sorted((printed - recomputed).elements(), key=str)[:4], [])
    comparison.check("packet", sorted((recomputed - printed).elements(), key=str)[:4], [])


COMPARISONS = {
    "flows": compare_flows,
    "links": compare_links,
    "intervals": compare_intervals,
    "delays": compare_delays,
    "losses": compare_losses,
    "fairness": compare_fairness,
    "transfers": compare_transfers,
    "events": compare_events,
}
