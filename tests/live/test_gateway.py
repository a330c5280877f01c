"""`headgate gateway` between veth pairs. Tests need Linux and root, and are skipped otherwise."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UsageError
from headgate.live import gateway_settings
from tests import needs
from tests.live.gateways import GATEWAY, Gateway, bridge_of, exchanged, two_processors, wait_for_bridge
from tests.live.rates import best
from tests.live.roads import FAR, FAR6, HOSTS, GatewayNetwork

#: Data in a packet of 1500 bytes with IPv4, TCP and timestamps. Its frame has 1514 bytes.
TCP_SHARE = 1448 / 1514

#: Prints the metrics.
SCRAPE = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9100/metrics').read().decode())"


@pytest.fixture(scope="module")
def roads() -> Iterator[GatewayNetwork]:
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork() as made:
        yield made


def transfer(roads: GatewayNetwork, size: int, address: str = FAR) -> float:
    """The rate in bit/s of a transfer of `size` bytes from far to near, without its first piece."""
    serving = roads.serve("source", size, "x", address)
    try:
        received, seconds, _ = roads.host(roads.near, "fetch", address).split()
    finally:
        serving.kill()
        serving.communicate()
    return int(received) * 8 / float(seconds)


def over(rate: Callable[[], float], most: float) -> float:
    """A measured rate over the greatest that it can be."""
    return rate() / most


def test_tcp_gets_the_rate_and_after_a_reload_the_new_rate(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], tmp_path: Path
):
    config = tmp_path / "gateway.toml"
    config.write_text('rate = "20Mbit/s"\nlimit = "100p"\nqdisc = "droptail"\n')
    running = gateway("--config", config, "--metrics", "127.0.0.1:9100")
    assert [roads.promiscuity(name) for name in ("in", "out")] == [1, 1]
    # The first window, 10 of 1000 packets, arrives before the link is full.
    assert 0.9 <= best(lambda: transfer(roads, 1_500_000) / (20e6 * TCP_SHARE), 0.9) < 1.03
    config.write_text('rate = "20Mbit/s"\nreverse-rate = "5Mbit/s"\nqdisc = "faba"\n')
    running.send_signal(signal.SIGHUP)
    running.wait_for("reloaded")
    assert 0.9 <= best(lambda: transfer(roads, 400_000) / (5e6 * TCP_SHARE), 0.9) < 1.03
    shown = json.loads(roads.run(roads.near, sys.executable, "-m", "headgate", "top", "gateway", "--once", "--json"))
    assert (shown["pid"], shown["what"]) == (running.process.pid, "in - out")
    flows = [flow for flow in shown["view"]["reverse"]["flows"] if flow["source_port"] == 5000]
    assert sum(flow["sent_bytes"] for flow in flows) >= 1_900_000
    assert not {"unresponsive", "monitored"} & {flow["verdict"] for flow in flows}
    text = roads.run(roads.middle, sys.executable, "-c", SCRAPE)
    (sent,) = re.findall(r'^headgate_sent_bytes_total\{direction="reverse"\} (\S+)$', text, re.MULTILINE)
    assert float(sent) >= 1_900_000
    config.write_text('rate = "20Mbit/s"\nqdsic = "faba"\n')
    running.send_signal(signal.SIGHUP)
    assert "unknown key `qdsic`; did you mean `qdisc`?" in running.wait_for("error:")
    running.wait_for("the settings are unchanged")
    summary = running.end()
    packets = next(line.split() for line in summary.splitlines() if line.startswith("packets"))
    assert int(packets[2]) >= 1_900_000 / 1448, summary
    assert not re.search("note: .*(dropped|refused|oversize)", summary), summary
    assert [roads.promiscuity(name) for name in ("in", "out")] == [0, 0]


def test_datagrams_cross_both_ways_and_kill_9_leaves_nothing(roads: GatewayNetwork, gateway: Callable[..., Gateway]):
    running = gateway("--forward-rate", "1Mbit/s", "--delay", "4ms")
    echo = roads.serve("echo")
    try:
        least = float(roads.host(roads.near, "ping", 10))
    finally:
        echo.kill()
        echo.communicate()
    # 4 ms each way, and 114 bytes at 1 Mbit/s; the reverse direction is not shaped. A busy machine adds to it, but less
    # to the least of ten than a delay that is applied twice.
    assert 8.9 <= least < 2 * 8.9
    running.process.kill()
    running.process.wait()
    assert [roads.promiscuity(name) for name in ("in", "out")] == [0, 0]
    fresh = gateway("--rate", "1Mbit/s")
    # Nor does the send queue of AF_XDP stay.
    assert not any("AF_XDP" in line for line in fresh.lines)
    assert "gateway, " in fresh.end(signal.SIGINT)


def threads_of(pid: int) -> dict[str, dict[str, str]]:
    """What the kernel tells of the threads of a process, by the threads' names."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    rows = [(task / "status").read_text().splitlines() for task in tasks]
    found = [dict(line.split(":\t", 1) for line in lines if ":\t" in line) for lines in rows]
    return {each["Name"]: each for each in found}


