"""`lab/build` tests its tools before it compiles, and takes the first compiler that can build for WebAssembly."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = "wasm32-unknown-unknown"
SOURCES = "src/rust/library/Cargo.lock"
RUSTUP = f"rustup target add {TARGET}"


class Machine:
    """A machine whose path has our compilers, and node and npm, and nothing else that the script looks for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.path = [self._folder("tools")]
        for tool in ("bash", "dirname", "env", "sed"):
            (self.path[0] / tool).symlink_to(str(shutil.which(tool)))

    def _folder(self, name: str) -> Path:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        return self.folder / name

    def program(self, file: Path, text: str) -> None:
        file.write_text(f"#!{shutil.which('bash')}\n{text}\n")
        file.chmod(0o755)

    def node(self, version: str) -> None:
        self.program(self.path[0] / "node", f"echo {version}")
        self.program(self.path[0] / "npm", "exit 1")

    def linker(self) -> None:
        self.program(self.path[0] / "wasm-ld", "exit 1")

    def compiler(self, name: str, *has: str, version: str = "1.96.0") -> None:
        """Adds a compiler to the path, with files below its folder of targets. Its cargo records calls, and fails."""
        for each in has:
            file = self._folder(f"{name}/root/lib/rustlib") / each
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        folder = self._folder(f"{name}/bin")
        self.path.append(folder)
        answers = f'[ "$1" = --print ] && echo "{self.folder / name}/root" || echo "rustc {version} (0 2026-01-01)"'
        self.program(folder / "rustc", answers)
        environment = "RUSTC=$RUSTC BOOTSTRAP=$RUSTC_BOOTSTRAP LINKER=$CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER"
        self.program(folder / "cargo", f'echo "{name} $* {environment}" >> "{self.calls}"; exit 1')

    def build(self) -> tuple[str, str]:
        """The message of the script, and the call of the first cargo."""
        environment = {"PATH": ":".join(map(str, self.path))}
        done = subprocess.run([ROOT / "lab/build"], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return done.stderr, self.calls.read_text() if self.calls.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "a machine")


def test_everything_that_is_missing_is_named_at_once_and_nothing_is_compiled(machine: Machine):
    machine.compiler("rustup")
    message, calls = machine.build()
    for remedy in (RUSTUP, "apt install rustc-web cargo-web rust-web-src lld", "node 20.19 or later", "LAB=no"):
        assert remedy in message
    assert calls == ""


def test_an_installed_target_is_used_without_sources_and_with_its_own_linker(machine: Machine):
    machine.node("v20.19.0")
    machine.compiler("debian", SOURCES)
    machine.compiler("rustup", f"{TARGET}/lib", "host/bin/rust-lld", version="1.95.0")
    message, calls = machine.build()
    assert message == ""
    assert calls.startswith(f"rustup build --locked --profile web --target {TARGET} -p headgate-web RUSTC=")
    assert calls.endswith("/rustup/bin/rustc BOOTSTRAP= LINKER=\n")


def test_sources_of_a_later_compiler_are_used_where_the_first_has_no_target(machine: Machine):
    machine.node("v24.1.0")
    machine.linker()
    machine.compiler("rustup", "host/bin/rust-lld", version="1.95.0")
    machine.compiler("debian", SOURCES)
    message, calls = machine.build()
    assert message == ""
    assert calls.startswith("debian build ")
    assert "-Zbuild-std=std,panic_abort RUSTC=" in calls
    assert calls.endswith("/debian/bin/rustc BOOTSTRAP=1 LINKER=wasm-ld\n")


def test_a_compiler_that_is_too_old_is_passed_over(machine: Machine):
    machine.node("v24.1.0")
    machine.linker()
    machine.compiler("old", SOURCES, f"{TARGET}/lib", version="1.63.0")
    assert RUSTUP in machine.build()[0]
    machine.compiler("new", SOURCES)
    assert machine.build()[1].startswith("new build ")


def test_a_compiler_without_a_linker_names_the_linker_alone(machine: Machine):
    machine.node("v24.1.0")
    machine.compiler("debian", SOURCES)
    message, calls = machine.build()
    assert "wasm-ld: apt install lld" in message
    assert RUSTUP not in message
    assert calls == ""


@pytest.mark.parametrize(("version", "enough"), [("v18.20.4", False), ("v20.18.3", False), ("v20.19.0", True)])
def test_node_is_new_enough_for_the_tools_of_the_page(machine: Machine, version: str, enough: bool):
    machine.compiler("rustup", f"{TARGET}/lib", "host/bin/rust-lld")
    machine.node(version)
    message, calls = machine.build()
    assert ("node 20.19 or later" in message) is not enough
    assert bool(calls) is enough
