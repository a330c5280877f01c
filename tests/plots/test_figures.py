"""Figures show the result's numbers, in every kind of scenario, with the same bytes every time."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import image
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

import headgate
from headgate import plot, style
from headgate.analysis import data
from headgate.analysis.distributions import quantile
from headgate.analysis.division import divisions
from headgate.plot.curves import binned
from headgate.plot.overtime import gauge_unit
from headgate.plot.tradeoff import ellipse
from headgate.scenario import Group

PORTRAIT = Path(__file__).parents[2] / "scenarios" / "portrait.toml"
KINDS: dict[str, dict[str, Any]] = {
    "protect": {"seeds": [1]},
    "no unresponsive flow": {"groups": [Group("near", "tcp", 5, None), Group("far", "tcp", 5, None)]},
    "unresponsive flows only": {"groups": [Group("a", "udp", 1, 9e6), Group("b", "udp", 2, 3e6)]},
    "one group": {"groups": [Group("tcp", "tcp", 10, None)]},
    "one flow, one discipline, one seed": {"groups": [Group("t", "tcp", 1, None)], "qdiscs": ["red"], "seeds": [7]},
    "one thousand flows": {"groups": [Group("tcp", "tcp", 999, None), Group("cbr", "udp", 1, 5e6)], "seeds": [1, 2]},
    "no packets": {"idle": True},
    "no warm-up": {"warmup_s": 0.0},
    "disciplines without gauges": {"qdiscs": ["droptail"]},
    "names that look like markup": {
        "groups": [Group("_$x^2$ <b>&", "tcp", 3, None), Group("100 % \\alpha", "udp", 1, 5e6)],
        "name": "<script>alert(1)</script>",
    },
    "transfers": {"transferring": True},
    "a discipline nobody heard of": {"qdiscs": ["droptail", "new:" + ",".join(f"setting{n}=1" for n in range(30))]},
}


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def result(request, make):
    return make(**{"interval_s": 2.0, "qdiscs": ["droptail", "red"]} | request.param)


def points(line: Line2D) -> np.ndarray:
    """The points of a line, one for each row."""
    return np.asarray(line.get_xydata())


def test_every_figure_is_drawn_and_saved_whatever_the_scenario(result, tmp_path):
    written = plot.save_all(result, tmp_path / "figures", plot.pictures(result, dpi=40))
    names = {"overview", "goodput", "delay", "tradeoff", "queue"}
    if not result.idle and sum(group.flows for group in result.scenario.groups) > 1:
        names.add("fairness")
    if result.transferring:
        names.add("completion")
    if any(not qdisc.startswith("droptail") for qdisc in result.scenario.qdiscs):
        names.add("gauges")
    if len(result.scenario.qdiscs) == 2:
        names.add("pair")
    assert {path.stem for path in written} == names
    assert {path.suffix for path in written} == {".svg", ".png"}
    for path in written:
        start = path.read_bytes()[:60]
        assert start.startswith((b"\x89PNG", b"<?xml"))


def test_the_same_result_gives_the_same_bytes_in_another_process(drawn, tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from conftest import Result, Scenario\n"
        "from headgate import plot; plot.save_all(Result(Scenario()), sys.argv[2])"
    )
    subprocess.run([sys.executable, "-c", script, Path(__file__).parent, tmp_path], check=True)
    assert {path.stem for path in tmp_path.iterdir()} == set(drawn)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == getattr(drawn[path.stem], path.suffix[1:]), path.name


#: Draws two figures of a result, in forked processes if a process may use several processors.
IN_PROCESSES = """\
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from conftest import Result, Scenario
from headgate import plot
from headgate.plot import parallel
parallel.processors = lambda: int(sys.argv[2])
forked = []
draw = parallel._in_processes
parallel._in_processes = lambda *words: forked.append(words) or draw(*words)
drawn = plot.pictures(Result(Scenario()), 40, ["delay", "tradeoff"])
print(len(forked), *(hashlib.sha256(each.svg + each.png).hexdigest() for each in drawn.values()))
"""


def test_figures_drawn_side_by_side_have_the_same_bytes():
    here = Path(__file__).parent
    outputs = [
        subprocess.run([sys.executable, "-c", IN_PROCESSES, here, count], check=True, capture_output=True, text=True)
        for count in ("1", "2")
    ]
    (alone, *one), (forked, *two) = (done.stdout.split() for done in outputs)
    assert (alone, forked) == ("0", "1")
    assert one == two
    assert len(one) == 2


#: What may become of the child that draws: the system gives none, it ends without a result, its result is cut.
FAULTS = (
    "def refused(): raise BlockingIOError()\nimport os; os.fork = refused",
    "import os; from headgate.execution import children; children._drop = lambda _: os._exit(0)",
    "import io, pickle; pickle.dump = lambda value, stream: stream.write(pickle.dumps(value)[:-9])",
)


@pytest.mark.parametrize("fault", FAULTS, ids=["refused", "dead", "cut"])
def test_figures_of_a_child_that_failed_are_drawn_by_the_parent(fault: str):
    dying = IN_PROCESSES.replace("drawn =", f"{fault}\ndrawn =")
    here = Path(__file__).parent
    outputs = [
        subprocess.run([sys.executable, "-c", script, here, "2"], check=True, capture_output=True, text=True).stdout
        for script in (IN_PROCESSES, dying)
    ]
    assert outputs[0] == outputs[1]


def test_the_layout_leaves_room_for_every_text(drawn):
    for name, each in drawn.items():
        pixels = image.imread(io.BytesIO(each.png))[..., :3]
        edges = [pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]
        assert all((edge == 1).all() for edge in edges), f"{name} is cut off at an edge"


def test_the_users_own_settings_do_not_change_the_bytes(ordinary, drawn):
    import matplotlib

    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "path", "axes.grid": False, "savefig.dpi": 10}):
        assert plot.picture(plot.overview(ordinary)) == drawn["overview"]


def test_text_in_a_picture_is_text_in_a_font_of_every_system(drawn):
    for name, each in drawn.items():
        texts = list(ElementTree.fromstring(each.svg).iter("{http://www.w3.org/2000/svg}text"))
        assert each.title in " ".join(text.text for text in texts), name
        # Every system has the last family.
        assert all(", sans-serif" in text.get("style") for text in texts), name
        # A path with its own outline is a letter drawn twice.
        assert b" Q " not in each.svg, name


def test_a_picture_without_its_title_is_cropped_unless_a_legend_is_beside_it(drawn):
    def size(svg):
        root = ElementTree.fromstring(svg)
        return [float(number) for number in root.get("viewBox").split()], float(root.get("height").removesuffix("pt"))

    for name, each in drawn.items():
        (_, _, width, height), _ = size(each.svg)
        view, shown = size(each.untitled)
        assert view == pytest.approx([0, each.title_pt, width, height - each.title_pt], abs=0.01)
        assert shown == view[3]
        assert (each.title_pt > 0) == (name != "goodput")
        assert each.untitled.count(b'<g id="title" visibility="hidden">') == 1


def test_goodput_bars_are_the_means_over_seeds(ordinary):
    result = ordinary
    axes = plot.goodput(result, qdisc="red")[0]
    heights = [patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle)]
    rows = [row for row in result.flows.to_pylist() if row["qdisc"] == "red"]
    means = [np.mean([row["goodput_bps"] for row in rows if row["flow"] == flow]) / 1e6 for flow in range(10)]
    assert heights == pytest.approx(means)
    colors = [patch.get_facecolor() for patch in axes.patches]
    assert len(set(colors[:9])) == 1
    assert colors[9] != colors[0]


def test_panels_share_their_scales(ordinary):
    axes = plot.queue(ordinary)
    assert len(axes) == 4
    assert len({panel.get_ylim() for panel in axes}) == 1
    assert len({panel.get_xlim() for panel in axes}) == 1


def test_shared_scales_reach_the_largest_value_of_any_panel(make):
    result = make()
    value = data.values(result.intervals, "value")
    last = np.array(result.intervals.column("qdisc").to_pylist()) == "faba"
    column = result.intervals.schema.get_field_index("value")
    result.intervals = result.intervals.set_column(column, "value", [np.where(last, 100 * value, value)])
    most = data.metric(result, "faba", "queue_packets", 300).high.max()
    bottom, top = plot.queue(result)[0].get_ylim()
    assert bottom == 0
    assert top >= most


def test_a_caller_may_pass_axes_for_one_discipline(ordinary):
    mine = Figure().add_subplot()
    assert plot.queue(ordinary, qdisc="faba", ax=mine) == [mine]
    with pytest.raises(ValueError, match="ax= draws one discipline"):
        plot.queue(ordinary, ax=mine)
    with pytest.raises(ValueError, match="no discipline fabba; it has droptail, red"):
        plot.goodput(ordinary, qdisc="fabba")


def test_the_dot_on_a_delay_curve_is_its_99th_percentile(make):
    result = make(qdiscs=["faba"])
    axes = plot.delay_cdf(result)
    table = data.rows(result.delays, measure="queue_delay")
    waits = np.repeat(data.values(table, "delay_ms"), data.values(table, "count").astype(int))
    wait, part = points(axes.lines[1])[0]
    assert part == 0.99
    assert wait == pytest.approx(quantile(waits, 0.99))


def test_delays_that_differ_much_get_a_logarithmic_scale(make):
    assert plot.delay_cdf(make(qdiscs=["red", "sfb"])).get_xscale() == "linear"
    assert plot.delay_cdf(make(qdiscs=["red"] + [f"sfb:bins={n}" for n in range(30)])).get_xscale() == "log"


def test_a_long_run_is_thinned_without_losing_its_extremes(make):
    result = make(qdiscs=["red"], interval_s=0.05)
    line = data.metric(result, "red", "queue_packets", 300)
    table = data.rows(result.intervals, metric="queue_packets")
    assert len(line.time_s) == 300
    assert line.low.min() == data.values(table, "value").min()
    assert line.high.max() == data.values(table, "value").max()


def test_the_bars_of_the_overview_end_where_the_divisions_do(ordinary):
    result = ordinary
    figure = plot.overview(result)
    ranking = divisions(result)
    bars = figure.axes[0].patches
    assert [bar.get_width() for bar in bars if isinstance(bar, Rectangle)] == pytest.approx(
        [part.goodput_bps / 1e6 for division in ranking for part in division.parts]
    )
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [style.fold(division.label, 24) for division in ranking]


def test_the_figures_of_a_stopped_result_show_its_finished_runs(make):
    result = make()
    for name in ("flows", "links", "delays", "intervals", "losses", "fairness", "transfers"):
        setattr(result, name, data.rows(getattr(result, name), qdisc="red"))
    assert data.qdiscs(result) == ["red"]
    result.links = data.rows(result.links, qdisc="none")
    with pytest.raises(ValueError, match="no finished run"):
        plot.queue(result)


def test_a_pair_shows_both_disciplines_on_the_same_scales(make):
    # DRR begins with a spike; DropTail does not.
    result = headgate.run(PORTRAIT, qdiscs=["droptail", "drr"], set=["duration=10s", "cbr.start=5s", "cbr.stop=off"])
    figure = plot.pair(result)
    left, left_queue, right, right_queue = figure.axes[:4]
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["DropTail", "DRR"]
    assert left.get_ylim() == right.get_ylim()
    assert left_queue.get_ylim() == right_queue.get_ylim()
    for axes in figure.axes[:4]:
        highest = max(float(np.nanmax(line.get_ydata())) for line in axes.get_lines())
        low, high = axes.get_ylim()
        assert low == 0
        assert high >= highest, "nothing is cut off"
    with pytest.raises(ValueError, match="pair needs a result with two disciplines"):
        plot.pair(make(qdiscs=["droptail", "red", "sfb"]))


def test_every_gauge_of_every_discipline_has_a_unit():
    names = [discipline.name for discipline in headgate.disciplines()]
    result = headgate.run(PORTRAIT, qdiscs=names, set=["duration=2s", "warmup=0s", "cbr.start=0s", "cbr.stop=off"])
    metrics = set(result.intervals.column("metric").to_pylist())
    gauges = {metric.removeprefix(data.GAUGE) for metric in metrics if metric.startswith(data.GAUGE)}
    assert len(gauges) > 30
    assert [gauge for gauge in sorted(gauges) if gauge_unit(gauge) == "Count"] == []


def test_the_ellipse_of_the_tradeoff_is_one_standard_deviation_of_the_seeds():
    # Four corners of a rectangle have deviations 3 and 1 along the axes, and the outline ends there.
    outline = ellipse(np.array([[7.0, 1.0], [7.0, 3.0], [13.0, 1.0], [13.0, 3.0]]))
    assert outline.min(axis=0) == pytest.approx([7.0, 1.0], abs=0.01)
    assert outline.max(axis=0) == pytest.approx([13.0, 3.0], abs=0.01)
    assert outline[0] == pytest.approx(outline[-1])
    # Rotation by 45 degrees does not change its length and width.
    tilted = ellipse(np.array([[-3.0, -3.0], [3.0, 3.0], [-1.0, 1.0], [1.0, -1.0]]))
    reach = np.hypot(*tilted.T)
    assert (reach.max(), reach.min()) == pytest.approx((3.0, 1.0), abs=0.01)
    assert np.ptp(ellipse(np.array([[1.0, 2.0], [1.0, 2.0]])), axis=0) == pytest.approx([0.0, 0.0]), "all alike"


def test_the_tradeoff_has_a_dot_for_each_seed_and_one_for_their_mean(ordinary, make):
    rows = [row for row in ordinary.flows.to_pylist() if row["qdisc"] == "faba"]
    goodput = [sum(row["goodput_bps"] for row in rows if row["seed"] == seed) / 1e6 for seed in (1, 2, 3, 4, 5)]
    per_seed = data.delay_goodput(ordinary, "faba", 1e6)
    assert per_seed[:, 1] == pytest.approx(goodput)
    axes = plot.tradeoff(ordinary)
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(dots) == 4
    assert any(points(line)[0] == pytest.approx(per_seed.mean(axis=0)) for line in dots)
    assert len(axes.patches) == 4
    assert not plot.tradeoff(make(seeds=[1])).patches, "one seed has no ellipse"


def test_fairness_is_drawn_at_each_time_scale_and_over_the_whole_run(ordinary, make):
    axes = plot.fairness(ordinary)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1 s", "1 s", "10 s", "whole run"]
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    entry = next(entry for entry in ordinary.summary() if entry["qdisc"] == "faba")
    expected = [scale["mean"]["mean"] for scale in entry["jain_by_scale"]] + [entry["jain"]["mean"]]
    assert any(points(line)[:, 1] == pytest.approx(expected) for line in lines)
    assert plot.fairness(make(groups=[Group("t", "tcp", 1, None)])) is None


def test_completion_times_are_drawn_by_size_and_as_a_distribution(make):
    result = make(transferring=True, qdiscs=["red"], seeds=[1])
    times = data.transfers(result, "red")
    assert len(times.seconds) == 199, "the one that began in the warm-up does not count"
    by_size, over_time = plot.completion(result)
    assert points(over_time.lines[0])[-1, 1] == pytest.approx(189 / 199), "ten of them have not finished"
    assert np.all(np.diff(over_time.lines[0].get_xdata()) >= 0)
    bins = binned(times)
    assert by_size.lines[0].get_xdata() == pytest.approx(bins.kilobytes)
    # Sizes of 1, 2, 4 ... 512 KB lie in ten bins of a quarter of a decade.
    assert bins.kilobytes == pytest.approx([1 << n for n in range(10)])
    mine = times.seconds[(times.kilobytes == 512) & np.isfinite(times.seconds)]
    assert (bins.median[-1], bins.low[-1]) == pytest.approx((quantile(mine, 0.5), quantile(mine, 0.1)))
    assert plot.completion(make()) is None


def test_the_overview_has_the_delay_of_the_group_that_needs_a_short_one(make):
    call = Group("call", "udp", 1, 64e3, responsive=False, greedy=False)
    figure = plot.overview(make(groups=[Group("tcp", "tcp", 4, None), call]))
    assert "Queueing delay\nof call (p95)" in [axes.get_title(loc="left") for axes in figure.axes]


def test_a_small_difference_does_not_fill_the_axes_of_the_tradeoff(make):
    """The made-up goodputs of all flows are the same: 93 % of 10 Mbit/s."""
    axes = plot.tradeoff(make(qdiscs=["red", "faba"]))
    low, high = axes.get_ylim()
    assert high - low >= 1.0
    assert low < 9.3 < high
    note = " ".join(plot.tradeoff(make(qdiscs=["red"])).get_figure().get_supxlabel().split())
    assert "above the link's rate" not in note


def test_goodput_above_the_rate_of_the_link_is_explained(make):
    result = make(qdiscs=["red"])
    result.scenario.rate_bps = 9e6
    assert "Goodput above the link's rate" in " ".join(plot.tradeoff(result).get_figure().get_supxlabel().split())


def test_completion_times_of_one_size_have_an_axis_around_it():
    text = 'name = "one"\nduration = "4s"\nwarmup = "1s"\nqdiscs = ["droptail", "red"]\n'
    text += 'link = { rate = "10Mbit/s", delay = "5ms", limit = "50p" }\n'
    text += '[[tcp]]\nflows = 4\ntraffic = "ftp:size=255KB,count=1000"\n'
    axes = plot.completion(headgate.run(headgate.Scenario.parse(text)))
    assert axes is not None
    low, high = axes[0].get_xlim()
    assert low < 200 < 300 < high