def test_each_direction_has_a_thread_that_keeps_to_its_processor(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    first, last = two_processors().split(",")
    running = gateway("--rate", "20Mbit/s", "--limit", "100p", "--cpus", f"{first},{last}")
    threads = threads_of(running.process.pid)
    assert [threads[name]["Cpus_allowed_list"] for name in ("forward", "reverse")] == [first, last]
    assert "gateway" not in threads
    assert 0.9 <= best(lambda: transfer(roads, 1_500_000) / (20e6 * TCP_SHARE), 0.9) < 1.03
    shown = json.loads(roads.run(roads.near, sys.executable, "-m", "headgate", "top", "gateway", "--once", "--json"))
    # Acknowledgements in one direction, segments in the other.
    forward, reverse = (shown["view"][direction]["sent_bytes"] for direction in ("forward", "reverse"))
    assert 0 < forward < 1_500_000 < reverse
    running.end()


def test_busy_polling_never_sleeps_and_lets_others_have_the_processor(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    processor = two_processors().split(",")[0]
    slept = {}
    for options in ((), ("--busy-poll",)):
        running = gateway("--rate", "20Mbit/s", "--limit", "100p", "--cpus", processor, *options)

        def sleeps(pid: int = running.process.pid) -> int:
            return int(threads_of(pid)["gateway"]["voluntary_ctxt_switches"])

        before = sleeps()
        time.sleep(1)
        slept[options] = sleeps() - before
        assert threads_of(running.process.pid)["gateway"]["Cpus_allowed_list"] == processor
        # The hosts have the other processors, or a share of this one.
        assert 0.9 <= best(lambda: transfer(roads, 1_500_000) / (20e6 * TCP_SHARE), 0.9) < 1.03
        running.end()
    # A thread that sleeps publishes a view every 50 ms; a lock or a page may hold up one that does not.
    assert slept[("--busy-poll",)] < 5 < slept[()]


def test_with_all_offloads_on_tcp_gets_the_rate_in_packets_of_the_mtu(gateway: Callable[..., Gateway]):
    with GatewayNetwork(offloads=True) as roads:
        running = gateway("--rate", "100Mbit/s", "--qdisc", "fq_codel", where=roads)
        seconds, size = 8, 12_000_000
        watching = roads.start(roads.near, sys.executable, HOSTS, "longest", seconds, "host", stdout=subprocess.PIPE)
        assert watching.stdout is not None
        assert watching.stdout.readline() == "listening\n"
        # Data in a frame of 1514 bytes: 40 bytes of IPv6, 20 of IPv4, 32 of TCP with timestamps.
        for address, header in ((FAR, 20), (FAR6, 40)):
            most = 100e6 * (1500 - header - 32) / 1514
            rate = partial(transfer, roads, 12_000_000, address)
            assert 0.9 <= best(partial(over, rate, most), 0.9) < 1.02
        output, _ = watching.communicate(timeout=20)
        frames, longest = map(int, output.split())
        assert frames > size / 1448, "a program may miss some of twice as many"
        assert longest == 1514
        (near,) = json.loads(roads.ip(roads.near, "-j", "-s", "link", "show", "host"))
        summary = running.end()
    packets = next(line.split() for line in summary.splitlines() if line.startswith("packets"))
    received = near["stats64"]["rx"]["packets"]
    # Hosts ask for each other's address now and then.
    assert received <= int(packets[2]) <= received + 4
    assert "super-packets were segmented" in summary
    assert not any("warning" in line for line in running.lines), running.lines
    assert "warning" not in summary


def test_a_thousand_slow_readers_of_the_metrics_do_not_slow_the_gateway(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway("--rate", "50Mbit/s", "--metrics", "9100")
    alone, attacked = [transfer(roads, 6_000_000)], []
    slow = roads.start(roads.middle, sys.executable, HOSTS, "drip", 1000, "127.0.0.1", 9100, stdout=subprocess.PIPE)
    try:
        assert slow.stdout is not None
        assert slow.stdout.readline() == "open\n"
        for _ in range(2):
            attacked.append(transfer(roads, 6_000_000))
        assert "headgate_build_info" in roads.run(roads.middle, sys.executable, "-c", SCRAPE)
        assert slow.poll() is None
    finally:
        slow.kill()
        slow.communicate()
    alone.append(transfer(roads, 6_000_000))
    assert max(attacked) >= 0.95 * max(alone)
    assert "Traceback" not in running.end()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ("--in", "in", "--out", "out", "--metrics", "192.0.2.7:9100"),
            2,
            "--metrics 192.0.2.7:9100: cannot listen there",
        ),
        (("--in", "in", "--out", "out", "--metrics", ":9100"), 2, "--metrics :9100: expected PORT or HOST:PORT"),
        (("--in", "inn", "--out", "out"), 2, 'there is no interface "inn"; did you mean in? There are: '),
        (("--in", "in", "--out", "in"), 2, "in and out are both in"),
        (("--in", "in", "--out", "lo"), 2, "lo is no Ethernet interface"),
        (("--in", "in", "--out", "dark"), 2, "dark is down: ip link set dark up"),
        (("--in", "in", "--out", "taken"), 2, "taken has the address 192.0.2.1, and the kernel would answer for it"),
        (("--in", "in", "--out", "long"), 2, "in has an MTU of 1500, long of 9000: longer packets would be lost"),
    ],
)
def test_unsuitable_interfaces_are_refused_with_the_remedy(
    roads: GatewayNetwork, arguments: tuple[str, ...], code: int, expected: str
):
    if "dark" not in roads.ip(roads.middle, "link"):
        for one, other in (("dark", "taken"), ("long", "other")):
            roads.ip(roads.middle, "link", "add", one, "type", "veth", "peer", "name", other)
        roads.ip(roads.middle, "link", "set", "taken", "up")
        roads.ip(roads.middle, "address", "add", "192.0.2.1/24", "dev", "taken")
        roads.ip(roads.middle, "link", "set", "long", "mtu", "9000", "addrgenmode", "none", "up")
    words = roads.words(roads.middle, *GATEWAY, "--rate", "1Mbit/s", *arguments)
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gateway_that_fails_open_leaves_a_bridge_and_the_next_one_takes_over(gateway: Callable[..., Gateway]):
    with GatewayNetwork() as roads:
        running = gateway("--rate", "10Mbit/s", "--fail", "open", where=roads)
        assert exchanged(roads)
        assert bridge_of(roads, "in") is None
        running.process.kill()
        running.process.communicate()
        wait_for_bridge(roads)
        assert exchanged(roads)
        second = gateway("--rate", "10Mbit/s", "--fail", "open", where=roads)
        assert "note: the bridge of an earlier gateway joined the interfaces; they are parted\n" in second.lines
        assert bridge_of(roads, "in") is bridge_of(roads, "out") is None
        assert exchanged(roads)
        ended = second.end()
        name = bridge_of(roads, "in")
        assert f"in and out are joined by the bridge {name}; to part them: ip link del {name}" in ended
        assert exchanged(roads)
        roads.ip(roads.middle, "link", "del", str(name))
        assert not exchanged(roads)


