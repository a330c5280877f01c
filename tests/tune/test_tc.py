"""Disciplines as tc commands."""

import subprocess

import pytest

from headgate.qdiscs import tc
from headgate.qdiscs.spec import QdiscSpec
from headgate.qdiscs.tc_red import burst_for
from headgate.scenario import Scenario
from tests import needs
from tests.conftest import SMALL

#: 50 packets of 540 bytes (500 and a header of 40) on 2 Mbit/s.
SCENARIO = Scenario.parse(SMALL, qdiscs=["droptail"])


def line(qdisc: str) -> str:
    command = tc.command(QdiscSpec.of(qdisc), SCENARIO)
    assert command is not None
    return command.line.removeprefix("tc qdisc replace dev DEV root ")


def notes(qdisc: str) -> str:
    command = tc.command(QdiscSpec.of(qdisc), SCENARIO)
    assert command is not None
    return "; ".join(command.notes)


def test_units_are_those_of_tc():
    # RFC 8033's alpha and beta in sixteenths: 0.125 is 2, 1.25 is 20.
    assert line("pie:target=12.5ms") == (
        "pie limit 50 target 12.5ms tupdate 15ms alpha 2 beta 20 ecn nobytemode no_dq_rate_estimator"
    )
    # Seconds as milliseconds without a unit; a packet each 250 ms is 4 a second.
    assert line("sfb:boxtime=250ms,rehash=2s").endswith("rehash 2000 penalty_rate 4 penalty_burst 1")
    # tc's own defaults (tc/q_sfb.c): 33 and 3 of 65535 steps, at 20 and 25 packets.
    assert line("sfb:preset=linux") == (
        "sfb limit 50 target 20 max 25 increment 0.00050354772259 decrement 0.00004577706569 rehash 600000 db 60000 "
        "penalty_rate 10 penalty_burst 20"
    )
    # RED counts bytes: a quarter and a half of the 27000 that 50 packets are.
    assert line("red").startswith(f"red limit {50 * 540} min {50 * 540 // 4} max {50 * 540 // 2} probability 0.02 ecn")
    # CHOKe counts packets.
    assert line("choke:minth=10p").startswith("choke limit 50 min 10 max 25 ")


def test_settings_without_a_tc_option_are_noted():
    assert tc.command(QdiscSpec.of("blue"), SCENARIO) is None
    assert "tc cannot change these values of the preset linux: levels=8, bins=16" in notes("sfb")
    assert "levels" not in notes("sfb:preset=linux")
    assert notes("hhf") == ""


def weight(minth: float, burst: int) -> float | None:
    """The rule of iproute2's tc/tc_red.c, as the reference page has it: the least W that lets the burst pass."""
    for log in range(1, 32):
        if burst + 1 - minth <= (1 - (1 - 2.0**-log) ** burst) * 2.0**log:
            return 2.0**-log
    return None


@pytest.mark.parametrize("wq", [0.4, 0.1, 0.002, 0.0001])
@pytest.mark.parametrize("minth", [5, 37.5, 200])
def test_the_burst_makes_tc_choose_the_weight(wq: float, minth: float):
    burst, chosen = burst_for(wq, minth)
    assert weight(minth, burst) == chosen
    assert 0.5 < chosen / wq < 2
    # This is the least burst: with one less, the weight is greater or impossible.
    assert burst - 1 < minth or (weight(minth, burst - 1) or 1) > chosen


@needs.marks("iproute2", "util-linux", "user-namespaces")
def test_tc_understands_every_command():
    """tc reports what it cannot parse before it asks the kernel, which may lack the discipline."""
    known = [name for name in tc.KINDS if name != "dualpi2"]  # of iproute2 6.16 and later
    script = "\n".join(f"tc qdisc replace dev lo root {line(name)} 2>&1 || true" for name in known)
    output = subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, check=True).stdout
    for word in ("What is", "Illegal", "Usage", "missing", "failed", "larger", "unparsable", "mandatory"):
        assert word not in output, output
