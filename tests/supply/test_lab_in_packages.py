"""Every wheel contains the lab's page, unless LAB=no asks for none: make builds it, and archives are checked for it."""

import base64
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE = base64.b64encode(b"\0asm" + bytes(100)).decode()
PAGE = f"<title>Headgate lab</title><script>`data:application/wasm;base64,{ENGINE}`</script></html>\n".encode()
INSIDE = "headgate/lab_page/index.html"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a small page, whose archives are checked."""
    folder = tmp_path / "checkout"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/check_lab.py", folder / ".ci")
    (folder / "python" / INSIDE).parent.mkdir(parents=True)
    (folder / "python" / INSIDE).write_bytes(PAGE)
    return folder


def archive(folder: Path, kind: str, page: bytes | None) -> Path:
    """A wheel or a source archive with this page, or without one."""
    if kind == "wheel":
        file = folder / "some.whl"
        with zipfile.ZipFile(file, "w") as wheel:
            wheel.writestr("headgate/__init__.py", "")
            if page is not None:
                wheel.writestr(INSIDE, page)
        return file
    file = folder / "some.tar.gz"
    with tarfile.open(file, "w:gz") as source:
        for name, data in {"PKG-INFO": b"", **({f"python/{INSIDE}": page} if page is not None else {})}.items():
            member = tarfile.TarInfo(f"headgate_aqm-1/{name}")
            member.size = len(data)
            source.addfile(member, io.BytesIO(data))
    return file


def check(checkout: Path, file: Path, lab: str = "yes") -> tuple[int, str]:
    """The exit code of the check of an archive, and what it printed."""
    command = [sys.executable, str(checkout / ".ci/check_lab.py"), "archives", str(file)]
    done = subprocess.run(command, env={**os.environ, "LAB": lab}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_an_archive_with_the_page_is_accepted_unless_it_should_have_none(checkout: Path, kind: str):
    file = archive(checkout, kind, PAGE)
    assert check(checkout, file) == (0, f"{file}: with the lab's page, an engine of 104 bytes inside\n")
    code, message = check(checkout, file, "no")
    assert (code, "LAB=no asked for none" in message) == (1, True)


@pytest.mark.parametrize("kind", ["wheel", "source"])
@pytest.mark.parametrize("page", [None, b"", PAGE[:-1], PAGE.replace(b"AGFzbQ", b"AGFzbA")])
def test_an_archive_without_the_page_or_with_another_is_refused(checkout: Path, kind: str, page: bytes | None):
    code, message = check(checkout, archive(checkout, kind, page))
    assert (code, "lacks the lab's page" in message) == (1, True)


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_an_archive_that_should_have_no_page_says_so(checkout: Path, kind: str):
    code, message = check(checkout, archive(checkout, kind, None), "no")
    assert (code, "without the lab's page, as LAB=no asks" in message) == (0, True)


@pytest.mark.parametrize("page", [b"<html></html>", PAGE[:-30], PAGE.replace(b"wasm;base64,AGFz", b"wasm;base64,AAAA")])
def test_a_built_page_without_its_engine_or_its_end_is_refused(checkout: Path, page: bytes):
    (checkout / "python" / INSIDE).write_bytes(page)
    code, message = check(checkout, archive(checkout, "wheel", page))
    assert (code, "not the whole page of the lab" in message) == (1, True)


def printed(*words: str) -> list[str]:
    """The commands of `make`, if a source of the page has just changed."""
    command = ["make", "--dry-run", "--what-if=lab/index.html", *words]
    # `LAB=no make test` is no order for this make.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("LAB", "MAKEFLAGS", "MAKEOVERRIDES")
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("target", ["wheel", "wheels"])
def test_make_builds_the_page_before_a_wheel_and_checks_that_it_is_inside(target: str):
    lines = printed(target)
    [built] = [number for number, line in enumerate(lines) if line == "lab/build"]
    [packed, *_] = [number for number, line in enumerate(lines) if "maturin build" in line]
    [checked] = [number for number, line in enumerate(lines) if "check_lab.py archives dist/*" in line]
    assert built < packed < checked
    assert "LAB=yes " in lines[checked]


@pytest.mark.parametrize("target", ["wheel", "wheels"])
def test_make_packs_no_page_of_an_earlier_build_if_none_is_asked_for(target: str):
    lines = printed(target, "LAB=no")
    assert "lab/build" not in lines
    assert f"rm -rf dist python/{INSIDE}" in lines
    assert any(line.startswith("LAB=no ") and "check_lab.py" in line for line in lines)


def test_the_tool_of_the_bindings_has_the_version_of_the_engines_library_and_a_lock():
    wanted = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]["wasm-bindgen"]
    tool = tomllib.loads((ROOT / "lab/bindgen/Cargo.toml").read_text())["dependencies"]["wasm-bindgen-cli-support"]
    assert tool == wanted
    locks = [tomllib.loads((ROOT / lock).read_text())["package"] for lock in ("Cargo.lock", "lab/bindgen/Cargo.lock")]
    engine, bindings = [{package["name"]: package for package in lock} for lock in locks]
    assert wanted == f"={engine['wasm-bindgen']['version']}" == f"={bindings['wasm-bindgen-cli-support']['version']}"
    for package in locks[1]:
        if package["name"] != "headgate-lab-bindgen":
            assert package["source"] == "registry+https://github.com/rust-lang/crates.io-index"
            assert re.fullmatch("[0-9a-f]{64}", package["checksum"])
