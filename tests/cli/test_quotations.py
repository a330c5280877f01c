"""What messages quote of the input, and the time that long lists take."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.errors import UsageError
from headgate.live import gateway_settings
from headgate.scenario import Scenario
from headgate.terminal.printable import LONGEST, printable
from tests.conftest import SMALL, Command

#: A color of a terminal, and a text that is far too long.
ESCAPE, LONG = "\x1b[31mred", "y" * 5000

#: The input of each command that a message quotes. `{}` is the place of the input.
QUOTING = [
    "run small.toml --qdisc {}",
    "run small.toml --qdisc sfb:{}",
    "run small.toml --qdisc sfb:bins={}",
    "run small.toml --set {}",
    "run small.toml --set {}=3",
    "run small.toml --set link.rate={}",
    "run small.toml --set class=[{{name='a',dscp='{}'}}]",
    "run small.toml --figures {}",
    "run small.toml --format {}",
    "run small.toml --style {}",
    "run {}",
    "list {}",
    "show {}",
    "cite {}",
    "tc {}",
    "tc sfb:bins={}",
    "tc sfb --rate {}",
    "new {}",
    "migrate {}",
    "report {}",
    "query {}",
    "compare small.toml --worlds {}",
    "check small.toml --expect {}",
    "check small.toml --expect {}:jain>0.9",
    "tune small.toml --qdisc red --objective {}",
    "tune small.toml --qdisc red --objective jain --param {}",
    "tune small.toml --qdisc red --objective jain --param maxp={}",
    "evaluate {}",
    "paper show {}",
    "paper run faba/fig7 --with {}",
    "gateway --in {} --out b --rate 1Mbit/s",
    "gateway --in a --out b --rate {}",
    "gateway --in a --out b --rate 1Mbit/s --class v:{}",
    "gateway --in a --out b --rate 1Mbit/s --class v:dscp={}",
    "gateway --in a --out b --rate 1Mbit/s --flow {}",
    "gateway --in lo --out b --rate 1Mbit/s --metrics {}",
    "gateway --in a --out b --rate 1Mbit/s --send {}",
    "gateway --in a --out b --rate 1Mbit/s --schedule {}",
    "gateway --config {}",
    "link --rate {} true",
    "link --rate 1Mbit/s --overhead {} true",
    "top {}",
]

#: Parts of a gateway's file.
CONFIGS = [
    "{} = 1",
    "rate = {}",
    "rate = [{}]",
    'rate = "1Mbit/s"\nsend = {}',
    'rate = "1Mbit/s"\nseed = {}',
    'rate = "1Mbit/s"\nflow = {}',
    'rate = "1Mbit/s"\nqdisc = {}',
    'rate = "1Mbit/s"\n[[class]]\nname = "a"\ndscp = {}',
    'rate = "1Mbit/s"\n[[class]]\nname = "a"\ndscp = [{}]',
    'rate = "1Mbit/s"\n[[class]]\nname = "a"\n{} = 1',
    'rate = "1Mbit/s"\n[[class]]\nname = {}\ndscp = 99',
]


def assert_printable(message: str) -> None:
    assert message
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", message), repr(message[:300])
    repeated = max(len(run) for run in re.findall("y+", message) or [""])
    assert repeated <= LONGEST, message[:300]


@pytest.mark.parametrize("given", [ESCAPE, LONG, "y yyyy " * 500], ids=["escape", "word", "words"])
@pytest.mark.parametrize("words", QUOTING)
def test_no_message_quotes_more_than_80_characters_or_a_control_character(
    words: str, given: str, command: Command, small: Path, monkeypatch: pytest.MonkeyPatch
):
    # The stream of the tests is no terminal, from which typer would remove colors itself.
    monkeypatch.setattr("typer._click.utils.should_strip_ansi", lambda *_: False, raising=False)
    assert small.name == "small.toml"
    done = command(*(word.format(given) for word in words.split()))
    assert done.returncode in (1, 2, 3, 125), done.stderr[:300]
    assert_printable(done.stderr)
    assert "yyyy y " * 15 not in done.stderr, done.stderr[:600]


@pytest.mark.parametrize("given", [ESCAPE, LONG], ids=["escape", "word"])
@pytest.mark.parametrize("text", CONFIGS)
def test_a_gateways_file_is_quoted_in_the_same_way(text: str, given: str, tmp_path: Path):
    config = tmp_path / "gateway.toml"
    config.write_text(text.format(json.dumps(given)))
    with pytest.raises(UsageError) as error:
        gateway_settings.load({"in": "a", "out": "b"}, config)
    assert_printable(printable(str(error.value)))


def test_quotations_and_words_are_cut_and_the_sentence_and_paths_are_kept():
    path = f"/{'folder/' * 20}file"
    for quote in "'\"`":
        assert printable(f"no metric is called {quote}{LONG}{quote}: see the list") == (
            f"no metric is called {quote}{'y' * LONGEST}...{quote}: see the list"
        )
    assert printable(f"the scheduler's port: cannot read {path}: it's {LONG}!") == (
        f"the scheduler's port: cannot read {path}: it's {'y' * LONGEST}..."
    )
    assert printable("--param a b c: bad", ["a b c"]) == "--param a b c: bad"
    assert printable(f"--param {'a b ' * 50}: bad", {"param": ["a b " * 50]}) == f"--param {'a b ' * 20}...: bad"
    assert printable("a\tb\x9bc\nd\udcff\u202e") == "a\\tb\\x9bc\nd\\udcff\\u202e"


def seconds(work: Callable[[], object]) -> float:
    """The least processor time of three tries."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def different(count: int) -> list[str]:
    return [f"droptail:limit={number}p" for number in range(1, count + 1)]


