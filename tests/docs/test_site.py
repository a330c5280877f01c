"""The site builds without a warning, fetches nothing from elsewhere, and every page of it has its place."""

import json
import os
import re
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT, CompletedProcess, run
from urllib.parse import urlsplit

import pytest

import headgate
from headgate.lab_page.page import PAGE
from tests import needs

ROOT = Path(__file__).parents[2]

#: The files that a browser fetches when it shows a page.
FETCHED = re.compile(
    r'<(?:script|img|iframe)[^>]* src="([^"]+)"|<link[^>]* rel="(?:stylesheet|preload)"[^>]* href="([^"]+)"'
)


#: A site of its own pages with the settings of mkdocs.yml, but without what takes long and does not warn of links.
SMALL = f"""
INHERIT: {json.dumps(str(ROOT / "mkdocs.yml"))}
nav: [{{ Start: index.md }}, {{ More: more.md }}]
plugins: [search]
hooks: []
extra_css: []
extra_javascript: []
"""
PAGES = {"index.md": "# Start\n\n[More](more.md#part)\n", "more.md": "# More\n\n## Part\n"}


def build(folder: Path, site: Path) -> CompletedProcess[str]:
    """Builds a site as `make site` does, without running notebooks. A warning ends it with an error."""
    (recipe,) = re.findall(r"^site:.*\n\t(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    variable, program, *words = recipe.split()
    assert program == "$(BIN)/mkdocs"
    command = [sys.executable, "-m", "mkdocs", *words, "--site-dir", str(site)]
    env = {**os.environ, **dict([variable.split("=")]), "NOTEBOOKS": "false"}
    return run(command, cwd=folder, env=env, stdout=PIPE, stderr=STDOUT, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ({}, ""),
        ({"forgotten.md": "# Not in nav\n"}, "forgotten.md"),
        ({"more.md": None}, "reference to 'more.md' is included in the 'nav'"),
        ({"index.md": "# Start\n\n[Gone](gone.md)\n"}, "link 'gone.md', but the target is not found"),
        ({"index.md": "# Start\n\n[Gone](#gone)\n"}, "link '#gone', but there is no such anchor"),
        ({"index.md": "# Start\n\n[Gone](more.md#gone)\n"}, "does not contain an anchor '#gone'"),
        ({"index.md": "# Start\n\n[Gone](/gone.md)\n"}, "absolute link '/gone.md'"),
        ({"index.md": "# Start\n\n[Gone](gone/)\n"}, "unrecognized relative link 'gone/'"),
    ],
    ids=["sound", "not-in-nav", "no-page", "no-target", "no-anchor", "no-anchor-there", "absolute", "unrecognized"],
)
def test_a_missing_page_a_dead_link_and_a_dead_anchor_fail_the_build(
    change: dict[str, str | None], warning: str, tmp_path: Path
):
    (tmp_path / "mkdocs.yml").write_text(SMALL)
    (tmp_path / "docs").mkdir()
    for name, text in {**PAGES, **change}.items():
        if text is not None:
            (tmp_path / "docs" / name).write_text(text)
    done = build(tmp_path, tmp_path / "site")
    assert warning in done.stdout
    assert done.returncode == (1 if warning else 0), done.stdout
    assert ("Aborted with" in done.stdout) == bool(warning)


def test_every_page_is_in_the_site(site: Path):
    pages = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    named = {page.with_name("index.md") if page.name == "README.md" else page for page in pages}
    assert [page for page in named if not (site / page.with_suffix(".html")).is_file()] == []


def test_scenarios_and_schemas_are_where_pages_link_to(site: Path):
    for page in sorted(site.rglob("*.html")):
        for link in re.findall(r'href="((?:\.\./)*(?:scenarios|schema)/[^"#]+)"', page.read_text("utf-8")):
            assert (page.parent / link).resolve().is_file(), f"{page.relative_to(site)}: {link}"


def test_a_page_fetches_nothing_from_elsewhere(site: Path):
    pages = sorted(site.rglob("*.html"))
    fetched = [link for page in pages for match in FETCHED.findall(page.read_text("utf-8")) for link in match if link]
    assert fetched
    assert [link for link in fetched if urlsplit(link).netloc] == []


def test_the_reference_shows_functions_with_their_signatures(site: Path):
    text = re.sub(r"<[^>]+>", "", (site / "reference" / "api.html").read_text("utf-8"))
    for expected in ("Runs every discipline and seed of a scenario", "qdiscs: Iterable[str] = ()", "ClusterError"):
        assert expected in text


def test_the_search_works_where_pages_are_opened_from_the_disk(site: Path):
    # Browsers give such pages no worker and no JSON: both come as scripts of the site's own.
    for page in ("index.html", "disciplines/sfb.html"):
        (script,) = re.findall(r'<script src="([^"]*iframe-worker[^"]*)"', (site / page).read_text("utf-8"))
        assert (site / page).parent.joinpath(script).resolve() == site / "assets" / "iframe-worker.js"
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert index.startswith("var __index = {")
    assert "boxtime" in index


@needs.marks("lab")
def test_each_discipline_has_its_lab_and_figures_of_papers_link_to_it(site: Path):
    assert (site / "lab/index.html").read_bytes() == PAGE.read_bytes()
    for each in headgate.disciplines():
        text = (site / f"disciplines/{each.name}.html").read_text("utf-8")
        assert f'loading="lazy" src="../lab/index.html#left={each.name}&amp;right="' in text
    linked = re.findall(r'href="../lab/index.html#scenario=own', (site / "papers/faba.html").read_text("utf-8"))
    assert len(linked) >= 2
