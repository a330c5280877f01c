"""Video calls: the measures of their frames, and what disciplines do to them."""

import pytest

import headgate
from headgate.terminal.columns import columns, rows

TEXT = """
name = "calls"
duration = "20s"
warmup = "8s"
qdiscs = ["droptail", "fq_codel"]
[link]
rate = "5Mbit/s"
delay = "20ms"
limit = "150p"
[[tcp]]
flows = 2
[[udp]]
name = "call"
cc = "CONTROL"
rate = "1Mbit/s"
"""


@pytest.mark.parametrize("control", ["gcc", "nada", "scream"])
def test_beside_downloads_frames_are_late_in_a_long_queue_and_in_time_in_their_own(control: str):
    result = headgate.run(headgate.Scenario.parse(TEXT.replace("CONTROL", control)))
    groups = [entry["groups"][1] for entry in result.summary()]
    late = {qdisc: group["late_frame_rate"]["mean"] for qdisc, group in zip(("long", "own"), groups, strict=True)}
    assert late["own"] < 0.1 < 0.9 < late["long"]
    # Thirty frames a second for twelve seconds, but for those at the edges.
    frames = result.flows.to_pandas().query("group == 'call'")["frames"]
    assert all(abs(frames - 360) < 30)


def test_only_calls_have_frames_and_only_then_the_table_has_their_columns():
    result = headgate.run(headgate.Scenario.parse(TEXT.replace("CONTROL", "nada")))
    flows = result.flows.to_pandas()
    assert flows["frames"].isna().tolist() == (flows["group"] != "call").tolist()
    titles = [column.title for column in columns(result.scenario, rows(result))]
    assert {"frames\nlate %", "freezes\na min"} <= set(titles)
    without = headgate.run(headgate.Scenario.parse(TEXT.replace('cc = "CONTROL"\n', "")))
    assert not any("frames" in column.title for column in columns(without.scenario, rows(without)))