def test_a_gateway_that_fails_closed_passes_nothing_afterwards(gateway: Callable[..., Gateway]):
    with GatewayNetwork() as roads:
        running = gateway("--rate", "10Mbit/s", where=roads)
        assert exchanged(roads)
        running.process.kill()
        running.process.communicate()
        assert not exchanged(roads)
        assert bridge_of(roads, "in") is None


def test_interfaces_that_were_never_joined_are_not_bridged(roads: GatewayNetwork):
    roads.ip(roads.middle, "link", "add", "own", "type", "veth", "peer", "name", "other2")
    roads.ip(roads.middle, "link", "set", "own", "up")
    roads.ip(roads.middle, "address", "add", "192.0.2.9/24", "dev", "own")
    words = roads.words(roads.middle, *GATEWAY, "--in", "in", "--out", "own", "--rate", "1Mbit/s", "--fail", "open")
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2, done.stderr
    assert "own has the address 192.0.2.9" in done.stderr
    assert bridge_of(roads, "in") is bridge_of(roads, "own") is None


def test_reloads_under_load_lose_no_packet(roads: GatewayNetwork, gateway: Callable[..., Gateway], tmp_path: Path):
    config = tmp_path / "gateway.toml"
    shapes = zip((200, 300, 250, 400), ("droptail", "fq_codel:ecn=on", "drr", "sfb"), strict=True)
    settings = [f'rate = "{rate}Mbit/s"\nlimit = "20000p"\nqdisc = "{qdisc}"\n' for rate, qdisc in shapes]
    config.write_text(settings[0])
    running = gateway("--config", config)
    receiving = roads.serve("count", stdout=subprocess.PIPE)
    sending = roads.start(roads.near, sys.executable, HOSTS, "flood", 40_000, stdout=subprocess.PIPE)
    try:
        for number in range(12):
            config.write_text(settings[number % len(settings)])
            running.send_signal(signal.SIGHUP)
            running.wait_for("reloaded")
        assert sending.poll() is None, "the reloads did not happen under load"
        assert sending.wait(timeout=60) == 0
        output, _ = receiving.communicate(timeout=60)
    finally:
        for process in (sending, receiving):
            process.kill()
            process.communicate()
    assert int(output) == 40_000
    summary = running.end()
    assert not re.search("(note|warning): .*(dropped|refused)", summary + "".join(running.lines)), summary


