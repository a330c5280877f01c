"""Random settings of a gateway: each file and each option is used, or refused with one message for a terminal.

`FUZZ_MUTATIONS=1000000` sets the number of files. The fuzz target `gateway` searches the part that Rust reads.
"""

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from headgate.errors import UsageError
from headgate.execution import memory
from headgate.live import exporter, gateway_settings
from headgate.live.gateway_settings import FAIL_MODES, NAMES, SEND_MODES, GatewaySettings
from headgate.terminal.printable import printable

#: Random files. Half of them are changed further, by bytes.
FILES = int(os.environ.get("FUZZ_MUTATIONS", "1000"))

#: Values that fit a key, as TOML. Those of a direction's key also fit the key of both directions.
FITTING = {
    "rate": ('"1Mbit/s"', '"100Gbit/s"'), "schedule": ('"10s=5Mbit/s,20s=0bit/s"',), "schedule-period": ('"30s"',),
    "delay": ('"0ms"', '"16ms"'), "limit": ('"1000p"', '"64KiB"'), "loss": ("0.01", '"0"'), "loss-burst": ("4",),
    "qdisc": ('"sfb:bins=46"', '"drr:classes=[droptail; drr]"'), "jitter": ('"2ms"',), "reorder": ("0.1",),
    "reorder-by": ('"5ms"',), "overhead": ("38", '"-19B"', '"docsis"'), "loss-burst-max": ("9",),
    "loss-at": ('"3,10"',),
    "duplicate": ("0.1",), "ecn": ('"bleach"', '"remark"'), "dscp": ('"EF"', "0"), "slot": ('"1ms"',),
    "aggregate": ('"4ms"',), "aggregate-gap": ('"0ms"',), "trace": ('"no-such-file"',), "in": ('"eth1"',),
    "out": ('"eth0"',), "metrics": ('"9100"', '"[::1]:9100"'), "offloads-off": ("true",), "seed": ("7",),
    "cpus": (f'"{min(os.sched_getaffinity(0))}"',), "busy-poll": ("true",),
    "send": tuple(f'"{mode}"' for mode in SEND_MODES), "fail": tuple(f'"{mode}"' for mode in FAIL_MODES),
    "flow": ('"source/24"', '"class"'), "class": ("[]",), "no-sandbox": ("false",),
}  # fmt: skip

#: Values that fit no key, or break a reader: every kind of TOML, and the ends of its ranges.
ODD = (
    '""', "''", "-1", "9223372036854775808", "1e400", "nan", "-inf", "[]", "[[]]", "{}", "{ a.b = 1 }", "1979-05-27",
    "07:32:00", "1979-05-27T07:32:00Z", "0x" + "f" * 5000, "9" * 5000, '"' + "x" * 5000 + '"', "[" * 3000 + "]" * 3000,
    '"\\u0000"', '"\\u001b[2J"', '"a\\nb"', '"\\u202e"', '"]"', '"="', '","', '"`"', '"1\u00b2Mbit/s"',
    "'/dev/null'", "'.'",
)  # fmt: skip

#: Keys whose options have no text.
BARE = {"class", "seed", "offloads-off", "no-sandbox"}

#: Keys of a class with values that fit, and with values that do not.
CONDITIONS = (
    'dscp = "ef"', 'dscp = ["CS1", 46]', "weight = 3", 'protocol = "tcp"', "destination_port = [80, 443]",
    'source = "10.20.0.0/24"', 'source = ["fd00::/48", "10.0.0.1"]',
)  # fmt: skip
ODD_CONDITIONS = ('label = "a"', 'source = "1.2.3.4/33"', 'parent = "itself"', "no_key = 1", 'name = "twice"')


def value(draws: random.Random, key: str) -> str:
    """A value that fits, mostly."""
    name = NAMES.get(key, key).removeprefix("forward-").removeprefix("reverse-")
    return draws.choice(FITTING[name] if draws.random() < 0.95 else ODD)


