"""`headgate tc`: disciplines as commands of tc, and back."""

import random
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from headgate import _core
from headgate.cli import app
from headgate.errors import UsageError
from headgate.qdiscs import tc, tc_read
from headgate.qdiscs.spec import QdiscSpec
from headgate.qdiscs.tc_units import bits_per_second, milliseconds, octets
from tests.conftest import Command

#: Settings to draw from, by parameter. The values are ones that tc can write exactly.
DRAWN = {
    "limit": ["100p", "1000p", "10240p"],
    "target": ["5ms", "500us", "15ms", "2s"],
    "interval": ["100ms", "30ms"],
    "quantum": ["300B", "1514B", "9000B"],
    "flows": ["16", "1024"],
    "ecn": ["on", "off"],
    "ce_threshold": ["auto", "1ms"],
    "memory_limit": ["1MB", "32MiB"],
    "drop_batch": ["1", "64"],
    "alpha": ["0.0625", "0.125", "2"],
    "beta": ["0.125", "1.25"],
    "tupdate": ["15ms", "16ms"],
    "byte_mode": ["on", "off"],
    "dq_rate_estimator": ["on", "off"],
    "ecn_threshold": ["0.1", "0.5"],
    "minth": ["20p", "50p"],
    "maxth": ["80p", "90p"],
    "maxp": ["0.02", "0.125"],
    "wq": ["0.002", "0.5"],
    "hh_limit": ["100", "2048"],
    "admit_bytes": ["128KiB", "1KB"],
    "evict_timeout": ["1s", "250ms"],
    "non_hh_weight": ["2", "5"],
    "depth": ["127", "10"],
    "perturb": ["0s", "10s"],
    "head_drop": ["on", "off"],
    "d1": ["0.0005", "0.25"],
    "bandwidth": ["auto", "20Mbit/s", "950kbit/s"],
    "overhead": ["0", "-4", "38"],
    "mpu": ["0B", "84B"],
    "rtt": ["100ms", "1ms"],
    "diffserv": ["besteffort", "precedence", "diffserv3", "diffserv8"],
    "isolation": ["flowblind", "dual-srchost", "triple-isolate"],
    "ack_filter": ["no-ack-filter", "ack-filter-aggressive"],
    "framing": ["noatm", "atm", "ptm"],
    "rehash": ["5s", "600s"],
    "penalty_packets": ["10", "500"],
    "bin_size": ["19p", "24p"],
    "rate": ["5Mbit/s", "1500kbit/s"],
    "burst": ["10KB", "1514B"],
    "coupling_factor": ["2", "3"],
    "classic_protection": ["0.1", "0.25"],
}


def link(spec: QdiscSpec) -> tc.TcLink:
    """The link of `headgate tc`, with packets of 1000 bytes."""
    return tc.TcLink(10e6, spec.value("limit"), 1000)


def drawn() -> Iterator[QdiscSpec]:
    """Disciplines with random settings, always the same: with the preset of Linux, from which a reader starts."""
    draw = random.Random(21)
    for name in tc.KINDS:
        discipline = _core.discipline(name)
        known = [each.name for each in discipline.parameters if each.name in DRAWN]
        base = ["preset=linux"] if any(each.name == "linux" for each in discipline.presets) else []
        for _ in range(60):
            some = draw.sample(known, draw.randint(0, len(known)))
            # A burst of RED and its weight exclude each other, and draws of a burst are TBF's.
            some = [each for each in some if name == "tbf" or each != "burst"]
            settings = [*base, *(f"{each}={draw.choice(DRAWN[each])}" for each in some)]
            yield QdiscSpec.of(f"{name}:{','.join(settings)}")


def test_a_command_that_is_read_back_gives_the_same_command():
    seen = 0
    for spec in drawn():
        line = tc.command_on(spec, link(spec)).line
        (found,) = tc_read.read(line)
        assert found.spec.discipline.name == spec.discipline.name
        again = tc.command_on(found.spec, link(found.spec)).line
        # TBF writes the link's rate at the end, and a rate of its own among its options.
        assert sorted(again.split()) == sorted(line.split()), f"{spec} was read as {found.spec}"
        seen += 1
    assert seen == 60 * len(tc.KINDS)


def test_settings_that_tc_has_are_read_as_they_were():
    lossless = ["codel", "fq_codel", "pie", "fq_pie", "hhf"]
    for spec in (each for each in drawn() if each.discipline.name in lossless):
        (found,) = tc_read.read(tc.command_on(spec, link(spec)).line)
        covered = dict(tc.KINDS[spec.discipline.name].words(spec, link(spec)))
        again = found.spec.with_settings({name: spec.value(name) for name in covered if spec.value(name) != "auto"})
        assert again.settings == found.spec.settings, f"{spec} was read as {found.spec}"


