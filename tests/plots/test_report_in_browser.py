"""The report in a browser: on wide and narrow windows, light and dark, switched, pointed at, and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs
from tests.browser import Browser, Tab, executable

from headgate import report
from headgate.analysis import data

CHARTS = ["goodput", "flows", "delay", "tradeoff", "queue", "fairness"]
#: Elements that reach beyond the window, apart from those within an element that scrolls by itself.
WIDER = """
[...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter((each) => !each.parentElement.closest(".scroll, pre, figure:not(.both)"))
  .map((each) => each.outerHTML.slice(0, 80))
"""
#: Words whose contrast with the background (WCAG 2.2) is below 3. Alpha counts; letters on bars and packets do not.
FAINT = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const color = parts(getComputedStyle(each).backgroundColor);
      if (color[3] === 255) return color;
    }
  };
  const found = [];
  for (const each of document.querySelectorAll("body :not(script, option)")) {
    if (![...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    if (!each.checkVisibility() || each.closest("[aria-pressed=false], h2 a, h3 a, .still")) continue;
    const svg = each instanceof SVGElement;
    const pair = [light(parts(getComputedStyle(each)[svg ? "fill" : "color"])), light(behind(each))].sort();
    if ((pair[1] + 0.05) / (pair[0] + 0.05) < 3) found.push(each.outerHTML.slice(0, 120));
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    needs.without("chromium")
    with Browser(executable(), tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def file(ordinary, drawn, tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(ordinary, path, drawn)
    return path


@pytest.fixture(scope="module")
def tab(browser, file) -> Tab:
    """A wide page for tests that leave it as it was."""
    opened = Tab(browser, width=1280)
    opened.open(file)
    return opened


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_works_alone_and_fits_the_window(browser, file, width, dark):
    tab = Tab(browser, width=width, dark=dark)
    tab.open(file)
    assert tab.value("Object.keys(plots)") == CHARTS
    assert tab.value("document.querySelectorAll('.chart canvas').length") == len(CHARTS)
    assert tab.value(WIDER) == []
    assert tab.value(FAINT) == []
    assert tab.complaints() == []
    assert tab.requests() == [file.as_uri()]


def test_a_planted_fault_is_found(browser, file):
    tab = Tab(browser, width=390)
    tab.open(file)
    tab.value("document.querySelector('h1').style.color = 'var(--tint)'")
    assert len(tab.value(FAINT)) > 0
    tab.value("document.querySelector('h1').style.width = '800px'")
    assert len(tab.value(WIDER)) > 0
    tab.value("fetch('https://example.com').catch(() => null)")
    assert any("Content Security Policy" in each for each in tab.complaints())


def shown(tab):
    """The labels of the series that each chart shows."""
    return tab.value(
        "Object.values(plots).map((plot) => plot.series.slice(1).filter((s) => s.show).map((s) => s.label))"
    )


def test_a_button_switches_a_discipline_in_all_charts(tab):
    every = tab.value("LABELS")
    assert every == ["DropTail", "RED", "SFB", "FABA"]
    tab.click("[data-discipline='1']")
    assert shown(tab) == [["DropTail", "SFB", "FABA"]] * len(CHARTS)
    assert tab.value("buttons.map((each) => each.ariaPressed)") == ["true", "false", "true", "true"]
    tab.click("#show-none")
    assert shown(tab) == [[]] * len(CHARTS)
    tab.click("[data-discipline='3']")
    assert shown(tab) == [["FABA"]] * len(CHARTS)
    tab.click("#show-all")
    assert shown(tab) == [every] * len(CHARTS)


def point(tab, chart, x, y):
    """Moves the mouse to a place of a chart in its own units. Returns the lines of the readout."""
    selector = f"[data-chart={chart}]"
    tab.middle(selector)
    left, top = tab.value(
        f"(() => {{ const plot = plots['{chart}'], box = plot.over.getBoundingClientRect();"
        f" return [box.left + plot.valToPos({x}, 'x'), box.top + plot.valToPos({y}, 'y')]; }})()"
    )
    tab.move(left, top)
    # The library moves its cursor with the next frame.
    frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    tab.value(f"{frames}.then(() => null)")
    lines = f"document.querySelector('{selector} .readout').children"
    return tab.value(f"[...{lines}].map((line) => line.textContent)")


def values(lines):
    """The numbers of a readout by discipline."""
    return {label: float(value) for value, label in (line.split("  ") for line in lines)}


def test_the_goodput_of_a_group_is_that_of_the_result(tab, ordinary):
    head, *lines = point(tab, "goodput", 1, 1)
    assert head == "cbr"
    wanted = [entry["groups"][1]["goodput_bps"]["mean"] / 1e6 for entry in ordinary.summary()]
    assert values(lines) == pytest.approx(dict(zip(tab.value("LABELS"), wanted, strict=True)), rel=0.005)


def test_a_flow_has_its_number_group_and_goodput(tab, ordinary):
    means = {
        qdisc: data.groups(ordinary, qdisc)[0].goodput_bps.mean(axis=0)[3] / 1e6 for qdisc in data.qdiscs(ordinary)
    }
    head, *lines = point(tab, "flows", 3, means["red"])
    assert head == "Flow 3, group tcp"
    assert values(lines) == pytest.approx(dict(zip(tab.value("LABELS"), means.values(), strict=True)), rel=0.005)
    head, *_ = point(tab, "flows", 9, 1)
    assert head == "Flow 9, group cbr"


def test_queueing_delays_are_those_of_the_result_for_all_packets_and_for_a_group(tab, ordinary):
    def wanted(**of):
        curves = [data.delay(ordinary, qdisc, **of) for qdisc in data.qdiscs(ordinary)]
        return [None if curve is None else pytest.approx(curve.quantile(0.95), rel=0.001) for curve in curves]

    at_95 = "plots.delay.data.slice(1).map((row) => row[plots.delay.data[0].indexOf(95)])"
    assert tab.value(at_95) == wanted()
    choose = (
        "(() => {{ const choice = document.querySelector('figure select'); choice.value = {}; "
        "choice.dispatchEvent(new Event('change')) }})()"
    )
    tab.value(choose.format(2))
    assert tab.value(at_95) == wanted(group="cbr", kind="udp") == [None] * 4
    tab.value(choose.format(1))
    assert tab.value(at_95) == wanted(group="tcp", kind="tcp")
    head, *lines = point(tab, "delay", 95, 100)
    assert head == "Share of packets: 95 %, tcp"
    assert len(lines) == 4
    tab.value(choose.format(0))


def test_the_queue_over_time_is_that_of_the_first_seed(tab, ordinary):
    line = data.metric(ordinary, "red", "queue_packets", 300)
    assert tab.value("plots.queue.data[0]") == pytest.approx(line.time_s, rel=0.001)
    assert tab.value("plots.queue.data[2]") == pytest.approx(line.first, rel=0.001)


def test_the_switch_changes_the_colors_of_page_and_charts(browser, file):
    tab = Tab(browser, width=1280)
    tab.open(file)
    before = tab.value("[getComputedStyle(document.body).backgroundColor, look.ink, look.series[0]]")
    assert before[0] == "rgb(255, 255, 255)"
    tab.click("#theme")
    after = tab.value("[getComputedStyle(document.body).backgroundColor, look.ink, look.series[0]]")
    assert after[0] == "rgb(22, 25, 28)"
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert tab.value(FAINT) == []
    assert tab.value("document.getElementById('theme').textContent") == "Light colors"


def test_the_meaning_of_a_term_is_shown_to_pointer_and_keyboard(tab):
    meaning = "(document.getElementById('meaning').hidden ? '' : document.getElementById('meaning').textContent)"
    tab.move(*tab.middle(".certainty a.term"))
    assert tab.value(meaning).startswith("The algorithm that decides")
    tab.press("Escape")
    assert tab.value(meaning) == ""
    tab.value("document.querySelector('a[href=\"#term-queueing-delay\"]').focus()")
    assert tab.value(meaning).startswith("Time from enqueue to dequeue")
    assert tab.value("document.activeElement.getAttribute('aria-describedby')") == "meaning"


def test_on_paper_the_page_is_light_a4_with_figures_in_place_of_charts(browser, file):
    tab = Tab(browser, width=1280, dark=True)
    tab.open(file)
    sizes = set(re.findall(rb"/MediaBox \[([^\]]*)\]", tab.pdf()))
    assert [[round(float(part)) for part in size.split()] for size in sizes] == [[0, 0, 595, 842]]
    tab.send("Emulation.setEmulatedMedia", media="print")
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    seen = "[...document.querySelectorAll('{}')].filter((each) => each.checkVisibility()).length"
    assert tab.value(seen.format(".still > svg")) == len(CHARTS)
    for hidden in ("button", "select", ".chart", ".contents", ".hint"):
        assert tab.value(seen.format(hidden)) == 0, hidden
    assert (
        tab.value("new Set([...document.querySelectorAll('figure')].map((e) => getComputedStyle(e).breakInside)).size")
        == 1
    )
    assert tab.value("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"


def test_without_scripts_the_page_has_the_figures(browser, file):
    tab = Tab(browser, width=1280)
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(file)
    seen = "[...document.querySelectorAll('{}')].filter((each) => each.checkVisibility()).length"
    assert tab.value(seen.format(".still > svg")) == len(CHARTS)
    assert tab.value(seen.format("button, .chart, select")) == 0
