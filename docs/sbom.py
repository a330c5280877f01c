"""Writes the bill of materials of a Headgate wheel: the Rust packages inside, and the Python packages it needs.

    python docs/sbom.py dist/headgate.cdx.json

The format is CycloneDX 1.6 (JSON). Rust packages are those of the extension on x86-64 Linux, with the hashes of
Cargo.lock. Python packages are the requirements of pyproject.toml and their own requirements, at the versions
of requirements.txt, with the hashes of all files of each version. Their licenses come from the installed packages. The
document has no date and no serial number: the same sources give the same bytes.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

#: The platform whose packages are listed.
TARGET = "x86_64-unknown-linux-gnu"

Component = dict[str, Any]


def component(purl: str, license_: dict[str, Any], hashes: Iterable[str]) -> Component:
    """Describes a package, for example `pkg:pypi/numpy@2.4.6`, by its license and its SHA-256 hashes."""
    name, version = purl.rpartition("/")[2].split("@")
    found: Component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if hashes := sorted(hashes):
        found["hashes"] = [{"alg": "SHA-256", "content": value} for value in hashes]
    found["licenses"] = [license_]
    return found


def rust() -> tuple[list[Component], dict[str, set[str]]]:
    """Returns the packages linked into the extension, and the purls that each of them needs."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    command = ["cargo", "tree", "--locked", "--package", "headgate-py", "--edges", "normal", "--target", TARGET]
    command += ["--prefix", "depth", "--format", ";{p};{l};"]
    tree = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603 - fixed words
    components: dict[str, Component] = {}
    needs: dict[str, set[str]] = {}
    above: list[str] = []
    for line in tree.splitlines():
        depth, package, expression, _ = line.split(";")
        name, version = package.split()[:2]
        version = version.removeprefix("v")
        purl = f"pkg:cargo/{name}@{version}"
        checksum = checksums[name, version]
        components[purl] = component(
            purl, {"expression": expression.replace("/", " OR ")}, [checksum] if checksum else []
        )
        needs.setdefault(purl, set())
        above[int(depth) :] = [purl]
        if len(above) > 1:
            needs[above[-2]].add(purl)
    return list(components.values()), needs


def license_of(package: Distribution) -> dict[str, Any]:
    """Returns the license that a package states: an SPDX expression, else a short name, else its classifiers."""
    stated = package.metadata.json
    if expression := stated.get("license_expression"):
        return {"expression": expression}
    name = str(stated.get("license") or "")
    if not name or "\n" in name or len(name) > 80:  # some packages have the whole text in this field
        classifiers = package.metadata.get_all("Classifier") or []
        name = ", ".join(line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License :: "))
    return {"license": {"name": name}}


def python(project: dict[str, Any]) -> tuple[list[Component], dict[str, set[str]]]:
    """Returns the packages that a wheel's users install with it, and the purls that each of them needs."""
    entries = re.findall(r"^[^\s#].*(?:\n +.*)*", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    hashes = {entry.split()[0]: re.findall("sha256:([0-9a-f]+)", entry) for entry in entries}
    components: dict[str, Component] = {}
    needs: dict[str, set[str]] = {}

    def add(asked: Iterable[str]) -> set[str]:
        purls = set()
        for requirement in map(Requirement, asked):
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            package = distribution(requirement.name)
            pin = f"{canonicalize_name(requirement.name)}=={package.version}"
            if pin not in hashes:
                sys.exit(f"{pin} is installed, but requirements.txt has another version: make test installs that")
            purl = f"pkg:pypi/{pin.replace('==', '@')}"
            purls.add(purl)
            if purl not in components:
                components[purl] = component(purl, license_of(package), hashes[pin])
                needs[purl] = set()
                needs[purl] = add(package.requires or [])
        return purls

    needs[""] = add(project["dependencies"])
    return list(components.values()), needs


def bill() -> dict[str, Any]:
    """Returns the whole document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    subject = component(f"pkg:pypi/{project['name']}@{version}", {"expression": project["license"]}, [])
    crates, crate_needs = rust()
    packages, package_needs = python(project)
    extension = f"pkg:cargo/headgate-py@{version}"
    needs = {**crate_needs, **package_needs, subject["purl"]: package_needs[""] | {extension}}
    del needs[""]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": sorted([*crates, *packages], key=lambda one: str(one["purl"])),
        "dependencies": [{"ref": purl, "dependsOn": sorted(needs[purl])} for purl in sorted(needs)],
    }


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(bill(), indent=1) + "\n", encoding="utf-8")
