"""The report on prose finds what it looks for, and never fails."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RULES = ("CONTRIBUTING.md", "docs/reference/glossary.md")
WORDY = "A page has " + "many " * 30 + "words.\n"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return runpy.run_path(str(ROOT / "docs/prose.py"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with the rules alone."""
    for rule in RULES:
        (tmp_path / rule).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / rule, tmp_path / rule)
    return tmp_path


def write(tree: Path, name: str, text: str | bytes) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def rows(report: dict[str, Any], tree: Path) -> list[tuple[str, str]]:
    return [(where, what) for where, what, _ in report["findings"](tree) if where not in RULES]


def test_a_planted_phrase_is_found_also_across_lines_and_in_comments(report: dict[str, Any], tree: Path):
    for phrase in report["phrases"].avoided(ROOT):
        write(tree, "README.md", f"Shows that {phrase.replace(' ', chr(10), 1)} stands here.\n")
        write(tree, "crates/a/src/lib.rs", f"// Shows that {phrase.replace(' ', f'{chr(10)}// ', 1)} stands here.\n")
        found = rows(report, tree)
        for file in ("README.md", "crates/a/src/lib.rs"):
            assert (file, f'the phrase "{phrase}"') in found


def test_long_sentences_ideas_comments_and_a_second_type_of_a_name_are_found(report: dict[str, Any], tree: Path):
    write(tree, "docs/page.md", WORDY * 9)
    write(tree, "crates/a/src/lib.rs", "pub struct Twin;\n" * 40 + "// Why.\n" * 30)
    write(tree, "python/headgate/a.py", "class Twin:\n    pass\n")
    index = f"| [`red`](red.md) | {'a ' * 21}| yes |\n| [`pie`](pie.md) | Short. | |\n"
    write(tree, "docs/disciplines/README.md", index)
    found = rows(report, tree)
    assert ("red", "words of its idea") in found
    assert "pie" not in [where for where, _ in found]
    assert ("docs/page.md", "words a sentence, median") in found
    assert ("crates/a/src/lib.rs", "share of comments") in found
    assert ("Twin", f"a type of {', '.join(['crates/a/src/lib.rs'] * 40)}, python/headgate/a.py") in found


def test_a_sentence_of_thirty_words_is_counted_as_long(report: dict[str, Any], tmp_path: Path):
    page = tmp_path / "page.md"
    long = "A" + " word" * 29
    page.write_text(
        f"# A title does not count\n\nShort one. {long}. Once `code of three` counts.\n\n```\nno prose\n```\n"
    )
    counting = report["sentences"]
    assert [counting.words(sentence) for sentence in counting.sentences(page)] == [2, 30, 3]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README.md", b"\xff\xfe\x00 no text"),
        ("python/headgate/odd.py", "def half("),
        ("python/headgate/odd.py", b"a = '\x00'\n"),
        ("docs/odd.ipynb", "{}"),
        ("CONTRIBUTING.md", ""),
        ("docs/reference/glossary.md", None),
    ],
)
def test_odd_files_do_not_stop_the_report(name: str, content: str | bytes | None, report: dict[str, Any], tree: Path):
    write(tree, "crates/a/src/lib.rs", "pub struct Twin;\n" * 20 + "// Why.\n" * 30)
    write(tree, name, content or "")
    if content is None:
        (tree / name).unlink()
    assert ("crates/a/src/lib.rs", "share of comments") in rows(report, tree)


def test_findings_do_not_change_the_exit_code(tree: Path):
    for script in ("prose.py", "phrases.py", "sentences.py"):
        shutil.copyfile(ROOT / "docs" / script, tree / "docs" / script)
    write(tree, "docs/page.md", WORDY * 9)
    write(tree, "docs/odd.ipynb", "{}")
    write(tree, "python/headgate/odd.py", "def half(")
    done = subprocess.run([sys.executable, "docs/prose.py"], cwd=tree, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert any(line.startswith("docs/page.md") for line in lines)
    assert any("not checked: KeyError" in line for line in lines)
    assert lines[-1].startswith("prose: ")


def test_lint_ends_with_the_report():
    recipe = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    assert recipe.splitlines()[-1] == "\t$(BIN)/python docs/prose.py"
