"""What a gateway's processes may do once it forwards. Tests need Linux and root, and are skipped otherwise."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from headgate.live.confinement import kept_paths
from tests import needs
from tests.live import refused
from tests.live.gateways import GATEWAY, Gateway, exchanged
from tests.live.refused import Case, Refusal
from tests.live.roads import GatewayNetwork
from tests.live.test_gateway import SCRAPE, transfer

CONFINED = Path(__file__).with_name("confined.py")

#: Rights in proc_pid_status(5).
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
NET_ADMIN = f"{1 << 12:016x}"
NONE = f"{0:016x}"


@pytest.fixture(scope="module")
def roads() -> Iterator[GatewayNetwork]:
    needs.without("root", "iproute2", "util-linux")
    with GatewayNetwork() as made:
        yield made


def rights(folder: Path) -> dict[str, str]:
    """The fields of the status of a process or thread."""
    lines = (folder / "status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def threads(pid: int) -> dict[str, dict[str, str]]:
    """The rights of each thread of a process, by the thread's number and name."""
    each = sorted(Path(f"/proc/{pid}/task").iterdir())
    return {f"{task.name} {(task / 'comm').read_text().strip()}": rights(task) for task in each}


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_every_thread_of_a_gateway_has_given_up_its_rights(gateway: Callable[..., Gateway], roads: GatewayNetwork):
    running = gateway("--rate", "10Mbit/s", "--metrics", "9100", "--fail", "open")
    # It answers, so every thread that it ever has is there.
    assert "headgate_build_info" in roads.run(roads.middle, sys.executable, "-c", SCRAPE)
    assert not any(line.startswith("note: cannot") for line in running.lines), running.lines
    found = threads(running.process.pid)
    assert len(found) == 5, "main, gateway, guard, metrics, top"
    for name, thread in found.items():
        assert {each: thread[each] for each in SETS} == dict.fromkeys(SETS, NONE), name
        assert (thread["NoNewPrivs"], thread["Seccomp"]) == ("1", "2"), name
    (keeper,) = children(running.process.pid)
    ((name, kept),) = threads(keeper).items()
    expected = {"CapInh": NONE, "CapPrm": NET_ADMIN, "CapEff": NET_ADMIN, "CapBnd": NET_ADMIN, "CapAmb": NONE}
    assert {each: kept[each] for each in SETS} == expected, name
    assert (kept["NoNewPrivs"], kept["Seccomp"]) == ("1", "2")


def test_without_the_sandbox_it_keeps_them(gateway: Callable[..., Gateway]):
    running = gateway("--rate", "10Mbit/s", "--fail", "open", "--no-sandbox")
    assert not any(line.startswith("note: cannot") for line in running.lines), running.lines
    for pid in (running.process.pid, *children(running.process.pid)):
        for thread in threads(pid).values():
            assert (thread["CapEff"], thread["Seccomp"]) == (rights(Path("/proc/self"))["CapEff"], "0")


