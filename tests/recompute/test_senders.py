"""Traces of TCP senders agree with the packets that they sent and the acknowledgements that reached them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.recompute.comparing import Comparison
from tests.recompute.conftest import Recorded
from tests.recompute.journeys import MEETING
from tests.recompute.senders import Sender, senders

Records = Callable[[str], Recorded]
Row = dict[str, Any]

TRACED = ("window", "medium", "marks")


def traces(recorded: Recorded) -> dict[int, list[Row]]:
    """Rows of each traced flow, the last one of each moment."""
    flows: dict[int, dict[int, Row]] = {}
    for row in recorded.table("traces"):
        flows.setdefault(row["flow"], {})[row["time_ns"]] = row
    return {flow: list(rows.values()) for flow, rows in flows.items()}


def state(sender: Sender, row: Row, recorded: Recorded) -> Row:
    """The row of a trace, recomputed. What happens at the same moment is part of it."""
    now, payload = row["time_ns"] + MEETING, recorded.network.group_of(row["flow"]).payload
    acknowledged = sender.acknowledged(now)
    return {
        "qdisc": recorded.network.qdisc,
        "seed": 1,
        "flow": row["flow"],
        "time_ns": row["time_ns"],
        "flight": (sender.next_new(now) - acknowledged) // payload,
        "acked_bytes": acknowledged,
        "retransmits": sum(packet.handed <= now for packet in sender.retransmitted),
        "timeouts": sum(at <= now for at in sender.timeouts),
    }


def compare_traces(comparison: Comparison, recorded: Recorded) -> None:
    """Compares every row of the traces, and the moments at which new data is acknowledged."""
    found = senders(recorded.journeys)
    for flow, rows in traces(recorded).items():
        printed = {(flow, row["time_ns"]): row for row in rows}
        comparison.rows(printed, {key: state(found[flow], row, recorded) for key, row in printed.items()})
        advances, last = [], 0
        for row in rows:
            if row["acked_bytes"] > last:
                last = row["acked_bytes"]
                advances.append((row["time_ns"], last))
        comparison.check("time_ns", advances, found[flow].advances)


@pytest.mark.parametrize("name", TRACED)
def test_traces_hold_what_each_sender_sent_and_heard(name: str, recorded: Records):
    comparison = Comparison("traces")
    compare_traces(comparison, recorded(name))
    assert not comparison.differences, f"\n{comparison}"


@pytest.mark.parametrize("name", TRACED)
def test_a_sender_with_endless_data_fills_its_window_and_never_more(name: str, recorded: Records):
    """Outside of loss recovery, an ACK of new data lets exactly the segments out that the window has room for."""
    record = recorded(name)
    moments = 0
    for flow, sender in senders(record.journeys).items():
        news = {packet.handed for packet in sender.sent} - {packet.handed for packet in sender.retransmitted}
        heard = {at for at, _ in sender.advances}
        for row in traces(record).get(flow, []):
            if row["phase"] != "recovery" and row["time_ns"] in news & heard:
                arrived_early = sender.sacked[row["time_ns"]] // record.network.group_of(flow).payload
                assert row["flight"] - arrived_early == int(row["cwnd"]), row
                moments += 1
    assert moments > 300


@pytest.mark.parametrize("name", TRACED)
def test_the_mean_window_is_that_of_the_trace(name: str, recorded: Records):
    record = recorded(name)
    warmup, end = record.network.warmup, record.network.end
    printed = {row["flow"]: row["cwnd_mean"] for row in record.table("flows")}
    for flow, rows in traces(record).items():
        area = 0.0
        for row, following in zip(rows, [*rows[1:], {"time_ns": end}], strict=True):
            area += row["cwnd"] * max(min(following["time_ns"], end) - max(row["time_ns"], warmup), 0)
        assert printed[flow] == pytest.approx(area / (end - warmup), rel=1e-9)
