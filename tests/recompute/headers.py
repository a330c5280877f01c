"""Flow, sequence number, size and ECN of a captured packet, from its IPv4, TCP and UDP headers (RFC 791, 9293, 768)."""

import struct
from typing import NamedTuple

TCP, UDP, CE = 6, 17, 3
NOP, SACK = 1, 5
#: Hosts by default: the first flow sends from 10.0.0.1 to 172.16.0.1, the next from 10.0.0.2 to 172.16.0.2.
FIRST_SENDER, FIRST_RECEIVER = 0x0A000001, 0xAC100001


class Header(NamedTuple):
    """A packet's fields. Data is a segment with payload, or a datagram of a sender."""

    flow: int
    is_data: bool
    #: Number of the first byte, from 0; of an acknowledgement, the number of the next byte expected.
    number: int
    #: Length of the IP packet.
    length: int
    payload: int
    is_marked: bool
    #: Bytes that an acknowledgement reports beyond `number` (SACK, RFC 2018).
    sacked: int


def header(packet: bytes, length: int) -> Header:
    """The header of a packet of `length` bytes, of which `packet` has the first ones."""
    source, target = struct.unpack_from(">II", packet, 12)
    is_data = source < FIRST_RECEIVER
    flow = (source - FIRST_SENDER) if is_data else (target - FIRST_SENDER)
    is_marked = packet[1] & 3 == CE
    start = (packet[0] & 15) * 4
    if packet[9] == UDP:
        return Header(flow, is_data, 0, length, length - start - 8, is_marked, 0)
    assert packet[9] == TCP
    number, acknowledged = struct.unpack_from(">II", packet, start + 4)
    options = start + (packet[start + 12] >> 4) * 4
    # Both ends start at 0, so the first byte of data has number 1.
    number = (number if is_data else acknowledged) - 1
    sacked = selected(packet[start + 20 : options])
    return Header(flow, is_data, number, length, length - options, is_marked, sacked)


def selected(options: bytes) -> int:
    """Bytes in the blocks of a SACK option."""
    at = 0
    while at < len(options) and options[at]:
        if options[at] == SACK:
            edges: tuple[int, ...] = struct.unpack_from(f">{(options[at + 1] - 2) // 4}I", options, at + 2)
            return sum(edges[1::2]) - sum(edges[::2])
        at += 1 if options[at] == NOP else options[at + 1]
    return 0
