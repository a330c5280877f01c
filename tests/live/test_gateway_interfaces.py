"""A gateway whose interfaces change while it runs: names, addresses, bridges, MTUs, carriers, and other gateways."""

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.live.gateways import GATEWAY, Gateway, bridge_of, exchanged, wait_for_bridge
from tests.live.roads import GatewayNetwork

#: Options of most tests: shaped, but faster than anything that they send.
RATE = ("--rate", "50Mbit/s")


@pytest.fixture
def roads() -> Iterator[GatewayNetwork]:
    """A network of its own for each test, with a third interface `card` and its peer `outside` in the middle."""
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork() as made:
        middle(made, "link add card type veth peer name outside")
        for name in ("card", "outside"):
            middle(made, f"link set {name} addrgenmode none up")
        yield made


def middle(roads: GatewayNetwork, words: str) -> str:
    """Runs `ip` on the machine with the gateway."""
    return roads.ip(roads.middle, *words.split())


def bridges(roads: GatewayNetwork) -> list[str]:
    """The bridges of the machine with the gateway."""
    return [each["ifname"] for each in json.loads(middle(roads, "-j link show type bridge"))]


def answered(roads: GatewayNetwork, size: int, count: int = 20) -> int:
    """How many of `count` packets of `size` bytes cross the gateway both ways."""
    echo = roads.serve("echo")
    try:
        return int(roads.host(roads.near, "answers", size, count))
    finally:
        echo.kill()
        echo.communicate()


def kill(gateway: Gateway) -> str:
    """Kills a gateway by signal 9, and returns what it and its child printed until both had ended."""
    gateway.process.kill()
    return gateway.process.communicate(timeout=20)[1]


def set_mtu(roads: GatewayNetwork, mtu: int, *names: str) -> None:
    for name in names:
        middle(roads, f"link set {name} mtu {mtu}")


# Names.


def test_a_renamed_interface_is_still_forwarded_and_only_its_number_is_bridged(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE, "--fail", "open")
    middle(roads, "link set in name was_in")
    middle(roads, "link set card name in")
    assert "note: in is now called was_in" in running.wait_for("was_in")
    assert exchanged(roads)
    kill(running)
    wait_for_bridge(roads, "was_in", "out")
    assert bridge_of(roads, "was_in") == bridge_of(roads, "out")
    assert bridge_of(roads, "in") is None, "another network card was joined to the inside"
    assert exchanged(roads)


def test_interfaces_that_exchange_their_names_stay_the_same_interfaces(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway("--forward-rate", "50Mbit/s", "--fail", "open")
    for old, new in (("in", "aside"), ("out", "in"), ("aside", "out")):
        middle(roads, f"link set {old} name {new}")
    assert exchanged(roads)
    summary = running.end()
    assert re.search(r"^out and in are joined by the bridge hgopen\d+", summary, re.MULTILINE), summary
    assert bridge_of(roads, "in") == bridge_of(roads, "out") is not None
    assert exchanged(roads)


def test_a_bridge_that_was_renamed_is_still_the_bridge(roads: GatewayNetwork, gateway: Callable[..., Gateway]):
    running = gateway(*RATE, "--fail", "open")
    (name,) = bridges(roads)
    middle(roads, f"link set {name} name elsewhere")
    middle(roads, f"link add {name} type bridge")
    kill(running)
    wait_for_bridge(roads)
    assert bridge_of(roads, "in") == bridge_of(roads, "out") == "elsewhere"


def test_a_reload_may_name_the_interfaces_as_they_are_called_now(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], tmp_path: Path
):
    config = tmp_path / "gateway.toml"
    config.write_text('in = "in"\nout = "out"\nrate = "50Mbit/s"\n')
    running = gateway("--config", config, named=False)
    middle(roads, "link set in name was_in")
    config.write_text('in = "was_in"\nout = "out"\nrate = "40Mbit/s"\n')
    running.send_signal(signal.SIGHUP)
    running.wait_for("reloaded")
    config.write_text('in = "card"\nout = "out"\nrate = "40Mbit/s"\n')
    running.send_signal(signal.SIGHUP)
    assert "cannot change while the gateway runs" in running.wait_for("error:")


# Interfaces that disappear.


