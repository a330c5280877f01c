"""A long command says how long it takes."""

import pytest

from headgate.terminal import progress


@pytest.mark.parametrize(("done_s", "expected"), [(1.0, "This takes about 1.7 min\n"), (90.0, "")])
def test_a_command_of_over_ten_seconds_says_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], done_s: float, expected: str
):
    """After a second of 100 s of simulated time, 1 s is done: 100 s in all. With 90 s done it is 1.1 s."""
    now = iter([10.0, 10.2, 11.0, 12.0])
    monkeypatch.setattr("headgate.terminal.progress.time.monotonic", lambda: next(now))
    bar = progress.Bar()
    bar.begin(total=5, cached=0, seconds=100.0)
    bar.tick(0, 0.2)
    bar.tick(0, done_s)
    bar.tick(1, 99.0)
    bar.end()
    assert capsys.readouterr().err == expected
