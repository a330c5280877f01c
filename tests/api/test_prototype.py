"""Disciplines written in Python run in the simulator, obey its laws, and end a run with their traceback."""

import re

import pytest

import headgate
from headgate import Port, prototype
from headgate.execution.runner import Failures
from headgate.prototype import Discipline, LawBrokenError, Packet
from tests.conftest import SMALL

# ruff: noqa: ARG002


class Tail(Discipline):
    """DropTail, with the same decisions as the one in the registry."""

    def __init__(self, link):
        self.link, self.waiting, self.bytes = link, [], 0

    def enqueue(self, packet, cx):
        if len(self.waiting) >= self.link.limit_packets or self.bytes + packet.bytes > self.link.limit_bytes:
            cx.drop(packet, "overflow")
        else:
            self.waiting.append(packet)
            self.bytes += packet.bytes

    def dequeue(self, cx):
        if not self.waiting:
            return None
        self.bytes -= self.waiting[0].bytes
        return self.waiting.pop(0)

    def observe(self):
        return {"longest": float(len(self.waiting))}


class Coin(Tail):
    """Signals each packet with probability 0.1."""

    def enqueue(self, packet, cx):
        packet = cx.signal(packet, "early") if cx.random() < 0.1 else packet
        if packet is not None:
            super().enqueue(packet, cx)


class EverySecond(Tail):
    """Accepts every second packet."""

    reasons = {"too_many": "its neighbor was let in"}  # noqa: RUF012

    def enqueue(self, packet, cx):
        if packet.number % 2:
            cx.drop(packet, "too_many")
        else:
            super().enqueue(packet, cx)


SCENARIO = headgate.Scenario.parse(SMALL)


def test_droptail_in_python_gives_the_numbers_of_droptail():
    result = headgate.run(SCENARIO, qdiscs=["droptail", Tail], seeds=1)
    assert result.scenario.qdiscs == ["droptail", "Tail"]
    flows = result.to_pandas("flows")
    ours, theirs = (flows[flows["qdisc"] == name].drop(columns="qdisc") for name in ("Tail", "droptail"))
    assert ours.reset_index(drop=True).equals(theirs.reset_index(drop=True))
    assert "gauge:longest" in result.intervals["metric"].to_pylist()
    assert {entry["qdisc"] for entry in result.summary()} == {"droptail", "Tail"}


def test_a_python_discipline_may_declare_reasons():
    links = headgate.run(SCENARIO, qdiscs=[EverySecond], seeds=1).to_pandas("links").query("compared")
    picked, rest = links["dropped_too_many"].sum(), links["dropped_overflow"].sum()
    assert picked > 0
    assert picked + rest == links["dropped"].sum()

    class Unnamed(Tail):
        reasons = {"Too many!": "its neighbor was let in"}  # noqa: RUF012

    with pytest.raises(headgate.RunFailedError, match="'Too many!' is not a valid name"):
        headgate.run(SCENARIO, qdiscs=[Unnamed], seeds=1)


def test_scenarios_in_code_keep_python_disciplines():
    scenario = SCENARIO.replace(qdiscs=[Coin], duration=1, warmup=0, seeds=1)
    assert (scenario.qdiscs, scenario.prototypes) == (["Coin"], {"Coin": Coin})
    assert scenario.changed(seeds=2).prototypes == {"Coin": Coin}
    assert scenario.replace(duration=2).prototypes == {"Coin": Coin}
    one, two = headgate.run([scenario, scenario.changed(set=["about=again"])])
    assert one.links.equals(two.links)
    assert one.links["dropped_early"].to_pylist()[0] > 0


def test_misused_python_disciplines_are_refused(tmp_path):
    with pytest.raises(headgate.UsageError, match=r"Tail is written in Python, so .* could not be run again"):
        headgate.run(SCENARIO, qdiscs=[Tail], out=tmp_path)
    with pytest.raises(headgate.UsageError, match="int is not a discipline: derive it"):
        headgate.run(SCENARIO, qdiscs=[int])  # type: ignore[list-item]
    with pytest.raises(headgate.UsageError, match="two disciplines written in Python are called Tail"):
        headgate.run(SCENARIO, qdiscs=[Tail, type("Tail", (Coin,), {})])
    with pytest.raises(headgate.UsageError, match="registry is called red"):
        headgate.run(SCENARIO, qdiscs=[type("red", (Tail,), {})])


class Raises(Tail):
    def dequeue(self, cx):
        return dict[str, Packet]()["nothing"] if cx.now_s > 1 else super().dequeue(cx)


def test_an_exception_ends_the_run_with_its_traceback():
    with pytest.raises(headgate.RunFailedError, match="Raises with seed 1: 'nothing'") as raised:
        headgate.run(SCENARIO, qdiscs=[Raises], seeds=1)
    cause = raised.value.__cause__
    assert isinstance(cause, Failures)
    (error,) = cause.errors.values()
    assert isinstance(error, KeyError)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "dequeue" in frames


