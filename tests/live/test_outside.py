"""`headgate link --outside`: network namespaces represent this machine and another one."""

import shlex
import subprocess
from pathlib import Path

import pytest

from headgate.live.session import own_resolvers
from tests import needs
from tests.live.test_link import command, host, link

THERE = "198.51.100.2"

#: This machine, and a host outside that sends the address of its peer. Both exist before a link is made.
WORLD = f"""
ip link set lo up
ip link add here type veth peer name there
unshare -n sleep 60 & other=$!
trap 'kill $other $server 2>/dev/null' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link set there netns $other
ip address add 198.51.100.1/24 dev here
ip link set here up
nsenter -t $other -n ip address add {THERE}/24 dev there
nsenter -t $other -n ip link set there up
nsenter -t $other -n {shlex.join(host("whoami", THERE))} & server=$!
until nsenter -t $other -n ss -Hltn | grep -q :5000; do sleep 0.05; done
echo 1 > /proc/sys/net/ipv4/ip_forward
"""

LINK = shlex.join(command("--rate", "1Mbit/s", "--no-summary", "--outside", "--"))


def world(script: str) -> list[str]:
    """Runs a script in empty namespaces, and returns the lines that it printed."""
    needs.without("root", "tun", "iproute2", "util-linux")
    done = subprocess.run(
        ["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    if "cannot translate addresses" in done.stderr:
        needs.lack("nftables")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_far_end_is_the_network_of_this_machine_which_translates_addresses(tmp_path: Path):
    ask, done = shlex.join(host("ask", THERE)), tmp_path / "done"
    # Two concurrent links have separate networks, and both reach the host: the first stays until the second has ended.
    stay = shlex.quote(f"{ask}; until [ -e {done} ]; do sleep 0.05; done")
    script = f"""{WORLD}
{LINK} sh -c {stay} & first=$!
until grep -q hg0 /proc/net/dev; do sleep 0.05; done
{LINK} {ask}
touch {done}
wait $first
"""
    lines = world(script)
    addresses, seen = zip(*(line.split() for line in lines), strict=True)
    assert len(set(addresses)) == 2
    assert all(address.startswith("100.64.") for address in addresses)
    assert seen == ("198.51.100.1", "198.51.100.1"), "the outside knows this machine alone"


def test_kill_9_leaves_nothing_of_a_link_to_the_outside(tmp_path: Path):
    script = f"""
echo 1 > /proc/sys/net/ipv4/ip_forward
exec {LINK} {shlex.join(host("stay"))} > {tmp_path}/output & link=$!
until [ -s {tmp_path}/output ]; do sleep 0.05; done
grep -c hg /proc/net/dev
kill -9 $link
wait $link
grep -c hg /proc/net/dev || true
"""
    assert world(script) == ["1", "0"], "devices before and after"


def test_the_error_without_forwarding_says_how_to_enable_it():
    output, ended = world(f"{LINK} true 2>&1; echo $?")
    assert output == "error: IP forwarding is off on this machine: switch it on with `sysctl -w net.ipv4.ip_forward=1`"
    assert ended == "125"


def test_a_server_has_no_host_of_its_own_there():
    done = link("--rate", "1Mbit/s", "--outside", "--server", "true", "true")
    assert done.returncode == 2
    assert "the far host is this machine" in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nameserver 127.0.0.53\noptions edns0\n", "127.0.0.53"),
        ("nameserver ::1\nnameserver 127.0.0.1\n", "::1, 127.0.0.1"),
        ("nameserver 127.0.0.53\nnameserver 192.0.2.1\n", ""),
        ("# none\n", "127.0.0.1"),
    ],
)
def test_resolvers_that_the_near_host_cannot_reach_are_named(tmp_path: Path, text: str, expected: str):
    (tmp_path / "resolv.conf").write_text(text)
    assert own_resolvers(tmp_path / "resolv.conf") == expected
    assert own_resolvers(tmp_path / "none") == ""
