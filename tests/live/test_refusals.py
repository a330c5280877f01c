"""Real refusals of the system: each ends a command with thing, purpose and remedy, and leaves nothing behind.

`crates/live/src/refusals.rs` refuses every request of the table; these tests refuse system calls to the real commands.
"""

import errno
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from headgate import _core
from tests import needs
from tests.live import refused
from tests.live.refused import DEVICE, USER, Case, Refusal

LINK = [sys.executable, "-m", "headgate", "link", "--rate", "1Mbit/s", "--no-summary"]
GATEWAY = [sys.executable, "-m", "headgate", "gateway", "--in", "in", "--out", "out", "--rate", "10Mbit/s"]

#: Two interfaces for a gateway, whose peers are in the same network.
INTERFACES = """
ip link add in type veth peer name near
ip link add out type veth peer name far
for name in in out near far; do ip link set $name addrgenmode none up; done
"""

FORWARDING = "echo 1 > /proc/sys/net/ipv4/ip_forward"

AF_UNIX, AF_INET, AF_NETLINK, AF_PACKET, AF_XDP = 1, 2, 16, 17, 44
SOCK_STREAM_FLAGS = 0x80801  # with SOCK_NONBLOCK and SOCK_CLOEXEC
NETLINK_NETFILTER = 12
SOL_SOCKET, SOL_TCP, SOL_PACKET = 1, 6, 263
SO_SNDBUFFORCE, TCP_CONGESTION = 32, 13
TUNSETIFF, SIOCGIFINDEX, SIOCSIFFLAGS = 0x400454CA, 0x8933, 0x8914
NEWUSER, NEWNET, THREAD = 0x10000000, 0x40000000, 0x10000
PR_SET_TIMERSLACK = 29
SIGCHLD = 17  # in the flags of a clone that is a fork

REMEDIES = {
    name: (act, purpose, dict(remedies)) for name, act, purpose, remedies in _core.requests()
}  #: By request: act, purpose, and the remedies by cause.


@pytest.fixture(scope="module", autouse=True)
def skip_if_impossible() -> None:
    needs.without("root", "tun", "iproute2", "util-linux")
    if (why := refused.possible()) is not None:
        needs.lack("namespaces", why)


@pytest.fixture(scope="module")
def user() -> int:
    """A user without rights who can read the package."""
    if (why := refused.needs_of_user()) is not None:
        needs.lack("other-user", why)
    return USER


def assert_refused(outcome: dict[str, Any], code: int, request: str, cause: str) -> None:
    """The one message has the parts of `request`, and nothing was left behind."""
    act, purpose, remedies = REMEDIES[request]
    err = " ".join(outcome["err"].split())
    for part in (act, purpose, remedies[cause]):
        assert part in err, err
    assert outcome["code"] == code, err
    assert re.match(r"(note: .*)?error: ", err), err
    assert "Traceback" not in err
    assert "os error" not in err
    assert (outcome["interfaces"], outcome["processes"]) == ([], []), err


def link(*options: str) -> list[str]:
    return [*LINK, *options, "--", "true"]


@pytest.mark.parametrize(
    ("device", "cause"),
    [
        ("mknod tun c 10 200; chmod 0600 tun; chown 0:0 tun", "forbidden"),
        ("", "missing"),
        ("mknod tun c 10 250; chmod 0666 tun", "missing"),
        ("mkdir tun", "unexpected"),
    ],
    ids=["closed", "missing", "without its driver", "a folder"],
)
def test_a_device_that_cannot_be_opened_is_named_before_a_namespace_is_made(device: str, cause: str, user: int):
    # A namespace would be refused with another message.
    no_namespace = (Refusal("unshare", "EPERM"),)
    outcome = refused.run(Case(link(), no_namespace, device=device, user=user))
    assert_refused(outcome, 125, "TunDevice", cause)


@pytest.mark.parametrize(
    ("refusal", "request_name", "cause"),
    [
        (Refusal("capget", "EPERM"), "Capabilities", "forbidden"),
        (Refusal("unshare", "EPERM", ((0, "has", NEWNET),)), "NetworkNamespace", "forbidden"),
        (Refusal("unshare", "ENOSPC", ((0, "has", NEWNET),)), "NetworkNamespace", "limit"),
        (Refusal("unshare", "ENOSYS", ((0, "has", NEWNET),)), "NetworkNamespace", "unsupported"),
        (Refusal("clone", "EAGAIN", ((0, "has", THREAD),)), "Thread", "limit"),
        (Refusal("ioctl", "EPERM", ((1, "is", TUNSETIFF),)), "TunInterface", "forbidden"),
        (Refusal("ioctl", "EBUSY", ((1, "is", TUNSETIFF),)), "TunInterface", "taken"),
        (Refusal("ioctl", "EPERM", ((1, "is", SIOCSIFFLAGS),)), "InterfaceUp", "forbidden"),
        (Refusal("ioctl", "ENODEV", ((1, "is", SIOCGIFINDEX),)), "InterfaceQuery", "missing"),
        (Refusal("socket", "EAFNOSUPPORT", ((0, "is", AF_NETLINK),)), "RoutingSocket", "unsupported"),
        (Refusal("socket", "EMFILE", ((0, "is", AF_NETLINK),)), "RoutingSocket", "files"),
        (Refusal("prctl", "EPERM", ((0, "is", PR_SET_TIMERSLACK),)), "ThreadScheduling", "forbidden"),
        (Refusal("clone", "EAGAIN", ((0, "has", SIGCHLD),)), "Process", "limit"),
        (Refusal("pidfd_open", "ENOSYS"), "ProcessWatch", "unsupported"),
        (Refusal("ppoll", "ENOMEM"), "Wait", "memory"),
    ],
    ids=lambda value: f"{value.call}-{value.answer}" if isinstance(value, Refusal) else None,
)
def test_a_system_call_refused_to_a_link_is_explained(refusal: Refusal, request_name: str, cause: str):
    refusals = (refusal, Refusal("clone3", "ENOSYS")) if refusal.call == "clone" else (refusal,)
    assert_refused(refused.run(Case(link("--tcp-ecn"), refusals)), 125, request_name, cause)


