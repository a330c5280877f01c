"""The whole message about bad input: what is wrong, where, and which value is valid."""

import struct
from pathlib import Path

import pytest

from tests.conftest import Command

HEAD = 'name = "bad"\nduration = "2s"\nqdiscs = ["droptail"]\n\n'
ROOM = 'delay = "5ms"\nlimit = "50p"\n\n'
LINK = f'[link]\nrate = "2Mbit/s"\n{ROOM}'

#: The links A - B - C, and a link X - Y without a connection to them.
NETWORK = "".join(
    f'[[link]]\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nrate = "2Mbit/s"\n{ROOM}' for ends in ("AB", "BC", "XY")
)


def message(command: Command, text: str) -> str:
    """The error of `headgate run bad.toml`. The exit code is 2, stdout is empty, and no file appears."""
    Path("bad.toml").write_text(HEAD + text)
    before = sorted(Path().rglob("*"))
    done = command("run", "bad.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(Path().rglob("*")) == before
    return done.stderr


def pointing(headline: str, line: int, column: int, written: str, wrong: str, more: str = "") -> str:
    """A message with its position: the line as `written`, and carets below its `wrong` part."""
    gap = " " * len(str(line))
    carets = " " * (column - 1) + "^" * len(wrong)
    shown = [f"error: {headline}", f"{gap}--> bad.toml:{line}:{column}", f"{gap} |", f"{line} | {written}"]
    return "\n".join([*shown, f"{gap} | {carets}{' ' + more if more else ''}", ""])


@pytest.mark.parametrize(
    ("group", "written", "wrong", "headline", "more"),
    [
        ('from = "A"\nto = "Y"', 'to = "Y"', '"Y"', "no links lead from `A` to `Y`", ""),
        ('from = "A"\nto = "D"', 'to = "D"', '"D"', "no link ends at a node called `D`", "nodes: A, B, C, X, Y"),
        ('route = ["A", "C"]', 'route = ["A", "C"]', '"C"', "no link joins `A` and `C`", "links lead from `A` to: B"),
        (
            'route = ["A", "B", "A"]',
            'route = ["A", "B", "A"]',
            '"A"',
            "the route visits `A` twice: packets would loop",
            "",
        ),
    ],
    ids=["nothing leads there", "no such node", "no such link", "a loop"],
)
def test_a_route_that_does_not_exist(command: Command, group: str, written: str, wrong: str, headline: str, more: str):
    text = f"{NETWORK}[[tcp]]\n{group}\n"
    line = len((HEAD + text).splitlines()) - group.count("\n") + group.splitlines().index(written)
    assert message(command, text) == pointing(headline, line, written.rindex(wrong) + 1, written, wrong, more)


@pytest.mark.parametrize("rate", ["0bit/s", "0Mbit/s"])
def test_a_rate_of_zero(command: Command, rate: str):
    stderr = message(command, LINK.replace("2Mbit/s", rate) + "[[tcp]]\n")
    wrong = f'"{rate}"'
    headline = "`link.rate`: must be more than 0bit/s and at most 100Gbit/s, not 0bit/s"
    assert stderr == pointing(headline, 6, 8, f"rate = {wrong}", wrong)


def test_the_error_of_a_bare_zero_lists_the_units(command: Command):
    stderr = message(command, LINK.replace('"2Mbit/s"', "0") + "[[tcp]]\n")
    expected = 'a rate with its unit, such as "10Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)'
    assert stderr == pointing(f"`link.rate`: expected {expected}, found 0", 6, 8, "rate = 0", "0")


def pcap(*packets: tuple[int, int]) -> bytes:
    """A capture of Ethernet packets: for each, the length in its header and the number of bytes present."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<IIII", 1, 0, length, length) + bytes(present) for length, present in packets)


@pytest.mark.parametrize(
    ("file", "content", "headline"),
    [
        ("cut.pcap", pcap((60, 60), (60, 20)), "the capture is cut off in packet 2"),
        ("head.pcap", pcap()[:10], "the capture is cut off before its first packet ends"),
        (
            "text.pcap",
            b"no capture\n",
            "neither a capture (pcap, pcapng) nor a CSV file with lines of time,flow,bytes",
        ),
        (
            "fields.csv",
            b"time,flow,bytes\n0.1,1,100\n0.2,1\n",
            "line 3: expected time,flow,bytes, found 2 fields",
        ),
        ("back.csv", b"0.2,1,100\n0.1,1,100\n", "line 2: times must not decrease"),
        ("number.csv", b"0.1,1,100\n0.2,1,many\n", "line 2: "),
    ],
    ids=["a capture cut off", "cut off in its head", "no capture", "a field too few", "time goes back", "no number"],
)
def test_a_file_that_cannot_be_replayed(command: Command, file: str, content: bytes, headline: str):
    Path(file).write_bytes(content)
    written = f'traffic = "replay:file={file}"'
    stderr = message(command, f"{LINK}[[tcp]]\n{written}\n").splitlines()
    assert stderr[0].startswith(f"error: replay: {file}: {headline}")
    assert stderr[1:4] == ["  --> bad.toml:11:11", "   |", f"11 | {written}"]


def test_a_file_that_is_not_there(command: Command):
    for key, written in (
        ("`tcp[0].traffic`", f'{LINK}[[tcp]]\ntraffic = "replay:file=gone.csv"\n'),
        ("`link.trace`", LINK.replace('rate = "2Mbit/s"', 'trace = "gone.csv"') + "[[tcp]]\n"),
    ):
        stderr = message(command, written)
        assert stderr.startswith(f'error: {key}: cannot read "gone.csv": No such file or directory\n')


@pytest.mark.parametrize(
    ("record", "headline", "more"),
    [
        ('capture = ["botleneck"]', "no link is called `botleneck`; did you mean `bottleneck`?", "known: bottleneck"),
        ('flows = ["tpc"]', "no group is called `tpc`; did you mean `tcp`?", "known: tcp"),
        ('flows = ["tcp/7"]', "`tcp` has one flow, number 0, not 7", ""),
    ],
)
def test_recording_an_unknown_flow_or_link_is_refused(command: Command, record: str, headline: str, more: str):
    key, wrong = record.split(" = ")[0], record[record.index('"') : -1]
    stderr = message(command, f"{LINK}[[tcp]]\n\n[record]\n{record}\n")
    assert stderr == pointing(f"`record.{key}[0]`: {headline}", 13, record.index('"') + 1, record, wrong, more)
