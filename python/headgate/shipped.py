"""The scenarios that come with Headgate. Where a file is expected, `protect` means `protect.toml` in `scenarios/`."""

from __future__ import annotations

from pathlib import Path

from headgate import guarded

FOLDER = Path(__file__).with_name("scenarios")


def names() -> list[str]:
    """The names of all, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def located(path: str | Path) -> Path:
    """The path of a scenario file: `path` itself if it exists or is no name, else the scenario of that name."""
    path = Path(path)
    is_name = path.name == str(path) and not path.suffix
    return FOLDER / f"{path}.toml" if is_name and not path.exists() and str(path) in names() else path


def about(name: str) -> str:
    """A shipped scenario's own description."""
    import tomllib

    return str(tomllib.loads(guarded.read_text(FOLDER / f"{name}.toml", guarded.SCENARIO))["about"])