def table_of_class(number: int, draws: random.Random) -> str:
    lines = [f'name = "class{number}"', *draws.sample(CONDITIONS, draws.randrange(3))]
    if draws.random() < 0.1:
        lines.append(draws.choice((*ODD_CONDITIONS, f"dscp = {draws.choice(ODD)}")))
    return "\n".join(["[[class]]", *lines]) + "\n"


def text(draws: random.Random) -> str:
    """A file: mostly keys with values that fit, and tables of classes."""
    keys = ["in", "out", "rate", *draws.sample(sorted({*NAMES} - {"in", "out", "rate", "class"}), draws.randrange(4))]
    lines = [f"{key} = {value(draws, key)}\n" for key in keys]
    return "".join([*lines, *(table_of_class(number, draws) for number in range(draws.randrange(3)))])


def mutated(data: bytes, draws: random.Random) -> bytes:
    """One to four changes of bytes: another byte, a cut, a part twice."""
    for _ in range(draws.randint(1, 4)):
        at, end = sorted(draws.randrange(len(data) + 1) for _ in range(2))
        change = draws.randrange(4)
        if change == 0:
            data = data[:at] + bytes([draws.randrange(256)]) + data[at + 1 :]
        elif change == 1:
            data = data[:at] + data[min(end, at + 16) :]
        elif change == 2:
            data = data[:end] + data[at:]
        else:
            data = data[:at] + draws.choice(ODD).encode() + data[at:]
    return data


def refusal(read: Callable[[], GatewaySettings]) -> str:
    """The message of a refusal; empty if the settings are used. Any other error is one of the test."""
    try:
        settings = read()
        assert 0 <= settings.seed < 1 << 64
        if settings.metrics is not None:
            exporter.parse(settings.metrics)
    except UsageError as error:
        message = printable(str(error))
        assert message
        assert not any(letter < " " and letter != "\n" for letter in message), repr(message)
        assert max(map(len, message.split("\n"))) < 2000, message
        return message
    return ""


def test_every_file_is_used_or_refused(tmp_path: Path):
    config = tmp_path / "gateway.toml"
    draws, refused = random.Random("files"), 0
    for number in range(FILES):
        data = text(draws).encode()
        config.write_bytes(mutated(data, draws) if number % 2 else data)
        refused += refusal(lambda: gateway_settings.load({}, config)) != ""
    assert FILES // 10 < refused < FILES * 9 // 10


def test_every_option_is_used_or_refused():
    draws, refused = random.Random("options"), 0
    for _ in range(FILES):
        keys = ["in", "out", "rate", *draws.sample(sorted({*NAMES.values()} - BARE), 2)]
        options = {key: value(draws, key).strip("\"'") for key in keys}
        odd = draws.choice(ODD).strip("\"'") if draws.random() < 0.3 else "3"
        specs = [f"{draws.choice(('voice', 'web', ''))}:dscp=ef,weight={odd}"] * draws.randrange(3)
        given = {**options, "class": specs}
        refused += refusal(partial(gateway_settings.load, given, None)) != ""
    assert FILES // 10 < refused < FILES * 9 // 10


def test_disciplines_that_need_more_memory_than_there_is_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    classes = "; ".join(["fq_codel:flows=65536"] * 100)
    config = tmp_path / "gateway.toml"
    config.write_text(f'in = "eth1"\nout = "eth0"\nrate = "1Mbit/s"\nforward-qdisc = "drr:classes=[{classes}]"\n')
    monkeypatch.setenv(memory.VARIABLE, "2GB")
    gateway_settings.load({}, config)
    monkeypatch.setenv(memory.VARIABLE, "600MB")
    with pytest.raises(UsageError, match=r"need about 629 MB of memory, but 600 MB may be used\n.*`forward-qdisc`"):
        gateway_settings.load({}, config)


@pytest.mark.parametrize("text", ["9999", "0,", "a", "0,0,0", "-1", "0-1", "٣"])
def test_processors_that_cannot_be_used_are_refused(text: str):
    with pytest.raises(UsageError) as raised:
        gateway_settings.load({"in": "a", "out": "b", "rate": "1Mbit/s", "cpus": text}, None)
    usable = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
    assert f"of those that this process may use ({usable}), found {text!r}" in str(raised.value)