def test_the_laws_hold_for_correct_disciplines():
    prototype.check(Tail, traces=2, steps=100)
    prototype.check(Coin, traces=2, steps=100)


class Backwards(Tail):
    def dequeue(self, cx):
        self.bytes -= self.waiting[-1].bytes if self.waiting else 0
        return self.waiting.pop() if self.waiting else None


class IgnoresLimit(Tail):
    def enqueue(self, packet, cx):
        self.waiting.append(packet)
        self.bytes += packet.bytes


class DependsOnOtherRuns(Tail):
    made = 0

    def __init__(self, link):
        super().__init__(link)
        DependsOnOtherRuns.made += 1

    def enqueue(self, packet, cx):
        if DependsOnOtherRuns.made % 2:
            cx.drop(packet, "early")
        else:
            super().enqueue(packet, cx)


class InfiniteGauge(Tail):
    def observe(self):
        return {"size": float("inf") if self.waiting else 0.0}


@pytest.mark.parametrize(("wrong", "expected"), [
    (Backwards, r"left after packet \d+, which arrived later"),
    (IgnoresLimit, "more than the limit"),
    (DependsOnOtherRuns, "the same seed gives different decisions"),
    (InfiniteGauge, "the gauge size is inf"),
])  # fmt: skip
def test_a_broken_law_is_named(wrong, expected: str):
    with pytest.raises(LawBrokenError, match=expected) as raised:
        prototype.check(wrong, traces=2, steps=100)
    assert re.match(rf"{wrong.__name__}, .*, limit .*, seed \d", str(raised.value))


class Forgets(Tail):
    def enqueue(self, packet, cx):
        if packet.number != 3:
            super().enqueue(packet, cx)


class Twice(Tail):
    def dequeue(self, cx):
        return self.waiting[0] if self.waiting else None


class Makes(Tail):
    def dequeue(self, cx):
        return Packet(99, 0, 1000, 0, "not-ect", 0.0)


class Sends(Tail):
    def dequeue(self, cx):
        return "a packet"


class DropsTwice(Tail):
    def enqueue(self, packet, cx):
        cx.drop(packet, "early")
        cx.drop(packet, "early")


class Reason(Tail):
    def enqueue(self, packet, cx):
        cx.drop(packet, "because")


@pytest.mark.parametrize(("wrong", "kind", "expected"), [
    (Forgets, RuntimeError, r"gave nothing, though it holds 1 packet \(the first is packet 3\)"),
    (Twice, ValueError, "packet 0 does not wait here"),
    (Makes, ValueError, "packet 99 does not wait here"),
    (Sends, TypeError, "Sends.dequeue gave 'a packet'"),
    (DropsTwice, ValueError, "packet 0 does not wait here"),
    (Reason, ValueError, "no reason is called \"because\""),
    (Discipline, NotImplementedError, "Discipline has no enqueue"),
])  # fmt: skip
def test_no_packet_is_lost_invented_or_sent_twice(wrong, kind, expected: str):
    port = Port(wrong, limit=20)

    def drive() -> None:
        for step in range(12):
            port.enqueue(at=step * 0.001)
            port.dequeue()

    with pytest.raises(kind, match=expected):
        drive()
    counts = port.counts
    assert counts["arrived"] == counts["sent"] + counts["dropped"] + port.backlog.packets


def test_only_ecn_capable_packets_are_marked():
    class Mark(Tail):
        def enqueue(self, packet, cx):
            packet = cx.signal(packet, "forced", ecn=packet.flow != 2)
            if packet is not None:
                super().enqueue(packet, cx)

    port = Port(Mark)
    port.enqueue(1, ecn="ect0", at=0.0)
    assert [signal.event for signal in port.signals] == ["marked"]
    port.enqueue(1, ecn="not-ect")
    assert [signal.event for signal in port.signals] == ["dropped"]
    port.enqueue(2, ecn="ect1")
    assert [signal.event for signal in port.signals] == ["dropped"]
    assert port.dequeue().ecn == "ce"


def test_a_shaper_holds_packets_until_it_is_ready():
    class Slow(Tail):
        free_s = 0.0

        def dequeue(self, cx):
            if not self.waiting or cx.now_s < self.free_s:
                return None
            self.free_s = cx.now_s + 0.01
            return super().dequeue(cx)

        def ready_at(self, now_s):
            return max(now_s, self.free_s)

    prototype.check(Slow, traces=1, steps=100)
    result = headgate.run(SCENARIO, qdiscs=[Slow], seeds=1, set=["duration=2s", "warmup=0s"])
    # A packet every 10 ms, and never more.
    assert result.links["sent"].to_pylist()[0] <= 201


def test_headgate_prototype_needs_no_import():
    assert headgate.prototype is prototype