@pytest.mark.parametrize("gone", ["in", "out"])
def test_without_one_of_its_interfaces_no_half_bridge_stays(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], gone: str
):
    other = {"in": "out", "out": "in"}[gone]
    running = gateway(*RATE, "--fail", "open")
    middle(roads, f"link delete {gone}")
    _, output = running.process.communicate(timeout=20)
    assert running.process.returncode == 1
    assert f"error: the gateway failed: {gone} is gone" in output
    assert f"error: --fail open: in and out are not joined: {gone} is gone" in output
    assert (bridges(roads), bridge_of(roads, other)) == ([], None)


def test_a_new_interface_with_the_name_and_the_number_of_a_deleted_one_is_not_joined(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE, "--fail", "open")
    (before,) = json.loads(middle(roads, "-j link show in"))
    # A gateway that stands still notices nothing.
    running.send_signal(signal.SIGSTOP)
    middle(roads, "link delete in")
    middle(roads, f"link add in index {before['ifindex']} type veth peer name other_end")
    middle(roads, "link set in up")
    assert "in and out are not joined: in is gone" in kill(running)
    assert (bridges(roads), bridge_of(roads, "in"), bridge_of(roads, "out")) == ([], None, None)


def test_a_port_of_another_bridge_stays_there_and_nothing_is_joined(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE, "--fail", "open")
    middle(roads, "link add mine type bridge")
    middle(roads, "link set out master mine")
    running.wait_for("out belongs to mine")
    assert "in and out are not joined: out belongs to mine" in kill(running)
    assert (bridges(roads), bridge_of(roads, "in"), bridge_of(roads, "out")) == (["mine"], None, "mine")


def test_a_bridge_with_a_port_of_somebody_else_is_refused(roads: GatewayNetwork):
    (found,) = json.loads(middle(roads, "-j link show in"))
    bridge = f"hgopen{found['ifindex']}"
    middle(roads, f"link add {bridge} type bridge")
    middle(roads, f"link set card master {bridge}")
    done = run(roads, "in", "out", "--fail", "open")
    assert done.returncode == 1
    assert f"({bridge}" in done.stderr
    assert bridge_of(roads, "card") == bridge


# Changes that are reported.


def test_an_address_and_a_bridge_are_reported_at_once_and_when_they_are_gone(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE)
    middle(roads, "address add 192.0.2.1/24 dev in")
    assert "warning: in has the address 192.0.2.1, and the kernel would answer" in running.wait_for("192.0.2.1")
    middle(roads, "address add 2001:db8::1/64 dev out")
    assert running.wait_for("2001:db8::1").startswith("warning: out has the address")
    middle(roads, "address delete 192.0.2.1/24 dev in")
    running.wait_for("note: in no longer has the address 192.0.2.1")
    middle(roads, "link add mine type bridge")
    middle(roads, "link set in master mine")
    assert "warning: in belongs to mine, which would forward too" in running.wait_for("mine")
    middle(roads, "link set in nomaster")
    running.wait_for("note: in no longer belongs to mine")
    assert exchanged(roads)
    assert running.lines == list(dict.fromkeys(running.lines)), "a change was reported twice"


def test_a_carrier_that_comes_and_goes_is_reported_and_frames_pass_afterwards(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE, "--fail", "open")
    for _ in range(3):
        roads.ip(roads.far, "link", "set", "host", "down")
        running.wait_for("note: out has no carrier")
        roads.ip(roads.far, "link", "set", "host", "up")
        running.wait_for("note: out has its carrier again")
    assert exchanged(roads)
    assert bridge_of(roads, "out") is None
    running.end()


# MTU.


@pytest.mark.parametrize("mtu", [2000, 3500, 9000])
def test_after_the_mtu_was_raised_longer_frames_pass_the_gateway_and_then_its_bridge(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], mtu: int
):
    running = gateway(*RATE, "--fail", "open")
    for host in (roads.near, roads.far):
        roads.ip(host, "link", "set", "host", "mtu", str(mtu))
    set_mtu(roads, mtu, "in")
    text = f"warning: in has an MTU of {mtu}, out of 1500: longer packets would be lost"
    assert text in running.wait_for("longer packets")
    set_mtu(roads, mtu, "out")
    running.wait_for(f"out has an MTU of {mtu} now, before 1500")
    assert answered(roads, mtu) == 20
    assert answered(roads, 1500) == 20
    assert "oversize" not in "".join(running.lines)
    kill(running)
    wait_for_bridge(roads)
    assert answered(roads, mtu) == 20


