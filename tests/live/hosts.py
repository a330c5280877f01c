"""What runs at the ends of a link in tests: `python hosts.py ROLE ...`."""

import os
import socket
import sys
import time

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


def source(size: str, word: str = "x") -> None:
    """Sends `size` bytes of `word` to everyone who connects."""
    with socket.create_server((FAR, PORT)) as here:
        while True:
            there, _ = here.accept()
            with there:
                there.sendall((word * int(size)).encode()[: int(size)])


def fetch() -> None:
    """Prints how many bytes came, how many seconds that took from the first to the last, and which word it was."""
    with socket.create_connection((FAR, PORT), timeout=20) as there:
        there.settimeout(20)
        data, first = [there.recv(1 << 16)], time.perf_counter()
        while piece := there.recv(1 << 16):
            data.append(piece)
    received = b"".join(data)
    print(len(received) - len(data[0]), time.perf_counter() - first, received[:1].decode())


def stay() -> None:
    """Says who it is, and stays."""
    print(os.getpid(), flush=True)
    time.sleep(60)


if __name__ == "__main__":
    {"echo": echo, "ping": ping, "source": source, "fetch": fetch, "stay": stay}[sys.argv[1]](*sys.argv[2:])
