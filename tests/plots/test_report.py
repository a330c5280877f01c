"""The page is self-contained, agrees with the tables, and escapes all text of the scenario."""

import base64
import copy
import hashlib
import re
from html import escape
from html.parser import HTMLParser

import pytest

from headgate import report
from headgate.analysis import data
from headgate.analysis.verdict import verdict
from headgate.report import sections
from headgate.report.inline import inline
from headgate.report.sections import measures
from headgate.scenario import Group
from headgate.terminal import columns as terminal

VOID = {"meta", "img", "br", "link", "input"}
#: The scripts of a page: its numbers, the library, and the two of the report.
SCRIPTS = 4


class Reader(HTMLParser):
    """Collects elements, and checks that every element that opens also closes."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.words.append(text)


@pytest.fixture(scope="module")
def page(ordinary, drawn):
    return report.page(ordinary, drawn)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_page_needs_no_network_and_no_other_file(page):
    reader = read(page)
    assert not {tag for tag, _ in reader.elements} & {"link", "iframe", "object", "embed", "img"}
    sources = [attrs[key] for _, attrs in reader.elements for key in ("src", "href", "xlink:href") if key in attrs]
    assert sources
    assert all(source.startswith("#") for source in sources)
    assert all(place.startswith("#") for place in re.findall(r"url\((.)", page))
    assert "@import" not in page


def test_the_policy_allows_the_scripts_of_the_page_and_no_others(page):
    policy = next(attrs["content"] for tag, attrs in read(page).elements if attrs.get("http-equiv"))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-(.*?)'", policy) == hashes
    assert len(hashes) == SCRIPTS - 1


def test_every_link_within_the_page_leads_to_one_place(page):
    elements = read(page).elements
    places = [attrs["id"] for _, attrs in elements if "id" in attrs]
    wanted = {attrs["href"][1:] for tag, attrs in elements if tag == "a"}
    assert len(places) == len(set(places))
    assert wanted
    assert wanted <= set(places)


def test_the_table_of_contents_has_every_section_in_its_order(page):
    headings = re.findall(r'<h2 id="([^"]+)">([^<]+)<', page)
    assert re.findall(r'<li><a href="#([^"]+)">([^<]+)</a>', page) == headings
    assert len(headings) >= 9


def test_every_picture_has_an_alternative_text_and_every_table_headers(page):
    reader = read(page)
    pictures = [attrs for _, attrs in reader.elements if attrs.get("role") == "img"]
    # Six charts with their figures, the gauges, and the drawing.
    assert len(pictures) == 14
    assert all(len(attrs["aria-label"]) > 30 for attrs in pictures)
    heads = [attrs.get("scope") for tag, attrs in reader.elements if tag == "th"]
    assert set(heads) == {"col", "row"}


def test_text_of_the_scenario_is_escaped(make, drawn):
    evil = '<script>alert("x")</script>&"\'$name ${style}'
    groups = [Group(evil, "tcp", 2, None), Group("b", "tcp", 2, None)]
    page = report.page(make(name=evil, about=evil, groups=groups), drawn)
    assert page.count("<script") == SCRIPTS
    assert page.count("&lt;script&gt;") > 3
    assert page.count("\\u003cscript\\u003e") > 1
    assert "".join(read(page).words).count("$name ${style}") > 3


def test_equal_results_give_equal_pages(make, page, tmp_path):
    report.write(make(), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page


def test_the_page_has_its_origin_but_no_path_and_no_time(ordinary, drawn, tmp_path):
    result = copy.copy(ordinary)
    result.path = tmp_path
    page = report.page(result, drawn)
    words = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "headgate rerun results/made-up-0123456789abcdef" in words
    assert result.manifest["config_hash"] in words
    assert "Seeds: 1, 2, 3, 4, 5." in words
    assert str(tmp_path) not in words
    assert "cpu" not in words.lower()


def test_a_page_without_packets_has_dashes_instead_of_numbers(make, drawn):
    words = "".join(read(report.page(make(idle=True), drawn)).words)
    assert "No data reached a receiver" in words
    assert "No packet was dropped or marked" in words
    assert "nan" not in words.lower().split()


def test_the_page_begins_with_the_verdict_and_has_it_once(ordinary, page):
    words = "".join(read(page).words)
    assert words.count(verdict(ordinary)) == 1
    assert re.sub(r"<.*?>", "", page.split("<h1>")[1].split("</h1>")[0]) == escape(verdict(ordinary))


def test_the_page_has_the_saved_pictures_without_their_titles(page, drawn, ordinary):
    alternatives = sections.alternatives(ordinary)
    for name, each in drawn.items():
        assert inline(each.untitled, alternatives[name]) in page, name


def section(page, name):
    """The markup of one section of the page."""
    return page.split(f'<h2 id="{name}">')[1].split("</section>")[0]


def words(page, name):
    """The words of one section of the page, with those of terms in their place."""
    text = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", section(page, name))
    return text_of(f'<h2 id="{name}">{text}')


def text_of(section):
    """The words of some elements."""
    return [" ".join(word.split()) for word in read(section).words if word.strip()]


def test_the_summary_is_the_table_of_the_terminal(ordinary, page):
    result = ordinary
    rows = terminal.rows(result)
    cells = words(page, "numbers")
    for column in terminal.columns(result.scenario, rows):
        assert " ".join(column.title.split()) in cells
        for row in rows:
            shown = column.show(column.estimate(row))
            assert shown.mean in cells
            assert f"± {shown.margin}" in cells


def test_with_one_seed_there_is_no_spread(make, drawn):
    assert "±" not in " ".join(words(report.page(make(seeds=[3]), drawn), "numbers"))


def test_reasons_add_up_to_all_drops(ordinary):
    result = ordinary
    counts = sections.by_reason(result, "red", "tcp")
    table = data.rows(result.flows, qdisc="red", kind="tcp")
    assert list(counts) == ["dropped_early"]
    assert 5 * counts["dropped_early"] == pytest.approx(data.values(table, "dropped").sum())


def test_measures_beyond_the_summary_have_tables_of_their_own(make, drawn):
    further = words(report.page(make(seeds=[1]), drawn), "measures")
    assert "SFB, cbr" in further
    at = further.index("Response ms")
    assert at < further.index("SFB, cbr")
    assert "2 000" in further, "the response of the flow that SFB identified"
    assert "Flows with a loss per event %" in further
    assert not any("nan" in word.lower().split() for word in further)


def test_measures_without_a_value_have_no_column(make):
    by_group = measures(make(qdiscs=["droptail"]))[0].head
    assert "Response ms" not in by_group
    assert "Start-up ms" in by_group
    assert "Start-up ms" not in measures(make(idle=True))[0].head


def test_a_value_is_highlighted_only_if_another_is_shown_to_be_worse(ordinary, page, make, drawn):
    rows = terminal.rows(ordinary)
    listed = terminal.columns(ordinary.scenario, rows)
    (stars,) = terminal.TableStars.of(ordinary, listed, [rows])
    assert stars.starred
    for number, qdisc in stars.starred:
        (row,) = (row for row in rows if row.entry["qdisc"] == qdisc)
        assert f"<strong>{listed[number].show(listed[number].estimate(row)).mean}</strong>" in page
    one = make(seeds=[3])
    rows = terminal.rows(one)
    assert not terminal.TableStars.of(one, terminal.columns(one.scenario, rows), [rows])[0].starred
    assert "<strong>" not in section(report.page(one, drawn), "numbers")


def test_the_settings_are_the_defaults_with_changes_of_the_scenario():
    import headgate

    listed = {each.name: each for each in sections.about("sfb:bins=46,levels=1").settings}
    assert (listed["bins"].value, listed["bins"].by_hand) == ("46", True)
    defaults = {parameter.name: parameter.default for parameter in headgate.discipline("sfb").parameters}
    others = {name: each.value for name, each in listed.items() if name not in {"bins", "levels", "limit"}}
    assert others
    assert others == {name: defaults[name] for name in others}
