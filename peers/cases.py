"""The cases. To add a case, add a row."""

from __future__ import annotations

from functools import partial

from peers import disciplines as q
from peers.declare import Case, Flows, OnOff

#: Round-trip times that spread flows of one class, so that they do not move in lockstep.
NEAR = (40.0, 44.0, 48.0, 52.0, 56.0)
FAR = (100.0, 105.0, 110.0, 115.0, 120.0)

TEN = Flows("tcp", 10, NEAR)
SHORT = Flows("short", 5, NEAR)
LONG = Flows("long", 5, FAR)
CBR = Flows("udp", 1, (40.0,), kind="udp", rate=4e6)

#: A tenth of the network of the BLUE paper. Pareto on and off times have means of 2 s and 3 s; an `on` source always
#: has data.
WEB = Flows("web", 100, (24.0, 44.0, 60.0, 80.0, 100.0), on_off=OnOff(2.0, 3.0), hosts=2)
FEW = Flows("web", 50, (24.0, 44.0, 60.0, 80.0, 100.0), on_off=OnOff(2.0, 3.0), hosts=2)
PACED = Flows("web", 100, (24.0, 44.0, 60.0, 80.0, 100.0), on_off=OnOff(2.0, 3.0, rate=200e3), hosts=2)
PULSES = Flows("pulses", 20, (40.0,), kind="udp", on_off=OnOff(0.5, 0.5, rate=300e3))

RED = q.red(20, 60, 0.1)
MARKS = q.red(20, 60, 0.1, ecn=True)
#: Marks nearly every packet at a queue of ten: windows fall to one, and the link is not always busy.
STEEP = q.red(5, 10, 1.0, ecn=True)

#: The gains of PI's design for ten flows with round-trip times up to 100 ms on 10 Mbit/s.
PI = partial(q.pi, 50, 0.0002084, 0.0002064, 160.0)
#: A `gamma` between the paper's and what Headgate derives from the link's rate.
REM = partial(q.rem, 0.005, 20)
AVQ = partial(q.avq, 0.98)

_ns2 = partial(Case, peer="ns2")
_ns3 = partial(Case, peer="ns3", packet=1500, header=42, window=1000, send_jitter=0.0, limit=200)

NS2 = (
    _ns2("droptail", discipline=q.droptail(), flows=(TEN,)),
    _ns2("droptail-rtt", discipline=q.droptail(), flows=(SHORT, LONG)),
    _ns2("droptail-udp", discipline=q.droptail(), flows=(TEN, CBR)),
    _ns2("droptail-onoff", discipline=q.droptail(), flows=(WEB,), rate=4.5e6, duration=110.0),
    _ns2("red", discipline=RED, flows=(TEN,)),
    _ns2("red-rtt", discipline=RED, flows=(SHORT, LONG)),
    _ns2("red-udp", discipline=RED, flows=(TEN, CBR)),
    _ns2("red-sack", discipline=RED, flows=(Flows("tcp", 10, NEAR, recovery="sack"),)),
    _ns2("red-sharp", discipline=q.red(20, 60, 0.02, gentle=False), flows=(TEN, CBR)),
    _ns2("red-pulses", discipline=RED, flows=(TEN, PULSES)),
    _ns2("red-ecn", discipline=MARKS, flows=(TEN,), ecn=True),
    _ns2("red-ecn-many", discipline=MARKS, flows=(Flows("tcp", 60, NEAR),), ecn=True),
    _ns2("red-ecn-udp", discipline=MARKS, flows=(TEN, CBR), ecn=True),
    _ns2("red-onoff", discipline=RED, flows=(WEB,), rate=4.5e6, duration=110.0),
    _ns2("red-ecn-onoff", discipline=MARKS, flows=(WEB,), rate=4.5e6, duration=110.0, ecn=True),
    _ns2("red-ecn-paced", discipline=MARKS, flows=(PACED,), rate=4.5e6, duration=110.0, ecn=True),
    _ns2("red-ecn-steep", discipline=STEEP, flows=(FEW,), rate=4.5e6, duration=110.0, limit=50, ecn=True),
    _ns2("sfq", discipline=q.sfq(400, 256), flows=(SHORT, LONG)),
    _ns2("sfq-udp", discipline=q.sfq(400, 256), flows=(TEN, CBR)),
    _ns2("drr", discipline=q.drr(100_000, 64, 1000), flows=(SHORT, LONG)),
    _ns2("drr-udp", discipline=q.drr(100_000, 64, 1000), flows=(TEN, CBR)),
    _ns2("pi", discipline=PI(), flows=(TEN,)),
    _ns2("pi-rtt", discipline=PI(), flows=(SHORT, LONG)),
    _ns2("pi-udp", discipline=PI(), flows=(TEN, CBR)),
    _ns2("pi-ecn", discipline=PI(ecn=True), flows=(TEN,), ecn=True),
    _ns2("rem", discipline=REM(), flows=(TEN,)),
    _ns2("rem-rtt", discipline=REM(), flows=(SHORT, LONG)),
    _ns2("rem-udp", discipline=REM(), flows=(TEN, CBR)),
    _ns2("rem-ecn", discipline=REM(ecn=True), flows=(TEN,), ecn=True),
    _ns2("avq", discipline=AVQ(), flows=(TEN,)),
    _ns2("avq-rtt", discipline=AVQ(), flows=(SHORT, LONG)),
    _ns2("avq-udp", discipline=AVQ(), flows=(TEN, CBR)),
    _ns2("avq-ecn", discipline=AVQ(ecn=True), flows=(TEN,), ecn=True),
    _ns2("red_pd-0.4s", discipline=q.red_pd(20, 60, 0.1, 0.4), flows=(TEN, CBR), duration=110.0),
    _ns2("red_pd-10.1s", discipline=q.red_pd(20, 60, 0.1, 10.1), flows=(TEN, CBR), duration=110.0),
    _ns2("red_pd-rtt-0.4s", discipline=q.red_pd(20, 60, 0.1, 0.4), flows=(SHORT, LONG), duration=110.0),
    _ns2("red_pd-rtt-10.1s", discipline=q.red_pd(20, 60, 0.1, 10.1), flows=(SHORT, LONG), duration=110.0),
)

