#!/usr/bin/env python3
"""Checks that the lab's page is where users get it: the whole page with its engine, byte for byte.

    .ci/check_lab.py archives dist/*    # in each wheel and source archive: the page of this checkout
    .ci/check_lab.py served             # what `headgate lab` of this environment serves: the page of its package

With LAB=no in the environment, an archive must not have the page, and `headgate lab` must say that it is not built.
"""

import base64
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

PAGE = "headgate/lab_page/index.html"
WANTED = os.environ.get("LAB", "yes") != "no"


def main(command: str = "", *files: str) -> None:
    """Runs one of the checks."""
    if command == "archives" and files:
        check_archives(files)
    elif command == "served" and not files:
        check_served() if WANTED else check_refused()
    else:
        sys.exit(__doc__)


def check_archives(files: Sequence[str]) -> None:
    """Compares the page in each archive with the built one."""
    built = Path(__file__).parents[1].joinpath("python", PAGE)
    for file in files:
        found = pages(Path(file))
        if not WANTED:
            if found:
                sys.exit(f"{file} has the lab's page, and LAB=no asked for none")
            print(f"{file}: without the lab's page, as LAB=no asks")
        elif found != [built.read_bytes()]:
            sys.exit(
                f"{file} lacks the lab's page of this checkout, or has another: found {sum(map(len, found))} bytes"
            )
        else:
            print(f"{file}: with the lab's page, an engine of {engine(found[0])} bytes inside")


def pages(file: Path) -> list[bytes]:
    """The files of an archive that stand where the page should."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return [wheel.read(name) for name in wheel.namelist() if name == PAGE]
    with tarfile.open(file) as archive:
        members = [member for member in archive if member.name.endswith(f"/python/{PAGE}")]
        return [content.read() for member in members if (content := archive.extractfile(member))]


def engine(page: bytes) -> int:
    """The size of the WebAssembly module in the lab's page; ends the check if this is another page, or a part of it."""
    module = re.search(rb"([`'\"])data:application/wasm;base64,(AGFzbQ[A-Za-z0-9+/]+=*)\1", page)
    if b"<title>Headgate lab" not in page or module is None or not page.rstrip().endswith(b"</html>"):
        sys.exit(f"this is not the whole page of the lab: {len(page)} bytes, engine: {'yes' if module else 'no'}")
    return len(base64.b64decode(module[2]))


def check_served() -> None:
    """Loads the page from `headgate lab`."""
    import headgate

    installed = Path(headgate.__file__).parent.parent.joinpath(PAGE)
    words = ["headgate", "lab", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            address = (running.stdout.readline() if running.stdout else "").strip()
            if not address.startswith("http://127.0.0.1:"):
                sys.exit(f"`headgate lab` printed no address, but {address!r}")
            with urlopen(address, timeout=60) as answer:
                status, kind, page = answer.status, answer.headers["Content-Type"], answer.read()
        finally:
            running.terminate()
    if (status, kind) != (200, "text/html; charset=utf-8"):
        sys.exit(f"{address} answers with status {status} and {kind}")
    if page != installed.read_bytes():
        sys.exit(f"{address} serves {len(page)} bytes that differ from {installed}")
    print(f"headgate lab: {len(page)} bytes served, an engine of {engine(page)} bytes inside")


def check_refused() -> None:
    """Reads the message of `headgate lab` in a wheel without the page."""
    words = ["headgate", "lab", "--no-browser"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 2 or "the lab is not built" not in done.stderr or "Traceback" in done.stderr:
        sys.exit(f"`headgate lab` without its page ends with {done.returncode}: {done.stderr or done.stdout}")
    print("headgate lab: this wheel has no page, and the command says so")


if __name__ == "__main__":
    main(*sys.argv[1:])
