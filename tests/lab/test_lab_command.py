"""`headgate lab` and `headgate.lab`: the page, its address, and what is wrong with what was asked for."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs
from urllib.request import urlopen

import pytest

import headgate
from headgate import shipped
from headgate.lab_page import page, server
from tests import needs
from tests.conftest import Command


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page in place of the built one, which a checkout may lack."""
    file = tmp_path / "index.html"
    file.write_text('<!doctype html><html lang="en"><title>lab</title></html>')
    monkeypatch.setattr(page, "PAGE", file)
    return file


def test_the_fragment_names_a_shipped_scenario_or_holds_a_file(tmp_path):
    found = parse_qs(page.fragment("ecn", ["red:minth=5p,maxth=15p"], seed=3, changes=["link.rate=5Mbit/s"]))
    assert found == {
        "scenario": ["ecn"],
        "set": ["link.rate=5Mbit/s"],
        "left": ["red:minth=5p,maxth=15p"],
        "seed": ["3"],
    }
    own = tmp_path / "own.toml"
    own.write_text((shipped.FOLDER / "protect.toml").read_text())
    found = parse_qs(page.fragment(own))
    assert (found["scenario"], found["toml"]) == (["own"], [own.read_text()])
    assert (found["left"], found["right"]) == (["droptail"], ["faba"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere"),
        (["--qdisc", "rde"], "did you mean `red`"),
        (["--set", "link.rat=5"], "link.rat"),
        (["--qdisc", "red", "--qdisc", "sfb", "--qdisc", "faba"], "one or two disciplines, not 3"),
    ],
)
def test_mistakes_are_told_before_anything_is_served(command: Command, words, message):
    done = command("lab", "--no-browser", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_page_that_was_not_built_names_the_command_that_builds_it(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "PAGE", tmp_path / "index.html")
    with pytest.raises(headgate.UsageError, match="`make lab` builds it"):
        headgate.lab()


@pytest.mark.usefixtures("built")
def test_a_notebook_gets_the_whole_page_in_a_frame():
    shown = headgate.lab("protect", ["sfb"], height=700)._repr_html_()
    assert shown.startswith("<iframe")
    assert 'height="700"' in shown
    assert "data-start=&quot;scenario=protect&amp;amp;left=sfb" in shown


@pytest.mark.usefixtures("built")
def test_the_server_has_one_page_on_the_loopback():
    with server.server(page.page(), 0) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{serving.server_port}"
        assert b"<title>lab</title>" in urlopen(address).read()
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{address}/etc/passwd")
        with pytest.raises(headgate.UsageError, match="give another --port"):
            server.server("", serving.server_port)
        serving.shutdown()
        thread.join()


@needs.marks("lab")
def test_ctrl_c_ends_the_server_quietly():
    words = [sys.executable, "-m", "headgate", "lab", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        address = running.stdout.readline().strip()
        assert b"Headgate lab" in urlopen(address.partition("#")[0]).read()
        running.send_signal(signal.SIGINT)
        rest, errors = running.communicate(timeout=60)
    assert (running.returncode, rest, errors) == (0, "", "Ctrl-C ends the server\n")
