"""Every `unsafe` block of the Rust sources is in the list of SECURITY.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(crates/\S+)` \| (\d+) \| \S", re.MULTILINE)


def blocks(code: str) -> int:
    """The number of `unsafe` blocks and implementations in Rust code."""
    return len(re.findall(r"\bunsafe\s*(?:\{|impl\b)", re.sub(r"//.*", "", code)))


def test_the_list_names_every_file_with_its_number_of_blocks():
    files = {file: blocks(file.read_text("utf-8")) for file in sorted(ROOT.glob("crates/*/src/**/*.rs"))}
    found = {str(file.relative_to(ROOT)): count for file, count in files.items() if count}
    assert {file: int(count) for file, count in ROW.findall((ROOT / "SECURITY.md").read_text("utf-8"))} == found


def test_other_crates_forbid_it():
    inside = {"capi", "live"}
    for source in sorted(ROOT.glob("crates/*/src/lib.rs")):
        name = source.parents[1].name
        assert ("#![forbid(unsafe_code)]" in source.read_text("utf-8")) == (name not in inside), name


def test_the_count_leaves_out_comments_and_finds_both_forms():
    lines = [
        "// unsafe { }",
        "let a = unsafe { b() };",
        "unsafe impl Send for A {}",
        "unsafe fn c() {}",
        "= unsafe",
        "{ e() }",
    ]
    assert blocks("\n".join(lines)) == 3
