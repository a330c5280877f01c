"""`headgate top`: its table, and the sockets from which it reads."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UsageError
from headgate.execution import top_socket
from headgate.execution.top_socket import ViewSocket
from headgate.live import top
from tests.conftest import Command


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the sockets of this test."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(top_socket, "folders", lambda: [tmp_path / "headgate"])
    return tmp_path / "headgate"


def flow(**changes: Any) -> dict[str, Any]:
    ends = {"source": "10.0.0.1", "source_port": 5000, "destination": "10.0.0.2", "destination_port": 80}
    numbers = {"sent_bps": 3e6, "dropped": 4, "marked": 0}
    verdict = {"flow": "00ff", "protocol": 6, "verdict": "responsive", "basis": "sends 30 % less"}
    return {**ends, **numbers, **verdict, **changes}


def view(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"at_s": 12.0, "forward": {"flows": list(flows), "gauge": float("nan")}, "reverse": {"flows": []}}


@pytest.fixture
def shown() -> Iterator[None]:
    with ViewSocket("gateway", "eth1 - eth0") as made:
        made.serve(lambda: view(flow()))
        yield


@pytest.mark.usefixtures("shown")
def test_a_socket_is_closed_to_others_and_gone_afterwards(own_folder: Path):
    (path,) = own_folder.iterdir()
    assert stat.S_IMODE(own_folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    result = top.find(None)
    assert (result["name"], result["pid"], result["what"]) == ("gateway", os.getpid(), "eth1 - eth0")
    assert result["view"]["forward"]["gauge"] is None, "JSON has no such number"


def test_a_link_that_has_ended_leaves_no_socket(own_folder: Path):
    with ViewSocket("link", "bash") as made:
        made.serve(view)
        assert top.find("link")["what"] == "bash"
    assert list(own_folder.iterdir()) == []
    with pytest.raises(top.NotRunningError, match="no link or gateway of this user is running"):
        top.find(None)


def test_the_socket_of_a_killed_process_is_removed(own_folder: Path):
    own_folder.mkdir(mode=0o700)
    path = own_folder / "link-1.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert list(top_socket.running()) == []
    assert not path.exists()


def test_the_next_start_removes_the_sockets_of_killed_processes_and_no_other(own_folder: Path):
    own_folder.mkdir(mode=0o700)
    stale, alive = own_folder / "gateway-1.sock", own_folder / "gateway-2.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(alive))
        busy.listen(0)
        with ViewSocket("link", "bash"):
            assert not stale.exists()
            assert alive.exists()


@pytest.mark.usefixtures("shown")
def test_of_several_links_one_must_be_named(own_folder: Path):
    other = own_folder / "link-1.sock"
    with ViewSocket("link", "bash") as second:
        second.serve(view)
        with pytest.raises(
            UsageError, match=rf"choose one with headgate top PID:\n  {os.getpid()}  gateway  eth1 - eth0"
        ):
            top.find(None)
        assert top.find("link")["what"] == "bash"
        with pytest.raises(top.NotRunningError, match="with the name or process other"):
            top.find("other")
    assert not other.exists()


def test_a_folder_that_others_can_write_to_is_not_used(own_folder: Path):
    own_folder.mkdir(mode=0o777)
    own_folder.chmod(0o777)
    with ViewSocket("link", "bash") as made:
        assert made.folder is None
        assert list(own_folder.iterdir()) == []
    assert list(top_socket.running()) == []


def test_a_row_has_the_flow_its_rate_its_share_and_the_verdict_with_its_basis():
    cells = top.row(flow(), 12e6)
    assert cells == ["tcp 10.0.0.1:5000 > 10.0.0.2:80", "3.000", "25 %", "4", "0", "responsive", "sends 30 % less"]
    assert top.row(flow(), 0.0)[2] == "-"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"protocol": 17}, "udp 10.0.0.1:5000 > 10.0.0.2:80"),
        ({"protocol": 1, "source_port": 0, "destination_port": 0}, "icmp 10.0.0.1 > 10.0.0.2"),
        ({"protocol": 99, "source": "fd00::1", "destination": "fd00::2"}, "99 [fd00::1]:5000 > [fd00::2]:80"),
        ({"source": None, "protocol": None}, "not IP (00ff)"),
    ],
)
def test_a_flow_is_named_by_its_header_fields(changes: dict[str, Any], name: str):
    assert top.name(flow(**changes)) == name


def test_idle_flows_are_not_listed():
    idle = flow(sent_bps=0.0, dropped=0)
    document = {"name": "link", "what": "bash", "view": view(flow(), idle)}
    assert top.table(document).row_count == 1


@pytest.mark.usefixtures("shown")
def test_once_and_json(command: Command):
    once = command("top", "--once")
    assert once.returncode == 0
    assert "gateway eth1 - eth0, 12 s" in once.stdout
    assert "10.0.0.1:5000" in once.stdout
    assert json.loads(command("top", str(os.getpid()), "--json").stdout)["view"]["forward"]["flows"] == [flow()]
    nobody = command("top", "nobody", "--once")
    assert (nobody.returncode, nobody.stdout) == (2, "")
    assert "no link or gateway of this user is running with the name or process nobody" in nobody.stderr


@pytest.mark.usefixtures("shown")
def test_the_table_is_updated_until_ctrl_c():
    # Another process also lists other links of this machine.
    words = [sys.executable, "-m", "headgate", "top", str(os.getpid()), "--interval", "0.1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "gateway eth1 - eth0" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        assert process.returncode == 0