def test_with_the_rights_of_the_unit_alone_it_gives_them_up_without_a_note(
    roads: GatewayNetwork, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A service has no CAP_SETPCAP, so its bounding set stays."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    unit = ["setpriv", "--bounding-set", "-all,+net_raw,+net_admin,+sys_nice", "--no-new-privs"]
    words = [*unit, *GATEWAY, "--in", "in", "--out", "out", "--rate", "1Mbit/s", "--fail", "open"]
    with roads.start(roads.middle, *words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            lines = list(takewhile(lambda line: line != "forwarding between in and out\n", process.stderr))
            assert not any(line.startswith("note: cannot") for line in lines), lines
            (keeper,) = children(process.pid)
            for pid, kept in ((process.pid, NONE), (keeper, NET_ADMIN)):
                for name, thread in threads(pid).items():
                    assert (thread["CapPrm"], thread["CapEff"], thread["Seccomp"]) == (kept, kept, "2"), name
        finally:
            process.terminate()


def attempted(role: str, folder: Path) -> dict[str, Any]:
    """The answers to the attempts of confined.py."""
    (folder / "kept").mkdir(exist_ok=True)
    (folder / "kept" / "settings").write_text("rate")
    (folder / "elsewhere").write_text("")
    words = [sys.executable, str(CONFINED), role, str(folder / "kept")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


#: Answers that forbid an attempt: of the filter of calls, and of Landlock.
FORBIDDEN = {"EPERM", "EACCES"}

#: Attempts that a kernel or a control group may refuse to root too.
SELDOM_FREE = {"be a real-time process", "bpf", "settimeofday", "userfaultfd"}


@pytest.mark.parametrize("role", ["gateway", "keeper"])
def test_a_confined_process_tries_in_vain_what_it_may_not_do(role: str, tmp_path: Path):
    needs.without("root")
    free = attempted("free", tmp_path)["answers"]
    # An attempt that root may not make either would show nothing.
    needless = {name: answer for name, answer in free.items() if answer in FORBIDDEN}
    assert needless.keys() <= SELDOM_FREE, needless
    outcome = attempted(role, tmp_path)
    if any("Landlock" in note for note in outcome["notes"]):
        needs.lack("landlock")
    assert outcome["notes"] == []
    # Libraries use an older call instead of this one.
    assert outcome["answers"].pop("clone3") == "ENOSYS"
    allowed = {name: answer for name, answer in outcome["answers"].items() if answer not in FORBIDDEN}
    assert allowed == {}
    assert outcome["read"] == ("done" if role == "gateway" else "EPERM")


def test_a_replaced_file_is_read_again_and_another_folder_is_not(gateway: Callable[..., Gateway], tmp_path: Path):
    (tmp_path / "etc").mkdir()
    config = tmp_path / "etc" / "gateway.toml"
    config.write_text('rate = "20Mbit/s"\n')
    running = gateway("--config", config)
    # As editors do it: a new file with the old name.
    (tmp_path / "etc" / "new").write_text('rate = "5Mbit/s"\n')
    (tmp_path / "etc" / "new").rename(config)
    running.send_signal(signal.SIGHUP)
    running.wait_for("reloaded")
    trace = tmp_path / "a.trace"
    trace.write_text("1\n")
    config.write_text(f'trace = "{trace}"\n')
    running.send_signal(signal.SIGHUP)
    running.wait_for("note: a running gateway reads only files in the folders of its settings and traces at the start")
    assert "Permission denied" in running.wait_for("error:")
    running.wait_for("the settings are unchanged")
    (tmp_path / "etc" / "a.trace").write_text("1\n")
    config.write_text(f'trace = "{tmp_path / "etc" / "a.trace"}"\n')
    running.send_signal(signal.SIGHUP)
    running.wait_for("reloaded")
    running.end()
    assert not list((tmp_path / "run" / "headgate").iterdir()), "its socket is gone"


def test_a_link_to_the_settings_may_lead_to_another_folder(tmp_path: Path):
    for name in ("store", "etc"):
        (tmp_path / name).mkdir()
    (tmp_path / "store" / "real.toml").write_text("")
    (tmp_path / "etc" / "gateway.toml").symlink_to("../etc/hop")
    (tmp_path / "etc" / "hop").symlink_to(tmp_path / "store" / "real.toml")
    kept = {Path(each).resolve() for each in kept_paths([tmp_path / "etc" / "gateway.toml"], None).readable}
    assert {tmp_path / "etc", tmp_path / "store"} <= kept
    assert Path("/") not in kept
    assert "/settings.toml" in kept_paths([Path("/settings.toml")], None).readable


INTERFACES = (
    "ip link add in type veth peer name near; ip link add out type veth peer name far;"
    " for name in in out near far; do ip link set $name addrgenmode none up; done"
)


@pytest.mark.parametrize(
    ("refusal", "note"),
    [
        (Refusal("landlock_create_ruleset", "ENOSYS"), "cannot restrict the files of the gateway: "),
        (Refusal("seccomp", "EINVAL"), "cannot restrict the system calls of the gateway: "),
        (Refusal("capset", "EPERM"), "cannot drop the capabilities of the gateway: "),
        (Refusal("prctl", "EINVAL", ((0, "is", 38),)), "cannot forbid new privileges: "),
    ],
    ids=lambda value: value.call if isinstance(value, Refusal) else None,
)
def test_a_part_that_the_system_lacks_is_a_note_and_the_gateway_forwards(refusal: Refusal, note: str):
    if (why := refused.possible()) is not None:
        pytest.skip(why)
    script = "timeout -s TERM 3 " + " ".join([*GATEWAY, "--in", "in", "--out", "out", "--rate", "1Mbit/s"])
    outcome = refused.run(Case(["sh", "-c", script], (refusal,), set_up=INTERFACES))
    text = " ".join(outcome["err"].split())
    assert f"note: {note}" in text
    assert "forwarding between in and out" in text
    assert "gateway, " in text
    assert "Traceback" not in text


def test_packets_are_forwarded_and_the_end_is_clean(gateway: Callable[..., Gateway], roads: GatewayNetwork):
    running = gateway("--rate", "20Mbit/s", "--send", "xdp")
    assert exchanged(roads)
    assert transfer(roads, 500_000) > 0
    running.end()
    assert [roads.promiscuity(name) for name in ("in", "out")] == [0, 0]
