"""A signal that comes twice, as from `timeout`, ends a command as one does: also while it makes its summary."""

import signal
import subprocess
import sys

import pytest

from tests import needs
from tests.live.roads import GatewayNetwork
from tests.live.test_run import skip_without_namespaces

#: Waits for a line of its input when it makes its summary.
WAITING = """\
import sys
from headgate.__main__ import main
from headgate.live import summary

def waiting(*words):
    print("summary", flush=True)
    sys.stdin.readline()
    return table(*words)

table, summary.table = summary.table, waiting
main()
"""


def end_twice(words: list[str], begun: str, number: signal.Signals) -> tuple[int, str]:
    """Sends a command `number` after the line `begun`, and for its summary. Returns its exit code and its output."""
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as command:
        assert command.stdout is not None
        for line in (begun, "summary"):
            while line not in command.stdout.readline():
                assert command.poll() is None
            command.send_signal(number)
        output, _ = command.communicate("\n", timeout=20)
    return command.returncode, output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_gateway_prints_its_summary(number: signal.Signals):
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork() as network:
        gateway = [sys.executable, "-c", WAITING, "gateway", "--in", "in", "--out", "out", "--rate", "1Mbit/s"]
        code, output = end_twice(network.words(network.middle, *gateway), "forwarding between", number)
    assert code == 0, output
    assert output.startswith("gateway, ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
def test_a_link_has_the_exit_code_of_its_command(number: signal.Signals):
    skip_without_namespaces()
    script = "echo begun; sleep 0.5; exit 3"
    words = [sys.executable, "-c", WAITING, "link", "--rate", "1Mbit/s", "sh", "-c", script]
    code, output = end_twice(words, "begun", number)
    assert code == (3 if number in (signal.SIGINT, signal.SIGQUIT) else 128 + number)
    assert output.startswith("link, ")
