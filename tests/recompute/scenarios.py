"""Thirteen small scenarios, each for a boundary or a mechanism that once went wrong or easily could.

A tap is a link so fast that a packet's arrival there is the start of its transmission. Behind a tap, captures hold the
arrivals at a bottleneck's queue; before one, the packets that come out of the bottleneck's medium. Where the medium
neither loses nor delays at random, the bottleneck is the last link, and its reverse direction is the tap of the ACKs.
"""

#: The keys of each kind of group, as text. Hosts are at the taps, which show a packet when it is sent.
USUAL = {
    "tcp": {"packet": '"1500B"', "header": '"40B"', "ack": '"40B"', "cc": '"reno"', "recovery": '"sack"'},
    "udp": {"packet": '"1000B"', "header": '"28B"'},
}
NEAR = {"access": '{ rate = "100Gbit/s", delay = "0ms" }'}
TAP_RATE = "100Gbit/s"


def link(name: str, nodes: str, settings: str) -> str:
    """A link between two nodes."""
    return f'[[link]]\nname = "{name}"\nfrom = "{nodes[0]}"\nto = "{nodes[1]}"\n{settings}\n'


def tap(name: str, nodes: str) -> str:
    """A link that only shows the packets which cross it."""
    reverse = f'reverse = {{ rate = "{TAP_RATE}", limit = "100000p", qdisc = "droptail" }}'
    return link(name, nodes, f'rate = "{TAP_RATE}"\ndelay = "2ms"\nlimit = "100000p"\nqdisc = "droptail"\n{reverse}')


def group(kind: str, name: str, nodes: str = "ABC", **keys: str) -> str:
    """A group of flows; `keys` in TOML replace the usual ones."""
    route = ", ".join(f'"{node}"' for node in nodes)
    lines = [f"{key} = {value}" for key, value in {**USUAL[kind], **NEAR, **keys}.items()]
    return "\n".join([f'[[{kind}]]\nname = "{name}"\nroute = [{route}]', *lines, ""])


def scenario(
    name: str, times: tuple[str, str], qdisc: str, links: str, groups: str, traced: str = "", fair: str = "flow"
) -> str:
    """A scenario of this duration and warm-up, with captures of all links."""
    names = ", ".join(line.removeprefix("name = ") for line in links.splitlines() if line.startswith("name = "))
    record = f'[record]\ninterval = "100ms"\nevents = "all"\ncapture = [{names}]\nflows = [{traced}]\n'
    top = f'name = "{name}"\nduration = "{times[0]}"\nwarmup = "{times[1]}"\nqdiscs = ["{qdisc}"]\nfair = "{fair}"\n'
    return f"{top}\n{links}\n{groups}\n{record}"


def bottleneck(settings: str) -> str:
    """A bottleneck behind a tap; its reverse direction is a tap too."""
    reverse = f'reverse = {{ rate = "{TAP_RATE}", limit = "100000p" }}'
    return tap("near", "AB") + link("slow", "BC", f"{settings}\n{reverse}")


def between_taps(settings: str, reverse: str = "") -> str:
    """A bottleneck in both directions, between taps."""
    return tap("near", "AB") + link("slow", "BC", f"{settings}\n{reverse}") + tap("far", "CD")


#: Packets arrive at the tap, and at the queue, as the window begins and as it ends.
WINDOW = scenario(
    "window",
    ("3048ms", "1s"),
    "droptail",
    bottleneck('rate = "5Mbit/s"\ndelay = "10ms"\nlimit = "15p"'),
    group("tcp", "web", flows="2", start='"5ms"')
    + group("udp", "at-tap", rate='"1Mbit/s"', start='"7999920ns"')
    + group("udp", "at-queue", rate='"1Mbit/s"', start='"5999840ns"'),
    traced='"web"',
)

#: Data is under way as the window begins, and at the end of the run. Calls arrive exactly at both moments.
LONG_LINK = scenario(
    "long-link",
    ("4s", "2200ms"),
    "droptail",
    bottleneck('rate = "5Mbit/s"\ndelay = "1200ms"\nlimit = "100p"'),
    group("tcp", "web", flows="2")
    + group("tcp", "late", start='"2900ms"')
    + group("tcp", "file", traffic='"ftp:size=4KB"', start='"2900ms"')
    + group("udp", "calls", rate='"1Mbit/s"', start='"996399760ns"'),
)

#: The link is idle at another rate than it is busy, and its rate is 0 for more than an interval.
RATE_STEPS = scenario(
    "rate-steps",
    ("4s", "0s"),
    "droptail",
    bottleneck(
        'rate = "1Mbit/s"\ndelay = "3ms"\nlimit = "30p"\nschedule = [{ at = "1s", rate = "30Mbit/s" }, '
        '{ at = "2550ms", rate = "0bit/s" }, { at = "2840ms", rate = "5Mbit/s" }]'
    ),
    group("tcp", "web", flows="2", stop='"3s"') + group("tcp", "rest", start='"100ms"', stop='"3s"'),
)

#: Flows stop before the window and within it.
STOPS = scenario(
    "stops",
    ("4s", "1s"),
    "red_pd",
    bottleneck('rate = "6Mbit/s"\ndelay = "5ms"\nlimit = "30p"'),
    group("tcp", "stays", flows="2")
    + group("tcp", "before", stop='"700ms"')
    + group("tcp", "within", stop='"2s"')
    + group("udp", "calls", rate='"3Mbit/s"', stop='"3s"'),
)

