"""A gateway between two hosts that is abused in many ways at once: every frame is accounted for, and nothing is left.

The abuses and their order are drawn from a seed. `make abuse` runs it for ten minutes, the test for some seconds.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from tests import needs
from tests.live.gateways import GATEWAY, Gateway, Gateways, bridge_of, two_processors
from tests.live.roads import FAR, HOSTS, NEAR, GatewayNetwork

#: How the gateway is started, by what it shows.
WAYS = {"one thread": (), "a thread for each direction": ("--cpus", two_processors())}
#: For each way. The environment has the time for all.
SECONDS = float(os.environ.get("HEADGATE_ABUSE_S", "30")) / len(WAYS)
SEED = int(os.environ.get("HEADGATE_SEED", "1"))
#: A gateway that has received nothing for so long holds no frame, and its view tells so.
QUIET_S = 2.0

QDISCS = ("droptail", "fq_codel:ecn=on", "sfb", "faba", "drr", "red")


class Frames(NamedTuple):
    """Frames that came from near, left to far, came from far, left to near.

    As the interfaces counted them, and as the gateway knows of them.
    """

    interfaces: list[int]
    gateway: list[int]

    def since(self, before: Self) -> Self:
        """The frames after `before`."""
        return type(self)(*([a - b for a, b in zip(*each, strict=True)] for each in zip(self, before, strict=True)))


class Abused:
    """A gateway with a traffic of datagrams both ways, and what is done to it."""

    def __init__(
        self, roads: GatewayNetwork, gateways: Gateways, config: Path, draw: random.Random, options: Sequence[str]
    ) -> None:
        self.roads, self.config, self.draw = roads, config, draw
        self.reload_settings("20Mbit/s", "fq_codel")
        given = ("--config", config, "--metrics", "127.0.0.1:9100", "--fail", "open", *options)
        self.gateway = gateways.start(roads, *given)
        self.begun = self.counts()

    def ip(self, where: int, words: str) -> str:
        return self.roads.ip(where, *words.split())

    def reload_settings(self, rate: str, qdisc: str) -> None:
        self.config.write_text(f'rate = "{rate}"\nlimit = "200p"\nqdisc = "{qdisc}"\n')

    # What is done to it. Each waits until the gateway has noticed.

    def flap(self) -> None:
        """The cable of a host is pulled and put back."""
        name, host = self.draw.choice((("in", self.roads.near), ("out", self.roads.far)))
        self.ip(host, "link set host down")
        self.gateway.wait_for(f"note: {name} has no carrier")
        self.ip(host, "link set host up")
        self.gateway.wait_for(f"note: {name} has its carrier again")

    def rename(self) -> None:
        """An interface is renamed and gets its name back."""
        name = self.draw.choice(("in", "out"))
        for old, new in ((name, "renamed"), ("renamed", name)):
            self.ip(self.roads.middle, f"link set {old} name {new}")
            self.gateway.wait_for(f"is now called {new}")

    def flood(self) -> None:
        """A host sends more than the rate, and more than the queue holds."""
        source, target = self.draw.choice(((self.roads.near, FAR), (self.roads.far, NEAR)))
        self.roads.host(source, "blast", self.draw.randrange(20, 200), 400_000_000, target)

    def reload(self) -> None:
        """Other settings are read."""
        self.reload_settings(f"{self.draw.randrange(5, 100)}Mbit/s", self.draw.choice(QDISCS))
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_for("reloaded")

    def bad_reload(self) -> None:
        """Settings are read that cannot be used."""
        self.config.write_text(self.draw.choice(('rate = "quick"\n', "rate = \n", 'qdisc = "rde"\n', "\0")))
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_for("the settings are unchanged")

    def change_mtu(self) -> None:
        """The MTU of both interfaces is changed and changed back."""
        for mtu in (self.draw.choice((1300, 2000, 9000)), 1500):
            for name in ("in", "out"):
                self.ip(self.roads.middle, f"link set {name} mtu {mtu}")
                self.gateway.wait_for(f"{name} has an MTU of {mtu} now")

    def start_a_second(self) -> None:
        """A second gateway is started on the same interfaces."""
        pair = self.draw.choice((("in", "out"), ("out", "in")))
        words = ("timeout", 30, *GATEWAY, "--in", pair[0], "--out", pair[1], "--rate", "1Mbit/s")
        second = self.roads.words(self.roads.middle, *words)
        done = subprocess.run(second, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, "forwards)" in done.stderr) == (1, True), done.stderr

    def give_an_address(self) -> None:
        """An interface gets an address for a moment."""
        name = self.draw.choice(("in", "out"))
        for verb in ("add", "delete"):
            self.ip(self.roads.middle, f"address {verb} 192.0.2.1/32 dev {name}")
            self.gateway.wait_for("192.0.2.1")

    def kill_keeper(self) -> None:
        """The process that would join the interfaces at the end is killed. Once: afterwards there is none."""
        for pid in children(self.gateway.process.pid):
            os.kill(pid, signal.SIGKILL)
            self.gateway.wait_for("the process that joins the interfaces at the end was killed")

    ABUSES: tuple[Callable[["Abused"], None], ...] = (
        flap, rename, flood, flood, reload, bad_reload, change_mtu, start_a_second, give_an_address, kill_keeper,
    )  # fmt: skip

    def abuse(self, seconds: float) -> Counter[str]:
        """Abuses it in each way once in a drawn order, and then at random for the rest of the time."""
        done: Counter[str] = Counter()
        end = time.monotonic() + seconds
        first = list(self.ABUSES)
        self.draw.shuffle(first)
        while first or time.monotonic() < end:
            each = first.pop() if first else self.draw.choice(self.ABUSES)
            each(self)
            assert self.gateway.process.poll() is None, self.gateway.lines
            done[each.__name__] += 1
        return done

    # What became of the frames.

    def _interfaces(self) -> list[int]:
        every = json.loads(self.roads.ip(self.roads.middle, "-j", "-s", "link", "show"))
        counts = {each["ifname"]: [each["stats64"][side]["packets"] for side in ("rx", "tx")] for each in every}
        (from_near, to_near), (from_far, to_far) = counts["in"], counts["out"]
        return [from_near, to_far, from_far, to_near]

    def counts(self) -> Frames:
        """All counts at one moment, once no frame comes and the gateway holds none."""
        words = (sys.executable, "-m", "headgate", "top", "gateway", "--once", "--json")
        while True:
            before = self._interfaces()
            time.sleep(QUIET_S)
            view = json.loads(self.roads.run(self.roads.near, *words))["view"]
            if before == self._interfaces():
                return Frames(before, known(view["forward"]) + known(view["reverse"]))


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def known(view: Mapping[str, Any]) -> list[int]:
    """The frames of a direction that a gateway knows to have arrived, and to have been sent."""
    outside = view["no_slot"] + view["kernel_dropped"] + sum(count for _, count in view["discarded"])
    arrived = view["sent"] + sum(view["drops"].values()) + outside
    return [arrived, view["sent"] - view["lost"] - view["refused"]]


def state(roads: GatewayNetwork, folder: Path) -> list[Any]:
    """All that a gateway could leave behind: interfaces, addresses, sockets, files."""
    links = json.loads(roads.ip(roads.middle, "-j", "-d", "link", "show"))
    keys = ("ifname", "ifindex", "mtu", "master", "flags", "promiscuity", "address", "xdp")
    held = roads.run(roads.middle, "cat", "/proc/net/unix").count("headgate-gateway")
    addresses = [each["addr_info"] for each in json.loads(roads.ip(roads.middle, "-j", "address", "show"))]
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir())
    return [[{key: link.get(key) for key in keys} for link in links], addresses, held, files]


@pytest.fixture
def roads() -> Iterator[GatewayNetwork]:
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork(seconds=round(SECONDS) + 120) as made:
        yield made


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_after_all_abuse_every_frame_is_accounted_for_and_nothing_is_left(
    roads: GatewayNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str]
):
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))
    before = state(roads, run)
    with Gateways() as gateways:
        abused = Abused(roads, gateways, tmp_path / "gateway.toml", random.Random(SEED), options)
        ends = ((roads.near, FAR), (roads.far, NEAR))
        streams = [roads.start(host, sys.executable, HOSTS, "stream", SECONDS + 60, to) for host, to in ends]
        try:
            done = abused.abuse(SECONDS)
        finally:
            for stream in streams:
                stream.kill()
                stream.communicate()
        frames = abused.counts().since(abused.begun)
        print(f"{SECONDS:g} s of abuse, seed {SEED}: {dict(done)}; {frames}")
        assert frames.gateway == frames.interfaces
        assert min(frames.interfaces[0], frames.interfaces[2]) > 200 * SECONDS
        summary = abused.gateway.end()
    assert "in and out are not joined: the process that joins them was killed" in summary
    (bridge,) = [link["ifname"] for link in json.loads(roads.ip(roads.middle, "-j", "link", "show", "type", "bridge"))]
    assert f"ip link del {bridge}" in summary
    assert (bridge_of(roads, "in"), bridge_of(roads, "out")) == (None, None)
    roads.ip(roads.middle, "link", "delete", bridge)
    assert state(roads, run) == before


def test_the_keeper_is_missed_at_once_and_the_next_gateway_brings_another(
    roads: GatewayNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with Gateways() as gateways:
        first: Gateway = gateways.start(roads, "--rate", "1Mbit/s", "--fail", "open")
        (keeper,) = children(first.process.pid)
        os.kill(keeper, signal.SIGKILL)
        first.wait_for("was killed, so they will not be joined: restart the gateway")
        first.end()
        second = gateways.start(roads, "--rate", "1Mbit/s", "--fail", "open")
        assert "in and out are joined by the bridge" in second.end()
    assert bridge_of(roads, "in") == bridge_of(roads, "out") is not None