def test_the_service_manager_is_told_of_start_life_reload_and_end(
    gateway: Callable[..., Gateway], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "gateway.toml"
    config.write_text('rate = "1Mbit/s"\n')
    told: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))

        def wait_for(message: str) -> None:
            while True:
                told.append(manager.recv(4096).decode())
                if told[-1].startswith(message):
                    return

        running = gateway("--config", config)
        wait_for("READY=1")
        for _ in range(2):
            wait_for("WATCHDOG=1")
        running.send_signal(signal.SIGHUP)
        wait_for("RELOADING=1\nMONOTONIC_USEC=")
        wait_for("READY=1")
        running.end()
        wait_for("STOPPING=1")
    assert told[0] == "READY=1"


@pytest.mark.parametrize(
    ("change", "message"),
    [(("delete", "in"), "in is gone"), (("set", "out", "down"), "out is down")],
)
def test_a_removed_interface_ends_the_gateway_at_once_with_its_summary_and_an_error(
    gateway: Callable[..., Gateway], change: tuple[str, ...], message: str
):
    with GatewayNetwork() as roads:
        running = gateway("--rate", "1Mbit/s", where=roads)
        # The gateway notices even without a packet.
        roads.ip(roads.middle, "link", *change)
        _, output = running.process.communicate(timeout=20)
        assert running.process.returncode == 1
        assert "gateway, " in output
        assert output.splitlines()[-1] == f"error: the gateway failed: {message}"


BOTH = {"in": "eth1", "out": "eth0"}


def test_a_direction_without_a_rate_passes_packets_at_once():
    result = gateway_settings.settings(
        {**BOTH, "forward-rate": "1Mbit/s", "qdisc": "sfb", "limit": "7p", "overhead": 24}
    )
    assert (result.forward.rate_bps, result.forward.qdiscs) == (1e6, ["sfb"])
    overheads = [tomllib.loads(each.to_toml())["link"]["overhead"] for each in (result.forward, result.reverse)]
    assert overheads == ["24B", "raw"]
    assert result.reverse.rate_bps == 100e9
    assert result.reverse.qdiscs == ["droptail"]
    assert result.send == "auto"