#: Transfers of less than a segment, of many, before the window, and beyond the end.
TRANSFERS = scenario(
    "transfers",
    ("4s", "1s"),
    "droptail",
    bottleneck('rate = "4Mbit/s"\ndelay = "10ms"\nlimit = "40p"'),
    group("tcp", "stays", flows="2")
    + group("tcp", "files", flows="2", traffic='"ftp:size=100KB"', start='"500ms"')
    + group("tcp", "tiny", flows="3", traffic='"ftp:size=1000B"', start='"1200ms..2s"')
    + group("tcp", "early", traffic='"ftp:size=5KB"', start='"100ms"')
    + group("tcp", "late", traffic='"ftp:size=1000B"', start='"3990ms"')
    + group("tcp", "large", traffic='"ftp:size=9MB"', start='"2s"'),
)

#: Flows stop in time for the last packets to arrive: a packet under way and a lost one look alike.
MEDIUM = scenario(
    "medium",
    ("5s", "1s"),
    "droptail",
    between_taps(
        'rate = "8Mbit/s"\ndelay = "15ms"\nlimit = "500p"\njitter = "4ms"\nloss = 0.02\n'
        'reorder = 0.03\nreorder_by = "6ms"'
    ),
    group("tcp", "web", "ABCD", flows="4", stop='"4500ms"')
    + group("tcp", "other", "ABCD", recovery='"newreno"', stop='"4500ms"'),
    traced='"web"',
)

MANY = scenario(
    "many",
    ("3s", "1s"),
    "red",
    bottleneck('rate = "20Mbit/s"\ndelay = "20ms"\nlimit = "100p"'),
    group("tcp", "web", flows="300", start='"0s..500ms"'),
)

TWO_LINKS = scenario(
    "two-links",
    ("4s", "1s"),
    "codel",
    tap("near", "AB")
    + link("first", "BC", 'rate = "6Mbit/s"\ndelay = "5ms"\nlimit = "100p"')
    + link("second", "CD", 'rate = "4Mbit/s"\ndelay = "12ms"\nlimit = "80p"')
    + tap("far", "DE")
    + tap("beside", "XC")
    + tap("away", "CY"),
    group("tcp", "long", "ABCDE", flows="2")
    + group("tcp", "short", "ABCY")
    + group("udp", "cross", "XCDE", rate='"1Mbit/s"'),
)

MARKS = scenario(
    "marks",
    ("4s", "1s"),
    "codel",
    bottleneck('rate = "6Mbit/s"\ndelay = "10ms"\nlimit = "200p"'),
    group("tcp", "marked", flows="3", ecn="true") + group("tcp", "dropped", flows="2"),
    traced='"marked", "dropped"',
)

#: The flood exceeds its fair share for three seconds, and the discipline identifies it.
BURSTS = scenario(
    "bursts",
    ("7s", "1s"),
    "fred",
    bottleneck('rate = "4Mbit/s"\ndelay = "8ms"\nlimit = "40p"'),
    group("tcp", "web", flows="2")
    + group("udp", "bursts", rate='"4Mbit/s"', traffic='"exp:on=100ms,off=300ms"', jitter="0.2")
    + group("udp", "flood", traffic='"cbr:rate=500kbit/s,schedule=[1s 5Mbit/s; 4s 500kbit/s]"'),
)

REVERSE = scenario(
    "reverse",
    ("4s", "1s"),
    "droptail",
    between_taps(
        'rate = "8Mbit/s"\ndelay = "10ms"\nlimit = "40p"',
        'reverse = { rate = "1Mbit/s", limit = "20p", qdisc = "compared" }',
    ),
    group("tcp", "down", "ABCD", flows="2")
    + group("tcp", "up", "DCBA")
    + group("udp", "call", "DCBA", rate='"100kbit/s"'),
)

#: Access links with a queue, long access delays, and none.
DELAYS = scenario(
    "delays",
    ("4s", "1s"),
    "droptail",
    bottleneck('rate = "7Mbit/s"\ndelay = "9ms"\nlimit = "60p"'),
    group(
        "tcp",
        "far",
        flows="2",
        sender='{ rate = "100Gbit/s", delay = "23ms" }',
        receiver='{ rate = "10Mbit/s", delay = "7ms" }',
    )
    + group("tcp", "near", start='"1300ms"', access='{ rate = "100Gbit/s", delay = "0ms" }')
    + group("udp", "call", rate='"600kbit/s"', packet='"300B"', access='{ rate = "2Mbit/s", delay = "31ms" }'),
)

#: Hosts share the link. Their flows start and stop within the window and before it, and within slots. Receivers are as
#: `headers.py` expects them.
HOSTS = scenario(
    "hosts",
    ("5s", "1s"),
    "cake",
    bottleneck('rate = "6Mbit/s"\ndelay = "10ms"\nlimit = "60p"'),
    group("tcp", "one", destination='"172.16.1.2"')
    + group("tcp", "three", flows="3", start='"500ms"', stop='"3330ms"', destination='"172.16.1.3"')
    + group("tcp", "again", flows="2", start='"3770ms"', destination='"172.16.1.3"')
    + group("tcp", "files", flows="2", traffic='"ftp:size=150KB"', start='"1s..2s"', destination='"172.16.1.2"')
    + group("tcp", "before", stop='"700ms"', destination='"172.16.1.4"')
    + group("udp", "call", rate='"500kbit/s"', start='"1250ms"', stop='"4s"', destination='"172.16.1.5"'),
    fair="host",
)

TEXTS = (
    WINDOW,
    LONG_LINK,
    RATE_STEPS,
    STOPS,
    TRANSFERS,
    MEDIUM,
    MANY,
    TWO_LINKS,
    MARKS,
    BURSTS,
    REVERSE,
    DELAYS,
    HOSTS,
)
#: Every scenario by its name.
ALL = {text.split('"')[1]: text for text in TEXTS}
