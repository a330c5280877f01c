"""Pages in a headless Chromium, over its DevTools protocol on a pipe. It needs a browser, but no driver."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
from pathlib import Path
from typing import Any, Self

from tests.needs import BROWSERS

#: Seconds without any message after which the browser counts as dead. Not a bound on how fast it must be.
_SILENCE = 300


def executable() -> str:
    """The path of an installed Chromium; `StopIteration` if there is none (the need "chromium")."""
    return next(path for name in BROWSERS if (path := shutil.which(name)))


class Browser:
    """A running browser. `events` are the messages that it sent by itself."""

    def __init__(self, path: str, profile: Path) -> None:
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # Above 4: the browser reads from 3 and writes to 4.
        there = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)
        options = ["--headless", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run"]
        # Chromium's sandbox refuses to run as root, as in a container.
        options += ["--no-sandbox"] if os.geteuid() == 0 else []
        dup = [(os.POSIX_SPAWN_DUP2, end, number) for end, number in zip(there, (3, 4), strict=True)]
        silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        words = [path, *options, f"--user-data-dir={profile}", "about:blank"]
        self._pid = os.posix_spawn(path, words, os.environ, file_actions=[*dup, *silent])
        for end in there:
            os.close(end)
        self._buffer, self._number = b"", 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The result of a command; `RuntimeError` if the browser refuses it."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        os.write(self._to, json.dumps(command | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def wait(self, method: str, session: str) -> None:
        """Waits for an event of a page."""
        while not any(event.get("method") == method and event.get("sessionId") == session for event in self.events):
            self.events.append(self._receive())

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], _SILENCE)[0]:
                raise RuntimeError(f"the browser sent nothing for {_SILENCE} s")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.send("Browser.close")
        os.waitpid(self._pid, 0)
        os.close(self._to)
        os.close(self._from)


class Tab:
    """One page of a browser."""

    def __init__(self, browser: Browser, *, width: int, dark: bool = False, height: int = 900) -> None:
        self._browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command to this page."""
        return self._browser.send(method, self._session, **params)

    def open(self, file: Path) -> None:
        """Opens a file and waits until it is loaded."""
        self.send("Page.navigate", url=file.as_uri())
        self._browser.wait("Page.loadEventFired", self._session)

    def value(self, script: str) -> Any:
        """The value of an expression in the page; `AssertionError` if it throws."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def move(self, x: float, y: float) -> None:
        """Moves the mouse to a place in the window."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Clicks the middle of the first element that a CSS selector finds."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        """Scrolls an element into the window. Returns its middle."""
        box = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', "
            "behavior: 'instant'}); const b = e.getBoundingClientRect(); "
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        return box[0], box[1]

    def press(self, key: str) -> None:
        """Presses a key."""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, *, whole: bool = True) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def pdf(self) -> bytes:
        """The page as it is printed, on the paper that its CSS asks for."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True)["data"])

    def complaints(self) -> list[str]:
        """Exceptions, errors of the console, and refusals by the content security policy."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        found = [event for event in self._mine() if event["method"] in kinds]
        calls = [event for event in self._mine() if event["method"] == "Runtime.consoleAPICalled"]
        return [json.dumps(event["params"]) for event in [*found, *calls]]

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        return [e["params"]["request"]["url"] for e in self._mine() if e["method"] == "Network.requestWillBeSent"]

    def _mine(self) -> list[dict[str, Any]]:
        return [event for event in self._browser.events if event.get("sessionId") == self._session]
