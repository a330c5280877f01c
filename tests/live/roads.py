"""Two hosts with two pairs of interfaces between them, in namespaces that are gone with their processes."""

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

SIOCETHTOOL = 0x8946
#: Commands that switch an offload (linux/ethtool.h): checksums and segmentation of what is sent, and merging.
SWITCHES = (0x17, 0x1F, 0x22, 0x24, 0x2C)


def plain(interface: str) -> None:
    """Switches the offloads of `interface` off: what leaves it are packets as a wire would carry them."""
    with socket.socket() as asking:
        for command in SWITCHES:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(asking, SIOCETHTOOL, request)
            except OSError:
                continue  # the driver does not know it


class Roads:
    """`in` and `out` in the middle; behind them a host each, near and far, with an address."""

    def __enter__(self) -> Self:
        sleep = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 120"]
        self._hosts = [subprocess.Popen(sleep, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        self.near, self.middle, self.far = (self._inside(host) for host in self._hosts)
        for name, host, address in (("in", self.near, NEAR), ("out", self.far, FAR)):
            self.ip(self.middle, "link", "add", name, "type", "veth", "peer", "name", "host", "netns", str(host))
            self.ip(self.middle, "link", "set", name, "addrgenmode", "none", "up")
            self.ip(host, "link", "set", "host", "addrgenmode", "none", "up")
            self.ip(host, "address", "add", f"{address}/30", "dev", "host")
            self.run(host, sys.executable, __file__, "host")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for host in self._hosts:
            host.kill()
            host.communicate()

    @staticmethod
    def _inside(host: "subprocess.Popen[str]") -> int:
        """The process that lives in the namespace, once it does."""
        assert host.stdout is not None
        assert host.stdout.readline() == "up\n", "no namespace could be made"
        return host.pid

    @staticmethod
    def words(where: int, *words: object) -> list[str]:
        """The command `words` in the namespace of process `where`."""
        return ["nsenter", f"--net=/proc/{where}/ns/net", *map(str, words)]

    def run(self, where: int, *words: object) -> str:
        """What a command says there."""
        return subprocess.run(self.words(where, *words), check=True, capture_output=True, text=True, timeout=30).stdout

    def ip(self, where: int, *words: str) -> str:
        """What iproute2 says there."""
        return self.run(where, "ip", *words)

    def promiscuity(self, name: str) -> int:
        """How many want all frames of an interface in the middle."""
        (found,) = json.loads(self.ip(self.middle, "-j", "-d", "link", "show", name))
        return int(found["promiscuity"])

    def host(self, where: int, *role: object) -> str:
        """What a role of hosts.py says there."""
        return self.run(where, sys.executable, HOSTS, *role)

    def serve(self, *role: object) -> "subprocess.Popen[str]":
        """Starts a role of hosts.py at the far host, and waits until it listens."""
        serving = self.start(self.far, sys.executable, HOSTS, *role)
        # proc_pid_net(5): 0A is the state of those who wait for connections.
        while " 0A " not in Path(f"/proc/{self.far}/net/tcp").read_text():
            assert serving.poll() is None
            time.sleep(0.01)
        return serving

    def start(self, where: int, *words: object, **options: Any) -> "subprocess.Popen[str]":
        """Starts a command there."""
        return subprocess.Popen(self.words(where, *words), text=True, **options)


if __name__ == "__main__":
    plain(sys.argv[1])
