"""The server of the metrics: what it answers, and what clients cannot do to it."""

import os
import resource
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import UsageError
from headgate.live import exporter
from tests import needs
from tests.live.test_prometheus import read, view

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost:9100\r\n\r\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def serving(port: int) -> Iterator[list[int]]:
    """An exporter at `port`; the list grows by the requests that it has answered."""
    answered: list[int] = []

    def view_now() -> dict[str, Any]:
        answered.append(1)
        return view(sent=len(answered))

    with exporter.Exporter(f"127.0.0.1:{port}").serve(view_now):
        yield answered


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        text: str = answer.read().decode()
    return text


def answer(port: int, request: bytes) -> bytes:
    """What the exporter sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(request)
        data = b""
        while piece := client.recv(1 << 16):
            data += piece
    return data


@pytest.mark.parametrize("address", [":9100", "127.0.0.1", "127.0.0.1:0", "0", "127.0.0.1:65536", "127.0.0.1:http"])
def test_an_invalid_address_is_refused(address: str):
    with pytest.raises(UsageError, match="expected PORT or HOST:PORT"):
        exporter.parse(address)


def test_addresses_of_both_families_and_without_a_host_the_loopback():
    assert exporter.parse("127.0.0.1:9100") == ("127.0.0.1", 9100)
    assert exporter.parse("[::1]:9100") == ("::1", 9100)
    assert exporter.parse("9100") == ("127.0.0.1", 9100)


def test_the_exporter_serves_metrics_and_keeps_its_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="cannot listen there: Address already in use"):
            exporter.Exporter(f"127.0.0.1:{port}")
    with serving(port):
        for times in (1, 2):
            assert read(scrape(port))["sent_packets_total", 'direction="forward"'] == times
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=5)
    with pytest.raises(urllib.error.URLError):
        scrape(port)


def test_other_methods_and_requests_that_are_no_requests_get_no_metrics(capfd: pytest.CaptureFixture[str]):
    port = free_port()
    with serving(port) as answered:
        assert answer(port, b"POST" + REQUEST[3:]).startswith(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: GET")
        assert answer(port, REQUEST.replace(b"GET /metrics HTTP/1.1", b"")).startswith(b"HTTP/1.1 405 ")
        assert answer(port, REQUEST.replace(b"/metrics HTTP/1.1", b"")).startswith(b"HTTP/1.1 404 ")
        for none in (b"GET /metrics HTTP/1.1\r\n\r\n", b"\r\n\r\n", REQUEST[:-2] + b"Host: localhost\r\n\r\n"):
            assert answer(port, none).startswith(b"HTTP/1.1 400 Bad Request")
        # More than a request may have. The exporter may close before it has read everything.
        with suppress(ConnectionError):
            assert answer(port, b"x" * 100_000) == b""
        assert answered == []
        scrape(port)
    assert capfd.readouterr() == ("", "")


def test_a_request_for_another_host_gets_no_metrics_but_a_sentence():
    """A page whose name was rebound to this address asks with the name (DNS rebinding)."""
    port = free_port()
    with serving(port) as answered:
        for host in (
            b"evil.example",
            b"evil.example:9100",
            b"127.0.0.1.evil.example",
            b"192.0.2.7",
            b"[::2]:9100",
            b"",
            b"a b",
        ):
            refused = answer(port, REQUEST.replace(b"localhost:9100", host))
            assert refused.startswith(b"HTTP/1.1 421 Misdirected Request\r\n"), host
            assert b"answers only requests for localhost or for the host in --metrics HOST:PORT." in refused
        assert answered == []
        for host in (
            b"localhost",
            b"LocalHost.:1",
            b"127.0.0.1",
            f"127.0.0.1:{port}".encode(),
            b"[::1]",
            b"[0:0::1]:80",
        ):
            assert answer(port, REQUEST.replace(b"localhost:9100", host)).startswith(b"HTTP/1.1 200 OK"), host
        # The header's name has no case, and blanks around its value do not belong to it.
        assert answer(port, REQUEST.replace(b"Host: ", b"hOST:\t ")).startswith(b"HTTP/1.1 200 OK")


def test_the_host_of_the_option_is_known_and_at_all_addresses_every_number():
    named = exporter.KnownHosts("Gateway.example", "192.0.2.7")
    assert {host: host in named for host in ("gateway.example:9100", "192.0.2.7", "localhost", "192.0.2.8")} == {
        "gateway.example:9100": True,
        "192.0.2.7": True,
        "localhost": True,
        "192.0.2.8": False,
    }
    for everywhere in (exporter.KnownHosts("0.0.0.0", "0.0.0.0"), exporter.KnownHosts("::", "::")):
        assert "192.0.2.8:9100" in everywhere
        assert "[fd00::1]" in everywhere
        assert "gateway.example" not in everywhere
        assert "1.2.3.4.evil.example" not in everywhere


def test_a_request_has_a_deadline_even_if_bytes_keep_coming(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporter, "DEADLINE_S", 0.5)
    port = free_port()
    with serving(port) as answered, socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        with suppress(ConnectionError):
            for _ in range(400):
                client.sendall(b"x")
                time.sleep(0.05)
            pytest.fail("the exporter did not close the connection within 20 s")
        assert answered == []


def test_the_answer_has_the_same_deadline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporter, "DEADLINE_S", 0.5)
    monkeypatch.setattr(exporter, "exposition", lambda _: "x" * 20_000_000)
    port = free_port()
    with serving(port), socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(REQUEST)
        # Does not read until long after the deadline; only what the kernel had taken is there then.
        time.sleep(2)
        received = 0
        with suppress(ConnectionResetError):
            while piece := client.recv(1 << 20):
                received += len(piece)
        assert received < 20_000_000


def test_hundreds_of_silent_connections_do_not_keep_out_a_scrape():
    port = free_port()
    with serving(port), ExitStack() as clients:
        for _ in range(200):
            clients.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        assert "headgate_build_info" in scrape(port)


def test_the_kernel_queues_128_connections_that_are_not_yet_accepted():
    needs.without("iproute2")
    port = free_port()
    with serving(port):
        shown = subprocess.run(["ss", "-Hltn", f"sport = :{port}"], capture_output=True, text=True, check=True).stdout
        (line,) = shown.splitlines()
        # Of a socket that listens, the third column is the length of this queue (ss(8)).
        state, _, backlog, *_ = line.split()
        most = int(Path("/proc/sys/net/core/somaxconn").read_text())
        assert (state, int(backlog)) == ("LISTEN", min(128, most))


def test_a_thousand_connections_at_once_are_all_served_or_closed_and_then_a_scrape():
    port, count = free_port(), 1000
    with serving(port), ExitStack() as clients:
        waiting = [
            clients.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(count)
        ]
        assert "headgate_build_info" in scrape(port)
        ended = 0
        for client in waiting[: count - exporter.MOST_CONNECTIONS - 1]:
            client.settimeout(20)
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""
            ended += 1
        assert ended == count - exporter.MOST_CONNECTIONS - 1


def test_without_file_descriptors_the_exporter_waits_and_does_not_spin(capfd: pytest.CaptureFixture[str]):
    port = free_port()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving(port), socket.socket() as client:
        client.settimeout(20)
        assert "headgate_build_info" in scrape(port)
        # The lowest free descriptor becomes the first that is refused.
        lowest = os.dup(1)
        os.close(lowest)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
            client.connect(("127.0.0.1", port))
            client.sendall(REQUEST)
            begun, used_s = time.monotonic(), time.process_time()
            while time.monotonic() - begun < 1:
                time.sleep(0.1)
            # A thread that spins uses the whole second.
            assert time.process_time() - used_s < 0.5
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        # It accepts the connection when it tries again.
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
    assert capfd.readouterr() == ("", "")
