"""Reads pcapng files and IP headers from the specifications alone: the RFCs, draft-ietf-opsawg-pcapng."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6


class Packet(NamedTuple):
    """A packet: its interface's name, nanoseconds, length on the wire, the bytes kept, the comment."""

    interface: str
    nanos: int
    length: int
    data: bytes
    comment: str


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The type and body of each block. Its length is at its beginning and end."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def options(data: bytes) -> dict[int, bytes]:
    """Options by code, up to the end-of-options mark."""
    values = {}
    while data:
        code, length = struct.unpack_from("<HH", data)
        if code == 0:
            break
        values[code] = data[4 : 4 + length]
        data = data[4 + length + -length % 4 :]
    return values


def packets(path: Path) -> list[Packet]:
    """Every packet of a capture of raw IP with timestamps in nanoseconds."""
    names, packets_read = [], []
    for place, (kind, body) in enumerate(blocks(path.read_bytes())):
        assert (kind == SECTION) == (place == 0)
        if kind == SECTION:
            assert struct.unpack_from("<IHH", body) == (0x1A2B3C4D, 1, 0)
        elif kind == INTERFACE:
            interface_options = options(body[8:])
            assert (struct.unpack_from("<H", body), interface_options[9]) == ((101,), b"\x09")
            names.append(interface_options[2].decode())
        else:
            assert kind == PACKET
            interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
            comment = options(body[20 + kept + -kept % 4 :]).get(1, b"").decode()
            packets_read.append(Packet(names[interface], high << 32 | low, length, body[20 : 20 + kept], comment))
    return packets_read


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of data that includes its checksum: 0 if that is right."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def check(packet: Packet) -> None:
    """Lengths and checksums of an IPv4 packet whose payload is zeros (which change no checksum)."""
    data = packet.data
    header = (data[0] & 15) * 4
    assert data[0] >> 4 == 4
    assert struct.unpack_from(">H", data, 2) == (packet.length,)
    assert checksum(data[:header]) == 0
    pseudo = data[12:20] + struct.pack(">BBH", 0, data[9], packet.length - header)
    assert checksum(pseudo + data[header:]) == 0