def test_after_the_mtu_was_lowered_longer_frames_are_counted_and_shorter_ones_pass(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    running = gateway(*RATE)
    assert answered(roads, 1500) == 20
    set_mtu(roads, 1300, "out")
    running.wait_for("out has an MTU of 1300 now, before 1500")
    assert answered(roads, 1500, 5) == 0
    assert answered(roads, 1300) == 20
    set_mtu(roads, 1300, "in")
    running.wait_for("in has an MTU of 1300 now")
    assert answered(roads, 1300) == 20
    set_mtu(roads, 1500, "in", "out")
    running.wait_for("out has an MTU of 1500 now")
    assert answered(roads, 1500) == 20
    assert "note: forward: 5 packets were refused" in running.end()


def test_a_reload_keeps_the_frames_as_long_as_the_mtu_that_was_raised(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], tmp_path: Path
):
    config = tmp_path / "gateway.toml"
    config.write_text('rate = "50Mbit/s"\nlimit = "100p"\n')
    running = gateway("--config", config)
    for host in (roads.near, roads.far):
        roads.ip(host, "link", "set", "host", "mtu", "9000")
    set_mtu(roads, 9000, "in", "out")
    running.wait_for("out has an MTU of 9000 now")
    config.write_text('rate = "40Mbit/s"\nlimit = "5000p"\nqdisc = "fq_codel"\n')
    running.send_signal(signal.SIGHUP)
    running.wait_for("reloaded")
    assert answered(roads, 9000) == 20


# Two gateways.


def run(roads: GatewayNetwork, near: str, far: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """A gateway that ends by itself, or is ended after 30 s."""
    words = roads.words(roads.middle, "timeout", 30, *GATEWAY, "--in", near, "--out", far, *RATE, *options)
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("pair", "held"),
    [(("in", "out"), "in"), (("out", "in"), "in"), (("in", "card"), "in"), (("card", "out"), "out")],
)
@pytest.mark.parametrize("fail", ["closed", "open"])
def test_a_second_gateway_on_an_interface_is_refused_and_changes_nothing(
    roads: GatewayNetwork, gateway: Callable[..., Gateway], pair: tuple[str, str], held: str, fail: str
):
    running = gateway(*RATE, "--fail", "open")
    before = middle(roads, "link show")
    done = run(roads, *pair, "--send", "packet", "--fail", fail)
    assert done.returncode == 1, done.stderr
    assert f"({held}, which process {running.process.pid} forwards)" in done.stderr
    assert "Two gateways on one interface would forward each frame twice" in " ".join(done.stderr.split())
    assert middle(roads, "link show") == before
    assert exchanged(roads)
    kill(running)
    wait_for_bridge(roads)


def test_an_interface_is_free_again_when_its_gateway_has_ended_and_in_another_namespace(
    roads: GatewayNetwork, gateway: Callable[..., Gateway]
):
    first = gateway(*RATE, "--fail", "open")
    with GatewayNetwork() as other:
        # The same names, and the same numbers.
        assert exchanged_by(gateway(*RATE, where=other), other)
    kill(first)
    # The child of a killed gateway joins the interfaces before another gateway parts them.
    second = gateway(*RATE)
    assert any("the bridge of an earlier gateway joined the interfaces" in line for line in second.lines)
    assert bridges(roads) == []
    second.end()
    gateway(*RATE)


def exchanged_by(_running: Gateway, roads: GatewayNetwork) -> bool:
    return exchanged(roads)


def test_a_stranger_that_holds_an_interface_is_named(roads: GatewayNetwork):
    (found,) = json.loads(middle(roads, "-j link show in"))
    script = f"""
import socket, sys
held = socket.socket(socket.AF_UNIX)
held.bind("\\0headgate-gateway-{found["ifindex"]}")
print("held", flush=True)
sys.stdin.read()
"""
    words = ["python3", "-c", script]
    stranger = roads.start(roads.middle, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == "held\n"
        done = run(roads, "in", "out")
    finally:
        stranger.kill()
        stranger.communicate()
    assert done.returncode == 1
    assert "(in, which an unknown process forwards)" in done.stderr