def test_a_user_without_user_namespaces_learns_how_to_allow_them(user: int):
    for answer, cause in (("EPERM", "forbidden"), ("ENOSPC", "limit"), ("EINVAL", "unsupported")):
        refusal = Refusal("unshare", answer, ((0, "has", NEWUSER),))
        assert_refused(refused.run(Case(link(), (refusal,), DEVICE, user=user)), 125, "UserNamespace", cause)


def test_a_host_whose_parameters_are_read_only_as_in_a_container_is_explained():
    read_only = "mount -o bind,ro /proc/sys /proc/sys"
    assert_refused(refused.run(Case(link("--tcp-ecn"), set_up=read_only)), 125, "HostParameter", "read-only")


def test_a_link_to_the_outside_without_nf_tables_says_what_it_needs():
    refusal = Refusal("socket", "EPROTONOSUPPORT", ((0, "is", AF_NETLINK), (2, "is", NETLINK_NETFILTER)))
    outcome = refused.run(Case(link("--outside"), (refusal,), set_up=FORWARDING))
    assert_refused(outcome, 125, "AddressTranslation", "unsupported")


def test_a_link_to_the_outside_without_root_says_so(user: int):
    outcome = refused.run(Case(link("--outside"), device=DEVICE, set_up=FORWARDING, user=user))
    assert_refused(outcome, 125, "Outside", "forbidden")


@pytest.mark.parametrize("option", ["--check", "--check=--soak"])
def test_a_check_of_the_machine_explains_a_refusal_too(option: str):
    words = option.split("=")
    command = [sys.executable, "-m", "headgate", "link", *words, *(["10s"] if len(words) > 1 else [])]
    refusal = Refusal("ioctl", "EPERM", ((1, "is", TUNSETIFF),))
    assert_refused(refused.run(Case(command, (refusal,))), 125, "TunInterface", "forbidden")


@pytest.mark.parametrize(
    ("options", "refusal", "request_name", "cause"),
    [
        ((), Refusal("socket", "EPERM", ((0, "is", AF_PACKET),)), "PacketSocket", "forbidden"),
        ((), Refusal("socket", "EAFNOSUPPORT", ((0, "is", AF_PACKET),)), "PacketSocket", "unsupported"),
        (("--offloads-off",), Refusal("socket", "EPERM", ((0, "is", AF_PACKET),)), "PacketSocket", "forbidden"),
        (
            (),
            Refusal("setsockopt", "ENOPROTOOPT", ((1, "is", SOL_PACKET), (2, "is", 23))),
            "PacketOptions",
            "unsupported",
        ),
        ((), Refusal("setsockopt", "ENOMEM", ((1, "is", SOL_PACKET), (2, "is", 5))), "PacketRing", "memory"),
        ((), Refusal("setsockopt", "EPERM", ((1, "is", SOL_PACKET), (2, "is", 1))), "Promiscuous", "forbidden"),
        ((), Refusal("socket", "EPERM", ((0, "is", AF_NETLINK),)), "RoutingSocket", "forbidden"),
        ((), Refusal("socket", "EPERM", ((0, "is", AF_UNIX),)), "InterfaceClaim", "forbidden"),
        (("--send", "xdp"), Refusal("socket", "EAFNOSUPPORT", ((0, "is", AF_XDP),)), "XdpSocket", "unsupported"),
        (("--fail", "open"), Refusal("clone", "EAGAIN", ((0, "has", SIGCHLD),)), "FailOpenProcess", "limit"),
        (("--fail", "open"), Refusal("socket", "EPERM", ((0, "is", AF_PACKET),)), "PacketSocket", "forbidden"),
    ],
    ids=lambda value: value.call if isinstance(value, Refusal) else None,
)
def test_a_system_call_refused_to_a_gateway_is_explained(
    options: tuple[str, ...], refusal: Refusal, request_name: str, cause: str
):
    outcome = refused.run(Case([*GATEWAY, *options], (refusal,), set_up=INTERFACES))
    assert_refused(outcome, 1, request_name, cause)