@pytest.mark.parametrize(
    ("shown", "spec"),
    [
        # As iproute2 6.1 prints them.
        (
            "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms "
            "interval 100ms memory_limit 32Mb ecn drop_batch 64 ",
            "fq_codel:preset=linux,limit=10240p",
        ),
        ("qdisc codel 0: dev eth0 parent 1:2 limit 1000p target 5ms interval 100ms ", "codel:preset=linux,limit=1000p"),
        ("qdisc pie 1: dev a root limit 1000p target 20ms tupdate 16ms alpha 2 beta 16 ",
         "pie:preset=linux,target=20ms,tupdate=16ms,beta=1,limit=1000p"),
        ("qdisc pfifo 1: dev a root refcnt 2 limit 100p", "droptail:limit=100p"),
        ("qdisc bfifo 1: dev a root refcnt 2 limit 100Kb", "droptail:limit=102400B"),
        ("qdisc hhf 1: dev a root limit 500p quantum 1514b hh_limit 2048 reset_timeout 40ms admit_bytes 128Kb "
         "evict_timeout 1s non_hh_weight 3 ", "hhf:preset=linux,non_hh_weight=3,limit=500p"),
        ("qdisc sfb 1: dev a root limit 1000 max 25 target 20\n  increment 0.00050 decrement 0.00005 penalty rate 10 "
         "burst 20 (600000ms 60000ms)", None),
        ("qdisc tbf 1: dev a root rate 1Mbit burst 10Kb lat 50ms ",
         "tbf:preset=linux,rate=1000000bit/s,burst=10240B,limit=16490B"),
        ("qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 20Mbit diffserv4 dual-srchost nonat nowash ack-filter "
         "split-gso rtt 50ms noatm overhead 38 mpu 84 memlimit 32Mb ",
         "cake:preset=linux,bandwidth=20000000bit/s,diffserv=diffserv4,isolation=dual-srchost,ack_filter=ack-filter,"
         "rtt=50ms,overhead=38,mpu=84B,limit=33554432B"),
        ("tc qdisc replace dev eth0 root cake unlimited besteffort metro pppoe-ptm",
         "cake:preset=linux,diffserv=besteffort,rtt=10ms,overhead=30,framing=ptm"),
        ("sudo tc qdisc add dev eth0 root handle 1: sfq perturb 10", "sfq:preset=linux,perturb=10s"),
    ],
)  # fmt: skip
def test_listings_of_tc_are_read(shown: str, spec: str | None):
    (found,) = tc_read.read(shown)
    if spec is None:
        assert found.spec.discipline.name == "sfb"
        assert (found.spec.value("d1"), found.spec.value("penalty_packets")) == ("0.00050", "10")
        return
    expected = QdiscSpec.of(spec)
    assert found.spec.discipline.name == expected.discipline.name
    assert found.spec.settings == expected.settings


def test_units_are_those_of_tc():
    # A k of bits is 1000, a k of bytes 1024; without a unit bits, bytes and microseconds.
    assert [bits_per_second(word) for word in ("1kbit", "1Kibit", "1kbps", "5000000bit", "800")] == [
        1e3,
        1024,
        8e3,
        5e6,
        800,
    ]
    assert [octets(word) for word in ("1k", "1Kb", "32Mb", "8kbit", "1514", "1514b")] == [
        "1024",
        "1024",
        "33554432",
        "1024",
        "1514",
        "1514",
    ]
    assert [milliseconds(word) for word in ("5ms", "5.5ms", "100us", "2s", "1500")] == [5.0, 5.5, 0.1, 2e3, 1.5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("qdisc fq_codel 0: dev e root flow 3", ["line 1", "'flow'", "did you mean 'flows'"]),
        ("qdisc fq_codle 0: dev e root", ["'fq_codle'", "did you mean 'fq_codel'"]),
        ("qdisc codel 0: dev e root target fast", ["target 'fast'", "such as 5ms"]),
        ("qdisc codel 0: dev e root target", ["target has no value"]),
        ("hello", ["line 1", "tc qdisc show", "'hello'"]),
        ("qdisc fq 0: dev e root limit 3", ["sch_fq"]),
        ("tc qdisc add dev eth0 root", ["names no qdisc"]),
        ("qdisc codel 0: dev e root " + "x" * 500, ["…"]),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_line(text: str, says: list[str]):
    with pytest.raises(UsageError) as error:
        list(tc_read.read(text))
    assert all(each in str(error.value) for each in says), str(error.value)
    assert len(str(error.value)) < 300


def test_qdiscs_without_packets_of_their_own_are_skipped():
    shown = """\
qdisc noqueue 0: dev lo root refcnt 2
qdisc mq 0: dev eth0 root
qdisc pie 0: dev eth0 parent :1 limit 9p
 Sent 0 bytes
"""
    (found,) = tc_read.read(shown)
    assert (found.device, str(found.spec)) == ("eth0", "pie:preset=linux,limit=9p")


def test_the_command_prints_and_reads(command: Command):
    done = command("tc", "pie:preset=linux,target=5ms", "--dev", "eth1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("tc qdisc replace dev eth1 root pie limit 1000 target 5ms ")
    back = command("tc", "--read", done.stdout.splitlines()[-1])
    assert (back.returncode, back.stdout) == (0, "pie:preset=linux,target=5ms,limit=1000p\n")
    for wrong, says in (
        (("tc",), "give a discipline"),
        (("tc", "blue"), "The nearest that can is sfb"),
        (("tc", "pie:target=5"), "5"),
        (("tc", "red", "--rate", "fast"), "fast"),
    ):
        refused = command(*wrong)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert says in refused.stderr


def test_standard_input_is_read_with_a_dash():
    done = CliRunner().invoke(app, ["tc", "--read", "-"], input="qdisc codel 0: dev eth0 root limit 9p ecn\n")
    assert (done.exit_code, done.stdout) == (0, "codel:preset=linux,limit=9p,ecn=on\n")
