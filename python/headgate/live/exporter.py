"""Serves metrics over HTTP to anyone who can connect, without harm to the gateway.

A client may be slow, silent, greedy or one of thousands. Each request has a deadline. At most `MOST_CONNECTIONS` are
open: a further one closes the oldest, so a scrape, which takes milliseconds, gets through. While file descriptors are
short, the event loop stops accepting for a second at a time. No request prints anything.

A web page in a browser of this machine can send requests too. By DNS rebinding, a name of its own that now has the
address of the gateway, it would even read the answer. Such a request has the name of the page in its header Host. So
only requests for the exporter's own address are answered.
"""

import asyncio
import errno
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Thread
from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from headgate import _core
from headgate.errors import UsageError
from headgate.live.prometheus import exposition

#: Seconds from the connection to the last byte of the answer.
DEADLINE_S = 5.0

#: Connections that are served at a time.
MOST_CONNECTIONS = 64

#: Connections that the kernel keeps until they are accepted.
BACKLOG = 128

#: Bytes of a request.
MOST_REQUEST = 8192

#: Niceness of the thread that answers (sched(7)).
NICENESS = 10

#: The address without a host: only this machine can connect.
LOOPBACK = "127.0.0.1"


#: The names of the loopback.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def parse(address: str) -> tuple[str, int]:
    """Host and port of `9100` (on the loopback), `127.0.0.1:9100` or `[::1]:9100`.

    Raises `UsageError` if it is not an address.
    """
    host, colon, port = address.rpartition(":")
    if (colon and not host) or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--metrics {address}: expected PORT or HOST:PORT, such as 9100 or 127.0.0.1:9100")
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


#: The header Host: a number of IPv6 in brackets or a name, and a port. The port may be another: that of a forwarding.
HOST = re.compile(r"(\[(?P<number>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(:[0-9]*)?")


class KnownHosts:
    """Decides by the header Host (RFC 9110, section 7.2) whether a request is for this server.

    `host` is the host of --metrics, `bound` its address.
    """

    def __init__(self, host: str, bound: str) -> None:
        self._names = {_name(each) for each in (*LOOPBACK_NAMES, host, bound)}
        #: All addresses of the machine are the server's. A number cannot be rebound, as a name can.
        self._numbers = ip_address(bound).is_unspecified

    def __contains__(self, header: str) -> bool:
        parts = HOST.fullmatch(header)
        if parts is None:
            return False
        name = _name(parts["number"] or parts["name"])
        return name in self._names or (self._numbers and not isinstance(name, str))


def _name(host: str) -> str | IPv4Address | IPv6Address:
    """A host in the form in which equal ones are equal."""
    try:
        return ip_address(host)
    except ValueError:
        return host.lower().removesuffix(".")


class Exporter:
    """Serves metrics at an address. The constructor binds it; requests are answered while `serve` lasts.

    Its thread does not delay the forwarding thread. The client library's own server does not fit: it has no deadline, a
    thread for every connection, and serves metrics on every path.
    """

    def __init__(self, address: str) -> None:
        host, port = parse(address)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise UsageError(f"--metrics {address}: cannot listen there: {error.strerror or error}") from None
        self._known = KnownHosts(host, self._socket.getsockname()[0])

    @contextmanager
    def serve(self, read_view: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
        """Answers requests with the view that `read_view` returns."""
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)
        stop = asyncio.Event()
        serving = _Server(lambda: exposition(read_view()).encode(), self._known)
        thread = Thread(target=_run, args=(loop, serving.run(self._socket, stop)), name="metrics", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise _core.refused("Thread", errno.EAGAIN, "metrics") from None
        try:
            yield
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()


def _run(loop: asyncio.AbstractEventLoop, serving: Any) -> None:
    # Of this thread alone, on Linux: forwarding comes first.
    with suppress(OSError):  # a sandbox may forbid it; requests then compete with other programs
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serving)


class _Server:
    """The connections of an exporter; `document` makes the answer to a request for one of the hosts `known`."""

    def __init__(self, document: Callable[[], bytes], known: KnownHosts) -> None:
        self._document = document
        self._known = known
        #: The open connections, oldest first.
        self._open: dict[asyncio.StreamWriter, None] = {}

    async def run(self, listener: socket.socket, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._serve, sock=listener, limit=MOST_REQUEST, backlog=BACKLOG)
        async with server:
            await stop.wait()
            for writer in self._open:
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MOST_CONNECTIONS:
            oldest = next(iter(self._open))
            self._open.pop(oldest)
            oldest.transport.abort()
        self._open[writer] = None
        try:
            # Without a buffer of its own, `drain` waits until the kernel has taken the whole answer.
            writer.transport.set_write_buffer_limits(high=0)
            with suppress(TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(DEADLINE_S):
                    request = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(request))
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        finally:
            writer.transport.abort()
            self._open.pop(writer, None)

    def _answer(self, request: bytes) -> bytes:
        """The answer to a request: metrics, or why there are none."""
        hosts = [value.strip() for name, value in _headers(request) if name.lower() == "host"]
        if len(hosts) != 1:
            return _response(HTTPStatus.BAD_REQUEST, b"A request needs one header Host.\n")
        if hosts[0] not in self._known:
            return _response(HTTPStatus.MISDIRECTED_REQUEST, NOT_OURS)
        method, _, rest = request.partition(b" ")
        path = rest.split(b" ", 1)[0]
        if method != b"GET":
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, b"", "Allow: GET\r\n")
        if path not in (b"/metrics", b"/"):
            return _response(HTTPStatus.NOT_FOUND, b"The metrics are at /metrics.\n")
        return _response(HTTPStatus.OK, self._document(), f"Content-Type: {CONTENT_TYPE_PLAIN_0_0_4}\r\n")


#: The answer to a request for another host.
NOT_OURS = (
    b"This server answers only requests for localhost or for the host in --metrics HOST:PORT. "
    b"To use another name, give it there.\n"
)


def _headers(request: bytes) -> Iterator[tuple[str, str]]:
    """Names and values of a request's headers."""
    for line in request.decode("latin-1").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            yield name, value


def _response(status: HTTPStatus, body: bytes, headers: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
