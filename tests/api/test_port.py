"""A port that the caller drives: decisions, counts, and a clock that never goes back."""

import threading

import pytest

from headgate import Port, UsageError, qdisc


def test_droptail_keeps_packets_up_to_its_limit_and_sends_them_in_order():
    port = Port("droptail", limit=2)
    packets = [port.enqueue(flow, 1000, at=0.001) for flow in (7, 8, 9)]
    assert [(signal.event, signal.reason, signal.packet) for signal in port.signals] == [
        ("dropped", "overflow", packets[2])
    ]
    assert port.backlog == (2, 2000)
    assert [port.dequeue(at=0.002).flow, port.dequeue(at=0.003).flow, port.dequeue()] == [7, 8, None]
    counts = port.counts
    assert [counts[name] for name in ("arrived", "sent", "sent_bytes", "dropped", "dropped_overflow")] == [
        3,
        2,
        2000,
        1,
        1,
    ]
    # One packet waited 1 ms, the other 2 ms; the histogram is true to 0.8 %.
    assert port.delay_ms(1.0) == pytest.approx(2.0, rel=0.008)


def test_blue_raises_its_probability_by_d1_when_the_queue_overflows():
    # Feng et al., ToN 2002, figure 2: upon packet loss, pm = pm + d1, at most once per freeze_time.
    port = Port("blue", limit="5p", d1=0.02, freeze_time="10ms")
    for _ in range(6):
        port.enqueue(at=0.1)
    assert port.gauges["probability"] == pytest.approx(0.02)


def test_codel_marks_ecn_capable_packets_after_a_long_queueing_delay():
    # RFC 8289: above target (5 ms) for an interval (100 ms), then the next packet is signaled.
    port = Port(qdisc("codel", ecn=True), limit=1000)
    for number in range(300):
        port.enqueue(1, 1500, ecn="ect0", at=number * 0.001)
    marked = []
    for number in range(100):
        packet = port.dequeue(at=0.3 + number * 0.002)
        marked += [signal.packet.number for signal in port.signals if signal.event == "marked"]
        assert packet.ecn == ("ce" if packet.number in marked else "ect0")
    assert marked
    assert port.counts["marked_sojourn"] == len(marked)


def test_a_shaper_says_when_it_is_ready():
    port = Port("tbf", rate="1Mbit/s", limit=10, burst="1500B")
    port.enqueue(bytes=1500, at=0.0)
    port.enqueue(bytes=1500)
    assert port.ready_s == 0.0
    assert port.dequeue(at=0.0).number == 0
    if port.dequeue() is None:
        assert port.ready_s > 0.0


def test_the_same_seed_gives_the_same_decisions():
    def decisions(seed: int) -> list[int]:
        port, dropped = Port("red", limit=50, seed=seed, wq=0.1), []
        for number in range(400):
            port.enqueue(number % 5, at=number * 0.0005)
            dropped += [signal.packet.number for signal in port.signals]
            if number % 3:
                port.dequeue()
        return dropped

    assert decisions(1) == decisions(1) != decisions(2)
    assert decisions(1)


def test_invalid_arguments_of_a_port_are_refused():
    port = Port("fq_codel")
    port.enqueue(at=0.5)
    for at, expected in (
        (0.4, "time never goes back: at=0.4 after 0.5"),
        (float("nan"), "expected seconds"),
        (-1.0, "seconds"),
    ):
        with pytest.raises(UsageError, match=expected):
            port.dequeue(at=at)
    with pytest.raises(UsageError, match="ecn='yes': expected one of not-ect, ect0, ect1, ce"):
        port.enqueue(ecn="yes")
    with pytest.raises(UsageError, match="flow is from 0"):
        port.enqueue(-1)
    assert port.counts["arrived"] == 1
    with pytest.raises(UsageError, match="did you mean `red`"):
        Port("redd")
    with pytest.raises(UsageError, match="did you mean 'maxp'"):
        Port("red", maxpp=1)
    with pytest.raises(UsageError, match="limit: expected a limit above 0"):
        Port("red", limit="0p")
    with pytest.raises(UsageError, match="rate: expected a rate"):
        Port("red", rate="fast")


def test_a_port_stays_in_its_thread():
    port, raised = Port("red"), []

    def use() -> None:
        try:
            port.enqueue()
        except UsageError as error:
            raised.append(error)

    other = threading.Thread(target=use)
    other.start()
    other.join()
    assert "belongs to the thread" in str(raised[0])


def test_gauges_of_one_flow():
    port = Port("fred", limit=100)
    for _ in range(5):
        port.enqueue(3, 1000, at=0.0)
    assert any(value == 5 for value in port.gauges_of(3).values())
