"""Senders with all offloads on, the kernel's default: rates, lengths and counters are those of packets on a wire.

iperf3 sends. The kernel's counters of the interfaces are compared with ours. Tests need Linux and namespaces, and are
skipped otherwise.
"""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.scenario import Scenario
from tests import needs
from tests.evidence import pcapng
from tests.live.hosts import DATAGRAM, SEGMENTS
from tests.live.rates import best
from tests.live.roads import FAR, FAR6, HOSTS, GatewayNetwork
from tests.live.test_run import skip_without_namespaces

Run = subprocess.CompletedProcess[str]

#: The kernel's counters of the interfaces, by host or name, `rx` or `tx`, and `packets` or `bytes`.
Counters = dict[str, dict[str, dict[str, int]]]

#: The kernel's counters that are compared: those of lost packets are 0.
COUNTED = ("packets", "bytes", "dropped", "errors")

#: The rate of every link.
RATE = 100e6

#: Bytes of headers: Ethernet, IPv4, IPv6, UDP, and TCP with timestamps.
ETHERNET, IPV4, IPV6, UDP, TCP = 14, 20, 40, 8, 32

#: Least and greatest goodput over the goodput of full packets at the rate.
LEAST, MOST = 0.98, 1.02


#: Two flows of the kernel's TCP.
LIVE = """
name = "offloads"
duration = "5s"
warmup = "1s"
qdiscs = ["fq_codel"]
seeds = 1
link = { rate = "100Mbit/s", delay = "1ms", limit = "1000p" }
tcp = [{ flows = 2, packet = "1500B" }]
"""


@pytest.fixture(scope="module")
def iperf3() -> str:
    """The program."""
    needs.without("iperf3")
    return "iperf3"


@pytest.fixture
def roads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GatewayNetwork]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork(offloads=True) as made:
        yield made


