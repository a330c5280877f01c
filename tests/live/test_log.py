"""The files that `headgate link --log` writes."""

import json
import subprocess
import time
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.dataset as ds
import pytest

from tests import needs
from tests.conftest import Command
from tests.live import test_link
from tests.live.test_link import host, link, serve, skip_without_namespaces

__all__ = ["skip_without_namespaces"]

SIZE = 600_000


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a transfer at 10 Mbit/s that fills the queue."""
    folder = tmp_path_factory.mktemp("log") / "new" / "log"
    options = ("--rate", "10Mbit/s", "--delay", "5ms", "--limit", "20p", "--forward-qdisc", "red", "--log", folder)
    done = link(*options, serve("source", SIZE), *host("fetch"))
    assert done.returncode == 0, done.stderr
    assert "note: the log" not in done.stderr
    return folder


def document(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "link.json").read_text())
    return result


def shown(file: Path, *fields: str, only: str = "") -> list[list[str]]:
    """The fields of each packet of a capture, as tshark reads them."""
    needs.without("tshark")
    words = ["tshark", "-r", str(file), "-Y", only, "-T", "fields", *(word for name in fields for word in ("-e", name))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_the_document_has_the_options_and_the_summary_of_the_link(logged: Path):
    result = document(logged)
    assert (result["schema"], result["seed"], result["outside"]) == (3, 1, False)
    assert result["forward"] == {"rate": "10Mbit/s", "delay": "5ms", "limit": "20p", "qdisc": "red"}
    assert result["reverse"]["qdisc"] == "droptail"
    assert result["ended"]["code"] == 0
    assert result["ended"]["log"]["failed"] is None
    schema = json.loads(resources.files("headgate").joinpath("schema/link-3.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(result)
    flow = result["ended"]["reverse"]["flows"][0]
    assert (flow["protocol"], flow["source"], flow["source_port"]) == (6, "100.64.0.2", 5000)


def test_rows_over_time_add_up_to_the_packets_sent_and_dropped(logged: Path):
    view = document(logged)["ended"]
    rows = ds.dataset(logged / "intervals").to_table().to_pandas()
    assert list(rows) == ["qdisc", "seed", "time_s", "metric", "link", "direction", "group", "value"]
    for direction, qdisc in (("forward", "red"), ("reverse", "droptail")):
        mine = rows[(rows.direction == direction) & (rows.qdisc == qdisc)]
        at = mine[mine.metric == "sent_bps"].set_index("time_s").value
        lengths = at.index.to_series().diff().fillna(at.index[0])
        assert (at * lengths).sum() / 8 == pytest.approx(view[direction]["sent_bytes"])
        assert mine[mine.metric == "drops"].value.sum() == view[direction]["dropped"]
        assert mine[mine.metric == "utilization"].value.between(0, 1.0001).all()
    assert view["reverse"]["dropped"] > 0, "else the queue was not filled"
    assert rows[rows.metric == "queue_packets"].value.max() <= 20
    assert (rows.metric == "gauge:average").any(), "red shows its average queue"


def test_captures_have_every_packet_at_both_ends_before_and_behind_the_link(logged: Path):
    view = document(logged)["ended"]
    counts = {}
    for end in ("near", "far"):
        packets = shown(logged / f"{end}.pcapng", "frame.interface_name", "frame.len", "tcp.seq_raw", "frame.comment")
        for way in ("in", "out", "drops"):
            counts[end, way] = [packet[1:] for packet in packets if packet[0] == f"{end} {way}"]
    assert len(counts["near", "in"]) == view["forward"]["offered"]
    assert len(counts["far", "in"]) == view["reverse"]["offered"]
    assert len(counts["far", "out"]) == view["forward"]["delivered"]
    assert len(counts["near", "out"]) == view["reverse"]["delivered"]
    # The last packets may be under way when the command ends: each has headers of IP and TCP, and fits the MTU.
    flying = view["reverse"]["sent"] - view["reverse"]["delivered"]
    missing = view["reverse"]["sent_bytes"] - sum(int(packet[0]) for packet in counts["near", "out"])
    assert 40 * flying <= missing <= 1500 * flying
    assert [packet[2] for packet in counts["far", "drops"]] == ["dropped: overflow"] * view["reverse"]["dropped"]
    # The packets that left entered in the same order. Each dropped packet entered, too.
    sent, dropped = iter(counts["far", "in"]), [packet[:2] for packet in counts["far", "drops"]]
    assert all(packet in sent for packet in counts["near", "out"])
    assert all([*packet, ""] in counts["far", "in"] for packet in dropped)
    assert document(logged)["ended"]["log"]["packets"] == sum(map(len, counts.values()))


def test_captured_times_are_wall_clock_times(logged: Path):
    first = shown(logged / "near.pcapng", "frame.time_epoch")[0][0]
    assert 0 < time.time() - float(first) < 600


def test_a_log_overwrites_nothing(command: Command, logged: Path):
    before = document(logged)
    done = command("link", "--rate", "1Mbit/s", "--log", logged, "true")
    assert done.returncode == 2
    assert done.stderr == f"error: --log {logged}: the folder is not empty; give a new one\n"
    assert document(logged) == before


def test_an_unusable_log_folder_is_refused_before_the_link_is_made(command: Command, tmp_path: Path):
    done = command("link", "--rate", "1Mbit/s", "--log", "/proc/none", "true")
    expected = "error: cannot write the log to /proc/none: No such file or directory\n"
    assert (done.returncode, done.stderr) == (3, expected)
    ended = link("--rate", "1Mbit/s", "--cc", "nonesuch", "--log", tmp_path / "none", "true")
    assert ended.returncode == 2
    assert not (tmp_path / "none").exists(), "of a link that never was, nothing stays"


def test_a_full_disk_ends_the_log_and_not_the_link(tmp_path: Path):
    needs.without("root", "util-linux")
    run = test_link.command(
        "--rate", "50Mbit/s", "--log", tmp_path / "disk" / "log", serve("source", 1_500_000), *host("fetch")
    )
    script = 'mount -t tmpfs -o size=256k none "$0" && "$@"; code=$?; cp -r "$0"/log "$0"/../kept; exit $code'
    (tmp_path / "disk").mkdir()
    words = ["unshare", "-m", "sh", "-c", script, str(tmp_path / "disk"), *run]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 1_000_000, "the transfer went on"
    assert "note: the log is incomplete: cannot write " in done.stderr
    assert "No space left on device" in done.stderr
    assert " packets are missing in the captures" in done.stderr
    # All packets written before can be read.
    lengths = [int(length) for (length,) in shown(tmp_path / "kept" / "near.pcapng", "frame.len")]
    assert len(lengths) > 100


def test_kill_9_leaves_a_log_that_can_be_read(tmp_path: Path):
    arguments = ("--rate", "10Mbit/s", "--log", tmp_path / "log", serve("source", 100_000_000), *host("fetch"))
    with subprocess.Popen(test_link.command(*arguments)) as process:
        near, end = tmp_path / "log" / "near.pcapng", time.monotonic() + 20
        while not (near.exists() and near.stat().st_size > 50_000) and time.monotonic() < end:
            time.sleep(0.02)
        process.kill()
    assert document(tmp_path / "log")["ended"] is None
    assert len(shown(near, "frame.len")) > 100