#: Windows are about twelve packets. With smaller windows, each simulator's rounding would decide the result.
SACK = Flows("tcp", 6, (60.0, 68.0, 76.0, 84.0, 92.0, 100.0), recovery="sack")
SHORT_SACK = Flows("short", 3, (60.0, 68.0, 76.0), recovery="sack")
LONG_SACK = Flows("long", 3, (120.0, 128.0, 136.0), recovery="sack")
STREAM = Flows("udp", 1, (40.0,), kind="udp", rate=3e6)

NS3 = (
    _ns3("ns3-fifo", discipline=q.fifo(200), flows=(SACK,)),
    _ns3("ns3-red", discipline=q.red_ns3(20, 60, 0.1, 200), flows=(SACK,)),
    _ns3("codel", discipline=q.codel(200), flows=(SACK,)),
    _ns3("codel-udp", discipline=q.codel(200), flows=(SACK, STREAM)),
    _ns3("codel-ecn", discipline=q.codel(200, ecn=True), flows=(SACK,), ecn=True),
    _ns3("pie", discipline=q.pie(200), flows=(SACK,)),
    _ns3("pie-udp", discipline=q.pie(200), flows=(SACK, STREAM)),
    _ns3("pie-ecn", discipline=q.pie(200, ecn=True), flows=(SACK,), ecn=True),
    _ns3("fq_codel", discipline=q.fq_codel(200), flows=(SHORT_SACK, LONG_SACK)),
    _ns3("fq_codel-udp", discipline=q.fq_codel(200), flows=(SACK, STREAM)),
    _ns3("cobalt", discipline=q.cobalt(200), flows=(SACK,)),
    _ns3("cobalt-udp", discipline=q.cobalt(200), flows=(SACK, STREAM)),
    _ns3("cobalt-ecn", discipline=q.cobalt(200, ecn=True), flows=(SACK,), ecn=True),
)

#: The FABA paper's section 5.3: nine flows beside one that does not respond.
NINE = Flows("tcp", 9, (32.0,))
FLOOD = Flows("udp", 1, (32.0,), kind="udp", rate=5e6, jitter=0.1)
PROTECTING = (
    "droptail",
    "red:minth=25%,maxth=50%,maxp=0.02",
    "fred",
    "choke:minth=25%,maxth=50%,maxp=0.02",
    "blue",
    "sfb",
    "faba",
    "sfed",
    "red_pd",
    "breathe",
)


def _in_ns3(text: str) -> Case:
    """The same discipline in both simulators: what differs is the rest of them."""
    name = text.partition(":")[0]
    limited = f"{text}{',' if ':' in text else ':'}limit=780p"
    return _ns3(
        f"in-ns3-{name}", discipline=q.aqm(limited, packet=512), flows=(NINE, FLOOD), packet=512, delay=14.0, limit=780
    )


IN_NS3 = tuple(map(_in_ns3, PROTECTING))

CASES = (*NS2, *NS3, *IN_NS3)
