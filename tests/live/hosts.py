"""What runs at the ends of a link in tests: `python hosts.py ROLE ...`."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

NEAR, FAR = "100.64.0.1", "100.64.0.2"
PORT = 5000


def echo() -> None:
    """Sends each datagram back where it came from."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here, socket.create_server((FAR, PORT)):
        here.bind((FAR, PORT))
        while True:
            here.sendto(*here.recvfrom(2048))


def ping(count: str) -> None:
    """Prints the least round-trip time of `count` datagrams of 100 bytes on the wire, in ms."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.settimeout(2)
        for number in range(int(count)):
            begun = time.perf_counter()
            here.sendto(bytes([number]) * 72, (FAR, PORT))
            assert here.recv(2048) == bytes([number]) * 72
            times.append(time.perf_counter() - begun)
    print(min(times) * 1e3)


def source(size: str, word: str = "x", address: str = FAR) -> None:
    """Sends `size` bytes of `word` to everyone who connects."""
    with socket.create_server((address, PORT), family=family(address)) as here:
        while True:
            there, _ = here.accept()
            with there:
                there.sendall((word * int(size)).encode()[: int(size)])


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def fetch(address: str = FAR) -> None:
    """Prints how many bytes came, how many seconds that took from the first to the last, and which word it was."""
    with socket.create_connection((address, PORT), timeout=20) as there:
        there.settimeout(20)
        data, first = [there.recv(1 << 16)], time.perf_counter()
        while piece := there.recv(1 << 16):
            data.append(piece)
    received = b"".join(data)
    print(len(received) - len(data[0]), time.perf_counter() - first, received[:1].decode())


def fetch6() -> None:
    """The same over IPv6; then how many packets came with a mark (RFC 3168's CE), by the kernel's count."""
    fetch(os.environ["HEADGATE_FAR6"])
    counts = Path("/proc/net/snmp6").read_text().split()
    print(counts[counts.index("Ip6InCEPkts") + 1])


def whoami(address: str) -> None:
    """Tells everyone who connects what their address is from here."""
    with socket.create_server((address, PORT)) as here:
        while True:
            there, (name, _) = here.accept()
            with there:
                there.sendall(name.encode())


def ask(address: str) -> None:
    """Prints our own address, and what it is from there."""
    with socket.create_connection((address, PORT), timeout=5) as there:
        print(there.getsockname()[0], there.recv(99).decode(), flush=True)


def breed() -> None:
    """Starts one whose parent ends at once, in a session of its own; says who that is, and ends when its input does."""
    subprocess.run(["sh", "-c", "setsid sleep 60 > /dev/null & echo $!"], check=True)
    sys.stdin.read()


def stay() -> None:
    """Says who it is, and stays."""
    print(os.getpid(), flush=True)
    time.sleep(60)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
