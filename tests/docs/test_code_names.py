"""Code names on ARCHITECTURE.md, CONTRIBUTING.md and the pages of decisions are in the tree."""

import re
from pathlib import Path

import pytest

from tests.docs.code_names import Tree, spans

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/decisions").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")

#: Names of other programs that pages discuss, with the program. A decision speaks of our former names without
#: backquotes.
OUTSIDE = {
    **dict.fromkeys(("Arc", "Option", "HashMap"), "Rust's standard library"),
    "FutureWarning": "Python's standard library",
    **dict.fromkeys(("TUNSETOFFLOAD",), "Linux: an argument of a call"),
    "PR_SET_CHILD_SUBREAPER": "Linux: what a process may ask for",
    "TCP_NOTSENT_LOWAT": "Linux: an option of sockets",
    **dict.fromkeys(("NET_XMIT_CN", "net_xmit_errno", "packet_snd"), "Linux: inside of its packet sockets"),
    **dict.fromkeys(("IFF_TX_SKB_NO_LINEAR", "napi_tx", "bpf_redirect_map"), "Linux: inside of its drivers and XDP"),
    **dict.fromkeys(("schemars", "rtnetlink", "neli", "rustables", "nftnl"), "a Rust package that was not chosen"),
    **dict.fromkeys(("scipy", "special", "ppf"), "SciPy, a Python package that was not chosen"),
    **dict.fromkeys(("--up-rate", "--down-rate"), "made of `ALIASES` in live/directions.py"),
}


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(ROOT, besides=Path(__file__))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_code_name_of_a_page_is_in_the_tree(page: Path, tree: Tree):
    found = [
        f"{page.relative_to(ROOT)}:{line}: `{span}`: {name}"
        for line, span in spans(page.read_text("utf-8"))
        for name in tree.missing(span)
        if name not in OUTSIDE
    ]
    assert not found, "not in the tree (a former name stands without backquotes):\n" + "\n".join(found)


@pytest.mark.parametrize("page", PAGES[:2], ids=lambda page: page.name)
def test_links_of_pages_outside_the_site_lead_to_files(page: Path):
    links = LINK.findall(page.read_text("utf-8"))
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_place_on_the_map_is_in_the_tree():
    (drawn,) = re.findall(r"## The map\n\n```text\n(.*?)```", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.DOTALL)
    assert lost(drawn) == []
    assert lost("crates/core   no_std\n  src/parts/   shared\n  gone/  files\nnowhere  none\n") == ["gone/", "nowhere"]


def lost(drawn: str) -> list[str]:
    """The places that lines of the map begin with, but the tree lacks. An indented one lies below the last other."""
    found, above = [], ""
    for line in (line for line in drawn.splitlines() if not line.startswith("   ")):
        places = re.split(" {2,}", line.strip())[0].split()
        if not line.startswith(" "):
            above = places[0]
        homes = (above, f"{above}/src") if line.startswith(" ") else ("",)
        found += [place for place in places if not any((ROOT / home / place).exists() for home in homes)]
    return found


@pytest.mark.parametrize(
    ("span", "missing"),
    [
        ("Gatekeeper", "Gatekeeper"),
        ("Zz", "Zz"),
        ("drop_gracefully(packet)", "drop_gracefully"),
        ("Discipline::judge_fairly", "judge_fairly"),
        ("WakeTimes::load", "WakeTimes::load"),
        ("files.store.draw", "files.store.draw"),
        ("crates/wire/src", "crates/wire/src"),
        ("sender/gone.rs", "sender/gone.rs"),
        ("gone.rs", "gone.rs"),
        ("gone.json", "gone.json"),
        ("disciplines/NAME.py", "disciplines/NAME.py"),
        ("make docs coffee", "make coffee"),
        ("headgate brew --tea", "headgate brew"),
        ("headgate run --teapot", "--teapot"),
    ],
)
def test_a_planted_name_is_found(span: str, missing: str, tree: Tree):
    ((line, found),) = spans(f"```text\n`no span`\n```\n\nSee `{span}`.\n")
    assert (line, found) == (5, span)
    assert missing in list(tree.missing(span))


def test_a_planted_target_in_a_block_of_commands_is_found(tree: Tree):
    (first, second) = spans("Text.\n\n```sh\nmake test   # every test\nmake coffee\n```\n")
    assert (first, second) == ((4, "make test"), (5, "make coffee"))
    assert list(tree.missing(first[1])) == []
    assert list(tree.missing(second[1])) == ["make coffee", "coffee"]


def test_every_outside_name_is_needed(tree: Tree):
    missing = {name for page in PAGES for _, span in spans(page.read_text("utf-8")) for name in tree.missing(span)}
    assert [name for name in OUTSIDE if name not in missing] == []