def test_classes_of_options_and_of_a_file_are_those_of_scenarios(tmp_path: Path):
    spec = ["voice:dscp=ef,weight=3", "web:protocol=tcp,destination_port=80,destination_port=443", "rest"]
    from_options = gateway_settings.settings({**BOTH, "rate": "1Mbit/s", "class": spec, "flow": "source"})
    config = tmp_path / "gateway.toml"
    config.write_text(
        'rate = "1Mbit/s"\nflow = "source"\nin = "eth1"\nout = "eth0"\n'
        '[[class]]\nname = "voice"\ndscp = "ef"\nweight = 3\n'
        '[[class]]\nname = "web"\nprotocol = "tcp"\ndestination_port = [80, 443]\n[[class]]\nname = "rest"\n'
    )
    read = gateway_settings.load({}, config)
    assert from_options.forward.to_toml() == read.forward.to_toml()
    assert "destination_port = [80, 443]" in read.forward.to_toml()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"in": "eth1", "rate": "1Mbit/s"}, "the interfaces are missing"),
        (BOTH, "the rate is missing"),
        (
            {**BOTH, "forward-rate": "1Mbit/s", "reverse-qdisc": "sfb"},
            "has no effect without a rate: give --reverse-rate",
        ),
        ({**BOTH, "rate": "quick"}, "`--rate`: expected a rate"),
        ({**BOTH, "rate": True}, "`rate`: expected a text, found True"),
        ({**BOTH, "rate": "1Mbit/s", "seed": "one"}, "`seed`: expected a whole number"),
        ({**BOTH, "rate": "1Mbit/s", "send": "xpd"}, "expected auto, packet, xdp, found 'xpd'; did you mean xdp?"),
        (
            {**BOTH, "rate": "1Mbit/s", "fail": "opne"},
            "`fail`: expected closed, open, found 'opne'; did you mean open?",
        ),
        ({**BOTH, "rate": "1Mbit/s", "class": ["voice:dscp"]}, "expected NAME:KEY=VALUE,KEY=VALUE, found 'dscp'"),
        ({**BOTH, "rate": "1Mbit/s", "class": ["voice:dcsp=ef"]}, "dcsp"),
        ({**BOTH, "rate": "1Mbit/s", "class": ["voice:label=tcp"]}, "real packets have none"),
        ({**BOTH, "rate": "1Mbit/s", "class": "voice"}, "expected tables headed [[class]]"),
        ({**BOTH, "rate": "1Mbit/s", "flow": "sauce"}, "sauce"),
    ],
)
def test_settings_that_cannot_be_used_are_named(options: dict[str, Any], expected: str):
    with pytest.raises(UsageError, match=re.escape(expected)):
        gateway_settings.settings(options)


def test_up_and_down_are_other_names_of_forward_and_reverse(tmp_path: Path):
    config = tmp_path / "gateway.toml"
    config.write_text('up-rate = "1Mbit/s"\nreverse-rate = "2Mbit/s"\ndown-delay = "3ms"\n')
    result = gateway_settings.load({**BOTH}, config)
    assert (result.forward.rate_bps, result.reverse.rate_bps) == (1e6, 2e6)
    assert 'delay = "3ms"' in result.reverse.to_toml()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'up-rate = "1Mbit/s"\nforward-rate = "2Mbit/s"\n',
            "`forward-rate` and `up-rate` are names of one key: keep `forward-rate`",
        ),
        ('rat = "1Mbit/s"\n', "unknown key `rat`; did you mean `rate`?"),
        ("rate = \n", "is not TOML: "),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str | None, expected: str):
    config = tmp_path / "gateway.toml"
    if text is not None:
        config.write_text(text)
    with pytest.raises(UsageError, match=re.escape(f"{config}: {expected}")):
        gateway_settings.load({**BOTH}, config)
