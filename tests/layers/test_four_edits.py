"""A discipline is four edits: one is added to a copy of the crate, and no edit can be left out."""

import os
import shutil
from pathlib import Path
from subprocess import PIPE, STDOUT, CompletedProcess, run

ROOT = Path(__file__).parents[2]
#: A fixed folder, so that each build of the copy reuses the build before.
COPY = ROOT / "target" / "four-edits"
#: The files that the tests of the crate read.
PARTS = ("Cargo.toml", "Cargo.lock", "README.md", "crates/core", "docs/disciplines", "docs/figures")

#: The discipline that is added, a copy of DropTail: sorted by name it stands before `fq`.
NAME = "fourth"
FILE = f"crates/core/src/disciplines/{NAME}.rs"
TABLE = "crates/core/src/disciplines/mod.rs"
PAGE = f"docs/disciplines/{NAME}.md"
CLAIM = "crates/core/tests/verify/fairness.rs"
#: What `make docs figures` writes.
GENERATED = {
    "README.md",
    "docs/disciplines/README.md",
    *(f"docs/figures/{figure}{NAME}.svg" for figure in ("", "sketch-")),
}

#: Programs of the copy, each with a part of `tests/all.rs`, which takes longer to compile.
PROGRAMS = {
    "pages_alone": "mod pages;\nmod support;\n",
    "conform_alone": '#[path = "conform/main.rs"]\nmod conform;\n',
}

ROW = f"""\
    {NAME}: Fourth, FourthConfig, "Fourth", Queues 200, Modern [],
        "Drop arriving packets when the buffer is full.", "tests/layers";
"""
CLAIMED = f"""
#[test]
fn {NAME}_keeps_what_fits() {{
    assert!(run("{NAME}:limit=780p", &against(5.0, 9)).rate(9) > 300.0);
}}
"""


def edited() -> dict[str, str]:
    """The four files, as a contributor would have them."""
    twin = (ROOT / FILE).with_name("droptail.rs").read_text("utf-8")
    table = (ROOT / TABLE).read_text("utf-8")
    page = (ROOT / PAGE).with_name("droptail.md").read_text("utf-8")
    return {
        FILE: twin.replace("Droptail", "Fourth").replace("droptail", NAME),
        TABLE: table.replace("mod fq;\n", f"mod {NAME};\nmod fq;\n").replace("    fq: Fq,", f"{ROW}    fq: Fq,"),
        PAGE: page.replace("droptail", NAME),
        CLAIM: (ROOT / CLAIM).read_text("utf-8") + CLAIMED,
    }


def copied() -> dict[str, str]:
    """Makes the copy, the four edits and the figure; gives the edits."""
    shutil.rmtree(COPY, ignore_errors=True)
    for part in PARTS:
        (COPY / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, COPY / part)
        else:
            shutil.copy2(ROOT / part, COPY / part)
    workspace = COPY / "Cargo.toml"
    members = next(line for line in workspace.read_text("utf-8").splitlines() if line.startswith("members = "))
    workspace.write_text(workspace.read_text("utf-8").replace(members, 'members = ["crates/core"]'), "utf-8")
    manifest = COPY / "crates/core/Cargo.toml"
    # The programs need no other crates of tests, and compiling those would take longer than all the rest.
    keys, tests = manifest.read_text("utf-8").split("[dev-dependencies]\n")
    manifest.write_text(keys + tests[tests.index("\n[") :], "utf-8")
    for name, text in PROGRAMS.items():
        (COPY / f"crates/core/tests/{name}.rs").write_text(text, "utf-8")
        with manifest.open("a", encoding="utf-8") as end:
            end.write(f'\n[[test]]\nname = "{name}"\n')
    edits = edited()
    for file, text in edits.items():
        (COPY / file).write_text(text, "utf-8")
    for figure in ("", "sketch-"):
        shutil.copy2(COPY / f"docs/figures/{figure}droptail.svg", COPY / f"docs/figures/{figure}{NAME}.svg")
    return edits


def cargo_test(*words: str, bless: str = "0") -> CompletedProcess[str]:
    """Runs tests of the copy, not optimized."""
    command = ["cargo", "test", "--offline", "--quiet", "-p", "aqm", *words, "--config", "profile.test.opt-level=0"]
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "BLESS": bless}
    return run(command, cwd=COPY, env=env, stdout=PIPE, stderr=STDOUT, text=True, check=False)


def changed() -> set[str]:
    """The files of the copy that are new or differ from the repository, without those of the workspace."""
    files = {str(file.relative_to(COPY)) for file in COPY.rglob("*") if file.is_file()}
    files -= {"Cargo.toml", "Cargo.lock", "crates/core/Cargo.toml"}
    files -= {f"crates/core/tests/{name}.rs" for name in PROGRAMS}
    return {
        file
        for file in files
        if not (ROOT / file).is_file() or (ROOT / file).read_bytes() != (COPY / file).read_bytes()
    }


def test_a_discipline_needs_four_files_and_no_other():
    edits = copied()
    written = cargo_test("--test", "pages_alone", bless="1")
    assert written.returncode == 0, written.stdout
    for words in (("--test", "pages_alone"), ("--test", "conform_alone", "parameters")):
        done = cargo_test(*words)
        assert done.returncode == 0, done.stdout
    assert changed() == {*edits, *GENERATED}
    for file, message in {
        CLAIM: f"{NAME}: no file in tests/verify tests its claims",
        PAGE: f"{NAME}.md",
        TABLE: "files in src/disciplines against rows of the registry",
        FILE: f"file not found for module `{NAME}`",
    }.items():
        if (ROOT / file).is_file():
            shutil.copyfile(ROOT / file, COPY / file)
        else:
            (COPY / file).unlink()
        missed = cargo_test("--test", "pages_alone")
        assert missed.returncode != 0, f"no test fails without {file}"
        assert message in missed.stdout
        (COPY / file).write_text(edits[file], "utf-8")
