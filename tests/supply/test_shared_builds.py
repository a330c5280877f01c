"""The extension shares its crates with the test programs: a crate with other features would be compiled once more."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: A crate with its features.
TREE = ("cargo", "tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]")


def crates(*options: str) -> set[str]:
    """The crates of a build, each with its version and features."""
    done = subprocess.run((*TREE, *options), cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)") for line in done.stdout.splitlines() if line}


def test_every_crate_of_the_extension_has_the_features_of_the_test_programs():
    tests = crates("--workspace", "--edges", "all")
    extension = crates("--package", "headgate-py", "--features", "pyo3/abi3-py311", "--edges", "normal,build")
    assert len(extension) > 50
    assert extension - tests == set()
