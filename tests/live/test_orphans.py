"""Commands on real packets that are ended in any way leave no process, no device and no namespace."""

import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.conftest import SMALL
from tests.live.roads import HOSTS, GatewayNetwork
from tests.live.test_run import skip_without_namespaces
from tests.storage.terminals import WAYS, Terminal, Way

HEADGATE = (sys.executable, "-m", "headgate")

#: A command with a child in a session of its own. It starts none after its line: dash loses signals while it does.
COMMAND = "setsid sleep 600 & sleep 600 & echo begun; wait"


@pytest.fixture(scope="module")
def network() -> Iterator[GatewayNetwork]:
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork() as made:
        yield made


def namespaces(command: Terminal) -> set[str]:
    """The network namespaces of all threads of a command."""
    tasks = [task for pid in command.processes() for task in Path(f"/proc/{pid}/task").iterdir()]
    return {str((task / "ns/net").readlink()) for task in tasks if task.exists()}


def check_end(command: Terminal, way: Way) -> None:
    """Ends a command, and checks that it leaves no process, and no namespace that has a name."""
    had = {re.sub(r"\D", "", name) for name in namespaces(command) - {str(Path("/proc/self/ns/net").readlink())}}
    assert had
    command.end(way)
    assert command.left() == []
    mounted = Path("/proc/self/mountinfo").read_text()
    assert not [number for number in had if f"net:[{number}]" in mounted]


# SIGQUIT to the link alone is left to the command, which does not get it.
@pytest.mark.parametrize("way", [way for way in WAYS if way.name != "SIGQUIT"], ids=lambda way: way.name)
def test_a_link_ends_its_command_with_all_descendants(tmp_path: Path, way: Way):
    skip_without_namespaces()
    server = shlex.join([sys.executable, str(HOSTS), "source", "9"])
    words = [*HEADGATE, "link", "--rate", "1Mbit/s", "--server", server, "sh", "-c", COMMAND]
    with Terminal(words, tmp_path, controlling=way.hangs_up) as command:
        command.wait_for(lambda: b"begun" in command.output)
        check_end(command, way)


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3], WAYS[5], WAYS[7]], ids=lambda way: way.name)
def test_a_live_run_that_is_ended_leaves_nothing_and_the_next_one_runs(tmp_path: Path, way: Way):
    skip_without_namespaces()
    (tmp_path / "small.toml").write_text(SMALL)
    words = [*HEADGATE, "run", "--live", "small.toml"]
    with Terminal(words, tmp_path, controlling=way.hangs_up) as command:
        command.wait_for(lambda: len(namespaces(command)) > 1)
        check_end(command, way)
        assert command.process.returncode in way.codes, command.text
    short = ["--set", "duration=200ms", "--set", "warmup=0s", "--qdisc", "droptail", "--seeds", "1", "--no-report"]
    with Terminal([*words, *short], tmp_path) as again:
        again.finish()


@pytest.mark.parametrize("way", [WAYS[1], WAYS[5], WAYS[7]], ids=lambda way: way.name)
@pytest.mark.parametrize("fail", ["closed", "open"])
def test_a_gateway_that_is_ended_leaves_its_interfaces_and_at_most_the_bridge_of_fail_open(
    network: GatewayNetwork, tmp_path: Path, way: Way, fail: str
):
    before = network.ip(network.middle, "-o", "-d", "link", "show")
    gateway = [*HEADGATE, "gateway", "--in", "in", "--out", "out", "--rate", "1Mbit/s", "--fail", fail]
    with Terminal(network.words(network.middle, *gateway), tmp_path) as command:
        command.wait_for(lambda: b"forwarding between" in command.output)
        assert len(command.processes()) == (2 if fail == "open" else 1)
        command.end(way)
        assert command.left() == []
    assert command.process.returncode == (0 if way.number == signal.SIGTERM else way.code), command.text
    if fail == "open":
        (bridge,) = re.findall(r"hgopen\d+(?=:)", network.ip(network.middle, "-o", "link", "show"))
        network.ip(network.middle, "link", "del", bridge)
    assert network.ip(network.middle, "-o", "-d", "link", "show") == before
