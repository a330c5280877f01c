"""Serves the page of the lab on the loopback."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headgate.errors import UsageError


def server(page: str, port: int) -> ThreadingHTTPServer:
    """A server of one page on 127.0.0.1; port 0 takes a free one. `UsageError` if the port is taken."""
    body = page.encode()

    class OnePage(BaseHTTPRequestHandler):
        timeout = 10  # seconds for a request

        def do_GET(self) -> None:
            found = self.path.split("?")[0] in ("/", "/index.html")
            self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
            answer = body if found else b"the lab has one page: /\n"
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not printed."""

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), OnePage)
    except OSError as error:
        raise UsageError(f"cannot serve on 127.0.0.1:{port}: {error.strerror}; give another --port") from None
