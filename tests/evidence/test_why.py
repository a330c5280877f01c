"""Explanations of flows, from tables written by hand so that each number can be checked."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headgate
from headgate import why
from headgate.errors import UsageError
from headgate.files import store
from headgate.plot.flow import flow
from headgate.results import Result
from tests.conftest import Command

SCENARIO = """\
name = "result_of"
duration = "12s"
warmup = "2s"
qdiscs = ["red"]
link = { rate = "3Mbit/s", delay = "5ms", limit = "50p" }
tcp = [{ name = "web", flows = 2 }]
udp = [{ name = "cbr", rate = "2Mbit/s" }]
"""

#: flow, group, kind, arrived, dropped by reason, marked early, goodput, timeouts, retransmits, delay, link losses.
FLOWS = [
    (0, "web", "tcp", 1000, {"early": 60, "overflow": 20}, 20, 0.6e6, 4, 90, 12.5, 4),
    (1, "web", "tcp", 1000, {"early": 10}, 10, 1.2e6, 1, 12, 10.0, 0),
    (2, "cbr", "udp", 2000, {"early": 30}, 0, 1.2e6, 0, 0, 10.0, 3),
]


def flow_row(
    flow: int, group: str, kind: str, arrived: int, drops: dict[str, int], marks: int, *rest: float
) -> dict[str, Any]:
    goodput, timeouts, retransmits, delay, lost = rest
    dropped = sum(drops.values())
    row = {"qdisc": "red", "seed": 1, "flow": flow, "group": group, "kind": kind, "arrived": arrived}
    row |= {"sent": arrived - dropped, "sent_bytes": 1000 * (arrived - dropped), "dropped": dropped, "marked": marks}
    row |= {f"dropped_{reason}": drops.get(reason, 0) for reason in ("overflow", "early")}
    row |= {f"marked_{reason}": marks if reason == "early" else 0 for reason in ("overflow", "early")}
    return row | {
        "goodput_bps": goodput, "fair_share_bps": 1e6, "timeouts": timeouts, "retransmits": retransmits,
        "queue_delay_ms_mean": delay, "link_losses": lost,
    }  # fmt: skip


def event_row(seconds: float, flow: int, event: str, reason: str, average: float) -> dict[str, Any]:
    row = {"qdisc": "red", "seed": 1, "link": "bottleneck", "direction": "forward", "time_ns": round(seconds * 1e9)}
    return row | {"event": event, "reason": reason, "flow": flow, "bytes": 1000, "gauge:average": average}


#: Flow 0: one drop in the warm-up, two bursts of two, no drop from 4.05 to 9 s, then a single drop.
EVENTS = [
    event_row(1.0, 0, "dropped", "overflow", 99),
    event_row(3.0, 0, "dropped", "early", 10),
    event_row(3.05, 0, "marked", "early", 20),
    event_row(4.0, 0, "dropped", "early", 30),
    event_row(4.05, 0, "dropped", "overflow", 40),
    event_row(5.0, 1, "dropped", "early", 5),
    event_row(9.0, 0, "dropped", "early", 50),
]

TRACES = [
    {"time_ns": 0, "cwnd": 10.0, "phase": "slow_start", "timeouts": 0, "acked_bytes": 0, "srtt_ms": None},
    {"time_ns": 4_000_000_000, "cwnd": 20.0, "phase": "avoidance", "timeouts": 0, "acked_bytes": 9, "srtt_ms": 30.0},
    {"time_ns": 7_000_000_000, "cwnd": 1.0, "phase": "slow_start", "timeouts": 1, "acked_bytes": 9, "srtt_ms": 30.0},
    {"time_ns": 10_000_000_000, "cwnd": 4.0, "phase": "slow_start", "timeouts": 1, "acked_bytes": 18, "srtt_ms": 50.0},
]


def result_of(*, events: bool, traces: bool) -> Result:
    """The result of these tables, with the events and traces recorded or not."""
    record = [*(["record.events=decisions"] if events else []), *(['record.flows=["web/0"]'] if traces else [])]
    scenario = headgate.Scenario.parse(SCENARIO, set=record)
    rows = [{"qdisc": "red", "seed": 1, "flow": 0, **row} for row in TRACES]
    kept = {
        "flows": pa.Table.from_pylist([flow_row(*row) for row in FLOWS]),
        "events": pa.Table.from_pylist(EVENTS),
        "traces": pa.Table.from_pylist(rows),
        "links": pa.Table.from_pylist([{"qdisc": "red", "seed": 1, "link_losses": lost} for lost in (7, 2)]),
    }
    return Result(scenario, {}, [], kept)


def sentences(result: Result, flow: int) -> dict[str, list[str]]:
    explanation = why.explain(result, flow)
    return {
        section.title: [text.replace("\u202f", " ") for text in section.sentences] for section in explanation.sections
    }


def test_the_answer_comes_first():
    texts = sentences(result_of(events=True, traces=True), 0)[""]
    assert texts[0].startswith(
        "Flow 0 is one of the 2 flows of `web` (TCP): number 0, counted from 0. Discipline red, seed 1, 10 s after the "
        "warm-up.\nred: "
    )
    # 100 of 1000 packets against 50 of 3000: six times as often.
    assert texts[1] == (
        "In short: its goodput was less than its fair share (0.600 times); its packets were dropped or marked 6.00 "
        "times as often as those of all other flows, mostly because it was selected at random as early notice of "
        "congestion; links lost 0.400 % of its packets; it had 4 timeouts."
    )


def test_a_source_that_was_silent_is_not_starved():
    """It sent 200 packets of which 10 were dropped: 0.38 Mbit/s of 0.4, where 1 Mbit/s would be fair."""
    plain = result_of(events=False, traces=False)
    silent = flow_row(2, "cbr", "udp", 200, {"early": 10}, 0, 0.38e6, 0, 0, 10.0, 0)
    flows = pa.Table.from_pylist([*(flow_row(*row) for row in FLOWS[:2]), silent])
    result = Result(plain.scenario, {}, [], {"flows": flows, "links": plain.links})
    assert (
        "its goodput was 0.380 times its fair share, because its application sent no more: 95.0 % of that was delivered"
        in sentences(result, 2)[""][1]
    )
    # A flow that sends all of its share and loses half of it is starved.
    busy = flow_row(2, "cbr", "udp", 2000, {"early": 1000}, 0, 0.6e6, 0, 0, 10.0, 0)
    flows = pa.Table.from_pylist([*(flow_row(*row) for row in FLOWS[:2]), busy])
    result = Result(plain.scenario, {}, [], {"flows": flows, "links": plain.links})
    assert "its goodput was less than its fair share (0.600 times)" in sentences(result, 2)[""][1]


def test_a_flow_that_stopped_before_the_window_has_no_fair_share():
    scenario = SCENARIO.replace("flows = 2 }", 'flows = 2 }, { name = "gone", stop = "1s" }')
    said = sentences(headgate.run(headgate.Scenario.parse(scenario), report=False), 2)
    assert "it has no fair share, as it was not active after the warm-up" in said["Goodput"][0]
    assert "In short: it sent no packets." in said[""]


def test_every_number_is_that_of_the_tables():
    texts = sentences(result_of(events=True, traces=False), 0)
    assert texts["Goodput"] == [
        "Its goodput was 600 kbit/s; its fair share is 1.00 Mbit/s.",
        "The other flows of its group: 1.20 Mbit/s on average.",
        "Flows of other groups: 1.20 Mbit/s on average.",
    ]
    assert texts["Drops, marks and delay"] == [
        "Of its 1 000 packets, 80 (8.00 %) were dropped and 20 (2.00 %) were marked.",
        "Packets of the other 2 flows: 1.33 % were dropped and 0.333 % marked.",
        "It sent 25.0 % of all packets and had 66.7 % of all drops.",
        "It sent 25.0 % of all packets and had 66.7 % of all marks.",
        "Packets of the other flows of its group: 1.00 % were dropped and 1.00 % marked.",
        "Link losses, which no discipline dropped: 4 packets (0.400 %).",
        "Packets of the other 2 flows: links lost 0.100 %.",
        "ACKs and reports: links lost 2 packets of all flows.",
        "Mean queueing delay of its packets: 12.5 ms; other flows: 10.0 ms.",
    ]
    assert texts["Reasons"] == [
        "60 dropped and 20 marked because it was selected at random as early notice of congestion (early): "
        "61.5 % of all packets with this reason.",
        "20 dropped because the buffer was full (overflow): 100 % of all packets with this reason.",
    ]


def test_times_leave_the_warm_up_out():
    texts = sentences(result_of(events=True, traces=False), 0)
    assert texts["Times"] == [
        "5 drops and marks: the first at 3.00 s, the last at 9.00 s.",
        "Longest interval without one: 4.95 s, from 4.05 s to 9.00 s.",
        "Most in one second: 2, from 3 s on.",
        "80.0 % in 2 bursts, with less than 100 ms between them.",
    ]
    assert texts["State of the discipline"] == [
        "Gauges of the queue when a packet was dropped or marked: `average` 30.0 (5.00).",
        "These are means over its packets; in brackets, over those of all other flows.",
    ]


def test_a_trace_gives_sentences_on_the_sender():
    texts = sentences(result_of(events=True, traces=True), 0)
    assert texts["Sender"] == [
        "90 retransmissions and 4 timeouts.",
        "The other flows of its group: 1.00 timeouts on average.",
        # From 2 s to 12 s: 2 s and 3 s and 2 s of slow start, 3 s of avoidance.
        "Phases: 70.0 % of the time in slow start and 30.0 % of the time in congestion avoidance.",
        # (2 s x 10 + 3 s x 20 + 3 s x 1 + 2 s x 4) / 10 s.
        "Congestion window: 9.10 packets on average, 20.0 at most.",
        "Smoothed round-trip time: 36.7 ms on average, 30.0 ms at least.",
        "Longest time without newly acknowledged data: 6.00 s.",
        "Timeouts at 7.00 s.",
    ]
    assert "Not recorded" not in texts


def test_missing_records_are_listed_with_the_command_that_adds_them():
    texts = sentences(result_of(events=False, traces=False), 1)
    assert "Times" not in texts
    assert texts["Not recorded"] == [
        "The times of drops and marks, and the discipline's state at each; the sender's window and timer over "
        "time. To record this, run:",
        "  headgate run scenario.toml --qdisc red --set 'seeds=[1]' --set record.events=decisions "
        "--set 'record.flows=[\"web/1\"]'",
    ]


def test_an_unresponsive_flow_is_described_by_its_offered_rate():
    texts = sentences(result_of(events=False, traces=False), 2)
    # 2000 packets of 1000 bytes in 10 s.
    assert "It offered 1.60 Mbit/s to the link and is unresponsive." in texts["Goodput"]
    assert "Sender" not in texts


def test_a_responsive_flow_is_not_called_unresponsive():
    governed = SCENARIO.replace('rate = "2Mbit/s"', 'cc = "tfrc"')
    result = result_of(events=False, traces=False)
    result_with_law = Result(headgate.Scenario.parse(governed), {}, [], {"flows": result.flows, "links": result.links})
    assert "It offered 1.60 Mbit/s to the link." in sentences(result_with_law, 2)["Goodput"]


def test_a_tfrc_flow_is_described_by_its_allowed_rate():
    governed = SCENARIO.replace('rate = "2Mbit/s"', 'cc = "tfrc"') + '[record]\nflows = ["cbr"]\n'
    # In the warm-up; then 2 s of slow start, 8 s at the equation's rate.
    rows = [
        {"time_ns": 0, "phase": "slow_start", "rate_bps": 8e6, "loss_event_rate": 0.0, "srtt_ms": None, "timeouts": 0},
        {
            "time_ns": 3e9,
            "phase": "slow_start",
            "rate_bps": 2e6,
            "loss_event_rate": 0.0,
            "srtt_ms": 20.0,
            "timeouts": 1,
        },
        {
            "time_ns": 4e9,
            "phase": "avoidance",
            "rate_bps": 1e6,
            "loss_event_rate": 0.02,
            "srtt_ms": 40.0,
            "timeouts": 1,
        },
    ]
    traces = pa.Table.from_pylist([{"qdisc": "red", "seed": 1, "flow": 2, **row} for row in rows])
    plain = result_of(events=False, traces=False)
    kept = {"flows": plain.flows, "links": plain.links, "traces": traces}
    texts = sentences(Result(headgate.Scenario.parse(governed), {}, [], kept), 2)
    assert texts["Sender"] == [
        "No timeouts without a report from its receiver.",
        "Phases: 80.0 % of the time in congestion avoidance and 20.0 % of the time in slow start.",
        # (1 s x 8 + 1 s x 2 + 8 s x 1) / 10 s.
        "Allowed rate without headers: 1.80 Mbit/s on average, 8.00 Mbit/s at most.",
        "Loss event rate: 1.60 % on average.",
        "Smoothed round-trip time: 30.0 ms on average, 20.0 ms at least.",
        "Timeouts at 3.00 s.",
    ]


def test_the_allowed_rate_of_tfrc_is_drawn(tmp_path: Path):
    text = SCENARIO.replace('rate = "2Mbit/s"', 'cc = "tfrc"') + '[record]\nflows = ["cbr", "web"]\nevents = "drops"\n'
    result = headgate.run(headgate.Scenario.parse(text), set=["link.loss=0.02"], out=tmp_path, report=False)
    tcp = pc.less(result.traces["flow"], 2)
    of_tcp, of_tfrc = result.traces.filter(tcp), result.traces.filter(pc.invert(tcp))
    for name, kind, other in [("cwnd", of_tcp, of_tfrc), ("rate_bps", of_tfrc, of_tcp)]:
        assert kind.num_rows > 0
        assert kind[name].null_count == 0
        assert other[name].null_count == other.num_rows
    figure = flow(result, why.explain(result, 2))
    assert any(axes.get_ylabel().startswith("Rate") for axes in figure.axes)
    figure.savefig(tmp_path / "tfrc.png")
    lost = [row for row in result.events.to_pylist() if row["event"] == "lost"]
    assert {row["reason"] for row in lost} == {"link_loss"}
    assert sum(row["flow"] == 2 for row in lost if row["time_ns"] >= 2e9) == result.flows["link_losses"][2].as_py()


@pytest.mark.parametrize(
    ("flow", "chosen", "expected"),
    [
        (3, {}, "there is no flow 3: this result has flows 0 to 2"),
        (0, {"qdisc": "blue"}, "this result has no discipline blue; it has red"),
        (0, {"seed": 9}, "this result has no seed 9; it has 1"),
    ],
)
def test_an_unknown_flow_discipline_or_seed_is_refused(flow: int, chosen: dict[str, Any], expected: str):
    with pytest.raises(UsageError, match=f"^{expected}$"):
        why.explain(result_of(events=True, traces=True), flow, **chosen)


def test_the_command_prints_the_explanation_and_draws_it(command: Command, recorded: headgate.Result):
    done = command("why", recorded.path, "--flow", 3, "--qdisc", "faba", "--seed", 2)
    assert done.returncode == 0
    assert "because its flow's token bucket was low" in done.stdout
    picture = Path(done.stdout.splitlines()[-1].removeprefix("picture  "))
    assert picture.name == f"{store.slug(recorded.scenario.runs[3])}-flow3.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_gives_json(command: Command, recorded: headgate.Result):
    done = command("why", recorded.path, "--flow", 0, "--json", "--no-picture")
    document = json.loads(done.stdout)
    row = recorded.run("flows", recorded.scenario.runs[0]).to_pylist()[0]
    assert document["mine"]["dropped"] == row["dropped"]
    assert document["sections"][0]["sentences"]


def test_the_command_refuses_a_folder_without_a_result(command: Command, tmp_path: Path):
    done = command("why", tmp_path, "--flow", 0)
    assert done.returncode == 3
    assert "is not a result" in done.stderr
