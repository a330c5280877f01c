"""Messages to a service manager."""

import socket
from pathlib import Path

import pytest

from headgate.live import notify


@pytest.mark.parametrize("abstract", [False, True])
def test_assignments_are_sent_as_lines_of_one_datagram(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, abstract: bool
):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + path if abstract else path)
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + path if abstract else path)
        notify.notify(READY=1, STATUS="forwarding")
        assert manager.recv(4096) == b"READY=1\nSTATUS=forwarding"


@pytest.mark.parametrize("address", [None, "", "relative", "/no/such/socket"])
def test_without_a_manager_nothing_happens(monkeypatch: pytest.MonkeyPatch, address: str | None):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify.notify(READY=1)


def test_a_thread_that_publishes_nothing_new_is_not_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        alive = notify.Heartbeat()
        alive({"at_s": 1.0})
        alive({"at_s": 1.25})
        for _ in range(3):
            alive({"at_s": 1.25})
        assert [manager.recv(99) for _ in range(2)] == [b"WATCHDOG=1"] * 2
        with pytest.raises(BlockingIOError):
            manager.recv(99)