def in_file(count: int) -> Scenario:
    return Scenario.parse(SMALL.replace('["droptail", "faba"]', json.dumps(different(count))))


def in_options(count: int) -> Scenario:
    return Scenario.parse(SMALL, qdiscs=different(count))


def refused(count: int) -> None:
    """A discipline with `count` settings that it does not have."""
    settings = ",".join(f"setting{number}=1" for number in range(count))
    with pytest.raises(ValueError, match="unknown parameter"):
        Scenario.parse(SMALL, qdiscs=[f"red:{settings}"])


@pytest.mark.parametrize("parse", [in_file, in_options, refused])
def test_a_list_of_twice_as_many_entries_takes_about_twice_the_time(parse: Callable[[int], object]):
    # Of one run and one process: 2 in theory, 4 if each entry were compared with all others.
    assert seconds(lambda: parse(20_000)) / seconds(lambda: parse(10_000)) < 3


def test_ten_thousand_disciplines_are_read_in_order():
    assert in_options(10_000).qdiscs == different(10_000)


@pytest.mark.parametrize("letter", ["\\u001b[31m", "\\u0000", "\\u0007", "\\u009b", "\\u202e", "\\uffff"])
def test_a_text_with_a_control_character_is_refused_at_its_line(letter: str, command: Command):
    """It would reach a terminal by a warning of a library, and make a figure in SVG no XML."""
    about, key, sweep = (f'"a{letter}b"' for _ in range(3))
    for text, place in [
        (SMALL.replace("about = ", f"about = {about} #"), "named.toml:2:9"),
        (SMALL.replace("about", f"expect = [{key}]\nabout"), "named.toml:2:11"),
        (f'{SMALL}[sweep]\ngrid = {{ "link.limit" = [{sweep}] }}\n', "named.toml:24:26"),
    ]:
        Path("named.toml").write_text(text)
        done = command("run", "named.toml")
        assert (done.returncode, done.stdout) == (2, ""), done
        assert "a text has no control characters, found U+" in done.stderr
        assert f" --> {place}\n" in done.stderr
        assert_printable(done.stderr)
