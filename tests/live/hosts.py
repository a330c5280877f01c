"""Programs for the hosts at the ends of a link: `python hosts.py ROLE ...`, where a role is a function."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

NEAR, FAR = "100.64.0.1", "100.64.0.2"
PORT = 5000

#: Socket option of linux/udp.h: the kernel cuts the data of a call into datagrams of this many bytes.
UDP_SEGMENT = 103
#: Bytes of data in a datagram that fills a packet of 1500 bytes with IPv4, and datagrams of a call.
DATAGRAM, SEGMENTS = 1472, 44


def echo() -> None:
    """Sends each datagram back to its sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((FAR, PORT))
        while True:
            sock.sendto(*sock.recvfrom(1 << 16))


def ping(count: str) -> None:
    """Prints the least round-trip time of `count` datagrams of 100 bytes on the wire, in ms."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        for number in range(int(count)):
            begun = time.perf_counter()
            sock.sendto(bytes([number]) * 72, (FAR, PORT))
            assert sock.recv(2048) == bytes([number]) * 72
            times.append(time.perf_counter() - begun)
    print(min(times) * 1e3)


def answers(size: str, count: str) -> None:
    """Prints how many of `count` packets of `size` bytes, which no router may cut, are answered by `echo`."""
    answered = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        sock.settimeout(1)
        for number in range(int(count)):
            data = number.to_bytes(2) + bytes(int(size) - 28 - 2)
            sock.sendto(data, (FAR, PORT))
            try:
                while sock.recv(1 << 16) != data:
                    pass
            except TimeoutError:
                continue
            answered += 1
    print(answered)


def source(size: str, word: str = "x", address: str = FAR) -> None:
    """Sends `size` bytes of `word` over each connection."""
    with socket.create_server((address, PORT), family=family(address)) as sock:
        while True:
            connection, _ = sock.accept()
            with connection:
                connection.sendall((word * int(size)).encode()[: int(size)])


def late(seconds: str) -> None:
    """Begins to listen after a time, as a server on a busy machine does."""
    time.sleep(float(seconds))
    source("9")


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def fetch(address: str = FAR) -> None:
    """Prints the number of bytes after the first piece, the seconds that they took, and the first letter."""
    with socket.create_connection((address, PORT), timeout=20) as connection:
        connection.settimeout(20)
        data, first = [connection.recv(1 << 16)], time.perf_counter()
        while piece := connection.recv(1 << 16):
            data.append(piece)
    received = b"".join(data)
    print(len(received) - len(data[0]), time.perf_counter() - first, received[:1].decode())


def fetch6() -> None:
    """`fetch` over IPv6. Then prints the kernel's count of received packets with a CE mark (RFC 3168)."""
    fetch(os.environ["HEADGATE_FAR6"])
    counts = Path("/proc/net/snmp6").read_text().split()
    print(counts[counts.index("Ip6InCEPkts") + 1])


def whoami(address: str) -> None:
    """Sends the address of the peer over each connection."""
    with socket.create_server((address, PORT)) as sock:
        while True:
            connection, (name, _) = sock.accept()
            with connection:
                connection.sendall(name.encode())


def ask(address: str) -> None:
    """Prints the address of this host, and the one that the server sees."""
    with socket.create_connection((address, PORT), timeout=5) as connection:
        print(connection.getsockname()[0], connection.recv(99).decode(), flush=True)


