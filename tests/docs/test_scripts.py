"""The scripts in docs/ that write pages and costs, on small synthetic data."""

import json
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import headgate
from headgate import _core
from headgate.execution.runner import processors
from headgate.scenario import RunWorld, Scenario
from tests.conftest import SMALL

DOCS = Path(__file__).parents[2] / "docs"
NBSP = "\N{NO-BREAK SPACE}"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a script of docs/ by name."""
    monkeypatch.syspath_prepend(str(DOCS))
    return lambda name: runpy.run_path(str(DOCS / f"{name}.py"))


def test_filled_replaces_the_text_between_two_markers_and_nothing_else(script: Any):
    filled = script("pages")["filled"]
    text = "before\n<!-- a -->\nold\nlines\n<!-- /a -->\n<!-- b -->\nkept\n<!-- /b -->\n"
    assert filled(text, "a", r"new \1" + "\n") == (
        "before\n<!-- a -->\nnew \\1\n<!-- /a -->\n<!-- b -->\nkept\n<!-- /b -->\n"
    )
    for wrong in ("c", "a"):
        with pytest.raises(SystemExit, match=f"marker <!-- {wrong} -->"):
            filled(text + text.partition("\n<!-- b")[0] + "\n", wrong, "new\n")


def test_a_table_escapes_bars_and_line_breaks(script: Any):
    assert script("pages")["table"](("a", "b"), [("1|2", "3\n4")]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |\n"


def evaluation(script: dict[str, Any]) -> dict[str, Any]:
    """An evaluation of FABA in which FABA has strengths only, and DropTail a failure by each first measure."""
    tests: dict[str, dict[str, Any]] = {}
    for question in script["QUESTIONS"]:
        for number, (test, measure, case, _) in enumerate(question.answers):
            entry = tests.setdefault(test, {"name": test, "grades": [], "values": []})
            for qdisc, grade in (("faba", "strength"), ("droptail", "failure" if number == 0 else "fair")):
                value = {"mean": 12.5, "half": 1.5, "per_seed": [11.0, 14.0]}
                row = {"measure": measure, "case": case, "qdisc": qdisc, "ecn": False}
                entry["grades"].append({**row, "grade": grade, "value": value})
                entry["values"].append({**row, **value})
    labels = {"droptail": "DropTail", "faba": "FABA"}
    return {
        "quick": False,
        "seeds": 2,
        "disciplines": [{"spec": spec, "label": label, "ecn": False} for spec, label in labels.items()],
        "sections": [{"number": 5, "title": "Transport", "headlines": [], "tests": list(tests.values())}],
    }


def test_choose_names_strong_and_failing_disciplines_for_each_question(script: Any):
    choose = script("choose")
    lines = choose["answers"](evaluation(choose)).splitlines()
    assert lines[0] == "| where | strong | fail |"
    assert lines[2:] == [f"| {question.text} | FABA | DropTail |" for question in choose["QUESTIONS"]]


def test_choose_writes_numbers_with_the_sign_of_their_grade_and_abilities_of_the_registry(script: Any):
    choose = script("choose")
    lines = choose["numbers"](evaluation(choose)).splitlines()
    number = f"12.5{NBSP}±{NBSP}1.5"
    first = choose["QUESTIONS"][0].answers[0][3]
    assert lines[2] == f"| {first} | {number}{NBSP}\N{MINUS SIGN} | {number}{NBSP}**+** |"
    answer = "yes" if headgate.discipline("faba").ecn else "no"
    assert f"| can mark | no | {answer} |" in lines
    assert "`headgate evaluate faba` measures these numbers" in lines[-1]


def test_choose_fills_both_pages_and_refuses_shortened_runs(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    choose = script("choose")
    page, guide, file = tmp_path / "choosing.md", tmp_path / "evaluate.md", tmp_path / "evaluation.json"
    page.write_text("<!-- answers -->\n<!-- /answers -->\n<!-- numbers -->\n<!-- /numbers -->\n")
    guide.write_text("<!-- found -->\n<!-- /found -->\n")
    choose["main"].__globals__.update(PAGE=page, GUIDE=guide)
    stored: list[str] = []
    monkeypatch.setattr(choose["stale"], "store", stored.append)
    monkeypatch.setattr(sys, "argv", ["choose.py", str(tmp_path)])
    document = evaluation(choose)
    file.write_text(json.dumps(document))
    choose["main"]()
    assert stored == ["docs/explanation/choosing.md", "docs/guide/evaluate.md"]
    assert choose["answers"](document) in page.read_text()
    assert choose["numbers"](document) in page.read_text()
    # A strength of FABA for each measure, a failure of DropTail for each question.
    strengths = sum(len(question.answers) for question in choose["QUESTIONS"])
    failures = len(choose["QUESTIONS"])
    assert (
        f"| **5 Transport** | weak{NBSP}0+{NBSP}{failures}\N{MINUS SIGN}{NBSP}0? "
        f"| strong{NBSP}{strengths}+{NBSP}0\N{MINUS SIGN}{NBSP}0? |"
    ) in guide.read_text()
    file.write_text(json.dumps({**document, "quick": True}))
    with pytest.raises(SystemExit, match="shortened runs"):
        choose["main"]()


def test_costs_are_processor_time_or_wall_time_of_all_processors(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    costs = script("costs")
    file = tmp_path / "costs.json"
    before = json.loads(costs["FILE"].read_text())
    file.write_text(json.dumps(before))
    whole, quick = tmp_path / "faba" / "table1", tmp_path / "faba" / "table1-quick"
    for folder, cpu_s, wall_s in ((whole, 1000.04, 1.0), (quick, 1.0, 50.0)):
        folder.mkdir(parents=True)
        (folder / "found.json").write_text(json.dumps({"cpu_s": cpu_s, "wall_s": wall_s}))
    costs["main"].__globals__["FILE"] = file
    monkeypatch.setattr(sys, "argv", ["costs.py", str(tmp_path)])
    costs["main"]()
    after = json.loads(file.read_text())
    assert after.pop("faba/table1") == [1000.0, 50.0 * processors()]
    assert after == {name: cost for name, cost in before.items() if name in after}


def test_efficiency_measures_a_runs_processor_time_and_the_time_in_which_threads_could_run(
    script: Any, monkeypatch: pytest.MonkeyPatch
):
    efficiency = script("efficiency")
    seconds = {"old": (5, 5)}

    def sweep(*_: object, watcher: Any, **__: object) -> SimpleNamespace:
        # The thread `old` was there before. Two new ones ran for 3 s, and waited for 1 s.
        seconds.update(old=(9, 9), one=(2, 0), two=(1, 1))
        watcher.tick(4, 1.0)
        del seconds["two"]
        return SimpleNamespace(cost=(10, 2.5, 4.0))

    now = staticmethod(lambda: [(name, (ran * 10**9, waited * 10**9)) for name, (ran, waited) in seconds.items()])
    monkeypatch.setattr(efficiency["Threads"], "_now", now)
    monkeypatch.setattr(headgate, "sweep", sweep)
    cost, ready, line = efficiency["measure"](1, 2)
    assert (cost, ready) == (300.0, 0.5)
    assert line == (
        "2 threads: 10 runs in 4 s; a run takes 300.0 ms of processor time, 250.0 ms of it in the simulator; "
        "threads could run in 50.0% of the time"
    )


def test_the_cost_of_a_point_is_the_difference_of_two_sweeps(
    script: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    point_cost = script("point_cost")
    clock = {"cpu": 0.0, "wall": 0.0}

    def sweep(*_: object, seeds: int, threads: int, **__: object) -> SimpleNamespace:
        # 3 s for the sweep and 2 ms for each of 10 points a seed, half of it in the simulator.
        clock["cpu"] += 3 + 0.02 * seeds
        clock["wall"] += (3 + 0.02 * seeds) / threads
        return SimpleNamespace(cost=SimpleNamespace(runs=10 * seeds, cpu_s=0.01 * seeds))

    monkeypatch.setattr(headgate, "sweep", sweep)
    monkeypatch.setattr("time.process_time", lambda: clock["cpu"])
    monkeypatch.setattr("time.perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(sys, "argv", ["point_cost.py", "1000"])
    point_cost["main"]()
    costs = "2.00 ms of processor time, 1.00 ms of it in the simulator: 1.00 ms beside it"
    start, *measured = capsys.readouterr().out.splitlines()
    assert start.startswith("a bare Python start takes ")
    assert float(start.split()[5]) > 0
    assert measured == [
        f"1 thread: a point takes 2.00 ms, {costs}",
        f"2 threads: a point takes 1.00 ms, {costs}",
    ]


def test_the_site_has_every_discipline_in_its_navigation(script: Any):
    config = SimpleNamespace(nav=[{"Start": "index.md"}, {"Disciplines": []}])
    script("site")["on_config"](config)
    pages = [page for group in config.nav[1]["Disciplines"] for (members,) in [group.values()] for page in members]
    assert sorted(name for page in pages for name in page.values()) == sorted(
        f"disciplines/{each.name}.md" for each in headgate.disciplines()
    )
    assert len(config.nav[1]["Disciplines"]) == len(_core.groups())


def test_the_site_rewrites_links_to_scenarios_and_schemas(script: Any):
    rewritten = script("site")["on_page_markdown"]
    text = "[a](../../scenarios/mix.toml), [b](../../python/headgate/schema/run-2.json), [c](../../README.md)"
    assert rewritten(text) == "[a](../scenarios/mix.toml), [b](../schema/run-2.json), [c](../../README.md)"


def test_linux_presets_has_a_row_for_each_qdisc_and_a_dash_where_none_ran(script: Any):
    simulated = headgate.run(Scenario.parse(SMALL, qdiscs=["codel:preset=linux", "pie:preset=linux"]))
    other = headgate.run(Scenario.parse(SMALL, qdiscs=["codel:preset=linux"], seeds=1))
    head, _, codel, pie = script("linux_presets")["figures"](
        {RunWorld.SIM: simulated, RunWorld.KERNEL: other}
    ).splitlines()
    assert head.startswith("| qdisc | cbr, Mbit/s: sim | cbr, Mbit/s: kernel | each TCP flow: sim |")
    assert codel.startswith("| `codel:preset=linux` |")
    assert "-" not in codel.partition("|")[2].partition("|")[2]
    cells = [cell.strip() for cell in pie.split("|")[2:-1]]
    assert cells[1::2] == ["-"] * 4
    assert all(float(cell) > 0 for cell in cells[::2])


def test_the_scenario_of_linux_is_that_of_real_packets_with_the_presets_of_linux():
    here, live = (tomllib.loads((DOCS.parent / "scenarios" / f"{name}.toml").read_text()) for name in ("linux", "live"))
    assert all(each.endswith(":preset=linux") for each in here["qdiscs"])
    assert len(here["qdiscs"]) == 9
    assert here["tcp"][0]["profile"] == "linux"
    assert [here[key] for key in ("duration", "warmup", "link", "udp")] == [
        live[key] for key in ("duration", "warmup", "link", "udp")
    ]
    assert [here["tcp"][0][key] for key in ("flows", "packet", "start")] == [
        live["tcp"][0][key] for key in ("flows", "packet", "start")
    ]


#: Lines of `cargo bench -p headgate-live`, with figures of our own.
BENCH = """\
ends              bytes              ns/packet   packets/s   Gbit/s  of bare  half of rounds of sockets
TUN                  64       bare        1000     1000000     0.51    1.000    1.00 to 1.00
TUN                  64   droptail        1250      800000     0.41    0.800    0.78 to 0.82
TUN                1500       bare        2000      500000     6.00    1.000    1.00 to 1.00
TUN                1500   droptail        2000      500000     6.00    1.000    0.98 to 1.02
packet sockets       64       bare         500     2000000     1.02    1.000    1.00 to 1.00      1.000
packet sockets       64   droptail         550     1818182     0.93    0.909    0.90 to 0.92      0.909
AF_XDP out           64       bare         400     2500000     1.28    1.000    1.00 to 1.00      1.250
AF_XDP out           64   droptail         440     2272727     1.16    0.909    0.90 to 0.92      1.136
no kernel, flood     64       bare           5   200000000   102.40    1.000    1.00 to 1.00
no kernel, flood     64   droptail          75    13333333     6.83    0.067    0.07 to 0.07

