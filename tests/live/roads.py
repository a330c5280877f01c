"""Two hosts with a machine between them, each in a network namespace that ends with its process."""

import ctypes
import fcntl
import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HOSTS = Path(__file__).with_name("hosts.py")
NEAR, FAR = "100.64.0.1", "100.64.0.2"
NEAR6, FAR6 = "fd00::1", "fd00::2"
ADDRESSES6 = {NEAR: NEAR6, FAR: FAR6}

SIOCETHTOOL = 0x8946
#: Commands that switch offloads (linux/ethtool.h): checksums, segmentation and merging.
SWITCHES = (0x17, 0x1F, 0x22, 0x24, 0x2C)


def switch_offloads(interface: str, *, on: bool) -> None:
    """Switches the offloads of an interface. Without them it sends packets as they would be on a wire."""
    with socket.socket() as sock:
        for command in SWITCHES:
            value = ctypes.create_string_buffer(struct.pack("II", command, on))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(sock, SIOCETHTOOL, request)
            except OSError:
                continue  # the driver does not know it


class GatewayNetwork:
    """The machine in the middle has the interfaces `in` and `out`, which lead to the hosts near and far.

    With `offloads` the hosts leave checksums and segmentation to their cards, and the machine merges what it receives.
    The namespaces end after `seconds`, even if this process was killed.
    """

    def __init__(self, *, offloads: bool = False, seconds: int = 120) -> None:
        self._offloads = offloads
        self._seconds = seconds

    def __enter__(self) -> Self:
        sleep = ["unshare", "--net", "sh", "-c", f"ip link set lo up && echo up && exec sleep {self._seconds}"]
        self._hosts = [subprocess.Popen(sleep, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        self.near, self.middle, self.far = (self._inside(host) for host in self._hosts)
        for name, host, address in (("in", self.near, NEAR), ("out", self.far, FAR)):
            self.ip(self.middle, "link", "add", name, "type", "veth", "peer", "name", "host", "netns", str(host))
            self.ip(self.middle, "link", "set", name, "addrgenmode", "none", "up")
            self.ip(host, "link", "set", "host", "addrgenmode", "none", "up")
            self.ip(host, "address", "add", f"{address}/30", "dev", "host")
            if self._offloads:
                self.run(self.middle, sys.executable, __file__, name, "on")
            else:
                self.run(host, sys.executable, __file__, "host", "off")
            self.ip(host, "address", "add", f"{ADDRESSES6[address]}/64", "dev", "host", "nodad")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for host in self._hosts:
            host.kill()
            host.communicate()

    @staticmethod
    def _inside(host: "subprocess.Popen[str]") -> int:
        """The process of a namespace, once the namespace is there."""
        assert host.stdout is not None
        assert host.stdout.readline() == "up\n", "no namespace could be made"
        return host.pid

    @staticmethod
    def words(where: int, *words: object) -> list[str]:
        """The command that runs `words` in the namespace of process `where`."""
        return ["nsenter", f"--net=/proc/{where}/ns/net", *map(str, words)]

    def run(self, where: int, *words: object) -> str:
        """Runs a command in the namespace and returns its output."""
        return subprocess.run(self.words(where, *words), check=True, capture_output=True, text=True, timeout=30).stdout

    def ip(self, where: int, *words: str) -> str:
        """Runs `ip` in the namespace and returns its output."""
        return self.run(where, "ip", *words)

    def promiscuity(self, name: str) -> int:
        """The number of sockets that receive all frames of an interface in the middle."""
        (interface,) = json.loads(self.ip(self.middle, "-j", "-d", "link", "show", name))
        return int(interface["promiscuity"])

    def host(self, where: int, *role: object) -> str:
        """Runs a role of hosts.py in the namespace and returns its output."""
        return self.run(where, sys.executable, HOSTS, *role)

    def serve(self, *role: object, **options: Any) -> "subprocess.Popen[str]":
        """Starts a role of hosts.py at the far host, and waits until it listens."""
        return self.serve_words(sys.executable, HOSTS, *role, **options)

    def serve_words(self, *words: object, **options: Any) -> "subprocess.Popen[str]":
        """Starts a command at the far host, and waits until it listens."""
        serving = self.start(self.far, *words, **options)
        # proc_pid_net(5): 0A is the state of a TCP socket that listens, 07 of a UDP socket without a peer.
        waiting = {"tcp": " 0A ", "tcp6": " 0A ", "udp": " 07 "}
        while not any(state in Path(f"/proc/{self.far}/net/{name}").read_text() for name, state in waiting.items()):
            assert serving.poll() is None
            time.sleep(0.01)
        return serving

    def start(self, where: int, *words: object, **options: Any) -> "subprocess.Popen[str]":
        """Starts a command in the namespace."""
        return subprocess.Popen(self.words(where, *words), text=True, **options)


if __name__ == "__main__":
    switch_offloads(sys.argv[1], on=sys.argv[2] == "on")