def flood(count: str) -> None:
    """Sends `count` numbered datagrams of 1000 bytes, 8000 a second. Three empty ones say that it has ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        begun = time.monotonic()
        for number in range(int(count)):
            sock.sendto(number.to_bytes(4) + bytes(996), (FAR, PORT))
            time.sleep(max(0.0, begun + number / 8000 - time.monotonic()))
        for _ in range(3):
            time.sleep(0.2)
            sock.sendto(b"", (FAR, PORT))


def stream(seconds: str, address: str) -> None:
    """Sends datagrams of 18 to 1472 bytes, 2000 a second, also while the network is down."""
    begun, number = time.monotonic(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        while (left := begun + float(seconds) - time.monotonic()) > 0:
            with suppress(OSError):
                sock.sendto(bytes(18 + number * 97 % 1455), (address, PORT))
            number += 1
            time.sleep(min(left, max(0.0, begun + number / 2000 - time.monotonic())))


def count() -> None:
    """Prints the number of different datagrams of `flood`."""
    seen = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        # SO_RCVBUFFORCE: room for all of them.
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)
        sock.bind((FAR, PORT))
        while data := sock.recv(2048):
            seen.add(data[:4])
    print(len(seen))


def drip(count: str, address: str, port: str) -> None:
    """Opens `count` connections, prints, and sends bytes of a request over each. Opens 100 a second for closed ones."""
    # The other clients of a real gateway have processors of their own.
    os.nice(10)
    clients = [socket.create_connection((address, int(port)), timeout=20) for _ in range(int(count))]
    print("open", flush=True)
    while True:
        time.sleep(0.2)
        for client in clients.copy():
            try:
                client.send(b"G", socket.MSG_DONTWAIT)
            except OSError:
                client.close()
                clients.remove(client)
        missing = min(20, int(count) - len(clients))
        clients += [socket.create_connection((address, int(port)), timeout=20) for _ in range(missing)]


def longest(seconds: str, interface: str) -> None:
    """Prints the number and the greatest length of the frames that an interface receives within `seconds`.

    SIGTERM ends it earlier.
    """
    lengths, stopped = [0], []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
        sock.bind((interface, 0))
        sock.settimeout(0.2)
        print("listening", flush=True)
        end = time.monotonic() + float(seconds)
        while not stopped and time.monotonic() < end:
            try:
                length, _, _, address = sock.recvmsg_into([bytearray(1)], 0, socket.MSG_TRUNC)
            except TimeoutError:
                continue
            if address[2] != socket.PACKET_OUTGOING:
                lengths.append(length)
    print(len(lengths) - 1, max(lengths))


def blast(calls: str, rate: str, address: str = FAR) -> None:
    """Sends `calls` super-packets at `rate` bit/s of data, each of 44 datagrams of `DATAGRAM` bytes (`UDP_SEGMENT`).

    The kernel or a card makes the datagrams, as for QUIC. 44 times 1472 bytes are the most that a call can send.
    """
    with socket.socket(family(address), socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, DATAGRAM)
        data = bytes(SEGMENTS * DATAGRAM)
        begun = time.monotonic()
        for number in range(int(calls)):
            time.sleep(max(0.0, begun + number * len(data) * 8 / float(rate) - time.monotonic()))
            sock.sendto(data, (address, PORT))


def storm(seconds: str) -> None:
    """Sends datagrams of 64 bytes on the wire as quickly as it can, 64 a call (`UDP_SEGMENT`)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 22)
        data, end = bytes(64 * 22), time.monotonic() + float(seconds)
        while time.monotonic() < end:
            with suppress(OSError):
                sock.sendto(data, (FAR, PORT))


def ignore() -> None:
    """Takes a port, and reads nothing: what arrives is dropped without an answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((FAR, PORT))
        time.sleep(600)


def trips(count: str) -> None:
    """Prints half of the median round-trip time of `count` datagrams, and of the 99th percentile, in microseconds."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        for _ in range(int(count)):
            begun = time.perf_counter()
            sock.sendto(bytes(22), (FAR, PORT))
            sock.recv(2048)
            times.append((time.perf_counter() - begun) / 2 * 1e6)
            time.sleep(0.0005)
    times.sort()
    print(times[len(times) // 2], times[len(times) * 99 // 100])


def drain(address: str = FAR) -> None:
    """Prints the bytes of the datagrams after the first, their seconds, and the longest, after 2 s of silence."""
    with socket.socket(family(address), socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        sock.bind((address, PORT))
        size, most = 0, len(sock.recv(1 << 16))
        first = last = time.perf_counter()
        sock.settimeout(2)
        while True:
            try:
                length = len(sock.recv(1 << 16))
            except TimeoutError:
                break
            last = time.perf_counter()
            size, most = size + length, max(most, length)
    print(size, last - first, most)


def breed() -> None:
    """Starts an orphan in its own session and prints its process number. Ends when its input ends."""
    subprocess.run(["sh", "-c", "setsid sleep 60 > /dev/null & echo $!"], check=True)
    sys.stdin.read()


def stay() -> None:
    """Prints its process number and sleeps."""
    print(os.getpid(), flush=True)
    time.sleep(60)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