def test_a_gateway_without_the_right_to_make_a_bridge_says_so_at_its_start():
    words = ["setpriv", "--bounding-set", "-net_admin", *GATEWAY, "--fail", "open"]
    assert_refused(refused.run(Case(words, set_up=INTERFACES)), 1, "Bridge", "forbidden")


SCENARIO = """\
name = "refused"
duration = "300ms"
seeds = 1
qdiscs = ["droptail"]
link = { rate = "8Mbit/s", delay = "1ms", limit = "20p" }
[[tcp]]
"""


@pytest.mark.parametrize(
    ("refusal", "request_name", "cause"),
    [
        (Refusal("unshare", "EPERM", ((0, "has", NEWNET),)), "NetworkNamespace", "forbidden"),
        (Refusal("ioctl", "EPERM", ((1, "is", TUNSETIFF),)), "TunInterface", "forbidden"),
        (Refusal("epoll_create1", "EMFILE"), "Poller", "files"),
        (
            Refusal("socket", "EMFILE", ((0, "is", AF_INET), (1, "is", SOCK_STREAM_FLAGS))),
            "FlowSocket",
            "files",
        ),
        (
            Refusal("setsockopt", "EIO", ((1, "is", SOL_TCP), (2, "is", TCP_CONGESTION))),
            "CongestionControl",
            "unexpected",
        ),
    ],
    ids=lambda value: value.call if isinstance(value, Refusal) else None,
)
def test_a_system_call_refused_to_a_live_run_is_explained(
    refusal: Refusal, request_name: str, cause: str, tmp_path: Path
):
    (tmp_path / "refused.toml").write_text(SCENARIO)
    words = ["run", "--live", "--no-report", "--out", str(tmp_path / "out"), str(tmp_path / "refused.toml")]
    outcome = refused.run(Case([sys.executable, "-m", "headgate", *words], (refusal,)))
    assert_refused(outcome, 1, request_name, cause)


def test_a_run_with_more_flows_than_open_files_says_how_to_raise_the_limit(tmp_path: Path):
    (tmp_path / "refused.toml").write_text(f"{SCENARIO}flows = 100\n")
    words = ["run", "--live", "--no-report", "--out", str(tmp_path / "out"), str(tmp_path / "refused.toml")]
    script = f"ulimit -n 500; exec {shlex.join([sys.executable, '-m', 'headgate', *words])}"
    outcome = refused.run(Case(["sh", "-c", script]))
    assert outcome["code"] == 1
    assert "100 flows need 556 open files, and 500 are allowed: raise the limit (ulimit -Hn)" in outcome["err"]
    assert "Traceback" not in outcome["err"]


def test_a_queue_of_the_kernel_without_its_send_buffer_is_explained(tmp_path: Path):
    (tmp_path / "refused.toml").write_text(SCENARIO)
    words = ["compare", "--worlds", "live,kernel", "--out", str(tmp_path / "out"), str(tmp_path / "refused.toml")]
    refusal = Refusal("setsockopt", "EPERM", ((1, "is", SOL_SOCKET), (2, "is", SO_SNDBUFFORCE)))
    outcome = refused.run(Case([sys.executable, "-m", "headgate", *words], (refusal,)))
    assert_refused(outcome, 1, "QueueBuffer", "forbidden")


def test_top_without_local_sockets_says_what_it_needs(tmp_path: Path):
    folder = tmp_path / "headgate"
    folder.mkdir(mode=0o700)
    (folder / "link-1.sock").touch()
    refusal = Refusal("socket", "EPERM", ((0, "is", AF_UNIX),))
    command = [sys.executable, "-m", "headgate", "top", "--once"]
    outcome = refused.run(Case(command, (refusal,), environment={"XDG_RUNTIME_DIR": str(tmp_path)}))
    assert_refused(outcome, 1, "ViewSocket", "forbidden")


def test_a_machine_that_refuses_nothing_runs_the_same_commands():
    """Otherwise a command that fails for another reason would pass the tests above."""
    assert refused.run(Case(link("--tcp-ecn")))["code"] == 0
    assert refused.run(Case(link(), device=DEVICE))["code"] == 0


def test_what_a_command_leaves_behind_is_seen():
    script = "ip link add left type veth peer name right; sleep 5 > /dev/null 2>&1 &"
    outcome = refused.run(Case(["sh", "-c", f"{script} until ip link show left > /dev/null 2>&1; do :; done"]))
    assert sorted(outcome["interfaces"]) == ["left", "right"]
    assert any("sleep" in name or "sh" in name for name in outcome["processes"])


def test_the_error_of_a_request_has_its_name_and_the_systems_answer():
    error = _core.refused("Bridge", errno.EPERM, "in and out")
    assert (error.request, error.errno) == ("Bridge", errno.EPERM)
    assert str(error).startswith(
        "cannot make a bridge of the interfaces (in and out): operation not permitted (EPERM). "
    )
    with pytest.raises(LookupError, match='no request "Bridges"'):
        _core.refused("Bridges", errno.EPERM)
