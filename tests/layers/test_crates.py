"""The order of the crates, and of the files within them, as ARCHITECTURE.md draws it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.layers.rust_imports import Crate, Module

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml"))

#: Crates in which files that import each other are an error. `scenario` still has some.
WITHOUT_CIRCLES = ("capi", "core", "traffic", "measure", "link", "sim", "live", "py", "web")

#: Circles that are allowed, by the file that closes them, with the reason.
ALLOWED_CIRCLES = {
    "registry": "a discipline can hold any other, which only the registry can build",
    "tcp::cc": "what controllers have in common stands in the file that names them all",
    "tcp::sender": "acknowledgements are declared in the sender's file, and the parts of the sender read them",
}


def drawn() -> dict[str, int]:
    """Each crate's layer, from the arrows in ARCHITECTURE.md: `a <- b, c <- d` has b and c beside each other."""
    line = next(re.finditer(r"^core <- .*$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M)).group()
    layers = [layer.split(",") for layer in line.split("<-")]
    return {crate.strip(): number for number, layer in enumerate(layers) for crate in layer}


def needs(crate: str) -> Iterator[str]:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text("utf-8"))
    tables = [manifest.get("dependencies", {})]
    tables += [target.get("dependencies", {}) for target in manifest.get("target", {}).values()]
    for name in (name for table in tables for name in table):
        if name == "aqm" or name.startswith("headgate-"):
            yield "core" if name == "aqm" else name.removeprefix("headgate-")


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_depends_on_lower_layers_only(crate):
    layers = drawn()
    upward = [other for other in needs(crate) if layers[other] >= layers[crate]]
    assert not upward, f"crates/{crate} depends on {upward}, which ARCHITECTURE.md draws above it or beside it"


@pytest.mark.parametrize("crate", WITHOUT_CIRCLES)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate):
    imports = Crate(ROOT / "crates" / crate / "src").imports()
    named = [["::".join(module) or "lib" for module in circle] for circle in circles(imports)]
    unexpected = [" -> ".join(circle) for circle in named if not ALLOWED_CIRCLES.keys() & set(circle)]
    assert not unexpected, f"crates/{crate}: {'; '.join(unexpected)}"


def test_a_planted_circle_is_reported():
    assert circles({("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("a",)}, ("d",): {("a",)}}) == [
        [("a",), ("b",), ("c",)]
    ]


def circles(imports: Mapping[Module, set[Module]]) -> list[list[Module]]:
    """The groups of modules of which each imports every other, directly or through others."""
    reached = {module: reachable(imports, module) for module in imports}
    groups = {
        tuple(sorted({module, *(other for other in reached[module] if module in reached.get(other, ()))}))
        for module in imports
    }
    return sorted([list(group) for group in groups if len(group) > 1])


def reachable(imports: Mapping[Module, set[Module]], start: Module) -> set[Module]:
    """The modules that `start` imports, directly or through others."""
    seen: set[Module] = set()
    ahead = list(imports.get(start, ()))
    while ahead:
        module = ahead.pop()
        if module not in seen:
            seen.add(module)
            ahead.extend(imports.get(module, ()))
    return seen
