"""What tests need beyond the Python packages: programs, permissions, a built lab, other toolchains.

A test names its needs (`without`, `marks`; in Rust `headgate_needs::skip`) and is skipped where one is missing. `make
needs` runs this file to install the programs. It imports only the standard library, because it runs before anything is
installed.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # tests have pytest, `make needs` has not
    import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Names of Chromium, in the order in which tests look for it.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True)
class Need:
    """Something that tests need: its words in a sentence, how to detect it, and what installs it."""

    words: str
    is_met: Callable[[], bool]
    #: Debian's packages that `make needs` installs.
    packages: tuple[str, ...] = ()
    #: The command to type where no package helps.
    command: str = ""


def on_path(*programs: str) -> Callable[[], bool]:
    """A check that all programs are on the PATH."""
    return lambda: all(map(shutil.which, programs))


def succeeds(*words: str) -> bool:
    """Whether a command exists and ends with status 0."""
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def is_lab_built() -> bool:
    """Whether `make lab` has built page and engine from the present sources."""
    engine = ROOT / "build/lab/pkg/headgate_web_bg.wasm"
    if not (engine.exists() and (ROOT / "python/headgate/lab_page/index.html").exists()):
        return False
    sources = [ROOT / "Cargo.lock", *ROOT.glob("crates/*/src/**/*.rs")]
    return max(source.stat().st_mtime for source in sources) <= engine.stat().st_mtime


def has_wasm() -> bool:
    """Whether the lab can be built, after an attempt to fetch the target that its compiler lacks."""
    if not succeeds(str(ROOT / "lab/build"), "--check"):
        succeeds("rustup", "target", "add", "wasm32-unknown-unknown")
    return succeeds(str(ROOT / "lab/build"), "--check")


def is_tun_open() -> bool:
    """Whether this user may open the TUN device."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError:
        return False
    return True


def is_root() -> bool:
    """Whether the tests run as root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


#: Every need of a test, by the name that tests use.
NEEDS = {
    "cargo-deny": Need("cargo-deny", on_path("cargo-deny"), command="make needs"),
    "chromium": Need("Chromium", lambda: any(map(shutil.which, BROWSERS)), ("chromium",)),
    "clang": Need("clang", on_path("clang"), ("clang", "libclang-rt-14-dev")),
    "curl": Need("curl", on_path("curl"), ("curl",)),
    "dev-full": Need("/dev/full", Path("/dev/full").exists),
    "gcc": Need("gcc and g++", on_path("gcc", "g++"), ("g++",)),
    "go": Need("Go", on_path("go"), ("golang-go",)),
    "golden-compiler": Need("the compiler that crates/sim/tests/golden/instructions.txt names", lambda: True),
    "iperf3": Need("iperf3", on_path("iperf3"), ("iperf3",)),
    "iproute2": Need("ip, ss and tc", on_path("ip", "ss", "tc"), ("iproute2",)),
    "ipv6": Need("IPv6 in the kernel", Path("/proc/sys/net/ipv6").exists),
    "jq": Need("jq", on_path("jq"), ("jq",)),
    "lab": Need("the lab", is_lab_built, command="make lab"),
    "landlock": Need("Landlock in the kernel", lambda: True),
    "linux": Need("Linux", lambda: sys.platform == "linux"),
    "mirred": Need("cls_u32 and act_mirred in the kernel", lambda: True),
    "namespaces": Need("namespaces", lambda: any(succeeds("unshare", kind, "true") for kind in ("-mn", "-rmn"))),
    "nftables": Need("nf_tables in the kernel", lambda: True),
    "no-sch-sfb": Need("a kernel without sch_sfb", lambda: True),
    "node": Need("Node.js", on_path("node"), command="make needs"),
    "ns-2": Need("ns-2", on_path("ns"), ("ns2", "ns2-examples")),
    "ns-3": Need("ns-3", Path("/usr/include/ns3/core-module.h").is_file, ("libns3-dev", "g++")),
    "openssl": Need("openssl", on_path("openssl"), ("openssl",)),
    "other-user": Need("a package and namespaces that other users may use", lambda: True),
    "packetdrill": Need("a checkout of packetdrill", lambda: False, command="make packetdrill CHECKOUT=..."),
    "priority": Need("real-time priorities", is_root, command="sudo make test"),
    "restricted-cc": Need("a congestion controller that namespaces may not use", lambda: True),
    "root": Need("root", is_root, command="sudo make test"),
    "threaded-napi": Need("threads of the kernel for interfaces", lambda: True),
    "toolchains": Need("Rust's oldest version and bare target", lambda: True, command="make msrv check-targets"),
    "tshark": Need("tshark", on_path("tshark"), ("tshark",)),
    "tun": Need("access to /dev/net/tun", is_tun_open, command="sudo chmod 0666 /dev/net/tun"),
    "user-namespaces": Need("user namespaces", lambda: succeeds("unshare", "-rmn", "true")),
    "util-linux": Need("unshare, setpriv and nsenter", on_path("unshare", "setpriv", "nsenter"), ("util-linux",)),
    "valgrind": Need("valgrind", on_path("valgrind"), ("valgrind",)),
    "wasm": Need("a compiler for WebAssembly", has_wasm, ("rustc-web", "cargo-web", "rust-web-src", "lld")),
}  # fmt: skip


@functools.cache
def is_met(name: str) -> bool:
    """Whether this machine has the need called `name`; `KeyError` for an unknown name."""
    return NEEDS[name].is_met()


def reason(names: Iterable[str]) -> str:
    """The text of a skip from which `needed` reads the names again."""
    return f"needs {', '.join(names)}"


def without(*names: str) -> None:
    """Skips the running test if one of its needs is not met."""
    import pytest

    if missing := [name for name in names if not is_met(name)]:
        pytest.skip(reason(missing))


def lack(name: str, detail: str = "") -> None:
    """Skips the running test for a need that only the test itself can detect."""
    import pytest

    assert name in NEEDS
    pytest.skip(reason([name]) + (f": {detail}" if detail else ""))


def marks(*names: str) -> pytest.MarkDecorator:
    """A mark that skips each test of a module or function if one of its needs is not met."""
    import pytest

    missing = [name for name in names if not is_met(name)]
    return pytest.mark.skipif(bool(missing), reason=reason(missing))


def needed(text: str) -> tuple[str, ...]:
    """The names in the reason of a skip; the whole text if a test gave another reason."""
    text = text.removeprefix("Skipped: ")
    names = tuple(text.removeprefix("needs ").partition(":")[0].split(", "))
    return names if text.startswith("needs ") and all(name in NEEDS for name in names) else (text,)


def install() -> None:
    """Installs Debian's packages of all needs that are not met; exits with a sentence where that is impossible."""
    lacking = {name: need for name, need in NEEDS.items() if need.packages and not is_met(name)}
    packages = sorted({package for need in lacking.values() for package in need.packages})
    if not packages:
        return
    if shutil.which("apt-get") is None:
        words = ", ".join(need.words for need in lacking.values())
        sys.exit(f"apt-get is missing. Install with this system's package manager: {words}")
    privileged = [] if is_root() else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    print(f"installing {' '.join(packages)}", flush=True)
    for action in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        done = subprocess.run([*privileged, "apt-get", "--quiet=2", *action], env=environment, check=False)
        if done.returncode:
            sys.exit(f"apt-get {action[0]} failed with status {done.returncode}")


if __name__ == "__main__":
    install()