rate             thread        measured     error late, median       p99  stalls
1Mbit/s        ordinary    1.000 Mbit/s   0.003 %       4.8 us 3489.8 us       0
100Mbit/s         first   99.000 Mbit/s  -1.000 %       0.3 us  193.5 us       2
load 1.50 4
"""


def test_the_tables_of_real_packets_have_the_benchmarks_figures(script: Any):
    loaded = script("bench_live")
    read = loaded["costs"](BENCH)
    assert loaded["cost_table"](read).splitlines()[2:] == [
        "| a pair of TUN devices | 64 | 1000 ns, 1.00 million/s | 1250 ns, 0.80 |",
        "| a pair of TUN devices | 1500 | 2000 ns, 6.0 Gbit/s | 2000 ns, 1.00 |",
        "| packet sockets on veth | 64 | 500 ns, 2.00 million/s | 550 ns, 0.91 |",
        "| the same, out by AF_XDP | 64 | 400 ns, 2.50 million/s | 440 ns, 0.91 |",
        "| to the bare loop of packet sockets | 64 | 1.25 | 1.14 |",
        "| no kernel, 8192 flows in turn | 64 | 5 ns | 75 ns |",
    ]
    assert loaded["goal_table"](read).splitlines()[2:] == [
        "| a pair of TUN devices | 0.800 to 1.000 | not met with `droptail` |",
        "| packet sockets on veth | 0.909 to 0.909 | met |",
        "| the same, out by AF_XDP | 0.909 to 0.909 | met |",
    ]
    assert loaded["accuracy_table"](BENCH).splitlines()[2:] == [
        "| 1 Mbit/s | ordinary | 0.003 % | 4.8 us | 3489.8 us |",
        "| 100 Mbit/s | first (`SCHED_FIFO`) | -1.000 % | 0.3 us | 193.5 us |",
        "",
        "At the end the machine had a load of 1.50 on 4 processors.",
    ]


def test_a_mutant_that_hangs_counts_as_noticed_and_one_that_does_not_compile_as_none(script: Any, tmp_path: Path):
    mutants = script("mutants")
    mutants["row"].__globals__["RESULTS"] = tmp_path
    found = {"0": ["CaughtMutant", "CaughtMutant", "Unviable", "Timeout", "MissedMutant", "MissedMutant"]}
    found["1"] = [*["CaughtMutant"] * 5, "MissedMutant"]  # the first four did not have to be tested again
    for phase, summaries in found.items():
        folder = tmp_path / "core" / phase / "mutants.out"
        folder.mkdir(parents=True)
        outcomes: list[dict[str, Any]] = [{"summary": "Success", "scenario": "Baseline"}]
        outcomes += [{"summary": each, "scenario": {"Mutant": {"name": str(n)}}} for n, each in enumerate(summaries)]
        (folder / "outcomes.json").write_text(json.dumps({"outcomes": outcomes}))
    (tmp_path / "core" / "all.txt").write_text("a\nb\n" * 50)
    # Of six mutants five compile. Unit tests notice three of these, other tests one of the remaining two.
    assert mutants["row"]("core") == ["`crates/core`", "100", "5", "3", "1", "1", "80 % (38 to 96 %)"]