@pytest.fixture
def link() -> Callable[..., Run]:
    """Runs a shell script at the near host of a link of 100 Mbit/s."""
    skip_without_namespaces()

    def run(server: str, script: str, *options: object, qdisc: str = "fq_codel") -> Run:
        words = (
            "--rate",
            "100Mbit/s",
            "--qdisc",
            qdisc,
            *options,
            f"--server={server}",
            "--",
            "sh",
            "-ec",
            script,
        )
        command = [sys.executable, "-m", "headgate", "link", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done

    return run


@contextmanager
def running(*started: "subprocess.Popen[str]") -> Iterator[None]:
    """Processes that end with the block."""
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def gateway(roads: GatewayNetwork) -> "subprocess.Popen[str]":
    """A gateway of 100 Mbit/s with fq_codel that forwards."""
    words = ("--in", "in", "--out", "out", "--rate", "100Mbit/s", "--qdisc", "fq_codel")
    command = (sys.executable, "-m", "headgate", "gateway", *words)
    process = roads.start(roads.middle, *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("forwarding between "):
            return process
    raise AssertionError("the gateway ended")


def received_bps(document: str) -> float:
    """The goodput that iperf3's receiver measured, without the omitted first second."""
    end = json.loads(document)["end"]
    assert "sum_received" in end, end
    return float(end["sum_received"]["bits_per_second"])


def counters(roads: GatewayNetwork) -> Counters:
    """The kernel's counters of the hosts' interfaces, and of those of the machine in the middle."""
    places = {"near": (roads.near, "host"), "far": (roads.far, "host")}
    places |= {name: (roads.middle, name) for name in ("in", "out")}
    read = {name: roads.ip(where, "-s", "-j", "link", "show", each) for name, (where, each) in places.items()}
    return {name: json.loads(text)[0]["stats64"] for name, text in read.items()}


def settled(roads: GatewayNetwork) -> tuple[dict[str, Any], Counters]:
    """The gateway's view and the kernel's counters at a moment without packets."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        now = counters(roads)
        time.sleep(0.5)  # a view is at most this old
        shown = roads.run(roads.near, sys.executable, "-m", "headgate", "top", "gateway", "--once", "--json")
        if counters(roads) == now:
            return json.loads(shown)["view"], now
    raise AssertionError("packets kept coming")


def has_gso(iperf3: str) -> bool:
    """Whether this version can leave the segmentation of UDP to the kernel."""
    return "--gsro" in subprocess.run([iperf3, "--help"], capture_output=True, text=True, check=False).stdout


def test_a_gateway_passes_the_rate_in_frames_of_the_mtu_and_counts_as_the_kernel_does(
    roads: GatewayNetwork, iperf3: str
):
    udp = ("-u", "-b", "150M", "-l", DATAGRAM, *(["--gsro"] if has_gso(iperf3) else []))
    senders: dict[str, tuple[tuple[object, ...], int]] = {
        "TCP over IPv4": ((FAR,), 1500 - IPV4 - TCP),
        "TCP over IPv6": ((FAR6,), 1500 - IPV6 - TCP),
        "UDP over IPv4": ((FAR, *udp), DATAGRAM),
    }
    watching = roads.start(roads.far, sys.executable, HOSTS, "longest", 110, "host", stdout=subprocess.PIPE)
    forwarding = gateway(roads)
    serving = roads.serve_words(iperf3, "-s", stdout=subprocess.DEVNULL)

    def share(words: tuple[object, ...], data: int) -> float:
        document = roads.run(roads.near, iperf3, "-J", "-t", 5, "-O", 1, "-c", *words)
        return received_bps(document) / (RATE * data / (1500 + ETHERNET))

    with running(watching, forwarding, serving):
        first_view, first_kernel = settled(roads)
        shares = {name: best(partial(share, *sender), LEAST) for name, sender in senders.items()}
        serving.kill()
        serving.communicate()
        shares["UDP with GSO"] = best(partial(blast_share, roads), LEAST)
        view, kernel = settled(roads)
        watching.terminate()
        output, _ = watching.communicate(timeout=20)
    assert all(LEAST <= share <= MOST for share in shares.values()), shares
    _, longest = map(int, output.split()[1:])
    assert longest == 1500 + ETHERNET
    for direction, host, left, entered in (("forward", "far", "out", "in"), ("reverse", "near", "in", "out")):
        names = ("offered", "sent", "sent_bytes", "dropped", "super_packets")
        offered, sent, sent_bytes, dropped, super_packets = (
            view[direction][k] - first_view[direction][k] for k in names
        )

        def increase(interface: str, way: str, what: str) -> int:
            return kernel[interface][way][what] - first_kernel[interface][way][what]

        for interface, way in ((left, "tx"), (host, "rx")):
            assert [increase(interface, way, what) for what in COUNTED] == [sent, sent_bytes, 0, 0], (interface, way)
        assert offered == sent + dropped
        # A super-packet is one packet of the kernel and at least two of ours.
        arrived = increase(entered, "rx", "packets")
        assert offered == arrived if super_packets == 0 else offered >= arrived + super_packets
    assert view["forward"]["super_packets"] > 1000, "the senders left the segmentation to their cards"


def blast_share(roads: GatewayNetwork) -> float:
    """The goodput of super-packets of datagrams over the possible goodput. They are offered at 1.5 times the rate."""
    draining = roads.serve("drain", stdout=subprocess.PIPE)
    calls = int(4 * 1.5 * RATE / 8 / (SEGMENTS * DATAGRAM))
    roads.host(roads.near, "blast", calls, 1.5 * RATE)
    output, _ = draining.communicate(timeout=20)
    size, seconds, longest = output.split()
    assert int(longest) == DATAGRAM
    return int(size) * 8 / float(seconds) / (RATE * DATAGRAM / (1500 + ETHERNET))


#: Ends a script: the kernel's counters of the near host's interface, when no packet is on its way.
COUNT = "sleep 0.5; ip -s -j link show hg0"


def assert_counted(done: Run) -> None:
    """Compares the summary of a link with the last line of a script, which has the counters of the near host."""
    stats = json.loads(done.stdout.splitlines()[-1])[0]["stats64"]
    rows = {line.split()[0]: line.split()[1:] for line in done.stderr.splitlines() if line.strip()}
    (forward, reverse), (forward_dropped, _) = (map(int, rows[name]) for name in ("packets", "dropped"))
    assert (stats["tx"]["packets"], stats["rx"]["packets"]) == (forward + forward_dropped, reverse), done.stderr
    assert (stats["tx"]["dropped"], stats["rx"]["dropped"]) == (0, 0), stats
    assert "oversize" not in done.stderr


@pytest.mark.parametrize(("address", "header"), [("100.64.0.2", IPV4), ("fd00::2", IPV6)], ids=["IPv4", "IPv6"])
def test_a_link_passes_the_rate_in_packets_of_the_mtu_and_counts_as_the_kernel_does(
    iperf3: str, link: Callable[..., Run], tmp_path: Path, address: str, header: int
):
    if header == IPV6:
        needs.without("ipv6")
    seen = tmp_path / "seen"
    watch = shlex.join([sys.executable, str(HOSTS), "longest", "50", "hg0"])
    # The far host sends. The near host sees its packets as they arrive.
    script = f"{watch} >{seen} & sleep 1; {iperf3} -J -t 5 -O 1 -R -c {address}; kill $!; wait $!; echo; {COUNT}"

    def share() -> float:
        done = link(f"{iperf3} -s", script)
        document, _, _ = done.stdout.rstrip().rpartition("\n")
        assert_counted(done)
        _, longest = map(int, seen.read_text().split()[1:])
        assert longest == 1500
        return received_bps(document) / (RATE * (1500 - header - TCP) / 1500)

    assert LEAST <= best(share, LEAST) <= MOST


def test_a_link_segments_the_super_packets_of_udp(link: Callable[..., Run], tmp_path: Path):
    # Nothing is dropped after a pause of a busy machine: the buffer has room for all datagrams, and the device for half
    # a second of them.
    calls, log = 25, tmp_path / "log"
    buffer = f"{calls * SEGMENTS}p"
    send, drain = (
        shlex.join([sys.executable, str(HOSTS), *role]) for role in (["blast", str(calls), "1e7"], ["drain"])
    )
    done = link(drain, f"{send}; {COUNT}", "--log", log, "--limit", buffer, qdisc="droptail")
    assert_counted(done)
    delivered = [packet.length for packet in pcapng.packets(log / "far.pcapng") if packet.interface == "far out"]
    assert delivered == [1500] * (calls * SEGMENTS)


def test_a_live_run_gives_tcp_the_rate_in_packets_of_the_mtu_and_agrees_with_the_kernel():
    skip_without_namespaces()

    def share() -> float:
        result = headgate.run(Scenario.parse(LIVE), live=True)
        assert result.live is not None
        (run,) = result.live["runs"]
        assert (run["oversize"], run["conserves"], any(run["host_losses"].values())) == (0, True, False), run
        return float(sum(result.flows["goodput_bps"].to_pylist())) / (RATE * (1500 - IPV4 - 20) / 1500)

    assert LEAST <= best(share, LEAST) <= MOST


def test_a_live_run_captures_no_packet_above_the_mtu(tmp_path: Path):
    skip_without_namespaces()
    scenario = Scenario.parse(LIVE, set=["duration=2s", "record.capture=['bottleneck']"])
    (file,) = headgate.run(scenario, live=True, out=tmp_path, report=False).captures
    lengths = [packet.length for packet in pcapng.packets(file) if packet.interface == "bottleneck near in"]
    # More than the link carries in a tenth of the time.
    assert len(lengths) > 0.1 * 2 * RATE / 8 / 1500
    assert max(lengths) == 1500
